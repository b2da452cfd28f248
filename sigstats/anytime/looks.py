"""States of an anytime test after each look, and the look at which rows became worse."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._common.validation import Alternative, FloatArray, IntArray
from ..intervals import Interval
from .bets import log_evalue_of_any_start, nats_lost, rows_of, running_interval


class AnytimeLook(NamedTuple):
    """The state after one look.

    Attributes
    ----------
    look : object
        Its label.
    n : int
        The number of rows so far.
    estimate : float
        The mean difference of these rows.
    log10_evalue : float
        The decimal logarithm of the e-value of these rows; with `run_length`, of the sum of bets.
    pvalue : float
        The smallest ``1 / evalue`` up to this look, at most 1. With `run_length`, the number of looks
        over the sum of bets, which is valid only at a look that is chosen beforehand.
    confidence_interval : Interval
        The interval of the average expected difference of these rows, each expectation given the rows before.
    """

    look: Any
    n: int
    estimate: float
    log10_evalue: float
    pvalue: float
    confidence_interval: Interval


def cumulated(
    values: FloatArray, times: Any, names: Any, of_look: IntArray
) -> tuple[FloatArray, list[tuple[Any, FloatArray]]]:
    """The distinct differences and, for each look in order, its label and the cumulative count of each difference."""
    grid, place = np.unique(values, return_inverse=True)
    held, so_far = np.zeros(len(grid)), []
    for number, name in enumerate(names):
        new = of_look == number
        held = held + np.bincount(place[new], times[new], len(grid))
        if held.any():
            so_far.append((name.item() if hasattr(name, "item") else name, held))
    return grid, so_far


def states_of(
    grid: FloatArray,
    so_far: Sequence[tuple[Any, FloatArray]],
    unit: float,
    margin: float,
    way: Alternative,
    level: float,
    start: str,
) -> Iterator[tuple[AnytimeLook, float]]:
    """The state after each look, and a bound on the rounding of its e-value; `start` is "first", "any" or "each"."""
    values, mean, best = grid / unit, margin / unit, 0.0
    for number, (label, held) in enumerate(so_far):
        every = rows_of(values, held)
        later = [] if start == "first" else [held - before for _, before in so_far[:number]]
        rows = [every, *(rows_of(values, window) if window.any() else None for window in later)]
        evidence = log_evalue_of_any_start(rows, mean, way, added=start != "any")
        best, (low, high) = max(best, evidence), running_interval(every, mean, way, level)
        interval = Interval(low * unit, high * unit, level)
        most = evidence - math.log(len(rows)) if start == "each" else best
        pvalue = min(1.0, max(math.exp(-most), math.ulp(0.0)))
        lost = max(nats_lost(row, mean) for row in rows if row is not None)
        yield AnytimeLook(label, every.n, every.mean * unit, evidence / math.log(10), pvalue, interval), lost


#: The interval excludes looks whose log-likelihood is lower by more than x: (1 - exp(-x)) ** 2 = 0.95.
_LESS_LIKELY = -float(np.log(1 - np.sqrt(0.95)))


class Change(NamedTuple):
    """First look with worse rows, and its interval."""

    look: int
    low: int
    high: int


def change_of(differences: FloatArray, looks: IntArray) -> Change:
    """Estimate the look from which on the mean difference is below 0, after a mean of at least 0.

    `looks`: the look of each difference. The interval contains all looks whose likelihood is not much smaller. It is
    approximate (Siegmund 1988, Confidence sets in change-point problems, International Statistical Review 56): after
    alarms of `sigstats.anytime_test`, it contained the look in 97 to 99 of 100 simulated series whose mean changed
    once. A mean that changes gradually has no such look.

    >>> change_of(np.repeat([0.0, -1.0, 0.0], [4000, 50, 50]), np.arange(4100) // 100)
    Change(look=40, low=40, high=40)
    """
    first = int(looks.min())
    rows, sums, squares = (np.bincount(looks - first, power) for power in (None, differences, differences**2))
    below, above = (np.cumsum(part[::-1])[::-1] for part in (rows, sums))
    before_n, before_sum = rows.sum() - below, sums.sum() - above
    worse, better = np.minimum(above, 0.0) ** 2 / below, np.maximum(before_sum, 0.0) ** 2 / np.maximum(before_n, 1)
    fitted = worse + better
    variance = max((float(squares.sum()) - float(fitted.max())) / int(rows.sum()), np.finfo(float).tiny)
    likely = np.flatnonzero(fitted >= fitted.max() - 2 * _LESS_LIKELY * variance)
    return Change(first + int(fitted.argmax()), first + int(likely[0]), first + int(likely[-1]))
