"""Friedman's test of several models over many data sets.

When not to use: for which models differ (`sigstats.compare_over_datasets`); for two models
(`sigstats.signed_rank_test`); or with scores of folds of one data set in place of data sets, which are not independent.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import chdtrc, fdtrc

from .._common.data_frames import columns_of
from .._common.drawing import ranks_with_cliques
from .._common.extreme import error_bound, ties_as_equal
from .._common.random_streams import RNG, as_generator
from .._common.scores import code_of_missing
from .._common.validation import IntArray, as_choice, as_count, as_flag, as_names, as_real, as_reals, refuse
from ..test_result import TestResult, monte_carlo_outcome
from .friedman_exact import exact_pvalue, least_pvalue, number_of_orders
from .score_tables import require_data_sets, rows_of, unlike_models

FriedmanMethod: TypeAlias = Literal["auto", "exact", "f", "chi2", "monte-carlo"]

FRIEDMAN_METHODS: tuple[FriedmanMethod, ...] = ("auto", "exact", "f", "chi2", "monte-carlo")
#: The most ranks in one array; those that are permuted in 3 seconds, and the numbers of orders that are drawn.
_BATCH, _MOST_DRAWN, _MOST_COUNTED = 2**22, 2e8, 2e7
#: With fewer data sets, of permutations too many to count, F rejects at 0.001 up to three times as often as stated.
_F_HOLDS = 12
#: Below it the tail may be short enough to be counted, and F and chi-square are far from it.
_RARE = 1e-6


@dataclass(frozen=True, kw_only=True)
class FriedmanResult(TestResult):
    """The result of `friedman_test`.

    Attributes
    ----------
    statistic : float
        The statistic of the p-value: `f_statistic` for the method ``"f"``, otherwise `chi2_statistic`.
    chi2_statistic : float
        Friedman's chi-square, corrected for ties.
    f_statistic : float
        Iman and Davenport's (1980) F; infinite if all data sets rank the models in the same order.
    ranks : tuple of float
        The mean rank of each model, 1 for the best; ties share their ranks.
    datasets, models : int
        `plot` draws the mean ranks, with bars over models within Nemenyi's critical difference at 0.05.
    """

    _question = "Friedman's test: are all models equally good?"
    _null = "they are"

    chi2_statistic: float
    f_statistic: float
    ranks: tuple[float, ...]
    datasets: int
    models: int

    def _sentence(self, p: str) -> str:
        approximate = {"f": "F", "chi2": "chi-square"}.get(self.method)
        return super()._sentence(p)[:-1] + (f" in the approximation by {approximate}." if approximate else ".")

    def _draw(self, ax: Any) -> Any:
        order = sorted(range(self.models), key=self.ranks.__getitem__)
        ranks, names = [self.ranks[model] for model in order], [str(model + 1) for model in order]
        within = self.critical_difference()
        ends = [bisect_right(ranks, rank + within) for rank in ranks]
        cliques = [names[first:end] for first, end in enumerate(ends) if first == 0 or end > ends[first - 1]]
        return ranks_with_cliques(ax, names, ranks, cliques)

    def critical_difference(self, alpha: float = 0.05) -> float:
        """Nemenyi's critical difference of two mean ranks.

        Two models whose mean ranks differ by at least this much differ at the level `alpha`, for all pairs together.
        The difference of two models then depends on which other models take part (Benavoli, Corani and Mangili 2016),
        so `sigstats.compare_over_datasets` does not use it.

        Parameters
        ----------
        alpha : float
            Strictly between 0 and 0.5.

        Notes
        -----
        Demsar (2006), equation in section 3.2.2: ``q sqrt(k (k + 1) / (6 N))``, q being the quantile of the studentized
        range of k means with infinite degrees of freedom, over the square root of 2.

        Examples
        --------
        >>> import sigstats
        >>> result = sigstats.friedman_test([[3, 2, 1, 0]] * 14)
        >>> round(result.critical_difference(), 3), round(result.critical_difference(0.1), 3)
        (1.254, 1.118)
        """
        from scipy.stats import studentized_range

        level = as_real(alpha, "alpha", low=0, high=0.5, open_ends=True)
        quantile = float(studentized_range.ppf(1 - level, self.models, math.inf)) / math.sqrt(2)
        return quantile * math.sqrt(self.models * (self.models + 1) / (6 * self.datasets))


def friedman_test(
    scores: Any,
    *,
    models: Sequence[str] | None = None,
    method: FriedmanMethod = "auto",
    greater_is_better: bool = True,
    n_resamples: int = 9_999,
    rng: RNG = None,
) -> FriedmanResult:
    """Test whether several models are equally good over data sets.

    Null hypothesis: on each of independent data sets, all orders of the models' scores are equally likely.

    Parameters
    ----------
    scores : array_like, data frame or mapping of names to columns, shape (N, k)
        A score of each of k models (columns), three or more, on each of N data sets (rows), two or more. Equal scores
        share their ranks: round scores that differ by rounding error alone.
    models : sequence of str, optional
        The columns of a data frame (pandas, Polars, Arrow or whatever narwhals reads) that are models; all by default.
    method : {"auto", "exact", "f", "chi2", "monte-carlo"}
        ``"exact"`` counts all permutations of the ranks within each data set, with ties as they are, for problems up to
        400 data sets and three models, 50 and four, 13 and five, or 6 and six. In larger problems it counts those that
        are at least as extreme if these are few, because nearly all data sets rank up to eight models alike. Otherwise
        it draws some, as ``"monte-carlo"`` does, and the result says so. ``"f"`` is Iman and Davenport's statistic with
        ``k - 1`` and ``(k - 1) (N - 1)`` degrees of freedom; ``"chi2"`` is Friedman's own with ``k - 1``. ``"auto"`` is
        ``"exact"`` if that takes seconds; otherwise ``"monte-carlo"`` if ties take more than half of the variance of
        the ranks, and ``"f"`` if they do not.
    greater_is_better : bool
        False for errors and losses; it turns the ranks, not the p-value.
    n_resamples : int
        The number of replicates of ``"monte-carlo"``.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the replicates. For ``"auto"``, None is the seed 0, so that p is a function of the scores.

    Returns
    -------
    FriedmanResult
        If no data set distinguishes the models, the statistics are 0 and the p-value is 1.

    Raises
    ------
    ValueError
        If the table is smaller, a score is not finite, an option is unknown, or ``"exact"`` would take too long.

    Notes
    -----
    With R_j the mean rank of model j, ``chi2 = 12 N / (k (k + 1)) (sum of R_j**2 - k (k + 1)**2 / 4)``, divided by one
    less the share of ties, ``sum of (t**3 - t) / (N (k**3 - k))`` over groups of t equal scores (Friedman; Conover),
    and ``F = (N - 1) chi2 / (N (k - 1) - chi2)`` (Iman and Davenport).

    F is infinite if all data sets rank the models alike. A p-value of F or chi-square below 1e-6 is a rough
    approximation, and the result says so; like the exact one, it is never below the probability of the observed ranks
    with the models in any order. With 12 data sets or more, F rejects a true null hypothesis without ties in at most
    5.9 percent of cases at 0.05 and 0.22 percent at 0.001; with fewer in up to 7.5 and 0.85 percent (19 percent with
    three data sets and three models), and the result says so. Chi-square rejects in 6.9 percent of cases at 0.05 with
    three models and four data sets. Ties can make both reject more often: if one of 20 models wins each of five data
    sets and all others tie, F rejects in 2.3 percent at 0.001.

    When not to use: for models with equal means that differ in spread, because then not all orders are equally likely.

    References
    ----------
    Friedman, JASA 32 (1937). Iman and Davenport, Communications in Statistics A 9 (1980), equation (3). Conover (1999),
    section 5.8.

    Examples
    --------
    >>> import sigstats
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.7], [0.95, 0.9, 0.6], [0.7, 0.75, 0.5]]
    >>> result = sigstats.friedman_test(scores)
    >>> result.ranks, round(result.statistic, 4), round(result.pvalue, 4)
    ((1.25, 1.875, 2.875), 5.7333, 0.0648)
    """
    from scipy.stats import rankdata  # slow to import

    require_data_sets(rows_of(scores))
    columns = columns_of(scores, models, {}, name="scores")
    table = ties_as_equal(as_reals(columns.table, "scores", ndim=2))
    names = as_names(columns.models, "models", table.shape[1])
    datasets, k = table.shape
    if datasets < 2 or k < 3:
        raise refuse("scores", table.shape, "at least two data sets (rows), three models (columns)", quantity="shape")
    way: str = as_choice(method, "method", FRIEDMAN_METHODS)
    as_flag(greater_is_better, "greater_is_better")
    replicates = as_count(n_resamples, "n_resamples", minimum=1, maximum=10**8)
    generator = as_generator(0 if rng is None and way == "auto" else rng)
    doubled = np.rint(2 * rankdata(-table if greater_is_better else table, axis=1)).astype(np.int64)
    chi2_statistic, f_statistic = _statistics(doubled)
    way, reason, outcome = _tested(doubled, way, (chi2_statistic, f_statistic), replicates, generator)
    turned = f"{k} models (columns) and {datasets} data sets (rows): is the table transposed?" if k > datasets else ""
    # An array may contain anything, but hardly a single -1 or -999.
    doubts: list[str] = [] if columns.models else [code_of_missing([*table.T], names, None)[0]]
    if columns.models:
        doubts += unlike_models([*table.T], names, greater_is_better=greater_is_better, listed=models is not None)
    return FriedmanResult(
        reason="; ".join(filter(None, (reason, turned, *doubts))),
        statistic=f_statistic if way == "f" else chi2_statistic,
        chi2_statistic=chi2_statistic,
        f_statistic=f_statistic,
        ranks=tuple((doubled.mean(axis=0) / 2).tolist()),
        method=way,
        datasets=datasets,
        models=k,
        **outcome,
    )


def _tested(
    doubled: IntArray, way: str, statistics: tuple[float, float], replicates: int, generator: np.random.Generator
) -> tuple[str, str, dict[str, Any]]:
    """Return the method that is used, the reason for it or a warning, and the p-value with what is known about it."""
    of_chi2 = float(chdtrc(doubled.shape[1] - 1, statistics[0]))
    counted = exact_pvalue(doubled, rare=of_chi2 < _RARE) if way in ("auto", "exact") else None
    if counted is not None:
        return "exact", "", {"pvalue": counted[0], "error_bound": error_bound(*counted)}
    reason = ""
    if way == "exact":
        if min(_work(doubled, replicates)) > 1:
            sizes = f"{len(doubled)} data sets and {doubled.shape[1]} models"
            raise refuse("method", way, f'"f" for {sizes}: too many permutations')
        reason, way = "too many permutations to count: some are drawn", "monte-carlo"
    elif way == "auto":
        drawn = _mostly_tied(doubled) and min(_work(doubled, replicates)) <= 1
        reason, way = ("many scores are tied: some permutations are drawn", "monte-carlo") if drawn else ("", "f")
    if way == "monte-carlo":
        return way, reason, monte_carlo_outcome(_exceedances(doubled, replicates, generator), replicates)
    p, doubt = _of_f(doubled, statistics) if way == "f" else (of_chi2, "")
    if p < _RARE and (p := max(p, least_pvalue(doubled))) < _RARE:
        doubt = "a rough approximation: so small a p-value may be off by many orders of magnitude"
    return way, doubt, {"pvalue": p}


def _of_f(doubled: IntArray, statistics: tuple[float, float]) -> tuple[float, str]:
    """Return the p-value of F, and a warning if it may be too small."""
    (datasets, k), doubt = doubled.shape, ""
    if statistics[0] > 0 and _mostly_tied(doubled):
        doubt = "many scores are tied: small p-values of F may be many times too small"
    elif statistics[0] > 0 and datasets < _F_HOLDS:
        doubt = f"{datasets} data sets are few for F: small p-values may be several times too small"
    return float(fdtrc(k - 1, (k - 1) * (datasets - 1), statistics[1])), doubt


def _mostly_tied(doubled: IntArray) -> bool:
    """Return True if ties take more than half of the variance of the ranks."""
    datasets, k = doubled.shape
    return bool(6 * ((doubled - (k + 1)) ** 2).sum() < datasets * k * (k**2 - 1))


def _statistics(doubled: IntArray) -> tuple[float, float]:
    datasets, k = doubled.shape
    sums = doubled.sum(axis=0)
    # In whole numbers: the spread of the rank sums, and that of the ranks within the data sets.
    between = int((sums**2).sum()) * k - int(sums.sum()) ** 2
    within = int((doubled**2).sum()) * k - datasets * (k * (k + 1)) ** 2
    if within == 0:
        return 0.0, 0.0
    statistic = (k - 1) * between / within
    rest = datasets * (k - 1) - statistic
    return statistic, math.inf if rest <= 1e-9 * statistic else (datasets - 1) * statistic / rest


def _patterns(doubled: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different ranks of a data set, sorted, and how many data sets have them."""
    return np.unique(np.sort(doubled, axis=1), axis=0, return_counts=True)


