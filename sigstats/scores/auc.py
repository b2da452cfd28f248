"""Tests of equal areas under the ROC curve of two classifiers, by their scores on the same rows.

When not to use: only the assigned classes are known (`sigstats.mcnemar_test`). With fewer than ten positives or
negatives, or twenty groups of either, use ``method="t"``.
"""

import math
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import as_groups
from .._common.data_frames import require_same_index
from .._common.validation import ALTERNATIVES, Alternative, FloatArray, as_choice, as_real, refuse
from ..measures.score_formulas import is_reversed, pair_wins
from ..unseen_row.means import sums_by
from .result import (
    FEW,
    FEW_GROUPS,
    ROUNDING,
    Differences,
    Estimate,
    ScoreResult,
    few_warning,
    score_result,
    truth_and_scores,
)

AucMethod: TypeAlias = Literal["asymptotic", "t"]


def auc_test(
    y: Any,
    score_a: Any,
    score_b: Any,
    *,
    positive: Any = None,
    groups: Any = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    method: AucMethod = "asymptotic",
) -> ScoreResult:
    """Test whether two classifiers have the same area under the ROC curve, by DeLong's or Obuchowski's test.

    Null hypothesis: both areas are equal in the population of the independent rows (or groups).

    Parameters
    ----------
    y : array_like, shape (n,)
        The true labels, numbers or text.
    score_a, score_b : array_like of float, shape (n,) or (n, K)
        The score that each classifier gives each row; larger scores favour the positive class. Equal scores count half.
        Or a column for each of K classes, as ``predict_proba`` returns, in the order of the sorted labels or named by
        them in a data frame.
    positive : label, optional
        The positive class; all others are negative. By default the second of 0 and 1, -1 and 1, false and true, or no
        and yes, as numbers or as text.
    groups : array_like of int, shape (n,), optional
        The group of each row, if rows of one group are not independent (Obuchowski).
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A has the larger area, the estimate is positive.
    confidence_level : float
        Of the intervals, strictly between 0 and 1.
    method : {"asymptotic", "t"}
        The reference distribution: the normal one, as DeLong and Obuchowski have it, or Student's t, which keeps its
        level with few rows or groups of a class; see the notes.

    Returns
    -------
    ScoreResult
        The areas are between 0 and 1, and their intervals end there; that of the difference ends at -1 and 1.

    Raises
    ------
    ValueError
        If lengths differ, a score is not finite, the positive class is not known, there are fewer than two positives or
        negatives, or fewer than two groups with one, or an option is out of range.

    Notes
    -----
    The variance of the difference is DeLong's of the differences of placements, row by row, so that nothing cancels. It
    is 0 if all positives, and all negatives, gain the same. The p-value is then the smallest that an exchange of A and
    B in the rows of the rarer class can give, since the rows of one class may decide the difference.

    With groups the variance is Obuchowski's. Of I groups, I10 have a positive row and I01 a negative one; P and Q are
    the sums over a group of the centred placements of its positives, divided by their number in all groups, and of its
    negatives likewise. The variance of an area is then the sum over groups of ``I10 / (I10 - 1) * P**2 +
    I01 / (I01 - 1) * Q**2 + 2 * I / (I - 1) * P * Q``. Where each group is one row, it is DeLong's.

    Both variances are asymptotic in the rows, or groups, of the *rarer* class. With 5 groups of positives among 40 the
    normal test rejects in about 9 per cent of cases at the level 0.05, and in 13 per cent with 3; ``method="t"``, with
    Welch and Satterthwaite's degrees of freedom (Brunner and Munzel use them for one area), in 5 and 6 per cent.

    When not to use: if one classifier may lose a few positives altogether. If B loses 2% of the positives to the bottom
    and equals A by better scores of the others, both methods reject in 67% of samples with 20 positives, and in 18%
    with 100. `sigstats.compare` has a bound for this case.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988), equations (3) to (5), in n log n steps. Groups:
    Obuchowski, Biometrics 53 (1997). Student's t: Brunner and Munzel, Biometrical Journal 42 (2000).

    Examples
    --------
    >>> import sigstats
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> a = [0.1, 0.4, 0.6, 0.3, 0.5, 0.2, 0.8, 0.7]
    >>> b = [0.1, 0.2, 0.3, 0.5, 0.4, 0.6, 0.8, 0.9]
    >>> result = sigstats.auc_test(y, a, b)
    >>> result.value_a, result.value_b, round(result.pvalue, 3)
    (0.75, 0.9375, 0.399)
    >>> sigstats.auc_test(["ill" if each else "well" for each in y], a, b, positive="ill") == result
    True
    >>> round(sigstats.auc_test(y, a, b, method="t").pvalue, 3)
    0.437
    """
    require_same_index(y=y, score_a=score_a, score_b=score_b, groups=groups)
    truth, scores = truth_and_scores(y, score_a, score_b, positive)
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    student = as_choice(method, "method", ("asymptotic", "t")) == "t"
    m, n = int(truth.sum()), int((~truth).sum())
    if min(m, n) < 2:
        raise refuse("y", f"{m} positives and {n} negatives", "two of each or more")
    clusters = None if groups is None else _Clusters(groups, truth)
    wins = [pair_wins(truth, one) for one in scores]
    wins.append((wins[0][0] - wins[1][0], wins[0][1] - wins[1][1]))  # of A, of B, and of A - B
    estimates = []
    for above, below in wins:
        area = float(above.sum()) / (m * n)
        placed = (above / n - area, below / m - area)
        variance, freedom = _of_rows(*placed) if clusters is None else clusters.variance(*placed)
        estimates.append(Estimate(area, variance, freedom if student else math.inf))
    if clusters is None:
        # Wins are multiples of a half, so that equal ones are equal without rounding.
        constant = all(float(np.ptp(win)) == 0 for win in wins[2])
        units, what = min(m, n), "rows of the rarer class"
        reason = few_warning(units, "positives or negatives", FEW)
        named = zip(("score_a", "score_b"), estimates[:2], strict=True)
        if low := [name for name, estimate in named if is_reversed(estimate.value, m, n)]:
            problem = f"{' and '.join(low)} may be of the other class: positive rows have lower scores"
            reason = "; ".join(filter(None, (reason, problem)))
    else:
        constant = clusters.constant(*placed)
        units, what = clusters.of_rarer_class, "groups of the rarer class"
        reason = few_warning(units, what, FEW_GROUPS)
    return score_result(
        estimates,
        difference=Differences(constant, 0.0, units, what),
        alternative=way,
        confidence_level=level,
        method=("DeLong" if clusters is None else "Obuchowski") + (", Student's t" if student else ""),
        reason=reason,
        within=(0.0, 1.0),
    )


