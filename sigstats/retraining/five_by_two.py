"""The combined 5x2cv F test: two learning *algorithms* by five replications of two-fold cross-validation.

When not to use: other numbers of folds or repetitions (`sigstats.corrected_resampled_test`); two trained models
(`sigstats.mcnemar_test`). It trains on half the rows, so that its answer is about training sets of that size, and it
has no direction.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc

from .._common.extreme import TIE_TOLERANCE, exchange_floor
from .._common.validation import as_reals, refuse, require_squarable
from ..test_result import TestResult


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

    Parameters
    ----------
    differences : array_like, shape (5, 2)
        A score of A less that of B on each of the two folds (columns) of each replication (rows).

    Returns
    -------
    FiveByTwoResult
        Where all differences are 0 the p-value is 1. Where those of each replication are equal but for rounding, F is
        infinite, and p the least that an exchange of A and B in each of five replications can show, 1/16.

    Raises
    ------
    ValueError
        If the shape is another, or a difference is not finite.

    Notes
    -----
    Alpaydin (1999), Neural Computation 11, 1885-1892: with :math:`p_{ij}` the difference on fold j of replication i and
    :math:`s_i^2 = (p_{i1} - p_{i2})^2 / 2`, the statistic is :math:`F = \sum_{ij} p_{ij}^2 / (2 \sum_i s_i^2)`, of
    approximately the F distribution with 10 and 5 degrees of freedom. It takes the place of Dietterich's (1998) t,
    which depends on the order of the replications.

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.five_by_two_test([[0.05, 0.03], [0.04, 0.05], [0.02, 0.04], [0.06, 0.04], [0.03, 0.05]])
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (10.6471, 0.0088)
    """
    values = as_reals(differences, "differences", ndim=2)
    if values.shape != (5, 2):
        raise refuse("differences (shape)", values.shape, "(5, 2): two folds of each of five replications")
    require_squarable(values, "differences")
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
