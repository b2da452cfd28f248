r"""Test whether a quantile of B is below that of A, in paired rows such as latencies of two models on one request.

Let q be the quantile of A below which the share s lies. If that of B is not below q, then :math:`P(B < q) \le s \le P(A
\le q)`, so that a row with :math:`B < q < A` is at most as likely as one with :math:`A \le q \le B`, which is the null
hypothesis of McNemar's exact test at q. Since q is not known, every threshold t is tried. The p-value at t is the
smaller one of McNemar's p / 0.9 and of p / 0.1 of the exact binomial test of "t is the quantile of A"; the p-value of
the test is the largest one over all t (Berger and Boos 1994, Journal of the American Statistical Association 89,
1012-1016, with an interval of q for each level). It is valid for independent rows of any joint distribution, with ties
too, and conservative. The interval contains all shifts of B that are not rejected.

If A and B are measured on different rows, :math:`P(B < q) \le s` and :math:`s \le P(A \le q)` have independent exact
binomial p-values, which Fisher's method combines. Again every threshold t is tried in place of q, and any two
distributions are allowed.

When not to use: rows are dependent; the mean matters as well, which may fall while a quantile rises.
"""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc

from .._common.validation import FloatArray
from ..intervals import Interval, quantile_interval

#: The share of the level for McNemar's test; the rest is for the threshold.
_OF_MCNEMAR = 0.9
#: Thresholds are tried within an interval of the quantile with this error, below which no p-value is stated.
_LEAST = 1e-14
#: Largest error of an end of an interval, which is always outwards, as a share of the range of values.
_ROUNDING = 1e-12


class QuantileDifference(NamedTuple):
    """The quantile of B minus that of A: its interval, and the p-values of "not below" and of "equal"."""

    interval: Interval
    p_not_below: float
    p_equal: float


def quantile_difference(
    a: FloatArray, b: FloatArray, share: float, confidence_level: float, *, paired: bool = True
) -> QuantileDifference:
    """Compare the quantiles below which this share lies, of paired rows, or of two independent samples.

    >>> rng = np.random.default_rng(1)
    >>> a = rng.gamma(4, 10, 2000)
    >>> result = quantile_difference(a, a + rng.normal(5, 2, 2000), 0.95, 0.95)
    >>> round(result.interval.low, 1), round(result.interval.high, 1)
    (2.8, 8.4)
    """
    tail = (1 - confidence_level) / 2
    if not paired:
        a, b = np.sort(a), np.sort(b)
    farthest = np.abs(a - b).max() if paired else max(a[-1], b[-1]) - min(a[0], b[0])
    widest = float(max(np.ptp(a), np.ptp(b), farthest)) or 1.0

    def tested(first: FloatArray, second: FloatArray) -> tuple[float, float]:
        """Return the p-value of "the quantile of `second` is not below that of `first`", and the limit of the shift.

        The limit is the smallest amount by which `second` would have to fall for its quantile to be shown to be below.
        """
        p_of = (_against_paired if paired else _against_sample)(first, share)
        low, high = -2 * widest, 2 * widest
        if p_of(second - high) > tail:
            return p_of(second), math.inf
        while high - low > _ROUNDING * widest:
            middle = (low + high) / 2
            low, high = (low, middle) if p_of(second - middle) <= tail else (middle, high)
        return p_of(second), high

    (p_not_below, most), (p_not_above, least) = tested(a, b), tested(b, a)
    p_equal = min(1.0, 2 * min(p_not_below, p_not_above))
    return QuantileDifference(Interval(-least, most, confidence_level), p_not_below, p_equal)


def fewest_with_interval(share: float, level: float, *, lower: bool = False) -> int:
    """Return the fewest rows (without ties) at which the interval has two ends of this error; 2 for a mean (share 0).

    McNemar's test cannot reject a threshold with few rows above it (below it, if `lower` values are better).
    """
    if share == 0:
        return 2
    share = 1 - share if lower else share
    silent = math.ceil(-math.log2(_OF_MCNEMAR * level))  # rows at the threshold or above, all but one of them above
    tail = (1 - _OF_MCNEMAR) * level / 2
    least = max(silent, math.ceil(math.log(tail) / math.log(max(share, 1 - share))))
    return next(n for n in itertools.count(least) if bdtr(silent, n, 1 - share) <= tail)


def _against_paired(a: FloatArray, share: float) -> Callable[[FloatArray], float]:
    """Return a function of B in the same rows: the p-value of "the quantile of B is not below that of A"."""
    n, ordered = len(a), np.sort(a)
    least, most = quantile_interval(a, share, confidence_level=1 - _LEAST)
    inside = ordered[(ordered >= least) & (ordered <= most)]

    def p_of(b: FloatArray) -> float:
        values = np.unique(np.concatenate([inside, b[(b >= least) & (b <= most)]]))
        # Counts change at a value and right after it; beyond the interval, a threshold is nearly impossible.
        thresholds = np.concatenate([values, np.nextafter(values, np.inf), [-np.inf, np.inf]])
        # Most rows have both values on the same side of all thresholds, and do not count.
        differ = (np.minimum(a, b) <= most) & (np.maximum(a, b) >= least)
        of_a, of_b = a[differ], b[differ]
        falls = of_b < of_a
        both = np.searchsorted(np.sort(of_b[~falls]), thresholds)  # rows with B < t and A <= t
        both += np.searchsorted(np.sort(of_a[falls]), thresholds, "right")
        only_b = np.searchsorted(np.sort(of_b), thresholds) - both
        only_a = np.searchsorted(np.sort(of_a), thresholds, "right") - both
        mcnemar = np.where(only_b > 0, bdtrc(only_b - 1.0, only_a + only_b, 0.5), 1.0)
        below, at_most = (np.searchsorted(ordered, thresholds, side) for side in ("left", "right"))
        is_quantile = 2 * np.minimum(bdtr(at_most, n, share), np.where(below > 0, bdtrc(below - 1.0, n, share), 1.0))
        pvalues = np.minimum(mcnemar / _OF_MCNEMAR, is_quantile / (1 - _OF_MCNEMAR))
        return float(min(1.0, max(_LEAST, pvalues.max())))

    return p_of


def _against_sample(a: FloatArray, share: float) -> Callable[[FloatArray], float]:
    """Return `_against_paired` for B in other rows; A and B are sorted."""
    n, (least, most) = len(a), quantile_interval(a, share, confidence_level=1 - _LEAST)
    # P(A <= t) changes at values of A, and the p-value of P(B < t) falls with t: no other threshold has a larger p. Nor
    # has one far below the quantile, or one beyond a threshold above which A tells nothing.
    thresholds = np.append(-np.inf, np.unique(a[(a >= least) & (a <= most)]))
    of_a = bdtr(np.searchsorted(a, thresholds, "right"), n, share)

    def p_of(b: FloatArray) -> float:
        below = np.searchsorted(b, thresholds)
        of_b = np.where(below > 0, bdtrc(below - 1.0, len(b), share), 1.0)
        product = np.maximum(of_a * of_b, _LEAST)
        return float(min(1.0, (product * (1 - np.log(product))).max()))

    return p_of
