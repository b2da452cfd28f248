"""Bootstrap replicates of a measure, from the counts of joint events; an interval and its p-value from replicates.

`bootstrap_replicates` draws them, and `infer` computes the interval and the p-value. In each method the p-value is the
inversion of the interval: for every alpha that the number of replicates can resolve, ``pvalue <= alpha`` exactly if the
interval of confidence ``1 - alpha`` excludes the hypothetical difference. To this end the ends are order statistics,
with the (M + 1) convention of `sigstats._common.extreme.monte_carlo_pvalue`, and never interpolated.

When not to use: for dependent observations, whose groups would have to be drawn; for measures of scores, which are not
functions of such counts.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from .._common.extreme import at_least, at_most, difference, monte_carlo_pvalue
from .._common.random_streams import MAX_RESAMPLES, as_generator
from .._common.validation import Alternative, FloatArray, as_count, refuse
from ..joint.events import JointCounts, as_joint_counts
from ..measures.measure import Measure, as_measure

#: The most numbers in a block of replicates.
_BLOCK = 2**22


class Replicates(NamedTuple):
    """Bootstrap replicates of a measure, in the order of the draws."""

    #: The measure of A and of B in each replicate; ndarray of float64, shape (size,).
    a: FloatArray
    b: FloatArray
    #: Mask of replicates with 0/0, taken as 0, in the measure of A or B, never for a user's function; ndarray of bool,
    #: shape (size,).
    undefined: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def differences(self) -> FloatArray:
        """A - B, and exactly 0 if the two are tied."""
        return difference(self.a, self.b)


def bootstrap_replicates(
    outcomes: JointCounts, measure: str | Measure | Callable[..., Any] = "f1", *, rng: Any = None, size: int
) -> Replicates:
    """Draw `size` bootstrap replicates of a measure of A and of B, as `as_measure` takes it, or raise ValueError.

    Replicates come in a fixed order: fewer from a generator in the same state are the first of more, and two draws
    in succession are one draw of both sizes together.
    """
    joint, chosen = as_joint_counts(outcomes), as_measure(measure)
    size = as_count(size, "size", maximum=MAX_RESAMPLES)
    width = len(joint.counts) + 8 * joint.n_categories
    parts = [evaluate(joint, chosen, weights) for weights in resample(joint.counts, rng, size, width)]
    if not parts:
        return Replicates(np.empty(0), np.empty(0), np.empty(0, dtype=np.bool_))
    a, b, undefined = zip(*parts, strict=True)
    return Replicates(np.concatenate(a), np.concatenate(b), np.concatenate(undefined))


def acceleration(outcomes: JointCounts, measure: str | Measure | Callable[..., Any] = "f1") -> float:
    """Return BCa's acceleration of A - B: the skewness of its jackknife values divided by 6, or 0 if all are equal.

    Leaving out any observation of an event gives the same value, so there are as many values as distinct events,
    weighted by their counts (Efron 1987, eq. 6.6).
    """
    joint, chosen = as_joint_counts(outcomes), as_measure(measure)
    counts = np.array(joint.counts, dtype=np.float64)
    occurring = np.flatnonzero(counts)
    step = max(1, _BLOCK // (counts.size + 8 * joint.n_categories))
    values = []
    for start in range(0, occurring.size, step):
        left_out = occurring[start : start + step]
        weights = np.tile(counts, (left_out.size, 1))
        weights[np.arange(left_out.size), left_out] -= 1
        values.append(evaluate(joint, chosen, weights).differences)
    jackknife, times = np.concatenate(values), counts[occurring]
    influence = np.average(jackknife, weights=times) - jackknife
    spread = float((times * influence**2).sum())
    return float((times * influence**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def resample(counts: tuple[int, ...], rng: Any, size: int, width: int) -> Iterator[FloatArray]:
    """Yield `size` rows of multinomial event counts in blocks; the counts do not depend on the block size.

    `width`: the number of values in memory per replicate, which limits the size of a block.
    """
    generator = as_generator(rng)
    events = np.array(counts, dtype=np.int64)
    # NumPy draws one binomial after another, with probabilities relative to what remains. In ascending order the
    # remainder stays near 1, and its rounding error small compared with each probability; absent events are left out.
    order = np.argsort(events, kind="stable")
    order = order[events[order] > 0]
    n = int(events.sum())
    probabilities = events[order] / n
    step = max(1, _BLOCK // width)
    for start in range(0, size, step):
        drawn = generator.multinomial(n, probabilities, size=min(step, size - start))
        weights = np.zeros((len(drawn), events.size), order="F")  # columns are summed, so keep them contiguous
        weights[:, order] = drawn
        yield weights


def evaluate(joint: JointCounts, measure: Measure, weights: FloatArray) -> Replicates:
    """Return the measure of A and of B for each row of event counts."""
    values, undefined = [], np.zeros(len(weights), dtype=np.bool_)
    for confusion in joint.confusions(weights):
        value = measure.of(confusion, joint.kind, undefined=float("nan"))
        if measure.function is None and (lost := np.isnan(value)).any():
            undefined |= lost
            value = measure.of(confusion, joint.kind)
        values.append(value)
    return Replicates(values[0], values[1], undefined)


BootstrapMethod: TypeAlias = Literal["percentile", "centred", "bca"]

BOOTSTRAP_METHODS: tuple[BootstrapMethod, ...] = get_args(BootstrapMethod)
#: Added before ranks are rounded down, since ``(M + 1) * (1 - 0.9)`` is slightly below 2 for M = 19.
_ROUNDING = 1e-9


class Inference(NamedTuple):
    """An interval, a p-value, the number of replicates at or beyond the null value, and a warning, empty if none."""

    low: float
    high: float
    pvalue: float
    exceedances: int
    reason: str


def check_resamples(
    n_resamples: int, confidence_level: float, method: BootstrapMethod, alternative: Alternative
) -> None:
    """Raise ValueError if there are too few replicates for a tail of this probability."""
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
    """Return the interval of a difference and its p-value; only ``"bca"`` uses `estimate` and `acceleration`."""
    if method == "centred":
        return _centred(differences, confidence_level, null_value)
    tail = (1 - confidence_level) / (2 if alternative == "two-sided" else 1)
    n = len(differences)
    n_below = int(np.count_nonzero(at_most(differences, null_value)))
    n_above = int(np.count_nonzero(at_least(differences, null_value)))
    p_greater, p_less = monte_carlo_pvalue(n_below, n), monte_carlo_pvalue(n_above, n)
    low_level = high_level = tail
    if method == "bca":
        bias = _bias(differences, estimate)
        low_level = _bca_level(float(ndtri(tail)), bias, acceleration)
        high_level = _bca_level(float(ndtri(tail)), -bias, -acceleration)  # BCa of the differences with the sign turned
        p_greater = max(_bca_tail(p_greater, bias, acceleration), 1 / (n + 1))
        p_less = max(_bca_tail(p_less, -bias, -acceleration), 1 / (n + 1))
    ordered = np.sort(differences)
    low_rank, high_rank = _rank(n, low_level), _rank(n, high_level)
    low, high = float(ordered[min(max(low_rank, 1), n) - 1]), float(ordered[-min(max(high_rank, 1), n)])
    needed = {"two-sided": (low_rank, high_rank), "greater": (low_rank,), "less": (high_rank,)}[alternative]
    reason = ""
    if not all(1 <= rank <= n for rank in needed):
        reason = "an end of the interval lies beyond the replicates: draw more"
    if alternative == "greater":
        return Inference(low, math.inf, p_greater, n_below, reason)
    if alternative == "less":
        return Inference(-math.inf, high, p_less, n_above, reason)
    return Inference(low, high, min(1.0, 2 * min(p_greater, p_less)), min(n_below, n_above), reason)


def _centred(differences: FloatArray, confidence_level: float, null_value: float) -> Inference:
    """Return the interval ``mean +- h`` that contains the stated share of replicates.

    Keller, Mariethoz and Bengio, eq. (14) and the text below it.
    """
    mean = float(differences.mean())
    distances = np.abs(differences - mean)
    half = float(np.sort(distances)[-_rank(len(distances), 1 - confidence_level)])
    beyond = int(np.count_nonzero(at_least(distances, abs(mean - null_value))))
    return Inference(mean - half, mean + half, monte_carlo_pvalue(beyond, len(distances)), beyond, "")


def _rank(n: int, level: float) -> int:
    """Return the rank of the quantile of this level among `n` sorted replicates, from 1; it may be out of range."""
    return math.floor((n + 1) * level + _ROUNDING)


def _bias(differences: FloatArray, estimate: float) -> float:
    """Return BCa's z0, Efron (1987): the normal quantile of the share of replicates below the estimate (ties: half)."""
    above = np.count_nonzero(~at_most(differences, estimate))
    tied = np.count_nonzero(at_least(differences, estimate)) - above
    share = (above + tied / 2) / len(differences)
    smallest = 0.5 / len(differences)
    return -float(ndtri(min(max(share, smallest), 1 - smallest)))


def _bca_level(z: float, bias: float, acceleration: float) -> float:
    """Return the level of the percentile that BCa takes for the normal quantile `z`, Efron (1987), eq. (4.5)."""
    shift = bias + z
    scale = 1 - acceleration * shift
    if scale <= 0:
        return 1.0 if shift > 0 else 0.0
    return float(ndtr(bias + shift / scale))


def _bca_tail(level: float, bias: float, acceleration: float) -> float:
    """Return the tail probability whose percentile level is `level`: the inverse of `_bca_level`."""
    z = float(ndtri(level)) - bias
    scale = 1 + acceleration * z
    if level == 1 or scale <= 0:  # beyond every level that `_bca_level` reaches
        return 0.0 if z < 0 else 1.0
    return float(ndtr(z / scale - bias))
