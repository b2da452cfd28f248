"""The evidence of rows against a mean at a look, and the interval of means that it leaves."""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from .._common.validation import FloatArray
from ..intervals import Interval
from ..unseen_row.law import atoms_of
from .wealth import log_wealth

#: More distinct differences are split between so many, which lowers the evidence by less than a thousandth.
_MOST_VALUES = 2**11


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
