"""The scores of a pair, and the result of a test of their means or areas: its p-value and its intervals.

When not to use: not meant to be called directly; `sigstats.scores.auc` and `sigstats.scores.mean_score` use it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr

from .._common.class_columns import categories_of, classes_of_columns, positive_place
from .._common.data_frames import refuse_summary_rows
from .._common.extreme import exchange_floor
from .._common.validation import FloatArray, IntArray, as_array, as_labels, as_reals, refuse, require_squarable
from ..intervals import Interval, student_quantile
from ..test_result import TestResult

#: A result has a warning if it has fewer positives, negatives or rows than this, or fewer groups.
FEW, FEW_GROUPS = 10, 20
#: Differences count as equal if they differ by at most this, relative to the scores, because scores are rounded.
ROUNDING = 16 * np.finfo(np.float64).eps


def as_marks(value: Any, name: str) -> FloatArray:
    """Return a sequence of finite numbers, or of True and False as 1 and 0, as float64, or raise ValueError."""
    refuse_summary_rows(**{name: value})
    given = as_array(value, name, "a sequence of numbers, or of True and False")
    return as_reals(given * 1 if given.dtype == np.bool_ else given, name, ndim=1)


def pair_of_scores(score_a: Any, score_b: Any, length: int | None, other: str) -> tuple[FloatArray, FloatArray]:
    """Return two equally long sequences of finite scores with squares that can be added, or raise ValueError."""
    a, b = as_reals(score_a, "score_a", ndim=1), as_reals(score_b, "score_b", ndim=1)
    for name, scores in (("score_a", a), ("score_b", b)):
        if len(scores) != (len(a) if length is None else length):
            raise refuse(
                name, len(scores), f"{len(a) if length is None else length}, that of {other}", quantity="length"
            )
        require_squarable(scores, name)
    return a, b


def truth_and_scores(
    y: Any, score_a: Any, score_b: Any, positive: Any
) -> tuple[NDArray[np.bool_], tuple[FloatArray, FloatArray]]:
    """Return a mask of the positive rows, and both scores for the positive class, or raise ValueError."""
    labels = as_labels(y, "y")
    classes = np.unique(labels)
    if positive is None and set(classes.tolist()) <= {0, 1}:
        classes = np.array([0, 1], dtype=labels.dtype)
    chosen = classes[positive_place(classes.tolist(), positive)]
    known = classes, chosen, categories_of(y)
    scores = _of_class(score_a, "score_a", *known), _of_class(score_b, "score_b", *known)
    return labels == chosen, pair_of_scores(*scores, len(labels), "y")


def _of_class(score: Any, name: str, classes: NDArray[Any], chosen: Any, categories: list[str]) -> Any:
    """Return the column of a class if the table has one for each class; otherwise return the scores themselves."""
    table = as_array(score, name, "a sequence of finite numbers")
    if table.ndim != 2:
        return score
    if table.shape[1] == 1:
        return table[:, 0]
    cure = "the column of the positive class"
    order = classes_of_columns(score, name, table.shape[1], classes, categories=categories, or_else=cure)
    return table[:, np.flatnonzero(order == chosen)[0]]


def group_sums(values: FloatArray, codes: IntArray) -> FloatArray:
    """Return the sum of each group, by pairwise summation."""
    order = np.argsort(codes, kind="stable")
    return np.asarray(np.add.reduceat(values[order], np.flatnonzero(np.diff(codes[order], prepend=-1))))


def few_warning(count: int, what: str, least: int) -> str:
    """Return a warning if there are fewer than `least` of `what`; otherwise empty."""
    return f"only {count} {what}: the test wants {least} or more" if count < least else ""


#: The alternative that a positive difference A - B speaks for.
_FAVOURED = {True: "greater", False: "less"}


@dataclass(frozen=True, kw_only=True)
class ScoreResult(TestResult):
    """The result of `auc_test`, `mean_score_test` and `unpaired_test`.

    Attributes
    ----------
    statistic : float
        The difference in units of its standard error; infinite if the difference is the same in all rows (or groups).
    pvalue : float
        The p-value. If the statistic is infinite, the smallest p-value of n rows or groups in each of which A and B are
        exchanged at random: ``2**-n``, two-sided ``2**(1 - n)``.
    value_a, value_b : float
        The area or the mean of each classifier.
    interval_a, interval_b : Interval
        Their two-sided intervals.
    estimate : float
        The area or mean of A minus that of B.
    standard_error : float
        The standard error of the estimate, by groups if there are any.
    confidence_interval : Interval
        The interval of the difference, one-sided if the alternative is: for ``"greater"`` its upper end is the largest
        possible difference, for ``"less"`` its lower end is the smallest.
    """

    _question = "Test of two areas or means: are A and B equally good?"
    _null = "they are"

    confidence_interval: Interval
    interval_a: Interval
    interval_b: Interval
    value_a: float
    value_b: float
    estimate: float
    standard_error: float


class Estimate(NamedTuple):
    """An area or a mean, the variance of its estimate, and the degrees of freedom of Student's t; infinite: normal."""

    value: float
    variance: float
    freedom: float


