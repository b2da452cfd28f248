"""Two models on different rows: the difference of their accuracies, or of their means of values within limits.

When not to use: both models have values for the same rows, since pairs show smaller differences (`sigstats.compare`);
rows in groups, or other measures (`sigstats.compare` with ``unpaired=True``).
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, ndtr, ndtri

from .._common.validation import (
    ALTERNATIVES,
    Alternative,
    FloatArray,
    as_choice,
    as_real,
    as_reals,
    refuse_where,
)
from ..intervals import Interval, as_level, with_alternative
from ..unseen_row.means import Units, mean_interval, mean_points, sums_by, units_of
from .result import ScoreResult, as_marks

#: Normal quantiles of the levels at which bounds are known, and the weights of an integral over them.
_Z = np.linspace(-6.0, 6.0, 61)
_LEVELS = ndtr(_Z)
_WEIGHTS = np.exp(-(_Z**2) / 2) / np.exp(-(_Z**2) / 2).sum()
#: Nodes of Gauss and Legendre, and the normal quantiles between which they lie; the lower tail beyond is added to p.
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(300)
_ENDS = -20.0, 9.0


class Melded(NamedTuple):
    """The chances that lower bounds of A - B and of B - A are at most a margin, and the largest difference."""

    ahead: Callable[[float], float]
    behind: Callable[[float], float]
    span: float

    @classmethod
    def of(cls, a: Units, b: Units, limits: tuple[float, float]) -> "Melded":
        """Return the bounds of the means of two samples of values within limits, each with one more unit at a limit."""
        low, high = limits
        if all((units.sizes == 1).all() and np.isin(units.sums, limits).all() for units in (a, b)):
            right, wrong = ([float(u.counts[u.sums == limit].sum()) for u in (a, b)] for limit in (high, low))
            of_a, of_b = zip(right, wrong, strict=True)
            return cls(
                partial(_chance_of_shares, of_a, of_b, high - low),
                partial(_chance_of_shares, of_b, of_a, high - low),
                high - low,
            )
        lower = [mean_points(units, low, _LEVELS) for units in (a, b)]
        upper = [mean_points(units.mirrored, -high, _LEVELS) for units in (a, b)]
        ahead, behind = (lower[0], upper[1]), (lower[1], upper[0])
        return cls(partial(_chance_below, ahead), partial(_chance_below, behind), high - low)

    def pvalue(self, margin: float, alternative: str) -> float:
        """Return the p-value of "A - B is the margin or less" for "greater", or the margin or more for "less"."""
        if alternative == "two-sided":
            return min(1.0, 2 * min(self.pvalue(margin, "greater"), self.pvalue(margin, "less")))
        greater = alternative == "greater"
        return self.ahead(margin) if greater else self.behind(-margin)

    def interval(self, level: float) -> Interval:
        """Return the interval of A - B."""
        low, high = (self._end(chances, (1 - level) / 2) for chances in (self.ahead, self.behind))
        return Interval(low, -high, level)

    def _end(self, chance_below: Callable[[float], float], share: float) -> float:
        """Return the largest margin that is rejected at this level."""
        span = self.span
        if chance_below(-span) >= share:
            return -span
        return float(brentq(lambda margin: chance_below(margin) - share, -span, span, xtol=1e-9 * span))


def _chance_of_shares(ahead: tuple[float, float], behind: tuple[float, float], span: float, margin: float) -> float:
    """Return the probability that a lower bound of a share less an upper bound of another is at most the margin.

    `ahead`, `behind`: numbers of right and wrong answers. The bounds are Clopper and Pearson's, which have beta laws.
    """
    margin /= span
    a, b, c, d = ahead[0], ahead[1] + 1, behind[0] + 1, behind[1]
    variance, other = (x * y / (x + y) ** 2 / (x + y + 1) for x, y in ((a, b), (c, d)))
    if d and (not a or variance > other):  # integrate over the narrower law
        a, b, c, d = d, c, b, a
    if not d:
        return max(float(ndtr(_ENDS[0])), float(betainc(a, b, min(1.0, 1 + margin)))) if a else 1.0
    low, high = ndtri(betainc(a, b, np.clip([margin, 1 + margin], 0, 1))).clip(*_ENDS)
    z = low + (high - low) * (_NODES + 1) / 2
    chances = betainc(d, c, (1 + margin - betaincinv(a, b, ndtr(z))).clip(0, 1))
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    sure = max(ndtr(_ENDS[0]), betainc(a, b, max(0.0, margin)))
    return float(min(1.0, sure + (high - low) / 2 * (_NODE_WEIGHTS @ (density * chances))))


def _chance_below(values: tuple[FloatArray, FloatArray], margin: float) -> float:
    """Return the probability that the sum of two independent values, with these quantiles, is at most the margin."""
    narrow, wide = sorted(values, key=np.ptp)
    points, first = np.unique(wide, return_index=True)
    rest = margin - narrow
    if len(points) == 1:  # both are constants
        return float(rest[0] >= points[0] - 1e-12 * max(1.0, abs(points[0])))
    inside = ndtr(PchipInterpolator(points, _Z[first])(rest.clip(points[0], points[-1])))
    chances = np.where(rest >= points[-1], 1.0, np.where(rest < points[0], 0.0, inside))
    return float(min(1.0, _WEIGHTS @ chances + 2 * _LEVELS[0]))


def sample_of(values: FloatArray, group: Any, sizes: FloatArray | None = None) -> Units:
    """Return the rows or groups of a sample. `sizes`: the denominators of a ratio, 0 for rows that do not count."""
    if group is not None:
        codes = np.unique(group, return_inverse=True)[1]
        values = sums_by(codes, values)
        sizes = np.bincount(codes).astype(np.float64) if sizes is None else sums_by(codes, sizes)
    if sizes is None:
        return units_of(values)
    return units_of(values[sizes > 0], sizes[sizes > 0])


def difference_of_samples(
    baseline: Units, candidate: Units, limits: tuple[float, float], level: float, margin: float
) -> dict[str, Any]:
    """Return fields of a comparison row; one more unit of a sample is as large as the largest of both samples."""
    largest = max(float(units.sizes.max()) for units in (baseline, candidate))
    baseline, candidate = (
        units
        if units.sizes.max() == largest
        else Units(*map(np.append, units[:3], (units.mean * largest, largest, 0.0)))
        for units in (baseline, candidate)
    )
    melded = Melded.of(candidate, baseline, limits)
    interval = melded.interval(level)
    return {
        "baseline": baseline.mean,
        "candidate": candidate.mean,
        "baseline_interval": mean_interval(baseline, limits, level),
        "candidate_interval": mean_interval(candidate, limits, level),
        "difference": candidate.mean - baseline.mean,
        "low": interval.low,
        "high": interval.high,
        "standard_error": math.hypot(baseline.standard_error, candidate.standard_error),
        "pvalue": melded.pvalue(0.0, "less"),
        "two_sided_pvalue": melded.pvalue(0.0, "two-sided"),
        "equivalence_pvalue": max(melded.pvalue(-margin, "greater"), melded.pvalue(margin, "less")),
    }


def unpaired_test(
    a: Any,
    b: Any,
    *,
    score_range: Any = (0.0, 1.0),
    margin: float = 0.0,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> ScoreResult:
    """Test whether two models on different rows have the same accuracy, or the same mean of values within limits.

    Null hypothesis: in the two populations of independent rows, the means differ by `margin`.

    Parameters
    ----------
    a, b : array_like of float or bool, shapes (n,) and (m,)
        Whether the answers of A and of B are right, or their scores, on rows of their own.
    score_range : pair of float
        The lowest and the highest value that a row can have.
    margin : float
        The difference of the means under the null hypothesis.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A is ahead by more than `margin`.
    confidence_level : float
        Confidence of the intervals, strictly between 0 and 1, above 1/2 if one-sided.

    Returns
    -------
    ScoreResult

    Raises
    ------
    ValueError
        If a sample has fewer than two rows or a value beyond the limits, or an option is out of range.

    Notes
    -----
    Bounds of each mean, at independent random levels, are subtracted. For right and wrong and a margin of 0 the
    one-sided p-value is Fisher's exact one (Altham 1969), to ten digits above 1e-78. Otherwise the level is not proved:
    it holds for up to 15 rows of right and wrong answers (by enumeration), and held in simulations of skewed scores.
    Boschloo's test has more power, but no interval.

    References
    ----------
    Fay, Proschan and Brittain (2015), Biometrics 71, 146-156. Altham (1969), J. R. Statist. Soc. B 31, 261-269.

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.unpaired_test([1] * 45 + [0] * 5, [1] * 30 + [0] * 20, alternative="greater")
    >>> round(result.estimate, 2), round(result.pvalue, 6), round(result.confidence_interval.low, 3)
    (0.3, 0.000483, 0.14)
    """
    low, high = as_reals(score_range, "score_range", ndim=1)
    samples = []
    for name, values in (("a", a), ("b", b)):
        array = as_marks(values, name)
        refuse_where((array < low) | (array > high), array, name, f"values from {low:g} to {high:g}")
        refuse_where(np.array([len(array) < 2]), np.array([len(array)]), f"{name} (rows)", "two or more")
        samples.append(units_of(array))
    (first, second), span = samples, float(high - low)
    null = as_real(margin, "margin", low=-span, high=span, open_ends=True)
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_level(confidence_level, way)
    melded, estimate = Melded.of(first, second, (low, high)), first.mean - second.mean
    error = math.hypot(first.standard_error, second.standard_error)
    return ScoreResult(
        statistic=estimate / error if error else estimate and math.copysign(math.inf, estimate),
        pvalue=melded.pvalue(null, way),
        method="melded bounds",
        alternative=way,
        confidence_interval=with_alternative(melded.interval, way, level, (-span, span)),
        interval_a=mean_interval(first, (low, high), level),
        interval_b=mean_interval(second, (low, high), level),
        value_a=first.mean,
        value_b=second.mean,
        estimate=estimate,
        standard_error=error,
    )
