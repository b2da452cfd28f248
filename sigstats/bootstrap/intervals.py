"""The interval of a difference by bootstrap replicates, and the p-value that belongs to it.

In each method the p-value is the interval turned round: for every alpha that the number of replicates can resolve,
``pvalue <= alpha`` exactly if the interval of confidence ``1 - alpha`` leaves the hypothetical difference out. To this
end the ends are order statistics, with the (M + 1) convention of `sigstats._common.extreme.monte_carlo_pvalue`, and
never interpolated.

When not to use: not meant to be called by itself; `sigstats.bootstrap.test` does.
"""

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from .._common.extreme import at_least, at_most, monte_carlo_pvalue
from .._common.validation import Alternative, FloatArray, refuse

BootstrapMethod: TypeAlias = Literal["percentile", "centred", "bca"]

BOOTSTRAP_METHODS: tuple[BootstrapMethod, ...] = ("percentile", "centred", "bca")

#: ``(M + 1) * (1 - 0.9)`` is a hair below 2 for M = 19; ranks are rounded down after this much is added.
_ROUNDING = 1e-9


class Inference(NamedTuple):
    """The ends of the interval, the p-value, the number of replicates behind the p-value, and a warning or nothing."""

    low: float
    high: float
    pvalue: float
    exceedances: int
    reason: str


def check_resamples(
    n_resamples: int, confidence_level: float, method: BootstrapMethod, alternative: Alternative
) -> None:
    """ValueError if so few replicates cannot have a tail of the probability asked for."""
    tail = (1 - confidence_level) / (2 if alternative == "two-sided" and method != "centred" else 1)
    if _rank(n_resamples, tail) < 1:
        raise refuse("n_resamples", n_resamples, f"at least {math.ceil(1 / tail - _ROUNDING) - 1} for this confidence")


def infer(
    differences: FloatArray,
    *,
    method: BootstrapMethod,
    confidence_level: float,
    alternative: Alternative,
    null_value: float,
    estimate: float,
    acceleration: float,
) -> Inference:
    """The interval of a difference and its p-value from replicates, in any order, by one of `BOOTSTRAP_METHODS`.

    `estimate` and `acceleration` are for ``"bca"`` alone. The caller has seen to it that all is in range.
    """
    if method == "centred":
        return _centred(differences, confidence_level, null_value)
    tail = (1 - confidence_level) / (2 if alternative == "two-sided" else 1)
    replicates = len(differences)
    at_or_below = int(np.count_nonzero(at_most(differences, null_value)))
    at_or_above = int(np.count_nonzero(at_least(differences, null_value)))
    shares = monte_carlo_pvalue(at_or_below, replicates), monte_carlo_pvalue(at_or_above, replicates)
    if method == "percentile":
        low_level = high_level = tail
        p_above, p_below = shares
    else:
        bias = _bias(differences, estimate)
        low_level = _level(float(ndtri(tail)), bias, acceleration)
        high_level = _level(float(ndtri(tail)), -bias, -acceleration)  # BCa of the differences with the sign turned
        p_above = max(_tail_of_level(shares[0], bias, acceleration), 1 / (replicates + 1))
        p_below = max(_tail_of_level(shares[1], -bias, -acceleration), 1 / (replicates + 1))
    ordered = np.sort(differences)
    low_rank, high_rank = _rank(replicates, low_level), _rank(replicates, high_level)
    low, high = ordered[min(max(low_rank, 1), replicates) - 1], ordered[-min(max(high_rank, 1), replicates)]
    needed = {"two-sided": (low_rank, high_rank), "greater": (low_rank,), "less": (high_rank,)}[alternative]
    reason = ""
    if not all(1 <= rank <= replicates for rank in needed):
        reason = "an end of the interval lies beyond the replicates: draw more"
    if alternative == "greater":
        return Inference(float(low), math.inf, p_above, at_or_below, reason)
    if alternative == "less":
        return Inference(-math.inf, float(high), p_below, at_or_above, reason)
    pvalue = min(1.0, 2 * min(p_above, p_below))
    return Inference(float(low), float(high), pvalue, min(at_or_below, at_or_above), reason)


def _centred(differences: FloatArray, confidence_level: float, null_value: float) -> Inference:
    """The interval ``mean +- h`` that holds the stated share of the replicates, eq. (14) and the text after it."""
    mean = float(differences.mean())
    distances = np.abs(differences - mean)
    half = float(np.sort(distances)[-_rank(len(distances), 1 - confidence_level)])
    beyond = int(np.count_nonzero(at_least(distances, abs(mean - null_value))))
    return Inference(mean - half, mean + half, monte_carlo_pvalue(beyond, len(distances)), beyond, "")


def _rank(replicates: int, level: float) -> int:
    return math.floor((replicates + 1) * level + _ROUNDING)


def _bias(differences: FloatArray, estimate: float) -> float:
    """BCa's z0, Efron (1987): the normal quantile of the share of replicates below the estimate, ties by half.

    It is found from those above, as of the differences B - A that studies have stored.
    """
    above = np.count_nonzero(~at_most(differences, estimate))
    tied = np.count_nonzero(at_least(differences, estimate)) - above
    share = (above + tied / 2) / len(differences)
    smallest = 0.5 / len(differences)
    return -float(ndtri(min(max(share, smallest), 1 - smallest)))


def _level(z: float, bias: float, acceleration: float) -> float:
    """The level of the percentile that BCa takes for the normal quantile `z`, Efron (1987), eq. (4.5)."""
    shift = bias + z
    scale = 1 - acceleration * shift
    if scale <= 0:
        return 1.0 if shift > 0 else 0.0
    return float(ndtr(bias + shift / scale))


def _tail_of_level(level: float, bias: float, acceleration: float) -> float:
    """The tail probability whose `_level` is `level`."""
    z = float(ndtri(level)) - bias
    scale = 1 + acceleration * z
    if level == 1 or scale <= 0:  # beyond every level that `_level` reaches
        return 0.0 if z < 0 else 1.0
    return float(ndtr(z / scale - bias))
