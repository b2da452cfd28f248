"""McNemar's test: two classifiers on the same observations.

Only the observations that exactly one of the two gets right carry information. If both are equally accurate, then,
given their number, the number that A gets right is binomial with p = 1/2 (Salzberg 1997; Sturm).

When not to use: the classifiers saw different observations (`sigstats.homogeneity_test`); the observations are not
independent (repeated cross-validation, several questions on one document); the measure is not accuracy
(`sigstats.bootstrap_test`); or the question is about learning *algorithms* rather than two trained classifiers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from .._common.calls import takes_counts
from .._common.extreme import error_bound
from .._common.validation import (
    ALTERNATIVES,
    Alternative,
    Labels,
    as_choice,
    as_count,
    as_counts,
    as_flag,
    as_labels,
    refuse,
)
from ..intervals import Interval, as_level, clopper_pearson, with_alternative
from ..test_result import TestResult
from .binomial_tails import MOST_OBSERVATIONS, ROUNDING_OF_SUMS, log_supremum, log_tail, tail, tail_error
from .counts import DiscordantCounts, discordant_counts, right_first

McNemarMethod: TypeAlias = Literal["exact", "mid-p", "chi2"]

MCNEMAR_METHODS: tuple[McNemarMethod, ...] = ("exact", "mid-p", "chi2")
#: With fewer discordant pairs the result of ``method="chi2"`` carries a warning.
CHI2_MINIMUM = 25
_NOTHING = "no discordant pair: the data say nothing about a difference"


@dataclass(frozen=True, kw_only=True)
class McNemarResult(TestResult):
    """The result of `mcnemar_test`.

    Attributes
    ----------
    statistic : float
        For the exact and the mid-p method the number of observations only A got right; for ``"chi2"`` the chi-square.
    log10_pvalue : float
        The decimal logarithm of the p-value, finite also where the p-value itself is below the smallest float.
    only_a, only_b : int
        The discordant counts.
    estimate : float
        A's share of the discordant observations minus that of B, from -1 to 1; 0 without discordant observations.
    confidence_interval : Interval
        Clopper and Pearson's interval of it, one-sided if the test is: 0 is outside where the exact p-value is below
        1 - `confidence_level` (where they are equal, 0 is an end of it). `sigstats.accuracy_difference` is about the
        shares of all observations.
    confidence_level : float
        That of the interval.
    """

    _question = "McNemar's test: are A and B equally accurate?"
    _null = "they are"

    only_a: int
    only_b: int
    log10_pvalue: float
    confidence_level: float = 0.95

    @property
    def estimate(self) -> float:
        """A's share of the discordant observations minus that of B."""
        return (self.only_a - self.only_b) / max(self.only_a + self.only_b, 1)

    @property
    def confidence_interval(self) -> Interval:
        """The interval of `estimate`."""

        def two_sided(level: float) -> Interval:
            low, high = clopper_pearson(self.only_a, self.only_a + self.only_b, confidence_level=level)
            return Interval(2 * low - 1, 2 * high - 1, level)

        return with_alternative(two_sided, self.alternative, self.confidence_level, (-1.0, 1.0))


def _of_labels(
    y: Labels,
    a: Labels,
    b: Labels,
    *,
    alternative: Alternative = "two-sided",
    method: McNemarMethod | Literal["unconditional"] = "exact",
    correction: bool = False,
    confidence_level: float = 0.95,
    n: int | None = None,
) -> McNemarResult:
    """`mcnemar_test` of the true labels `y` and those that A and B assigned, with its options."""
    total = int(np.size(as_labels(y, "y"))) if n is None and method == "unconditional" else n
    options: dict[str, Any] = {"method": method, "correction": correction, "confidence_level": confidence_level}
    return mcnemar_test(discordant_counts(y, a, b), alternative=alternative, n=total, **options)


