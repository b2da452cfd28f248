"""The positive class of scores, and scores that look like those of another class."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .._common.class_columns import positive_place
from .._common.messages import Note
from .._common.validation import shown
from ..measures.score_formulas import area_under_curve, is_reversed
from ..measures.table import MEASURES
from .paired_predictions import PairedPredictions


def positive_code(paired: PairedPredictions, positive: str | None, *, among_several: bool = False) -> int:
    """Return the code of the positive one of two classes, or of a named one `among_several`, or raise ValueError."""
    if len(paired.classes) != 2 and not (among_several and len(paired.classes) > 2):
        if len(paired.classes) == 1:
            raise ValueError(f"label: all rows have the class {shown(paired.classes[0])}; expected two classes")
        raise ValueError(f"label: {len(paired.classes)} classes are not valid for measures of scores; expected two")
    return positive_place(paired.classes, positive)


def is_positive(paired: PairedPredictions, positive: str | None) -> NDArray[np.bool_]:
    """Return a mask of the rows of the positive class.

    Raises ValueError if the scores look like probabilities of the predicted class instead of the positive one.
    """
    code = positive_code(paired, positive, among_several=positive is not None)
    assert paired.outcomes is not None  # as it has two classes
    predicted, least, true = paired.predicted, 1 / len(paired.classes), np.equal(paired.outcomes.label, code)
    if predicted is None or paired.scored is None:
        return true
    for scores, prediction in zip(paired.scored.scores, (predicted.a, predicted.b), strict=True):
        called = prediction == code
        of_called, others = scores[called], scores[~called]
        # Negatives less positives, among the rows that are not called positive.
        surplus = len(others) - 2 * np.count_nonzero(true[~called])
        are_of_predicted = len(of_called) and surplus > 2 * len(others) ** 0.5
        if not are_of_predicted or scores.min() < least or scores.max() > 1:
            continue
        if others.max() >= max(np.median(of_called), 0.501):
            problem = f"none is below {least:g}, though other classes are predicted with scores up to {others.max():g}"
            wanted = f"the probability of {shown(paired.classes[code])}, not that of the predicted class"
            raise ValueError(f"scores: {problem}; expected {wanted}")
    return true


def reversed_scores(
    paired: PairedPredictions, measures: Iterable[str], positive: str | None, models: Sequence[str]
) -> Iterator[Note]:
    """Yield a note on scores that favour the other class, for which the worse model would be the better one.

    Raises ValueError if the scores of the first model favour the other class and the positive class is only inferred,
    not given as `positive`.
    """
    first, named = paired.runs[0] if paired.runs else paired, positive is not None
    scored, labels = first.scored, first.outcomes
    of_class = any(MEASURES[name].needs in ("scores", "probabilities") for name in measures)
    if not of_class or scored is None or scored.of_truth or labels is None:
        return
    code, ours = positive_code(first, positive, among_several=named), first.units.candidates
    for side, (model, scores) in enumerate(zip(models, scored.scores, strict=False)):
        rows = np.flatnonzero(np.full(first.n, True) if ours is None else ours == bool(side))
        true, units = labels.label[rows] == code, first.units.take(rows)
        m, n = units.count(true), units.count(~true)
        if min(m, n) and is_reversed(area := area_under_curve(true, scores[rows]), m, n):
            problem = f"scores of {model} are lower for the class {shown(first.classes[code])} (area {area:.1%})"
            if side == 0 and not named:
                wanted = "its probabilities, or positive, the class of these probabilities"
                raise ValueError(f"{problem}; expected {wanted}")
            yield Note("reversed-scores", f"{problem}: they may be those of the other class")
