"""Signed ranks: Wilcoxon's test, exact at any size, with ties and with zeros, and the Bayesian test.

The question is about data sets *like these*: each data set gives one difference of two models' scores, and the data
sets are a sample (Demsar 2006, Journal of Machine Learning Research 7, 1-30, recommends it).

When not to use: the differences come from overlapping training sets, such as folds of one data set
(`sigstats.corrected_resampled_test`), or the question is about *these* data sets and their rows are available
(`sigstats.stratified_paired_test`). The Bayesian test does not limit false alarms, and with a handful of data sets its
prior decides.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtr

from .._common.random_streams import RNG, as_generator
from .._common.validation import ALTERNATIVES, Alternative, FloatArray, as_choice, as_count, as_differences, as_real
from ..intervals import Interval, with_alternative
from ..sign_flips.law import pvalue_of_sum
from ..sign_flips.whole_sums import probabilities_below
from ..test_result import TestResult
from .score_tables import require_data_sets

#: The number of shares in a batch, small enough for the cache of a processor.
_BATCH = 2**16


class SignedRankProbabilities(NamedTuple):
    """Posterior probabilities that sum to one."""

    better: float
    equal: float
    worse: float


def usual_rope(scores: FloatArray) -> float:
    """Return the largest negligible difference: 0.01 for scores from -1 to 1, otherwise 5% of their mean size."""
    sizes = np.abs(scores[~np.isnan(scores)])
    return 0.01 if sizes.max() <= 1 else 0.05 * float(sizes.mean())


def bayesian_signed_rank(
    differences: Any, *, rope: float = 0.01, n_resamples: int = 50_000, rng: RNG = None
) -> SignedRankProbabilities:
    """Posterior probabilities that A is better than B, equal to it in practice, or worse, on data sets like these.

    Each is the share of draws in which it has the greatest share of pairs. `rope`: half the width of the region
    of practical equivalence. Benavoli, Corani, Demsar and Zaffalon (2017), Journal of Machine Learning Research 18,
    section 4.2: the weights of a pseudo-observation of 0 and of the observations are Dirichlet with parameters
    ``(0.5, 1, ..., 1)``, and a pair of observations speaks for A where its mean exceeds `rope`.
    """
    values = as_differences(differences)
    half = as_real(rope, "rope", low=0, high=1e150)
    draws = as_count(n_resamples, "n_resamples", minimum=1, maximum=10**7)
    generator = as_generator(rng)
    observations = np.concatenate([[0.0], values])
    order = np.argsort(observations, kind="stable")
    ascending = observations[order]
    # For each observation, the pairs below (above) the region are those with the smallest (largest) other observations.
    below = [np.searchsorted((value + ascending) / 2, -half, side="left") for value in ascending]
    upto_above = [np.searchsorted((value + ascending) / 2, half, side="right") for value in ascending]
    parameters = np.concatenate([[0.5], np.ones(len(values))])
    wins, step = np.zeros(3), max(1, _BATCH // len(observations))
    for start in range(0, draws, step):
        shares = generator.dirichlet(parameters, size=min(step, draws - start)).T[order]
        upto = np.zeros((len(ascending) + 1, shares.shape[1]))
        np.cumsum(shares, axis=0, out=upto[1:])
        for_a = upto[-1] ** 2 - np.einsum("ij,ij->j", upto.take(upto_above, axis=0), shares)
        for_b = np.einsum("ij,ij->j", upto.take(below, axis=0), shares)
        masses = np.stack([for_a, 1 - for_a - for_b, for_b])
        best = masses >= masses.max(axis=0) - 1e-12
        wins += (best / best.sum(axis=0)).sum(axis=1)  # a draw with two greatest shares counts half for each
    better, equal, worse = (wins / draws).tolist()
    return SignedRankProbabilities(better, equal, worse)


ZeroMethod: TypeAlias = Literal["wilcox", "pratt"]
SignedRankMethod: TypeAlias = Literal["exact", "normal"]

ZERO_METHODS: tuple[ZeroMethod, ...] = ("wilcox", "pratt")
SIGNED_RANK_METHODS: tuple[SignedRankMethod, ...] = ("exact", "normal")
#: Differences closer than this share of the largest are tied, and as close to 0 are 0.
_TIED = 1e-12
#: With more differences the interval counts by the normal law.
_MOST_EXACT = 1000


@dataclass(frozen=True, kw_only=True)
class SignedRankResult(TestResult):
    """The result of `signed_rank_test`.

    Attributes
    ----------
    statistic : float
        The sum of the ranks of the positive differences.
    pvalue_interval : Interval or None
        Certified bounds of the p-value (confidence 1) if there are too many differences to sum its law exactly.
    estimate : float
        Hodges and Lehmann's: the median of the means of all pairs of differences, including each difference with
        itself.
    confidence_interval : Interval
        Of the centre of symmetry, one-sided if the test is (Hollander, Wolfe and Chicken 2014, section 3.3). Without
        ties and zeros it excludes 0 exactly if the exact p-value is at most one minus the confidence; with them it is
        as wide as without.
    n, zeros : int
        The number of differences, and of those that are 0.
    """

    _question = "Signed-rank test: are the differences symmetric about zero?"
    _null = "they are"

    estimate: float
    confidence_interval: Interval
    n: int
    zeros: int


def signed_rank_test(
    differences: Any,
    *,
    alternative: Alternative = "two-sided",
    zero_method: ZeroMethod = "wilcox",
    method: SignedRankMethod = "exact",
    confidence_level: float = 0.95,
) -> SignedRankResult:
    """Test whether differences are symmetric about zero, by the ranks of their magnitudes.

    Null hypothesis: the differences are independent, and each is as likely as its opposite.

    Parameters
    ----------
    differences : array_like, shape (n,)
        The score of model A minus that of model B on each data set. Differences closer to each other than 1e-12 of the
        largest are tied.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A has the greater score, the differences lie above 0; ``"less"``: B has.
    zero_method : {"wilcox", "pratt"}
        ``"wilcox"`` leaves zeros out before ranking, ``"pratt"`` (1959) after it.
    method : {"exact", "normal"}
        ``"exact"`` uses the distribution given the ties; beyond some thousand differences p is an upper bound, accurate
        to two thousandths. ``"normal"`` is the approximation of other programs, with the correction for ties and
        without one for continuity.
    confidence_level : float
        Of the interval, strictly between 0 and 1.

    Returns
    -------
    SignedRankResult
        If all differences are 0, the p-value is 1.

    Raises
    ------
    ValueError
        If there is no difference, one is not finite, or an option is unknown.

    Notes
    -----
    Given the magnitudes, all signs are equally likely, so that twice the ranks, which are whole numbers even if ranks
    are shared, are summed as `sigstats.sign_flip_test` sums differences. When not to use: for equal means of asymmetric
    differences; 20 data sets that gain 1 or, with probability 1/50, lose 49 are significant in 99% of samples.

    References
    ----------
    Wilcoxon, Biometrics Bulletin 1 (1945). Pratt, JASA 54 (1959).

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.signed_rank_test([0.02, 0.05, 0.01, -0.01, 0.03, 0.04, 0.0, 0.06])
    >>> result.statistic, result.pvalue, result.zeros
    (26.5, 0.046875, 1)
    """
    names: Any = getattr(differences, "index", ())
    if not (getattr(names, "inferred_type", "") == "integer" and names.has_duplicates):  # numbers that are not names
        require_data_sets(names)
    values = as_differences(differences)
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    as_choice(zero_method, "zero_method", ZERO_METHODS)
    as_choice(method, "method", SIGNED_RANK_METHODS)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    largest = float(np.abs(values).max())
    values = rounding_as_zero(values)
    ranks = _doubled_ranks(values, zero_method, largest)
    positive = int(ranks[values > 0].sum())
    ranked = [int(rank) for rank in ranks[values != 0]]
    reason = "" if ranked else "all differences are 0: the data say nothing about a difference"
    outcome: dict[str, Any] = {"pvalue": 1.0, "error_bound": 0.0}
    if method == "exact":
        tail = pvalue_of_sum(ranked, positive, sum(ranked) - positive, way)
        reason = reason or tail.reason
        outcome = {"pvalue": tail.high, "pvalue_interval": tail.interval, "error_bound": tail.error_bound}
    elif ranked:
        z = (2 * positive - sum(ranked)) / math.sqrt(sum(rank * rank for rank in ranked))
        outcome = {"pvalue": float({"greater": ndtr(-z), "less": ndtr(z), "two-sided": 2 * ndtr(-abs(z))}[way])}
    return SignedRankResult(
        statistic=positive / 2,
        method=method,
        alternative=way,
        estimate=_walsh_average(np.sort(values), None),
        confidence_interval=with_alternative(lambda value: _interval(values, value), way, level, (-math.inf, math.inf)),
        n=len(values),
        zeros=int((values == 0).sum()),
        reason=reason,
        **outcome,
    )


def rounding_as_zero(differences: FloatArray) -> FloatArray:
    """Return the differences, with 0 for those that are 0 except for the rounding of the largest.

    >>> rounding_as_zero(np.array([0.1 + 0.2 - 0.3, 0.25])).tolist()
    [0.0, 0.25]
    """
    magnitudes = np.abs(differences)
    return np.where(magnitudes <= _TIED * float(magnitudes.max()), 0.0, differences)


def _doubled_ranks(values: FloatArray, zero_method: str, largest: float) -> Any:
    """Twice the ranks of the magnitudes, as whole numbers; ties share the mean of theirs."""
    magnitudes = np.abs(values)
    order = np.argsort(magnitudes, kind="stable")
    ascending = magnitudes[order]
    # Neighbours within the tolerance are tied, whatever the rounding of a subtraction made of them.
    steps = np.concatenate([[0], np.cumsum(np.diff(ascending) > _TIED * largest)])
    levels = np.empty(len(values))
    levels[order] = steps
    if zero_method == "wilcox":
        levels[values == 0] = np.nan
    from scipy.stats import rankdata

    doubled = 2 * rankdata(levels, nan_policy="omit")
    return np.where(values == 0, 0, np.nan_to_num(doubled)).astype(np.int64)


def _interval(values: FloatArray, level: float) -> Interval:
    n, tail = len(values), (1 - level) / 2
    averages = n * (n + 1) // 2
    if n <= _MOST_EXACT:
        below = probabilities_below(range(1, n + 1), averages // 2 + 1)
        # The number of averages to leave out at each end: the most whose chance is at most the tail.
        out = int(np.searchsorted(below, tail * (1 + 1e-12), side="right"))
    else:
        deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        from scipy.special import ndtri

        out = max(0, math.floor(averages / 2 + float(ndtri(tail)) * deviation))
    if out == 0:
        return Interval(-math.inf, math.inf, level)
    ascending = np.sort(values)
    return Interval(_walsh_average(ascending, out - 1), _walsh_average(ascending, averages - out), level)


def _walsh_average(ascending: FloatArray, position: int | None) -> float:
    """Return the mean of two differences at a position among all such means, sorted; their median if None."""
    n = len(ascending)
    averages = n * (n + 1) // 2
    if position is None:
        return (_walsh_average(ascending, (averages - 1) // 2) + _walsh_average(ascending, averages // 2)) / 2
    if n <= 2000:
        first, second = np.triu_indices(n)
        means = (ascending[first] + ascending[second]) / 2
        return float(np.partition(means, position)[position])
    low, high = float(ascending[0]), float(ascending[-1])
    if _at_most(ascending, low) > position:
        return low
    while (middle := low + (high - low) / 2) not in (low, high):
        low, high = (low, middle) if _at_most(ascending, middle) > position else (middle, high)
    return high


def _at_most(ascending: FloatArray, mean: float) -> int:
    """Return the number of means of two differences that are at most `mean`."""
    partners = np.searchsorted(ascending, 2 * mean - ascending, side="right")
    with_itself = int((ascending <= mean).sum())
    return (int(partners.sum()) + with_itself) // 2
