"""Predictions of two models side by side, from codes of classes or marks."""

from sigstats.comparison.paired_predictions import PairedPredictions, Predicted, Scored, Verdicts
from sigstats.comparison.units import Units


def paired_codes(label, a, b, *, classes=("0", "1"), slices=None, scores=None, graded=False):
    """Two models that predict classes, and give scores."""
    said = (Verdicts if graded else Predicted)(classes=classes, label=label, a=a, b=b)
    scored = None if scores is None else Scored(scores=scores)
    return PairedPredictions(units=Units(n=len(label), slices=slices or {}), outcomes=said, scored=scored)


def paired_marks(scores, *, score_range=None, **about):
    """Marks or costs of rows without labels."""
    scored = Scored(scores=scores, **about)
    return PairedPredictions(units=Units(n=len(scores[0])), scored=scored, score_range=score_range)
