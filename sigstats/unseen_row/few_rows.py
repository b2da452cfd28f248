"""Wider laws of means over many classes of few rows, whose random weights vary too little.

With random weights of n rows, the mean of a class has only (n - 1) / (n + 1) of its variance. The unseen row makes up
for that in a few classes, but not in many. There the values are spread until their standard error is that of the
jackknife in strata. Its square is on average the variance of a mean over classes, and at least that of smooth functions
of their means (Efron and Stein, Annals of Statistics 9, 1981).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._common.validation import FloatArray, IntArray
from ..joint.events import JointCounts, JointEvents
from ..measures.measure import Measure
from ..measures.table import base_of
from .drawn_law import Law

#: Laws are widened with more classes than this, of which at least half have fewer rows, or groups.
_FEW_CLASSES, _FEW_ROWS = 7, 30
#: The most numbers in a block of counts.
_BLOCK = 2**21


def widened(law: Law, measure: Any, joint: JointCounts, within: Any) -> Law:
    """The law with the standard errors of the jackknife, if they are larger; `within`: the rows of each group.

    If no class has two rows, all values are possible.
    """
    if not isinstance(joint, JointEvents) or not isinstance(measure, Measure) or not _is_mean_of_classes(measure):
        return law
    labels, counts = np.array([event[0][0] for event in joint.events]), np.array(joint.counts)
    rows = _rows_of_classes(labels, counts, within)
    if len(occurring := rows[rows > 0]) <= _FEW_CLASSES or np.median(occurring) >= _FEW_ROWS:
        return law
    if occurring.max() == 1:  # nothing shows how the answers to one class vary
        none, all_ = np.zeros(len(law.low)), np.ones(len(law.low))
        return Law(-all_, all_, (none, all_), (none, all_), law.observed)
    blocks = [(measure.of(a, joint.kind), measure.of(b, joint.kind)) for a, b in _without_one(joint, counts, within)]
    a, b = (np.concatenate(values) for values in zip(*blocks, strict=True))
    if within is None:  # the rows of a class are drawn together, and so are the classes of one row
        strata, times = np.where(rows > 1, np.arange(len(rows)) + 1, 0)[labels][counts > 0], counts[counts > 0]
    else:
        strata, times = np.zeros(len(a), np.int64), np.ones(len(a))
    low, high = _moved((law.low, law.high), _jackknife(b - a, strata, times), -1.0)
    of_a, of_b = (_moved(ends, _jackknife(of, strata, times), 0.0) for ends, of in ((law.a, a), (law.b, b)))
    return Law(low, high, of_a, of_b, law.observed)


def _is_mean_of_classes(measure: Measure) -> bool:
    return measure.function is None and (measure.name == "balanced-accuracy" or base_of(measure.name)[0] == "macro")


def _rows_of_classes(labels: IntArray, counts: IntArray, within: Any) -> IntArray:
    """The number of rows, or of groups, of each class."""
    if within is None:
        return np.bincount(labels, counts).astype(np.int64)
    return np.array([np.count_nonzero(within[:, labels == code].sum(axis=1)) for code in range(labels.max() + 1)])


def _without_one(joint: JointEvents, counts: IntArray, within: Any) -> Iterator[Any]:
    """The sums of both models without one row of each event that occurs, or without one group, in blocks."""
    total = counts.astype(np.float64) if within is None else within.sum(axis=0)
    left_out = np.flatnonzero(counts) if within is None else np.arange(within.shape[0])
    step = max(1, _BLOCK // len(counts))
    for first in range(0, len(left_out), step):
        some = left_out[first : first + step]
        one = np.zeros((len(some), len(counts))) if within is None else within[some].toarray()
        if within is None:
            one[np.arange(len(some)), some] = 1.0
        yield joint.confusions(total - one)


def _jackknife(values: FloatArray, strata: IntArray, times: FloatArray) -> float:
    """The standard error, from the values without a unit of each kind; `times`: the number of units of each kind."""
    n, total = np.bincount(strata, times), np.bincount(strata, times * values)
    off = values - (total / np.maximum(n, 1))[strata]
    return float(np.sqrt(np.sum(((n - 1) / np.maximum(n, 1))[strata] * times * off**2)))


def _moved(law: tuple[FloatArray, FloatArray], error: float, least: float) -> tuple[FloatArray, FloatArray]:
    """Both ends of the values, spread so far that the middles have this standard error."""
    middle = (law[0] + law[1]) / 2
    move = (max(1.0, error / max(float(np.std(middle)), 1e-300)) - 1) * (middle - middle.mean())
    return np.clip(law[0] + move, least, 1.0), np.clip(law[1] + move, least, 1.0)
