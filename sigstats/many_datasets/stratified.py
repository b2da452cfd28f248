"""Two models over *these* data sets, exactly.

A benchmark of fixed data sets asks whether one model is better on them: rows are sampled, data sets are not.

When not to use: the question is about other data sets of the same kind (`sigstats.signed_rank_test`); rows of one data
set are not independent (`sigstats.sign_flip_test` with their groups); or the predictions come from repeated
cross-validation, which counts rows more than once.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from .._common.class_spelling import is_summary
from .._common.data_frames import require_same_index
from .._common.validation import (
    ALTERNATIVES,
    Alternative,
    FloatArray,
    IntArray,
    as_choice,
    as_counts,
    has_index,
    refuse,
    shown,
)
from ..effects import accuracy_difference
from ..intervals import Interval, as_level, with_alternative
from ..sign_flips.law import pvalue_of_sum
from ..test_result import TestResult

Weights: TypeAlias = Literal["strata", "rows"]

WEIGHTS: tuple[Weights, ...] = ("strata", "rows")
#: The largest number of discordant rows.
MOST_DISCORDANT = 10**6


@dataclass(frozen=True, kw_only=True)
class StratifiedResult(TestResult):
    """The result of `stratified_paired_test`.

    Attributes
    ----------
    statistic, estimate : float
        The accuracy of A minus that of B: the mean over the data sets, or over all rows.
    pvalue_interval : Interval or None
        Certified bounds of the p-value if its law is too wide to be summed exactly; the p-value is the upper one.
    confidence_interval : Interval
        An interval of `estimate`, one-sided if the test is: Tango's intervals of the data sets, combined by the squares
        of their halves (Zou and Donner 2008).
    strata : int
        The number of data sets.
    """

    _question = "Stratified paired test: are A and B equally accurate on these data sets?"
    _null = "they are"

    estimate: float
    confidence_interval: Interval
    strata: int


def stratified_paired_test(
    only_a: Any,
    only_b: Any,
    n: Any,
    *,
    weights: Weights = "strata",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> StratifiedResult:
    """Test whether two models are equally accurate on each of a fixed collection of data sets.

    Null hypothesis: on each data set, a row of an independent sample is as likely to be right only by A as only by B.

    Parameters
    ----------
    only_a, only_b : array_like of int, shape (S,)
        The numbers of rows of each data set that only A, and only B, got right.
    n : array_like of int, shape (S,)
        The number of rows of each data set.
    weights : {"strata", "rows"}
        ``"strata"``: every data set counts alike, as in a table of accuracies with their mean; ``"rows"``: every row
        does, which is McNemar's test of all rows together.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A is the more accurate one; ``"less"``: B is.
    confidence_level : float
        That of the interval, strictly between 0 and 1, above 1/2 if it is one-sided.

    Returns
    -------
    StratifiedResult
        Without discordant rows the p-value is 1.

    Raises
    ------
    ValueError
        If a count is negative or fractional, the three differ in length, `n` is less than the discordant rows, or there
        are more than a million discordant rows; if the label or counts of a data set are those of a total or mean of
        the others; or if pandas Series differ in their labels or their order.

    Notes
    -----
    The statistic is the sum of ``(only_a - only_b) / n``. Given the discordant rows of a data set, the number that A
    got right is binomial with probability 1/2 under the null hypothesis; the distribution of the sum is a convolution
    of these binomials, or bounded to some two thousandths if that is too long (``sigstats.sign_flips.bounds``). A small
    p-value does not mean that the mean accuracies differ: if A gains 2 points on a data set of 5 rows and B on one of
    1,000, p is below 0.05 in 90% of samples.

    References
    ----------
    The interval: Zou and Donner, Statistics in Medicine 27 (2008).

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.stratified_paired_test([9, 4, 12], [3, 2, 4], [150, 60, 200])
    >>> round(result.estimate, 4), round(result.pvalue, 4)
    (0.0378, 0.0268)
    """
    a, b, size = as_strata(only_a, only_b, n)
    as_choice(weights, "weights", WEIGHTS)
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    confidence = as_level(confidence_level, way)
    discordant = int((a + b).sum())
    sizes = [1] * len(size) if weights == "rows" else size.tolist()
    unit = Fraction(1, math.lcm(*sizes))
    steps = [int(1 / (value * unit)) for value in sizes]
    times: Counter[int] = Counter()
    for step, count in zip(steps, (a + b).tolist(), strict=True):  # data sets of equal size are added up
        times[step] += count
    magnitudes = list(times.elements())
    for_a = sum(step * count for step, count in zip(steps, a.tolist(), strict=True))
    for_b = sum(step * count for step, count in zip(steps, b.tolist(), strict=True))
    divisor = math.gcd(*magnitudes) or 1
    tail = pvalue_of_sum([magnitude // divisor for magnitude in magnitudes], for_a // divisor, for_b // divisor, way)
    rows = int(size.sum()) if weights == "rows" else len(size)
    estimate = float((for_a - for_b) * unit / rows)
    shares = size / rows if weights == "rows" else np.full(len(size), 1 / rows)
    return StratifiedResult(
        statistic=estimate,
        estimate=estimate,
        confidence_interval=with_alternative(
            lambda level: _interval(a, b, size, shares, level), way, confidence, (-1.0, 1.0)
        ),
        pvalue=tail.high,
        method="exact",
        alternative=way,
        pvalue_interval=tail.interval,
        strata=len(size),
        reason=tail.reason if discordant else "no discordant row: the data say nothing about a difference",
        error_bound=tail.error_bound,
    )


def as_strata(only_a: Any, only_b: Any, n: Any) -> tuple[IntArray, IntArray, IntArray]:
    """Return the discordant counts and sizes of data sets, or raise ValueError as `stratified_paired_test`."""
    require_same_index(only_a=only_a, only_b=only_b, n=n)
    a, b = as_counts(only_a, "only_a", ndim=1), as_counts(only_b, "only_b", ndim=1)
    size = as_counts(n, "n", ndim=1)
    for name, counts in (("only_b", b), ("n", size)):
        if len(counts) != len(a):
            raise refuse(name, len(counts), f"{len(a)}, one for each data set", quantity="length")
    short = (a + b > size) | (size == 0)
    if short.any():
        raise refuse("n", size[short][0], f"at least only_a + only_b, {int((a + b)[short][0])}, and at least 1")
    discordant = int((a + b).sum())
    if discordant > MOST_DISCORDANT:
        raise refuse("only_a + only_b", discordant, f"at most {MOST_DISCORDANT}", quantity="total")
    _refuse_totals(next((given.index for given in (n, only_a, only_b) if has_index(given)), ()), a, b, size)
    return a, b, size


def _refuse_totals(names: Iterable[Any], *counts: IntArray) -> None:
    """Refuse a data set with the name of a total or mean or, without names, with counts that are sums of the others."""
    labels = [name if isinstance(name, tuple) else (name,) for name in names]
    if odd := next((label for levels in labels for label in levels if is_summary(label)), None):
        raise ValueError(f"n (index): {shown(odd)} is not a data set; leave out totals and means")
    named = any(isinstance(label, str) for levels in labels for label in levels)
    for end, place in () if named else (("first", 0), ("last", -1)):
        of_others = all(2 * count[place] == count.sum() for count in counts)
        if len(counts[0]) > 2 and counts[0][place] + counts[1][place] and of_others:
            cure = "leave it out or, if it is a data set, name them all (pandas Series)"
            raise ValueError(f"n: the {end} data set has the total counts of the others; {cure}")


def _interval(a: IntArray, b: IntArray, sizes: IntArray, weights: FloatArray, level: float) -> Interval:
    """Combine the weighted intervals: on either side, take the root of the sum of their squared distances."""
    effect_sizes = [
        accuracy_difference(*value, confidence_level=level)
        for value in zip(a.tolist(), b.tolist(), sizes.tolist(), strict=True)
    ]
    estimates = np.array([size.estimate for size in effect_sizes])
    ends = np.array([[*size.confidence_interval] for size in effect_sizes])
    reach = np.linalg.norm(weights[:, None] * (ends - estimates[:, None]), axis=0)
    middle = float(weights @ estimates)
    return Interval(max(middle - float(reach[0]), -1.0), min(middle + float(reach[1]), 1.0), level)
