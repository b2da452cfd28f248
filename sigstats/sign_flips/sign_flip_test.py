"""The sign-flip test of paired differences, exactly.

Two models answer the same items, each item once or several times, or the same rows in groups. If their answers to an
item are exchangeable, all changes of the signs of the items' differences are equally likely (Fisher 1935, The Design of
Experiments, section 21). With one right or wrong answer to each item this is McNemar's exact test.

When not to use: the items are not independent of each other (take what they share as the item); the two models
answered different items (`sigstats.homogeneity_test`); or the question is about medians or ranks
(`scipy.stats.wilcoxon`). A difference that has mean zero and is skewed is rejected, too.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from .._common.data_frames import refuse_summary_rows, require_same_index
from .._common.extreme import at_least
from .._common.random_streams import RNG, as_generator
from .._common.validation import (
    ALTERNATIVES,
    MAX_TOTAL,
    Alternative,
    FloatArray,
    as_choice,
    as_count,
    as_flag,
    as_real,
    as_reals,
    refuse,
    refuse_where,
)
from ..intervals import Interval, with_alternative
from ..test_result import TestResult, monte_carlo_outcome
from ..unseen_row.means import mean_interval, units_of
from .differences import LARGEST, SignedSums, as_units, score_pvalue, signed_sums
from .law import pvalue_of_sum

SignFlipMethod: TypeAlias = Literal["exact", "monte-carlo"]

SIGN_FLIP_METHODS: tuple[SignFlipMethod, ...] = ("exact", "monte-carlo")

_BATCH = 2**22
#: Up to this many items, the interval is computed to eleven digits.
_FEW = 1000


@dataclass(frozen=True, kw_only=True)
class SignFlipResult(TestResult):
    """The result of `sign_flip_test`.

    Attributes
    ----------
    statistic : float
        The sum of the differences.
    pvalue : float
        The p-value, or its upper bound if the distribution is too wide to be summed exactly.
    log10_pvalue : float
        The decimal logarithm of the p-value, finite even if the p-value is below the smallest float.
    pvalue_interval : Interval or None
        Certified bounds of the p-value (confidence 1) if its law is too wide to be summed exactly; for
        ``"monte-carlo"`` the interval of the p-value of infinitely many replicates.
    estimate : float
        The mean difference of a row: the sum of the differences over the sum of the sizes.
    standard_error : float
        Of the estimate, by items: Miller's (2024) clustered standard error; NaN for one item.
    confidence_interval : Interval
        Of the mean difference, one-sided if the test is: bounds that one more item, whose rows all differ by `limit`,
        does not undo (``sigstats.unseen_row.means``). It may contain 0 even if p is small, since p tests
        exchangeability and not a mean of 0.
    items, differing : int
        The number of items, and of items whose difference is not 0.
    """

    _question = "Sign-flip test: are A and B equally good?"
    _null = "A and B are exchangeable"

    estimate: float
    standard_error: float
    confidence_interval: Interval
    items: int
    differing: int
    log10_pvalue: float


def sign_flip_test(
    differences: Any,
    *,
    sizes: Any = None,
    limit: float | None = None,
    symmetric: bool = True,
    alternative: Alternative = "two-sided",
    method: SignFlipMethod = "exact",
    n_resamples: int = 99_999,
    confidence_level: float = 0.95,
    rng: RNG = None,
) -> SignFlipResult:
    """Test whether paired differences are as likely to favour A as B, item by item.

    Null hypothesis: items are independent, and d is as likely as -d in each (``symmetric=False``: the mean is 0).

    Parameters
    ----------
    differences : array_like, shape (n,)
        The score of A minus that of B in each item, such as numbers of right answers or marks, as integers, fractions
        (`fractions.Fraction`) or floats. Floats that are multiples of one fraction to nine digits count as these
        multiples, so that sums that differ only by rounding error are ties.
    sizes : array_like, shape (n,), optional
        The number of rows in each difference; 1 by default. Sizes change the estimate and its interval, not the
        p-value.
    limit : float, optional
        The largest possible difference of one row, such as 1 for right and wrong; it bounds the difference of an unseen
        item. By default the largest observed ratio of a difference to its size.
    symmetric : bool
        Whether A and B are exchangeable within an item if they are equally good. They are not if an item's difference
        is one of means of different numbers of answers; p is then at least that of a score test (see Notes).
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A is ahead; ``"less"``: B is.
    method : {"exact", "monte-carlo"}
        ``"exact"`` sums over all changes of sign, at any number of items (see Notes); ``"monte-carlo"`` draws some.
    n_resamples : int
        The number of replicates of ``"monte-carlo"``.
    confidence_level : float
        Of the interval, strictly between 0 and 1.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the replicates.

    Returns
    -------
    SignFlipResult

    Raises
    ------
    ValueError
        If there is no difference, one is not finite or exceeds `limit` times its size, `sizes` are of another length or
        not positive, or an option is out of range.

    Notes
    -----
    The sum of the differences is ``2 S - sum(abs(d))``, where S is the sum of the positive ones. The distribution of S
    is a product of polynomials, ``(1 + x**abs(d)) / 2`` for each item. Whole numbers and fractions are multiplied
    exactly; wider distributions are computed from their characteristic function, to thirty digits, or from sums of
    doubles, to twelve. Floats without a common fraction are enumerated up to 40 items, and beyond that bounded to some
    two thousandths, or less closely with ties or a few dominating differences (``sigstats.sign_flips.bounds``).

    When not to use: for equal means of asymmetric differences. With 20 items, each of which gains 1 or, with
    probability 1/50, loses 49, the null hypothesis of symmetry is rejected in 70% of sets. Nor are the mean of one
    answer and that of eight exchangeable: if each answer is right with probability 0.9, the exact test calls the model
    with eight answers worse in 29% of sets of ten items. With ``symmetric=False`` p is the larger of the exact one and
    that of a score test, whose variance is that of the likeliest distribution of mean 0 in which unseen items may
    differ by `limit`; its level is approximate (8.3% for 5% one-sided, with 12 differences that are 0.4 or, with
    probability 0.4, -0.6). A verdict about the mean requires that the interval excludes 0 as well.

    Two-sided, p is the probability of a sum at least as far from 0. If all differences are 0, p is 1.

    References
    ----------
    Fisher, *The Design of Experiments* (1935). Pagano and Tritchler, JASA 78 (1983).

    Examples
    --------
    Three answers to each of eight items; the difference counts right answers:

    >>> import sigstats
    >>> result = sigstats.sign_flip_test([3, 2, 0, 1, -1, 2, 3, 1], sizes=[3] * 8, limit=1)
    >>> round(result.estimate, 4), result.pvalue
    (0.4583, 0.0625)
    >>> sigstats.sign_flip_test([1] * 7 + [-1]).pvalue == sigstats.mcnemar_test(7, 1).pvalue
    True
    """
    require_same_index(differences=differences, sizes=sizes)
    refuse_summary_rows(differences=differences)
    units, scale = as_units(differences)
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    as_flag(symmetric, "symmetric")
    as_choice(method, "method", SIGN_FLIP_METHODS)
    replicates = as_count(n_resamples, "n_resamples", minimum=1, maximum=10**8)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    values = units.astype(np.float64) * scale
    rows = np.ones(len(values)) if sizes is None else _sizes(sizes, len(values))
    most = _limit(limit, values, rows)
    generator = as_generator(rng)
    if method == "exact":
        tested = _exact(signed_sums(units), way)
    else:
        extreme = _exceedances(values[values != 0], float(values.sum()), way, replicates, generator)
        tested = monte_carlo_outcome(extreme, replicates)
        tested["log10_pvalue"] = math.log10(tested["pvalue"])
    seen = units_of(values, None if sizes is None else rows)
    if not symmetric:
        tested = _at_least(tested, score_pvalue(values, rows, most, alternative))
    estimate = float(values.sum() / rows.sum())
    return SignFlipResult(
        statistic=float(values.sum()),
        method=method,
        alternative=way,
        estimate=estimate,
        standard_error=_standard_error(values, rows, estimate),
        confidence_interval=with_alternative(
            lambda value: mean_interval(seen, (-most, most), value, fine=len(values) <= _FEW), way, level, (-most, most)
        ),
        items=len(values),
        differing=int(np.count_nonzero(values)),
        **{"reason": "" if np.any(values) else "no item differs: the data say nothing about a difference", **tested},
    )


def _exact(sums: SignedSums, way: str) -> dict[str, Any]:
    tail = pvalue_of_sum(*sums, way)
    return {
        "pvalue": tail.high,
        "log10_pvalue": tail.log / math.log(10),
        "pvalue_interval": tail.interval,
        "error_bound": tail.error_bound,
        **({"reason": tail.reason} if tail.reason else {}),
    }


def _at_least(tested: dict[str, Any], least: float) -> dict[str, Any]:
    """Return the p-value of sign flips, or a larger one of another test in its place."""
    if tested["pvalue"] >= least:
        return tested
    without_bounds = dict.fromkeys(("pvalue_interval", "error_bound"))
    return {**tested, **without_bounds, "pvalue": least, "log10_pvalue": math.log10(least), "reason": ""}


def _sizes(sizes: Any, n: int) -> FloatArray:
    rows = as_reals(sizes, "sizes", ndim=1)
    if len(rows) != n:
        raise refuse("sizes", len(rows), f"{n}, one for each difference", quantity="length")
    refuse_where((rows <= 0) | (rows > MAX_TOTAL), rows, "sizes", f"numbers above 0 and up to {MAX_TOTAL}")
    return rows


def _limit(limit: float | None, values: FloatArray, rows: FloatArray) -> float:
    seen = float((np.abs(values) / rows).max())
    if limit is None:
        return seen
    most = as_real(limit, "limit", low=0, high=LARGEST)
    if seen > most * (1 + 1e-9):
        raise refuse("limit", limit, f"at least {seen:g}, the largest observed difference of a row")
    return max(most, seen)


def _exceedances(values: FloatArray, total: float, way: str, replicates: int, rng: np.random.Generator) -> int:
    exceedances, step = 0, max(1, _BATCH // max(1, len(values)))
    for start in range(0, replicates, step):
        signs = rng.integers(0, 2, size=(min(step, replicates - start), len(values)), dtype=np.int8) * 2 - 1
        sums = signs @ values
        of_way = {"greater": (sums, total), "less": (-sums, -total), "two-sided": (np.abs(sums), abs(total))}
        extreme, observed = of_way[way]
        scale = float(np.abs(values).sum())  # sums that cancel are equal to within the rounding of their terms
        exceedances += int(at_least(extreme + scale, observed + scale).sum())
    return exceedances


def _standard_error(values: FloatArray, rows: FloatArray, estimate: float) -> float:
    """Miller (2024), "Adding error bars to evals", eq. (4), for paired differences, with the factor n / (n - 1)."""
    n = len(values)
    if n < 2:
        return math.nan
    residuals = values - estimate * rows
    return float(math.sqrt(float((residuals**2).sum()) * n / (n - 1)) / rows.sum())