@takes_counts(2, _of_labels)
def mcnemar_test(
    only_a: SupportsIndex | DiscordantCounts | ArrayLike,
    only_b: SupportsIndex | None = None,
    *,
    alternative: Alternative = "two-sided",
    method: McNemarMethod | Literal["unconditional"] = "exact",
    correction: bool = False,
    confidence_level: float = 0.95,
    n: SupportsIndex | None = None,
) -> McNemarResult:
    """Test whether two classifiers are equally accurate on the same observations.

    Null hypothesis: an observation of an independent sample is as likely to be right only by A as only by B.

    Parameters
    ----------
    only_a, only_b : int
        The numbers of observations that only A, and only B, got right, up to 2**53. Or, instead of `only_a`, both as
        `discordant_counts` returns them, or a 2 x 2 table with rows (A right, A wrong) and columns (B right, B wrong);
        a data frame with labels such as True and False, or right and wrong, may have them in any order. An array with A
        in the columns cannot be recognised, and reverses the sign.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A is the more accurate one; ``"less"``: B is.
    method : {"exact", "mid-p", "chi2", "unconditional"}
        ``"exact"`` sums the probabilities of all outcomes at least as extreme as the observed one; two-sided, of all
        that are no likelier. It rejects a true null hypothesis at most as often as the level states, and often much
        less. ``"mid-p"`` gives outcomes exactly as likely as the observed one half weight: its rate of false
        rejections at 5% is at most 5.05% while up to three quarters of the observations are discordant, and up to 7.7%
        if nearly all are (enumerated for 5 to 500 observations; `sigstats.type_one_error`).
        ``"chi2"`` is McNemar's (1947) approximation, for comparison with other programs. ``"unconditional"`` is the
        exact test of Suissa and Shuster (1991): the largest probability, over all shares of discordant observations, of
        a statistic ``(only_a - only_b) / sqrt(only_a + only_b)`` as large as the observed one. It requires that `n` was
        fixed before the outcomes were known.
    correction : bool
        Edwards's continuity correction, only for ``"chi2"``.
    confidence_level : float
        That of the interval, strictly between 0 and 1, above 1/2 if it is one-sided.
    n : int, optional
        The number of all observations, at most 2,000, for ``"unconditional"``; by default the total of the table.

    Returns
    -------
    McNemarResult
        Without discordant observations the p-value is 1 for every method and alternative.

    Raises
    ------
    ValueError
        If a count is negative or fractional, a table is not 2 x 2, its axes or labels name B in rows and A in columns,
        its labels are not words of right and wrong, labels are given instead of counts, an option is unknown or belongs
        to another method, or `n` is missing or out of range.

    Notes
    -----
    The p-value of ``"unconditional"`` is at most 0.1% above the supremum, which is one of equal probabilities, since
    the statistic grows with `only_a` and falls with `only_b` (Berger and Sidik; Fagerland, Lydersen and Laake). With
    10% discordant pairs and one-sided p <= 0.05 it finds 5 points in 45% of sets of 100 (``"exact"``: 35%), and 3 in
    68% of sets of 500 (64%).

    References
    ----------
    McNemar, Psychometrika 12 (1947). Suissa and Shuster (1991). Berger and Sidik, Stat. Methods Med. Res. 12 (2003).
    Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13 (2013).

    Examples
    --------
    >>> import sigstats
    >>> sigstats.mcnemar_test(1, 7).pvalue
    0.0703125
    >>> sigstats.mcnemar_test([[40, 1], [7, 52]]).pvalue
    0.0703125
    >>> sigstats.mcnemar_test(1, 7, method="mid-p").pvalue
    0.0390625
    >>> sigstats.mcnemar_test(7, 1, alternative="greater").pvalue
    0.03515625
    >>> round(sigstats.mcnemar_test(1, 7, method="unconditional", n=100).pvalue, 3)
    0.035
    >>> round(sigstats.mcnemar_test(10_000, 30_000).log10_pvalue, 3)
    -2274.297
    """
    if only_b is None and isinstance(only_a, DiscordantCounts):
        only_a, only_b = only_a
    a, b = _discordant_cells(only_a) if only_b is None else (as_count(only_a, "only_a"), as_count(only_b, "only_b"))
    check_options(alternative, method, correction, (*MCNEMAR_METHODS, "unconditional"))
    if method == "unconditional":
        total = n if only_b is not None or n is not None else int(as_counts(right_first(only_a), "table").sum())
        return _unconditional(a, b, total, alternative, as_level(confidence_level, alternative))
    if n is not None:
        raise refuse("n", n, f'None with method="{method}", which conditions on the discordant pairs')
    reason, statistic = "", float(a)
    if method == "chi2":
        statistic = _chi2(a, b, bool(correction))
        if a + b < CHI2_MINIMUM:
            reason = f"only {a + b} discordant pairs: the chi-square approximation wants {CHI2_MINIMUM} or more"
    pvalue = mcnemar_pvalue(a, b, alternative, method, correction)
    if a + b == 0:
        log_p, reason = 0.0, _NOTHING
    elif method == "chi2":
        log_p = _log_chi2_pvalue(a, b, alternative, correction)
    else:
        sides, k, weight = _as_tails(a, b, alternative, method)
        log_p = math.log(sides) + log_tail(k, a + b, weight)
    return McNemarResult(
        statistic=statistic,
        pvalue=pvalue,
        method=method,
        alternative=alternative,
        reason=reason,
        only_a=a,
        only_b=b,
        log10_pvalue=min(0.0, log_p / math.log(10)),
        confidence_level=as_level(confidence_level, alternative),
        error_bound=None if method == "chi2" and a + b else error_bound(pvalue, tail_error(a + b, log_p)),
    )


