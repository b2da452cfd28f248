"""The distribution of a measure with one more row as random values, with its p-values, intervals and their errors.

`Law` contains the values that `sigstats.unseen_row.counts` draws. The random weights of means over many classes of few
rows vary too little: with random weights of n rows, the mean of a class has only (n - 1) / (n + 1) of its variance. The
unseen row makes up for that in a few classes, but not in many. There `widened` spreads the values until their standard
error is that of the jackknife in strata. This error squared is on average the variance of a mean over classes, and
at least that of smooth functions of their means (Efron and Stein, Annals of Statistics 9, 1981).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import monte_carlo_pvalue
from .._common.validation import FloatArray, IntArray
from ..intervals import Interval
from ..joint.events import JointCounts, JointEvents
from ..measures.formulas import Confusion, ratio
from ..measures.measure import MeanOfClasses, Measure, as_measure
from ..measures.table import base_of
from .means import combined, shares_beyond


class Law(NamedTuple):
    """Random values of the measure with one more row: in `low` B is at its worst, in `high` at its best."""

    #: B - A; array of float, shape (size,).
    low: FloatArray
    high: FloatArray
    #: The least and the greatest value of each; pair of array of float, shape (size,).
    a: tuple[FloatArray, FloatArray]
    b: tuple[FloatArray, FloatArray]
    #: The measure of A and of B.
    observed: tuple[float, float]
    #: If one more group is like those seen: the law with one of any kind, and the chance of an unseen kind.
    strict: "Law | None" = None
    missed: float = 0.0

    def interval(self, confidence_level: float) -> Interval:
        """Return the interval of B - A."""
        return self.intervals(confidence_level)[0]

    def intervals(self, confidence_level: float) -> list[Interval]:
        """Return the intervals of B - A, of A and of B."""
        law, share = self._beyond(confidence_level)
        low = quantiles([law.low, law.a[0], law.b[0]], share)
        high = quantiles([-law.high, -law.a[1], -law.b[1]], share)  # mirrors the lower ends to the bit
        return [Interval(end, -other, confidence_level) for end, other in zip(low, high, strict=True)]

    def end_error(self, confidence_level: float) -> float:
        """Return the Monte-Carlo standard error of the ends of the interval of B - A, the larger of the two.

        Half the distance of the quantiles one standard error below and above the share of an end.
        """
        law, share = self._beyond(confidence_level)
        error = math.sqrt(share * (1 - share) / len(law.low))
        levels = max(0.0, share - error), share + error
        before, after = (quantiles([law.low, -law.high], level) for level in levels)
        return max(after[0] - before[0], after[1] - before[1]) / 2

    @property
    def standard_error(self) -> float:
        """The standard deviation of B - A, without the shift that one more row causes in either direction."""
        return float(np.std((self.low + self.high) / 2))

    @property
    def p_worse(self) -> float:
        """The p-value of "B is not worse"."""
        return self._pvalue(lambda law: law.high >= 0)

    @property
    def p_better(self) -> float:
        """The p-value of "B is not better"."""
        return self._pvalue(lambda law: law.low <= 0)

    def p_at_least(self, bar: float) -> float:
        """Return the p-value of "A is at least this"."""
        return self._pvalue(lambda law: law.a[1] >= bar)

    def equivalence(self, margin: float) -> float:
        """Return the p-value of two one-sided tests of values that differ by at least the margin."""
        return max(self._pvalue(lambda law: law.low <= -margin), self._pvalue(lambda law: law.high >= margin))

    def _beyond(self, confidence_level: float) -> tuple["Law", float]:
        """Return the distribution whose quantiles are the ends of intervals, and the share beyond each."""
        share, strict = shares_beyond((1 - confidence_level) / 2, self.missed)
        return self.strict if strict and self.strict is not None else self, float(share)

    def _pvalue(self, beyond: Callable[["Law"], NDArray[np.bool_]]) -> float:
        p = monte_carlo_pvalue(int(np.count_nonzero(beyond(self))), len(self.low))
        return p if self.strict is None else float(combined(p, self.strict._pvalue(beyond), self.missed))


def quantiles(values: Sequence[FloatArray], share: float) -> list[float]:
    """Return the quantiles of `np.quantile`, in a fifth of its time."""
    last = len(values[0]) - 1
    below = max(min(math.floor(last * share), last - 1), 0)
    above = min(below + 1, last)
    parted = np.partition(values, above, axis=1)
    before, after, part = parted[:, : below + 1].max(axis=1), parted[:, above], last * share - below
    ends = before + (after - before) * part if part < 0.5 else after - (after - before) * (1 - part)
    return [float(end) for end in ends]


#: Laws are widened with more classes than this, of which at least half have fewer rows, or groups.
_FEW_CLASSES, _FEW_ROWS = 7, 30
#: With more classes, only those that an unseen row changes are computed again, and not added one after the other.
MANY_CLASSES = 256
#: The most numbers in a block of classes without units of different sizes.
_BLOCK = 2**21
#: The part of a count below which what is left of it is rounding.
_ROUNDING = 1e-12


class _Cells(NamedTuple):
    """The rows of each unit (a row or a group) with each of its joint events."""

    unit: IntArray
    event: IntArray
    rows: FloatArray


def widened(law: Law, measure: Any, joint: JointCounts, by_group: Any) -> Law:
    """Return the law with the standard errors of the jackknife, if they are larger; `by_group`: rows by group, event.

    If no class has two rows, all values are possible.
    """
    if not isinstance(joint, JointEvents) or not isinstance(measure, Measure) or not _is_mean_of_classes(measure):
        return law
    labels, counts = np.array([event[0][0] for event in joint.events]), np.array(joint.counts)
    if by_group is None:  # the rows of a class are drawn together, and so are the classes of one row
        events = np.flatnonzero(counts)
        cells, class_sizes = _Cells(np.arange(len(events)), events, np.ones(len(events))), np.bincount(labels, counts)
        strata = np.where(class_sizes > 1, np.arange(len(class_sizes)) + 1, 0)[labels[events]]
        times, totals = counts[events], counts
    else:  # the groups of a class are its rows
        unit, event = by_group.nonzero()
        cells = _Cells(unit, event, by_group.data)
        classes = np.unique(cells.unit * joint.n_categories + labels[cells.event]) % joint.n_categories
        class_sizes = np.bincount(classes)
        strata, times = np.zeros(by_group.shape[0], np.int64), np.ones(by_group.shape[0])
        totals = by_group.sum(axis=0)
    occurring = class_sizes[class_sizes > 0]
    if len(occurring) <= _FEW_CLASSES or np.median(occurring) >= _FEW_ROWS:
        return law
    if occurring.max() == 1:  # nothing shows how the answers to one class vary
        zeros, ones = np.zeros(len(law.low)), np.ones(len(law.low))
        return Law(-ones, ones, (zeros, ones), (zeros, ones), law.observed)
    a, b = _without_one(measure, joint, totals, cells)
    low, high = _spread((law.low, law.high), _jackknife(b - a, strata, times), -1.0)
    of_a, of_b = (_spread(ends, _jackknife(values, strata, times), 0.0) for ends, values in ((law.a, a), (law.b, b)))
    return Law(low, high, of_a, of_b, law.observed)


def _is_mean_of_classes(measure: Measure) -> bool:
    return measure.function is None and (measure.name == "balanced-accuracy" or base_of(measure.name)[0] == "macro")


def _without_one(measure: Measure, joint: JointEvents, counts: Any, cells: _Cells) -> list[FloatArray]:
    """Return both models' measure without each unit. Only the classes of the unit are counted again.

    `counts`: the rows of each event.
    """
    means = as_measure("macro-recall" if measure.name == "balanced-accuracy" else measure).mean_of_classes()
    assert means is not None  # by `_is_mean_of_classes`
    unit, event, rows = cells
    size = np.bincount(unit, rows)
    sizes, size_of = np.unique(size if means.of_negatives else 0 * size, return_inverse=True)
    k, (label, *answers) = joint.n_categories, np.array(joint.events)[:, :, 0].T
    blocks = np.array_split(sizes[:, np.newaxis], 1 + len(sizes) * k // _BLOCK)
    values = []
    for answer, total in zip(answers, joint.confusions(np.array(counts, dtype=np.float64)[np.newaxis]), strict=True):
        pairs = np.concatenate([unit * k + label[event], unit * k + answer[event]])
        changed, at = np.unique(pairs, return_inverse=True)
        true, predicted = np.split(at, 2)
        tp = np.bincount(true, rows * (label == answer)[event], len(changed))
        fn, fp = (np.bincount(at, rows, len(changed)) - tp for at in (true, predicted))
        (changed_unit, code), of_class = np.divmod(changed, k), np.array(total)[:, 0]
        left = of_class[:, code] - [tp, fn, fp, size[changed_unit] - tp - fn - fp]
        left[left < _ROUNDING * of_class[:, code]] = 0.0
        unchanged = np.concatenate([_parts(means, of_class, negatives).sum(axis=2) for negatives in blocks], axis=1)
        gains = _parts(means, left) - _parts(means, of_class[:, code], sizes[size_of[changed_unit]])
        value, number = unchanged[:, size_of] + [np.bincount(changed_unit, gain, len(size)) for gain in gains]
        values.append(ratio(value, number, 0.0))
    return values


def _parts(means: MeanOfClasses, counts: Any, negatives: Any = 0.0) -> FloatArray:
    """Return the values of classes without this many of their negatives, and 1 for each class that occurs."""
    of_class = means.value(Confusion(*np.broadcast_arrays(*counts[:3], counts[3] - negatives)))
    return np.array([of_class.value, np.broadcast_to(of_class.occurs, of_class.value.shape)])


def with_few_changed(means: MeanOfClasses, base: Any, places: FloatArray, one_more: FloatArray) -> list[FloatArray]:
    """Return a mean over classes with one more row in each of the `places`, counts of shape (places, 4, K)."""
    before, values = _parts(means, base), []
    total = before.sum(axis=2)
    for place in places:
        at = np.flatnonzero(place[: 4 if means.of_negatives else 3].any(axis=0))
        counts = [
            count[:, at] + np.multiply.outer(one_more, added[at]) for count, added in zip(base, place, strict=True)
        ]
        value, number = total + (_parts(means, counts) - before[:, :, at]).sum(axis=2)
        values.append(ratio(value, number, 0.0))
    return values


def _jackknife(values: FloatArray, strata: IntArray, times: FloatArray) -> float:
    """Return the standard error from the values without a unit of each kind; `times`: the number of such units."""
    n, total = np.bincount(strata, times), np.bincount(strata, times * values)
    off = values - (total / np.maximum(n, 1))[strata]
    return float(np.sqrt(np.sum(((n - 1) / np.maximum(n, 1))[strata] * times * off**2)))


def _spread(law: tuple[FloatArray, FloatArray], error: float, least: float) -> tuple[FloatArray, FloatArray]:
    """Return both ends of the values, spread until their midpoints have this standard error."""
    middle = (law[0] + law[1]) / 2
    move = (max(1.0, error / max(float(np.std(middle)), 1e-300)) - 1) * (middle - middle.mean())
    return np.clip(law[0] + move, least, 1.0), np.clip(law[1] + move, least, 1.0)
