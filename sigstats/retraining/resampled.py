"""Two learning *algorithms* on other training sets of this size: the corrected resampled t-test, and the 5x2cv F test.

Scores of cross-validation and of repeated splits share training rows, so a t-test of them rejects far too often. The
corrected test widens the variance by the share of test rows. The F test uses five replications of two-fold
cross-validation.

When not to use: the question is about two trained models (`sigstats.mcnemar_test`), or scores are of different data
sets (`sigstats.signed_rank_test`). The F test trains on half the rows, so it is about training sets of that size, and
it has no direction.
"""

import math
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from scipy.special import fdtrc, stdtr

from .._common.data_frames import refuse_summary_rows
from .._common.extreme import TIE_TOLERANCE, exchange_floor
from .._common.validation import ALTERNATIVES, Alternative, as_choice, as_count, as_differences, as_real, refuse
from ..intervals import Interval, student_quantile, with_alternative
from ..test_result import TestResult


@dataclass(frozen=True, kw_only=True)
class CorrectedResampledResult(TestResult):
    """The result of `corrected_resampled_test`.

    Attributes
    ----------
    statistic : float
        The corrected t statistic.
    estimate : float
        The mean difference.
    standard_error : float
        The corrected standard error of the mean difference.
    degrees : int
        The degrees of freedom, one less than the number of differences.
    confidence_interval : Interval
        The interval of the mean difference, one-sided if the test is.
    """

    _question = "Corrected resampled t test: are two learning algorithms equally good?"
    _null = "they are"

    estimate: float
    standard_error: float
    degrees: int
    confidence_interval: Interval


