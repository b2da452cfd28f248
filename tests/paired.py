"""Predictions of two models side by side, from codes of classes or marks."""

import numpy as np

from sigstats.comparison.paired_predictions import PairedPredictions
from sigstats.comparison.units import Units


def paired_codes(label, a, b, *, classes=("0", "1"), slices=None, scores=None, graded=False):
    """Two models that predict classes, and give scores."""
    units = Units(n=len(label), slices=slices or {})
    return PairedPredictions(label=label, a=a, b=b, classes=classes, units=units, scores=scores, graded=graded)


def paired_marks(scores, *, units=None, **more):
    """Marks or costs of rows without labels."""
    zeros = np.zeros(len(scores[0]), dtype=np.int64)
    units = units or Units(n=len(zeros))
    known = {"label": zeros, "a": zeros, "b": zeros, "classes": ("right",), "graded": True, "predicted": False}
    return PairedPredictions(scores=scores, units=units, **(known | more))
