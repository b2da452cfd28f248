"""Is a classifier better than one that names classes at random? One confusion table of any number of classes.

The efficiency is the share of a test set that is classified correctly. Under the null hypothesis the classifier names
each class as often as it did, but without regard to the objects (Nyssen, "Comparison of different methods for testing
the significance of classification efficiency").

When not to use: to compare two classifiers on the same objects (`sigstats.mcnemar_test`); or for a table counted on
objects that trained the classifier, or pooled from folds whose classifiers share training objects.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from ._common.calls import takes_counts
from ._common.random_streams import RNG, as_generator
from ._common.validation import IntArray, Labels, as_choice, as_count, as_real
from .fixed_margins.upper_tail import batches, correct_range, upper_tail
from .intervals import Interval, as_level, clopper_pearson
from .tables import as_confusion_table, confusion_table, without_margins
from .test_result import TestResult, monte_carlo_outcome

EfficiencyMethod: TypeAlias = Literal["auto", "exact", "monte-carlo", "chi2"]

METHODS: tuple[EfficiencyMethod, ...] = ("auto", "exact", "monte-carlo", "chi2")
#: Nyssen's alpha = 0.005, with an f of his own choice above its f_min.
_RESAMPLES = 99_999


@dataclass(frozen=True, kw_only=True)
class EfficiencyResult(TestResult):
    """The result of `efficiency_test`.

    Attributes
    ----------
    statistic : int
        The number of objects classified correctly.
    pvalue : float
        The probability of that many or more under the null hypothesis. Cohen's kappa has the same p-value, since it
        increases with the number correct if the margins are fixed.
    log10_pvalue : float
        The logarithm of the p-value to base 10, also if `pvalue` is below the smallest double and therefore 0.
    mid_pvalue : float or None
        The p-value with half the probability of the observed number; None unless the method is exact.
    n : int
        The number of objects.
    efficiency, estimate : float
        The share correct.
    confidence_interval : Interval
        Clopper and Pearson's two-sided interval of `efficiency`, for objects drawn at random.
    confidence_level : float
        That of the interval.
    expected : float
        The share expected to be correct under the null hypothesis.
    kappa : float or None
        Cohen's kappa, ``(efficiency - expected) / (1 - expected)``; None if all objects have one class and are assigned
        to it.
    """

    _question = "Efficiency test: are more objects classified correctly than by naming classes at random?"
    _null = "classes are named at random"

    statistic: int
    log10_pvalue: float
    mid_pvalue: float | None = None
    n: int
    efficiency: float
    expected: float
    kappa: float | None
    confidence_level: float = 0.95

    @property
    def estimate(self) -> float:
        """The share correct."""
        return self.efficiency

    @property
    def confidence_interval(self) -> Interval:
        """The interval of `estimate`."""
        return clopper_pearson(self.statistic, self.n, confidence_level=self.confidence_level)


def _of_labels(
    y: Labels,
    prediction: Labels,
    *,
    labels: Labels | None = None,
    method: EfficiencyMethod = "auto",
    n_resamples: int = _RESAMPLES,
    rng: RNG = None,
    confidence_level: float = 0.95,
) -> EfficiencyResult:
    """`efficiency_test` of the true labels `y` and the assigned ones, with its options."""
    how: dict[str, Any] = {"method": method, "n_resamples": n_resamples, "confidence_level": confidence_level}
    return efficiency_of(confusion_table(y, prediction, labels=labels), rng=rng, **how)


@takes_counts(1, _of_labels)
def efficiency_test(
    table: Any,
    *,
    method: EfficiencyMethod = "auto",
    n_resamples: int = _RESAMPLES,
    rng: RNG = None,
    confidence_level: float = 0.95,
) -> EfficiencyResult:
    """Test whether more objects are classified correctly than by naming the same classes at random.

    Null hypothesis: given the totals of both, all pairings of true and assigned classes are equally likely.

    Parameters
    ----------
    table : array_like of int, shape (k, k)
        Counts of objects, true classes in rows and assigned classes in columns, with k of at least 2. Rows and columns
        may be empty. The transposed table has the same p-value. The columns of a data frame are matched with its rows
        by their labels; if rows have no labels (as in polars), columns must be sorted by name.
    method : {"auto", "exact", "monte-carlo", "chi2"}
        ``"auto"`` follows Nyssen's criteria: the exact test if the size of the problem allows it, which is nearly
        always, and otherwise the Monte-Carlo test; `reason` of the result tells which. ``"chi2"`` is for comparison
        with the literature.
    n_resamples : int
        Replicates of the Monte-Carlo test, at least 1; choose more than ``monte_carlo_size(alpha)``.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the replicates.
    confidence_level : float
        Of the interval, strictly between 0 and 1.

    Returns
    -------
    EfficiencyResult

    Raises
    ------
    ValueError
        If `table` is not square, has fewer than two classes, no object or margins, or an entry is not a whole number of
        at least 0; if its columns cannot be matched with its rows; if `method`, `n_resamples` or `rng` is not valid; or
        if the exact test cannot handle the totals, which happens above 20,000 objects if two classes contain nearly all
        of them.

    Notes
    -----
    Exact: the upper tail of the card-matching distribution, equal to the sum of Nyssen's equation (4) but without
    enumeration. Monte-Carlo: Nyssen's p' = (exceedances + 1) / (f + 1), with a 99 percent interval of the exact
    p-value. Chi-square: Nyssen's p'', half the chi-square tail of h with one degree of freedom if more are correct than
    expected, and otherwise one minus it.

    References
    ----------
    Nyssen, *Comparison of Different Methods for Testing the Significance of Classification Efficiency*, equation (4).

    Examples
    --------
    102 ulcer patients, three types of pathology (Nyssen, figure 1):

    >>> import sigstats
    >>> table = [[9, 7, 3], [15, 17, 13], [3, 7, 28]]
    >>> result = sigstats.efficiency_test(table)
    >>> print(f"{result.efficiency:.3f} {result.expected:.3f} {result.pvalue:.3g} {result.method}")
    0.529 0.344 5.85e-05 exact
    >>> print(f"{sigstats.efficiency_test(table, method='chi2').pvalue:.3g}")
    4.08e-05
    """
    how: dict[str, Any] = {"method": method, "n_resamples": n_resamples, "confidence_level": confidence_level}
    return efficiency_of(without_margins(as_confusion_table(table)), rng=rng, **how)


def efficiency_of(
    counts: IntArray,
    *,
    method: EfficiencyMethod = "auto",
    n_resamples: int = _RESAMPLES,
    rng: RNG = None,
    confidence_level: float = 0.95,
) -> EfficiencyResult:
    """Return the result of `efficiency_test` for a valid table, which may resemble one with margins by chance."""
    method = as_choice(method, "method", METHODS)
    n_resamples = as_count(n_resamples, "n_resamples", minimum=1, maximum=10**12)
    generator = as_generator(rng)
    rows, columns, correct = counts.sum(axis=1), counts.sum(axis=0), int(np.trace(counts))
    total = int(rows.sum())
    expected = math.fsum(int(r) * int(c) / total for r, c in zip(rows, columns, strict=True))
    shared: dict[str, Any] = {
        "statistic": correct,
        "n": total,
        "confidence_level": as_level(confidence_level),
        "efficiency": correct / total,
        "expected": expected / total,
        "kappa": (correct - expected) / (total - expected) if expected < total else None,
    }
    if method == "chi2":
        return EfficiencyResult(**_chi_square(counts, correct, expected), **shared)
    reason, tail = "replicates under fixed margins, as requested; the interval is that of the exact p-value", None
    if method != "monte-carlo":
        try:
            tail = upper_tail(rows, columns, correct)
        except ValueError as error:
            if method == "exact":
                raise
            reason = f"Monte-Carlo, since the exact test does not serve this table: {error}"
    if tail is None:
        draws = batches(rows, columns, size=n_resamples, rng=generator)
        outcome = monte_carlo_outcome(sum(int((batch >= correct).sum()) for batch in draws), n_resamples)
        log10 = math.log10(outcome["pvalue"])
        return EfficiencyResult(log10_pvalue=log10, method="monte-carlo", reason=reason, **outcome, **shared)
    return EfficiencyResult(
        pvalue=tail.pvalue,
        log10_pvalue=tail.log10_pvalue,
        mid_pvalue=tail.mid_pvalue,
        error_bound=tail.error_bound,
        method="exact",
        reason=_reason_of_exact(asked_for=method == "exact", estimated=tail.estimated),
        **shared,
    )


def _reason_of_exact(*, asked_for: bool, estimated: bool) -> str:
    """Return the reason for the exact test, and its error bound."""
    reason = "the exact test, as asked for"
    if not asked_for:
        reason = (
            "exact: it uses all information in the table, assumes nothing about the sample's size and has no size "
            "to choose; Nyssen's Monte-Carlo and chi-square tests stand in for it only where tables must be enumerated"
        )
    if estimated:
        reason += "; error_bound is an estimate with a margin, since nothing proves it of a contour integral"
    return reason


def monte_carlo_size(alpha: float) -> int:
    """Compute Nyssen's f_min, the number of replicates that a Monte-Carlo test at level `alpha` should have.

    By a normal approximation, the smallest f for which a true p-value of 0.9 `alpha` is rejected with probability 0.95.

    Parameters
    ----------
    alpha : float
        The significance level, at least 1e-12 and below 1.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If `alpha` is outside that range.

    Notes
    -----
    In normal approximation, for m = f alpha, ``0.1 m - 1 + alpha = z sqrt(0.9 m (1 - 0.9 alpha))`` with z the 95
    percent point. It reproduces Nyssen's table 1, except that f for 0.001 is 262,881 where he prints 262880.

    References
    ----------
    Nyssen, *Comparison of Different Methods for Testing the Significance of Classification Efficiency*.

    Examples
    --------
    >>> import sigstats
    >>> [sigstats.monte_carlo_size(alpha) for alpha in (0.05, 0.01, 0.005, 0.001)]
    [5024, 26074, 52386, 262881]
    """
    alpha = as_real(alpha, "alpha", low=1e-12, high=1 - 1e-12)
    # A quadratic in sqrt(m): 0.1 m - b sqrt(m) - (1 - alpha) = 0.
    b = float(ndtri(0.95)) * math.sqrt(0.9 * (1 - 0.9 * alpha))
    root = (b + math.sqrt(b * b + 0.4 * (1 - alpha))) / 0.2
    return math.ceil(root * root / alpha)


def _chi_square(counts: IntArray, correct: int, expected: float) -> dict[str, Any]:
    """Nyssen's h = (nc - E)^2 / E + (nw - (N - E))^2 / (N - E), signed and one-sided."""
    total = int(counts.sum())
    wrong = total - expected
    least, most = correct_range(counts.sum(axis=1), counts.sum(axis=0))
    if least == most:
        p, log10_p = 1.0, 0.0
        warning = "the margins leave one number correct only; "
    else:
        root_h = (correct - expected) * math.sqrt(total / (expected * wrong))
        p, log10_p = float(ndtr(-root_h)), float(log_ndtr(-root_h)) / math.log(10)
        warning = ""
    cells = np.outer(counts.sum(axis=1), counts.sum(axis=0) / total)
    low, few = float(cells.min()), float((cells <= 5).mean())
    if low < 1 or few > 0.2:
        warning += (
            f"not valid by the textbook rule: the smallest expected count is {low:.3g} (1 or more wanted) and "
            f"{few:.0%} of the cells do not exceed 5 (at most 20% wanted); use method='exact'"
        )
    else:
        warning += "an approximation that tends to be too small; use method='exact'"
    return {"pvalue": p, "log10_pvalue": log10_p, "method": "chi2", "reason": warning}