class Differences(NamedTuple):
    """Summary of the differences: whether all are equal, rounding error, and number and name of the units."""

    constant: bool
    rounding: float
    units: int
    what: str


def score_result(
    estimates: Sequence[Estimate],
    *,
    difference: Differences,
    alternative: str,
    confidence_level: float,
    method: str,
    reason: str,
    within: tuple[float, float] = (-math.inf, math.inf),
    exponent: int = 0,
) -> ScoreResult:
    """Return the test of a difference, from estimates for A, B and A - B in units of ``2**exponent``.

    No value lies outside of `within`.
    """

    def interval(of: Estimate, low: float, high: float, side: str = "two-sided") -> Interval:
        share = (1 - confidence_level) / (2 if side == "two-sided" else 1)
        quantile = -ndtri(share) if math.isinf(of.freedom) else -student_quantile(of.freedom, share)
        width = float(quantile) * math.sqrt(of.variance)
        ends = (math.ldexp(of.value - width, exponent), math.ldexp(of.value + width, exponent))
        return Interval(
            low if side == "less" else max(low, ends[0]),
            high if side == "greater" else min(high, ends[1]),
            confidence_level,
        )

    of = estimates[2]
    if not difference.constant:
        z = of.value / math.sqrt(of.variance)
    else:
        z = 0.0 if abs(of.value) <= difference.rounding else math.copysign(math.inf, of.value)
    p = _pvalue(z, of.freedom, difference, alternative)
    span = within[1] - within[0]
    confidence_interval = interval(of, -span, span, alternative)
    if math.isinf(z):
        if exchange_floor(difference.units, alternative) > 1 - confidence_level:  # so few of them exclude no difference
            confidence_interval = Interval(-span, span, confidence_level)
        least = f"all differences are equal: p is the smallest that {difference.units} {difference.what} can show"
        reason = "; ".join(filter(None, [reason, least]))
    a, b, d = (math.ldexp(estimate.value, exponent) for estimate in estimates)
    return ScoreResult(
        statistic=z,
        pvalue=p,
        method=method,
        alternative=alternative,
        confidence_interval=confidence_interval,
        interval_a=interval(estimates[0], *within),
        interval_b=interval(estimates[1], *within),
        value_a=a,
        value_b=b,
        estimate=d,
        standard_error=math.ldexp(math.sqrt(of.variance), exponent),
        reason=reason,
    )


def _pvalue(z: float, freedom: float, difference: Differences, alternative: str) -> float:
    if math.isinf(z):
        floor = exchange_floor(difference.units, alternative)
        return floor if alternative in ("two-sided", _FAVOURED[z > 0]) else 1.0

    def tail(at: float) -> float:
        return float(ndtr(at) if math.isinf(freedom) else stdtr(freedom, at))

    return {"less": tail(z), "greater": tail(-z), "two-sided": min(1.0, 2 * tail(-abs(z)))}[alternative]