def _of_rows(above: FloatArray, below: FloatArray) -> tuple[float, float]:
    """DeLong's variance of an area by the centred placements of all rows, and Welch's degrees of freedom."""
    m, n = len(above), len(below)
    of_positives = float(above @ above) / ((m - 1) * m)
    of_negatives = float(below @ below) / ((n - 1) * n)
    return of_positives + of_negatives, _freedom((of_positives, m - 1), (of_negatives, n - 1))


class _Clusters:
    """Obuchowski's variance of areas if rows come in groups, which may have positive rows, negative rows or both."""

    def __init__(self, groups: Any, truth: NDArray[np.bool_]) -> None:
        codes, self.count = as_groups(groups, "groups", len(truth))
        self._codes = codes[truth], codes[~truth]
        self._present = [np.bincount(code, minlength=self.count) > 0 for code in self._codes]
        positive, negative = (int(array.sum()) for array in self._present)
        if min(positive, negative) < 2:
            raise refuse("groups", f"{positive} with a positive row and {negative} with a negative one", "two of each")
        self._with_row = positive, negative
        self.of_rarer_class = min(positive, negative)

    def _sums(self, above: FloatArray, below: FloatArray) -> list[FloatArray]:
        """Return the contributions of the positives, and of the negatives, of each group to the area."""
        return [
            sums_by(codes, placed / len(placed), self.count)
            for codes, placed in zip(self._codes, (above, below), strict=True)
        ]

    def variance(self, above: FloatArray, below: FloatArray) -> tuple[float, float]:
        """Obuchowski's variance of an area by the centred placements of all rows, and its degrees of freedom."""
        p, q = self._sums(above, below)
        # Obuchowski's three sums, rearranged: the square of p + q, with the factor of 2 P Q, and the squares of p and q
        # with the rest of their factors. No term is negative, so that none cancel.
        variance = self.count / (self.count - 1) * float((p + q) @ (p + q)) + sum(
            (self.count - some) / ((some - 1) * (self.count - 1)) * float(part @ part)
            for some, part in zip(self._with_row, (p, q), strict=True)
        )
        has_p, has_q = self._present
        kinds = (
            (has_p & ~has_q, self._with_row[0]),
            (has_q & ~has_p, self._with_row[1]),
            (has_p & has_q, self.of_rarer_class),
        )
        variances = []
        for of_kind, some in kinds:
            sums, left = (p + q)[of_kind], 1 - 1 / some  # each class costs one degree of freedom
            variances.append((float(sums @ sums) / left, int(of_kind.sum()) * left))
        return variance, _freedom(*variances)

    def constant(self, above: FloatArray, below: FloatArray) -> bool:
        """Return True if all terms of the variance are 0 up to rounding."""
        p, q = self._sums(above, below)
        terms = [p + q, *(part for part, some in zip((p, q), self._with_row, strict=True) if some < self.count)]
        return all(bool(np.abs(term).max() * self.count <= ROUNDING) for term in terms)


def _freedom(*parts: tuple[float, float]) -> float:
    """Welch and Satterthwaite's degrees of freedom of a sum of variances, each with its own."""
    total = math.fsum(variance for variance, _ in parts)
    if total == 0:
        return math.inf
    return 1 / math.fsum((variance / total) ** 2 / freedom for variance, freedom in parts if variance > 0)
