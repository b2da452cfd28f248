"""The law of a measure with one more row as random values: its p-values and intervals, and their Monte-Carlo errors."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import monte_carlo_pvalue
from .._common.validation import FloatArray
from ..intervals import Interval
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
        """The interval of B - A."""
        return self.intervals(confidence_level)[0]

    def intervals(self, confidence_level: float) -> list[Interval]:
        """The intervals of B - A, of A and of B."""
        law, share = self._beyond(confidence_level)
        low = quantiles([law.low, law.a[0], law.b[0]], share)
        high = quantiles([-law.high, -law.a[1], -law.b[1]], share)  # mirrors the lower ends to the bit
        return [Interval(end, -other, confidence_level) for end, other in zip(low, high, strict=True)]

    def end_error(self, confidence_level: float) -> float:
        """The Monte-Carlo standard error of the ends of the interval of B - A, the larger of the two.

        Half the distance of the quantiles one standard error below and above the share of an end.
        """
        law, share = self._beyond(confidence_level)
        room = math.sqrt(share * (1 - share) / len(law.low))
        before, after = (quantiles([law.low, -law.high], value) for value in (max(0.0, share - room), share + room))
        return max(after[0] - before[0], after[1] - before[1]) / 2

    @property
    def standard_error(self) -> float:
        """The standard deviation of B - A, without what one row more moves it by either way."""
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
        """The p-value of "A is at least this"."""
        return self._pvalue(lambda law: law.a[1] >= bar)

    def equivalence(self, margin: float) -> float:
        """The p-value of values that differ by the margin or more, of two one-sided tests."""
        return max(self._pvalue(lambda law: law.low <= -margin), self._pvalue(lambda law: law.high >= margin))

    def _beyond(self, confidence_level: float) -> tuple["Law", float]:
        """The distribution whose quantiles are the ends of intervals, and the share beyond each."""
        share, strict = shares_beyond((1 - confidence_level) / 2, self.missed)
        return self.strict if strict and self.strict is not None else self, float(share)

    def _pvalue(self, beyond: Callable[["Law"], NDArray[np.bool_]]) -> float:
        p = monte_carlo_pvalue(int(np.count_nonzero(beyond(self))), len(self.low))
        return p if self.strict is None else float(combined(p, self.strict._pvalue(beyond), self.missed))


def quantiles(values: Sequence[FloatArray], share: float) -> list[float]:
    """The quantiles of `np.quantile`, in a fifth of its time."""
    last = len(values[0]) - 1
    below = max(min(math.floor(last * share), last - 1), 0)
    above = min(below + 1, last)
    parted = np.partition(values, above, axis=1)
    before, after, part = parted[:, : below + 1].max(axis=1), parted[:, above], last * share - below
    ends = before + (after - before) * part if part < 0.5 else after - (after - before) * (1 - part)
    return [float(end) for end in ends]
