"""Wider laws of means over many classes of few rows, whose random weights vary too little.

With random weights of n rows, the mean of a class has only (n - 1) / (n + 1) of its variance. The unseen row makes up
for that in a few classes, but not in many. There the values are spread until their standard error is that of the
jackknife in strata. Its square is on average the variance of a mean over classes, and at least that of smooth functions
of their means (Efron and Stein, Annals of Statistics 9, 1981).
"""

from typing import Any

import numpy as np

from .._common.validation import FloatArray, IntArray
from ..joint.events import JointCounts, JointEvents
from ..measures.formulas import Confusion, ratio
from ..measures.measure import MeanOfClasses, Measure, as_measure
from ..measures.table import base_of
from .drawn_law import Law

#: Laws are widened with more classes than this, of which at least half have fewer rows, or groups.
_FEW_CLASSES, _FEW_ROWS = 7, 30
#: With more classes, only those that an unseen row changes are computed again, and not added one after the other.
MANY_CLASSES = 256
#: The most numbers in a block of classes without units of different sizes.
_BLOCK = 2**21
#: The part of a count below which what is left of it is rounding.
_ROUNDING = 1e-12


def widened(law: Law, measure: Any, joint: JointCounts, within: Any) -> Law:
    """The law with the standard errors of the jackknife, if they are larger; `within`: the rows of each group.

    If no class has two rows, all values are possible.
    """
    if not isinstance(joint, JointEvents) or not isinstance(measure, Measure) or not _is_mean_of_classes(measure):
        return law
    labels, counts = np.array([event[0][0] for event in joint.events]), np.array(joint.counts)
    if within is None:  # the rows of a class are drawn together, and so are the classes of one row
        events = np.flatnonzero(counts)
        units, rows = (np.arange(len(events)), events, np.ones(len(events))), np.bincount(labels, counts)
        strata, times = np.where(rows > 1, np.arange(len(rows)) + 1, 0)[labels[events]], counts[events]
    else:  # the groups of a class are its rows
        units = *within.nonzero(), within.data
        rows = np.bincount(np.unique(units[0] * joint.n_categories + labels[units[1]]) % joint.n_categories)
        strata, times = np.zeros(within.shape[0], np.int64), np.ones(within.shape[0])
    if len(occurring := rows[rows > 0]) <= _FEW_CLASSES or np.median(occurring) >= _FEW_ROWS:
        return law
    if occurring.max() == 1:  # nothing shows how the answers to one class vary
        none, all_ = np.zeros(len(law.low)), np.ones(len(law.low))
        return Law(-all_, all_, (none, all_), (none, all_), law.observed)
    a, b = _without_one(measure, joint, counts if within is None else within.sum(axis=0), units)
    low, high = _moved((law.low, law.high), _jackknife(b - a, strata, times), -1.0)
    of_a, of_b = (_moved(ends, _jackknife(of, strata, times), 0.0) for ends, of in ((law.a, a), (law.b, b)))
    return Law(low, high, of_a, of_b, law.observed)


def _is_mean_of_classes(measure: Measure) -> bool:
    return measure.function is None and (measure.name == "balanced-accuracy" or base_of(measure.name)[0] == "macro")


def _without_one(
    measure: Measure, joint: JointEvents, counts: Any, units: tuple[IntArray, IntArray, FloatArray]
) -> list[FloatArray]:
    """The measure of both models without one unit, a row or a group, of which only the classes in it are counted again.

    `counts`: of all events. `units`: the number of a unit, that of an event in it, and the rows of the unit with it.
    """
    means = as_measure("macro-recall" if measure.name == "balanced-accuracy" else measure).mean_of_classes()
    assert means is not None  # by `_is_mean_of_classes`
    unit, event, rows = units
    size = np.bincount(unit, rows)
    distinct, of_size = np.unique(size if means.of_negatives else 0 * size, return_inverse=True)
    k, (label, *answers) = joint.n_categories, np.array(joint.events)[:, :, 0].T
    blocks = np.array_split(distinct[:, np.newaxis], 1 + len(distinct) * k // _BLOCK)
    values = []
    for answer, total in zip(answers, joint.confusions(np.array(counts, dtype=np.float64)[np.newaxis]), strict=True):
        pairs = np.concatenate([unit * k + label[event], unit * k + answer[event]])
        changed, at = np.unique(pairs, return_inverse=True)
        true, called = np.split(at, 2)
        right = np.bincount(true, rows * (label == answer)[event], len(changed))
        missed, added = (np.bincount(at, rows, len(changed)) - right for at in (true, called))
        (of, code), every = np.divmod(changed, k), np.array(total)[:, 0]
        left = every[:, code] - [right, missed, added, size[of] - right - missed - added]
        left[left < _ROUNDING * every[:, code]] = 0.0
        without = np.concatenate([_parts(means, every, sizes).sum(axis=2) for sizes in blocks], axis=1)
        gains = _parts(means, left) - _parts(means, every[:, code], distinct[of_size[of]])
        value, number = without[:, of_size] + [np.bincount(of, gain, len(size)) for gain in gains]
        values.append(ratio(value, number, 0.0))
    return values


def _parts(means: MeanOfClasses, counts: Any, negatives: Any = 0.0) -> FloatArray:
    """The values of classes without this many of their negatives, and 1 for each class that occurs."""
    of_class = means.value(Confusion(*np.broadcast_arrays(*counts[:3], counts[3] - negatives)))
    return np.array([of_class.value, np.broadcast_to(of_class.occurs, of_class.value.shape)])


def with_few_changed(means: MeanOfClasses, base: Any, places: FloatArray, shares: FloatArray) -> list[FloatArray]:
    """A mean over classes with one more row in each place, whose counts have the shape (places, 4, K)."""
    before, values = _parts(means, base), []
    total = before.sum(axis=2)
    for place in places:
        at = np.flatnonzero(place[: 4 if means.of_negatives else 3].any(axis=0))
        counts = [count[:, at] + np.multiply.outer(shares, m[at]) for count, m in zip(base, place, strict=True)]
        value, number = total + (_parts(means, counts) - before[:, :, at]).sum(axis=2)
        values.append(ratio(value, number, 0.0))
    return values


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
