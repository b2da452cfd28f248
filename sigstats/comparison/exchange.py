"""Exact p-values of any measure of predictions where two models differ on few rows, or few groups of rows.

Where neither model is better, which of the two gave which answers to a row or group is as a fair coin says. Of all
exchanges of the two models in the units in which they differ, p is the share whose difference is at least as extreme
as observed (Noreen 1989; Yeh 2000). For accuracy and single rows this is McNemar's exact test.

When not to use: where the models differ on many units, for which the bootstrap needs no hypothesis but that its measure
is equal. Models that make errors of other kinds may have equal measures without being exchangeable.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import TIE_TOLERANCE, monte_carlo_pvalue
from .._common.random_streams import RNG, as_generator
from .._common.validation import FloatArray, IntArray
from ..measures.confusion import Confusion
from ..measures.measure import Kind, Measure

#: The most numbers of a chunk of exchanges.
_CHUNK = 2**22


@dataclass(frozen=True)
class ExchangeResult:
    """What `exchange_test` found.

    Attributes
    ----------
    p_worse, p_differs : float
        One-sided, of "B is not worse"; two-sided, of "both are equally good".
    units : int
        The rows or groups in which the two differ.
    drawn : int or None
        Random exchanges; None where all there are were listed.
    """

    p_worse: float
    p_differs: float
    units: int
    drawn: int | None


def exchange_test(
    label: IntArray,
    a: IntArray,
    b: IntArray,
    *,
    measure: Measure,
    positive: int | None = None,
    group: IntArray | None = None,
    most: int = 10_000,
    rng: RNG = None,
) -> ExchangeResult:
    """Test by exchanging A and B whether B is worse by a measure of classes of which more is better.

    Parameters
    ----------
    label, a, b : array of int, shape (n,)
        The codes of the true classes and of those that A and B predict.
    measure : Measure
    positive : int, optional
        The code of the positive class, where the measure is of one of two classes.
    group : array of int, shape (n,), optional
        The group of each row; groups are exchanged as a whole.
    most : int
        Up to so many exchanges are listed; of more so many are drawn.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Where these come from.

    Examples
    --------
    Four rows, all of which A alone got right; one exchange of sixteen is as bad for B.

    >>> import numpy as np
    >>> from sigstats.comparison.exchange import exchange_test
    >>> from sigstats.measures.measure import as_measure
    >>> label = np.arange(60) % 3
    >>> b = np.where(np.arange(60) < 4, (label + 1) % 3, label)
    >>> found = exchange_test(label, label, b, measure=as_measure("macro-f1"))
    >>> found.p_worse, found.p_differs
    (0.0625, 0.125)
    """
    units, given = _units(label, a, b, group, positive)
    kind: Kind = "classes" if positive is None else "binary"
    count = len(given)

    def difference(swaps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """B less A after these exchanges, and the larger of both."""
        moved = np.tensordot(swaps, given, axes=1)  # (exchanges, called and hit, classes)
        values = [measure.of(units.confusion(of + sign * moved), kind) for of, sign in ((units.a, 1), (units.b, -1))]
        return values[1] - values[0], np.maximum(*np.abs(values))

    observed, scale = (float(each[0]) for each in difference(np.zeros((1, count))))
    listed = count < 63 and 2**count <= most
    worse = extreme = 0
    width = count + 8 * given.shape[-1]
    for swaps in _exchanges(count, most, listed=listed, step=max(1, _CHUNK // width), rng=rng):
        found, scales = difference(swaps)
        room = TIE_TOLERANCE * np.maximum(scales, scale)
        worse += int(np.count_nonzero(found <= observed + room))
        extreme += int(np.count_nonzero(np.abs(found) >= abs(observed) - room))
    if listed:
        return ExchangeResult(worse / 2**count, extreme / 2**count, count, None)
    return ExchangeResult(monte_carlo_pvalue(worse, most), monte_carlo_pvalue(extreme, most), count, most)


@dataclass(frozen=True)
class _Totals:
    """How often each class was called and hit, shape (2, classes), by A and by B; and how often it is true."""

    a: FloatArray
    b: FloatArray
    true: FloatArray
    n: int
    one: bool

    def confusion(self, counts: FloatArray) -> Confusion:
        called, hit = counts[..., 0, :], counts[..., 1, :]
        four = hit, self.true - hit, called - hit, self.n - self.true - called + hit
        return Confusion(*(each[..., 0] for each in four)) if self.one else Confusion(*four)


def _units(
    label: IntArray, a: IntArray, b: IntArray, group: IntArray | None, positive: int | None
) -> tuple[_Totals, FloatArray]:
    """The totals, and what each unit in which A and B differ adds to those of A where both are exchanged there."""
    classes = np.unique(np.concatenate([label, a, b])) if positive is None else np.array([positive])
    k = len(classes)

    def called(rows: NDArray[np.bool_], by: IntArray, unit: IntArray, size: int) -> FloatArray:
        """Calls and hits of each class by unit, shape (size, 2, k)."""
        found = np.zeros((size, 2, k))
        place = np.minimum(np.searchsorted(classes, by), k - 1)
        for what, wanted in enumerate((rows, rows & (by == label))):
            chosen = wanted & (classes[place] == by)
            np.add.at(found, (unit[chosen], what, place[chosen]), 1.0)
        return found

    everywhere, nowhere = np.ones(len(label), dtype=np.bool_), np.zeros(len(label), dtype=np.int64)
    totals = [called(everywhere, by, nowhere, 1)[0] for by in (a, b)]
    unit = np.arange(len(label)) if group is None else np.unique(group, return_inverse=True)[1]
    differing = np.unique(unit[a != b])
    within = np.isin(unit, differing)
    number = np.searchsorted(differing, unit)
    number[~within] = 0
    by_a, by_b = (called(within, by, number, len(differing)) for by in (a, b))
    true = np.array([np.count_nonzero(label == each) for each in classes], dtype=np.float64)
    return _Totals(totals[0], totals[1], true, len(label), positive is not None), by_b - by_a


def _exchanges(count: int, most: int, *, listed: bool, step: int, rng: RNG) -> Iterator[FloatArray]:
    """All exchanges of so many units, or `most` random ones, a row of 0 and 1 each, in chunks."""
    generator = None if listed else as_generator(rng)
    size = 2**count if listed else most
    for start in range(0, size, step):
        numbers = np.arange(start, min(start + step, size))
        if generator is None:
            yield (numbers[:, None] >> np.arange(count) & 1).astype(np.float64)
        else:
            yield generator.integers(0, 2, (len(numbers), count)).astype(np.float64)
