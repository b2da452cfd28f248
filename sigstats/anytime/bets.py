r"""The evidence of rows against a mean: the wealth of a gambler who bets on each row, averaged over all bets.

The rows have values of at least `least`. Somebody who stakes the share u of the wealth on a mean above m has, after n
rows, the wealth

.. math:: \prod_i \left(1 - u + u \, \frac{x_i - \mathrm{least}}{m - \mathrm{least}}\right).

If the mean of each row, given the rows before it, is at most m, the expected wealth never exceeds 1. The same holds for
an average over u. Here u is the sine of an angle that is uniform between 0 and a right angle. For differences of -1, 0
and 1 the mean of both sides is then that of a Beta(1/2, 1/2) prior of the share of discordant rows that favour A.

`sigstats.anytime_test` names the sources. Ville (1939): the probability that the wealth ever reaches 1 / alpha is at
most alpha.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from .._common.validation import FloatArray
from ..intervals import Interval
from ..unseen_row.law import atoms_of

#: More distinct differences are split between so many, which lowers the evidence by less than a thousandth.
_MOST_VALUES = 2**11
#: The nodes of the integral over the angle, as shares of its range, and their weights.
_NODES, _WEIGHTS = (each / 2 for each in np.polynomial.legendre.leggauss(160))
_PLACES = _NODES + 0.5
#: Wealth that is smaller than the largest by this many nats is left out. So many nodes must hold what is left.
_SMALL, _ENOUGH = 50.0, 40


class Rows(NamedTuple):
    """The rows so far: their number and mean, the distinct differences within -1 and 1, how often each occurred."""

    n: int
    mean: float
    values: FloatArray
    counts: FloatArray


def rows_of(values: FloatArray, counts: FloatArray) -> Rows:
    """The rows of ascending distinct differences, rounded to less evidence where there are many; one row or more.

    >>> rows_of(np.array([-1.0, 0.0, 1.0]), np.array([1.0, 0.0, 3.0]))
    Rows(n=4, mean=0.5, values=array([-1.,  1.]), counts=array([1., 3.]))
    """
    n, there = int(counts.sum()), counts > 0
    shown = values[there], counts[there]
    mean = float(shown[0] @ shown[1]) / n
    if there.sum() > _MOST_VALUES:
        shown = atoms_of(np.r_[shown[0], -1.0, 1.0], np.r_[shown[1], 0.0, 0.0], _MOST_VALUES)
    return Rows(n, mean, *shown)


def log_evalue(rows: Rows, mean: float, way: str) -> float:
    """The natural logarithm of the e-value against a mean; two-sided the average of both sides."""
    sides = [
        log_wealth(sign * rows.values, rows.counts, least=-1.0, mean=sign * mean)
        for sign, other in ((1, "less"), (-1, "greater"))
        if way != other
    ]
    return sides[0] if len(sides) == 1 else float(np.logaddexp(sides[0], sides[1])) - math.log(2)


def interval_left(rows: Rows, before: Interval, way: str) -> Interval:
    """The means of an interval that the rows do not reject: the e-value is a convex function of the mean."""
    wanted = -math.log1p(-before.confidence_level)

    def end(known: float, sign: int) -> float:
        if abs(known) < 1 and log_evalue(rows, known, way) < wanted:
            return known
        most = 1 - 1e-12
        inner = min(max(rows.mean, before.low, -most), before.high, most)
        outer = known if abs(known) < 1 else -sign * most
        if log_evalue(rows, outer, way) < wanted or log_evalue(rows, inner, way) >= wanted:
            return known
        return float(brentq(lambda mean: log_evalue(rows, mean, way) - wanted, outer, inner, xtol=1e-13))

    low = before.low if way == "less" else end(before.low, 1)
    high = before.high if way == "greater" else end(before.high, -1)
    return Interval(low, high, before.confidence_level)


def log_wealth(values: FloatArray, counts: FloatArray, *, least: float, mean: float) -> float:
    """The natural logarithm of the average wealth, of the distinct values of the rows and how often each occurred.

    `least`: the least value that a row can have, below `mean`. `mean`: that is not exceeded under the null hypothesis.

    Three rows that favour A: a share s wins with probability ``(1 + s) / 2``.

    >>> round(math.exp(log_wealth(np.array([1.0]), np.array([3.0]), least=-1, mean=0)), 6)
    4.834272
    """
    excess = (values - least) / (mean - least) - 1
    low, width = 0.0, math.pi / 2
    while True:
        angles = low + width * _PLACES
        with np.errstate(divide="ignore"):  # a stake of nearly everything on a row of the least value
            logs = np.log1p(np.multiply.outer(np.sin(angles), excess)) @ counts
        top = float(logs.max())
        kept = np.flatnonzero(logs > top - _SMALL)
        if len(kept) >= _ENOUGH:
            return top + math.log(float(_WEIGHTS @ np.exp(logs - top)) * width * 2 / math.pi)
        ends = low, low + width
        low = ends[0] if kept[0] == 0 else float(angles[kept[0] - 1])
        width = (ends[1] if kept[-1] == len(angles) - 1 else float(angles[kept[-1] + 1])) - low