def corrected_resampled_test(
    differences: Any,
    *,
    n_train: SupportsIndex,
    n_test: SupportsIndex,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> CorrectedResampledResult:
    """Test whether two learning algorithms are equally good at this size of training set.

    Null hypothesis: models that A and B learn from random training sets of `n_train` rows have equal expected scores.

    Parameters
    ----------
    differences : array_like, shape (n,)
        A score of A minus that of B on each test fold of cross-validation, of its repetitions, or of repeated splits;
        two or more.
    n_train, n_test : int
        The rows of a training set and of a test set: 9 to 1 in ten folds.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A has the greater score, the differences lie above 0; ``"less"``: B has.
    confidence_level : float
        Of the interval, strictly between 0 and 1.

    Returns
    -------
    CorrectedResampledResult
        If all differences are 0, the p-value is 1. If all are equal but not 0, except for rounding, p is the smallest
        that an exchange of A and B in ``1 / (1 / n + n_test / n_train)`` independent folds can give. The correction
        counts that many: four for ten folds, eight for ten times ten. If this p is above ``1 - confidence_level``, the
        interval is unbounded.

    Raises
    ------
    ValueError
        If there are fewer than two differences, one is not finite, or an option is out of range.

    Notes
    -----
    The statistic is ``t = mean / sqrt((1 / n + n_test / n_train) s**2)`` with ``n - 1`` degrees of freedom; Bouckaert
    and Frank recommend ten times ten folds. Both it and `five_by_two_test` are approximations for normal differences.
    If one training in twenty fails altogether, they reject equal learners in 60% and 52% of samples, as often as no
    failure is seen.

    References
    ----------
    Nadeau and Bengio, Machine Learning 52 (2003), section 3.2. Bouckaert and Frank, PAKDD (2004).

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.corrected_resampled_test([i / 100 for i in range(1, 11)], n_train=9, n_test=1)
    >>> round(result.statistic, 5), round(result.pvalue, 6)
    (3.95368, 0.003336)
    """
    refuse_summary_rows(differences=differences)
    values = as_differences(differences, minimum_size=2)
    train, test = as_count(n_train, "n_train", minimum=1), as_count(n_test, "n_test", minimum=1)
    alternative = as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    n, mean, largest = len(values), math.fsum(values) / len(values), float(np.abs(values).max())
    unit = 2.0 ** math.frexp(largest)[1]  # the squares of tiny differences are not 0
    varies = float(np.ptp(values)) > TIE_TOLERANCE * largest
    error = math.sqrt(1 / n + test / train) * (float((values / unit).std(ddof=1)) * unit if varies else 0.0)
    if error > 0:
        t = mean / error
        greater, less = float(stdtr(n - 1, -t)), float(stdtr(n - 1, t))
        pvalue = {"greater": greater, "less": less, "two-sided": min(1.0, 2 * float(stdtr(n - 1, -abs(t))))}
    else:
        t = math.copysign(math.inf, mean) if mean else 0.0
        n_folds = int(1 / (1 / n + test / train)) if mean else 0
        direction: Alternative = "greater" if mean > 0 else "less"
        pvalue = {side: exchange_floor(n_folds, side) for side in ("two-sided", direction)}

    def interval(confidence: float) -> Interval:
        reach = student_quantile(n - 1, (1 + confidence) / 2) * error
        if error == 0:
            reach = math.inf if pvalue["two-sided"] > 1 - confidence else 0.0
        return Interval(mean - reach, mean + reach, confidence)

    return CorrectedResampledResult(
        statistic=t,
        pvalue=pvalue.get(alternative, 1.0),
        method="corrected t",
        alternative=alternative,
        estimate=mean,
        standard_error=error,
        degrees=n - 1,
        confidence_interval=with_alternative(interval, alternative, level, (-math.inf, math.inf)),
        reason="" if error else "the differences do not vary",
    )


@dataclass(frozen=True, kw_only=True)
class FiveByTwoResult(TestResult):
    """The result of `five_by_two_test`.

    Attributes
    ----------
    statistic : float
        The F statistic, with 10 and 5 degrees of freedom.
    estimate : float
        The mean of the ten differences.
    """

    _question = "5x2cv F test: are two learning algorithms equally good?"
    _null = "they are"

    estimate: float


def five_by_two_test(differences: Any) -> FiveByTwoResult:
    r"""Test whether two learning algorithms are equally good, by five replications of two-fold cross-validation.

    Null hypothesis: models that A and B learn from random halves of such data have equal expected scores.

    Parameters
    ----------
    differences : array_like, shape (5, 2)
        A score of A minus that of B on each of the two folds (columns) of each replication (rows).

    Returns
    -------
    FiveByTwoResult
        If all differences are 0, the p-value is 1. If the two of each replication are equal except for rounding, F is
        infinite, and p is 1/16, the smallest that an exchange of A and B in each of five replications can give.

    Raises
    ------
    ValueError
        If the shape is another, or a difference is not finite.

    Notes
    -----
    With :math:`p_{ij}` the difference on fold j of replication i and :math:`s_i^2 = (p_{i1} - p_{i2})^2 / 2`, the
    statistic is :math:`F = \sum_{ij} p_{ij}^2 / (2 \sum_i s_i^2)`, of approximately the F distribution with 10 and 5
    degrees of freedom. It takes the place of Dietterich's (1998) t, which depends on the order of the replications.

    References
    ----------
    Alpaydin, Neural Computation 11 (1999). Dietterich (1998).

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.five_by_two_test([[0.05, 0.03], [0.04, 0.05], [0.02, 0.04], [0.06, 0.04], [0.03, 0.05]])
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (10.6471, 0.0088)
    """
    values = as_differences(differences, ndim=2)
    if values.shape != (5, 2):
        raise refuse("differences", values.shape, "(5, 2): two folds of each of five replications", quantity="shape")
    largest = float(np.abs(values).max())
    scaled = values / largest if largest else values
    apart = scaled[:, 0] - scaled[:, 1]
    within = float((apart[np.abs(apart) > TIE_TOLERANCE] ** 2).sum())  # twice the sum of the variances
    f = float((scaled**2).sum()) / within if within else (math.inf if largest else 0.0)
    return FiveByTwoResult(
        statistic=f,
        pvalue=exchange_floor(len(values), "two-sided") if math.isinf(f) else float(fdtrc(10, 5, f)),
        method="5x2cv F",
        alternative="two-sided",
        estimate=math.fsum((values / 10).ravel().tolist()),
        reason="" if within else "the differences do not vary within replications",
    )