def _work(doubled: IntArray, replicates: int) -> tuple[float, float]:
    """Return the work of permuting each data set, and of drawing how many have each order, as shares of 3 s."""
    orders = len(_patterns(doubled)[0]) * number_of_orders(doubled.shape[1])
    return doubled.size * replicates / _MOST_DRAWN, orders * replicates / _MOST_COUNTED


def _exceedances(doubled: IntArray, replicates: int, rng: np.random.Generator) -> int:
    observed, exceedances = int((doubled.sum(axis=0) ** 2).sum()), 0
    permuting, counting = _work(doubled, replicates)
    draw = _count_orders if permuting > 1 >= counting else _permute
    step = max(1, _BATCH // (doubled.size if draw is _permute else math.factorial(doubled.shape[1])))
    for start in range(0, replicates, step):
        sums = draw(doubled, min(step, replicates - start), rng)
        exceedances += int(((sums**2).sum(axis=1) >= observed).sum())
    return exceedances


def _permute(doubled: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    drawn = rng.permuted(np.broadcast_to(doubled, (size, *doubled.shape)), axis=2)
    return np.asarray(drawn.sum(axis=1), dtype=np.int64)


def _count_orders(doubled: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Return the rank sums if data sets with the same ranks have each order as often as a multinomial law states."""
    sums = np.zeros((size, doubled.shape[1]), dtype=np.int64)
    for ranks, times in zip(*_patterns(doubled), strict=True):
        orders = np.array([*permutations(ranks)])
        sums += rng.multinomial(times, np.full(len(orders), 1 / len(orders)), size=size) @ orders
    return sums