def _unconditional(a: int, b: int, n: Any, alternative: Alternative, level: float) -> McNemarResult:
    if n is None or not a + b <= (count := as_count(n, "n")) <= MOST_OBSERVATIONS:
        raise refuse("n", n, f"the number of all observations, from {a + b} to {MOST_OBSERVATIONS}")
    more, fewer = {"two-sided": (max(a, b), min(a, b)), "greater": (a, b), "less": (b, a)}[alternative]
    low, high = log_supremum(more, fewer, count, 2 if alternative == "two-sided" else 1)
    return McNemarResult(
        statistic=_chi2(a, b, False),
        pvalue=math.exp(high),
        method="unconditional",
        alternative=alternative,
        reason="" if a + b else _NOTHING,
        only_a=a,
        only_b=b,
        log10_pvalue=high / math.log(10),
        confidence_level=level,
        error_bound=error_bound(math.exp(high), -math.expm1(low - high) + ROUNDING_OF_SUMS),
    )


def _discordant_cells(table: Any) -> tuple[int, int]:
    if np.ndim(table) == 0:
        raise refuse("only_b", None, "a whole number, or a table of two rows and two columns in place of both counts")
    cells = as_counts(right_first(table), "table")
    if cells.shape != (2, 2):
        raise refuse(
            "table", cells.shape, "two rows (A right, A wrong) and two columns (B right, B wrong)", quantity="shape"
        )
    return int(cells[0, 1]), int(cells[1, 0])


def check_options(alternative: Any, method: Any, correction: Any, methods: Sequence[Any] = MCNEMAR_METHODS) -> None:
    """Raise ValueError unless these options of `mcnemar_test` are compatible. Not part of the public names."""
    as_choice(alternative, "alternative", ALTERNATIVES)
    as_choice(method, "method", methods)
    as_flag(correction, "correction")
    if correction and method != "chi2":
        raise refuse("correction", correction, f'False with method="{method}": it corrects only the chi-square')


def mcnemar_pvalue(a: int, b: int, alternative: Alternative, method: str, correction: bool) -> float:
    """Return only the p-value of `mcnemar_test`, without checking the arguments. This is not a public name."""
    if a + b == 0:
        return 1.0
    if method == "chi2":
        return min(1.0, math.exp(_log_chi2_pvalue(a, b, alternative, correction)))
    sides, k, weight = _as_tails(a, b, alternative, method)
    return min(1.0, sides * tail(k, a + b, weight))


def _as_tails(a: int, b: int, alternative: Alternative, method: str) -> tuple[int, int, float]:
    """Return the number of binomial tails of an exact or mid-p-value, the observed value, and its weight in a tail.

    Under p = 1/2 the outcomes that are at most as likely as another are those that are not nearer to the middle; those
    as likely as the observed one are (a, b) and (b, a), which are identical if a = b.
    """
    weight = 0.5 if method == "mid-p" else 1.0
    if alternative != "two-sided":
        return 1, a if alternative == "greater" else b, weight  # Sturm's p, eq. of P[S >= s]
    return 2, max(a, b), weight / 2 if a == b else weight  # two tails count the one outcome twice


def _chi2(a: int, b: int, correction: bool) -> float:
    """(|a - b| - c)^2 / (a + b), McNemar (1947); c = 1 is Edwards's correction, which never passes zero."""
    return max(abs(a - b) - int(correction), 0) ** 2 / max(a + b, 1)


def _log_chi2_pvalue(a: int, b: int, alternative: Alternative, correction: bool) -> float:
    if alternative == "two-sided":
        return math.log(2) + float(log_ndtr(-math.sqrt(_chi2(a, b, correction))))
    # P(X >= a) is taken at a - 1/2, also where the data speak against the alternative.
    toward = (a - b if alternative == "greater" else b - a) - int(correction)
    return float(log_ndtr(-math.copysign(math.sqrt(toward**2 / (a + b)), toward)))
