"""The result of a test of fuzzy classes: bounds of p at each degree of possibility, without computing all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._common.numerals import p_number
from .._common.tabular import Table, Tabular, in_words, shown_record
from .._common.validation import as_real
from ..intervals import Interval
from .memberships import Graded


class FuzzyDecision(NamedTuple):
    """The possibility and the necessity that the null hypothesis is rejected: 0 to 1 each."""

    possibility: float
    necessity: float


@dataclass(frozen=True, kw_only=True, repr=False)
class FuzzyTestResult(Tabular):
    """The result of a test of fuzzy classes: the possibility distribution of the p-value, cut at degrees.

    Attributes
    ----------
    degrees : tuple of float
        The degrees, from 1 down to the smallest degree of a reading. Of more than 200 each is raised to the next
        hundredth: bounds are then those of more readings, possibilities may be too large by .01 and necessities too
        small.
    low, high : tuple of float
        The smallest and the largest p-value of the readings with at least each degree of possibility; the intervals
        widen as the degree decreases.
    attained : tuple of bool
        Whether both are p-values of readings; if not, they are certified bounds.
    method : str
    """

    degrees: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    attained: tuple[bool, ...]
    method: str

    __repr__ = shown_record

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "degree": list(self.degrees),
            "pvalue_low": list(self.low),
            "pvalue_high": list(self.high),
            "attained": list(self.attained),
        }

    def _table(self) -> Table:
        columns = {
            "degree": list(map(in_words, self.degrees)),
            "p from": list(map(p_number, self.low)),
            "to": list(map(p_number, self.high)),
        }
        title = f"Fuzzy test ({self.method}): the p-values of the crisp readings that are possible to each degree"
        return Table(title, columns, words=0)

    @property
    def pvalue_interval(self) -> Interval:
        """The bounds of the p-value over all crisp readings."""
        return Interval(self.low[-1], self.high[-1], 1.0)

    def possibility(self, pvalue: float) -> float:
        """The largest degree at which a p-value is within the bounds; 0 where it is at none."""
        p = as_real(pvalue, "pvalue", low=0, high=1)
        holding = (d for d, low, high in zip(self.degrees, self.low, self.high, strict=True) if low <= p <= high)
        return next(holding, 0.0)

    def rejection(self, alpha: float = 0.05) -> FuzzyDecision:
        """The possibility that p is at most `alpha`, and the necessity: 1 less the possibility that it is not."""
        level = as_real(alpha, "alpha", low=0, high=1, open_ends=True)
        possible = next((d for d, low in zip(self.degrees, self.low, strict=True) if low <= level), 0.0)
        against = next((d for d, high in zip(self.degrees, self.high, strict=True) if high > level), 0.0)
        return FuzzyDecision(possible, 1 - against)


def by_degree(at: Callable[[float], tuple[float, float, bool]], known: Graded, method: str) -> FuzzyTestResult:
    """The bounds that `at` finds at each degree; between two degrees of the same bounds it is not asked."""
    degrees = known.degrees
    ends = {place: at(degrees[place]) for place in {0, len(degrees) - 1}}

    def between(first: int, last: int) -> None:
        if ends[first] == ends[last] and ends[first][2]:  # both ends are monotone in the degree
            ends.update(dict.fromkeys(range(first, last), ends[first]))
        elif last - first > 1:
            middle = (first + last) // 2
            ends[middle] = at(degrees[middle])
            between(first, middle)
            between(middle, last)

    between(0, len(degrees) - 1)
    low, high, attained = zip(*(ends[place] for place in range(len(degrees))), strict=True)
    # Bounds at a lower degree hold at a higher one too, and may be the nearer ones.
    low = np.maximum.accumulate(low[::-1])[::-1].tolist()
    high = np.minimum.accumulate(high[::-1])[::-1].tolist()
    attained = attained if known.exact else (False,) * len(degrees)
    return FuzzyTestResult(degrees=degrees, low=tuple(low), high=tuple(high), attained=attained, method=method)
