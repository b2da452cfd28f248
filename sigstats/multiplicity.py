"""Adjusted p-values for a family of tests, the level of each of many looks at the same data, and bands for p-values.

When not to use: when only one of the hypotheses was ever of interest; on a family chosen after looking at its
p-values; or in place of a test that compares all the classifiers at once. Bands: for discrete p-values, which lie below
the uniform law, only points above the band are evidence.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import log_ndtr, ndtri

from ._common.validation import FloatArray, IntArray, as_choice, as_count, as_real, as_reals, refuse, refuse_where

AdjustMethod: TypeAlias = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli"]
#: An adjustment, or none.
Adjustment: TypeAlias = Literal[AdjustMethod, "none"]

ADJUST_METHODS: tuple[AdjustMethod, ...] = get_args(AdjustMethod)
#: An adjustment in a sentence.
IN_WORDS: dict[str, str] = {
    "holm": "adjusted by Holm",
    "benjamini-hochberg": "adjusted by Benjamini and Hochberg",
    "benjamini-yekutieli": "adjusted by Benjamini and Yekutieli",
    "none": "not adjusted",
}
#: The words of statsmodels and of SciPy.
_THEIR_WORDS = {
    "fdr_bh": "benjamini-hochberg",
    "bh": "benjamini-hochberg",
    "fdr_by": "benjamini-yekutieli",
    "by": "benjamini-yekutieli",
}


def in_our_words(method: Any) -> Any:
    """Translate the name of an adjustment in statsmodels or SciPy to ours; return anything else unchanged."""
    return _THEIR_WORDS.get(method, method) if isinstance(method, str) else method


def adjust_pvalues(
    pvalues: Any, *, method: AdjustMethod | Literal["fdr_bh", "fdr_by", "bh", "by"] = "holm"
) -> FloatArray:
    """Adjust the p-values of a family of tests.

    If all hypotheses with an adjusted p-value of at most alpha are rejected, the error rate of the method is at most
    alpha.

    Parameters
    ----------
    pvalues : array_like, shape (n,)
        The p-values of the whole family, between 0 and 1, including those of no interest. Missing values are refused:
        you decide whether their tests belong to the family.
    method : {"holm", "benjamini-hochberg", "benjamini-yekutieli"}
        ``"holm"`` controls the probability of any false rejection, under any dependence (Holm 1979).
        ``"benjamini-hochberg"`` controls the expected share of false rejections among all rejections, for independent
        or positively dependent tests (Benjamini and Hochberg 1995); ``"benjamini-yekutieli"`` does so under any
        dependence (Benjamini and Yekutieli 2001). The tests of all pairs of several classifiers are not positively
        dependent. ``fdr_bh``, ``fdr_by``, ``bh`` and ``by``, as in statsmodels and SciPy, are accepted.

    Returns
    -------
    ndarray, shape (n,)
        The adjusted p-values in the given order, at least the p-values and at most 1.

    Raises
    ------
    ValueError
        If the family is empty, a value is missing or outside [0, 1], or `method` is unknown.

    References
    ----------
    Holm, Scandinavian Journal of Statistics 6 (1979). Benjamini and Hochberg, JRSS B 57 (1995). Benjamini and
    Yekutieli, Annals of Statistics 29 (2001).

    Examples
    --------
    >>> import sigstats
    >>> sigstats.adjust_pvalues([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> sigstats.adjust_pvalues([0.01, 0.04, 0.03], method="benjamini-hochberg").round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    p = as_reals(pvalues, "pvalues", ndim=1)
    method = as_choice(in_our_words(method), "method", ADJUST_METHODS)
    refuse_where((p < 0) | (p > 1), p, "pvalues", "p-values between 0 and 1")
    n = p.size
    order = np.argsort(p, kind="stable")
    ascending = p[order]
    rank = np.arange(1, n + 1)
    if method == "holm":
        raised = np.maximum.accumulate((n - rank + 1) * ascending)  # Holm (1979), sec. 3, as adjusted p-values
    else:
        # Theorem 1.3 of Benjamini and Yekutieli (2001); the factor is 1 in Benjamini and Hochberg (1995), eq. (1).
        factor = float(np.sum(1 / rank)) if method == "benjamini-yekutieli" else 1.0
        raised = np.minimum.accumulate((factor * n / rank * ascending)[::-1])[::-1]
    adjusted = np.empty(n)
    # A product of rounded numbers may fall short of the p-value itself by one unit in the last place.
    adjusted[order] = np.clip(raised, ascending, 1.0)
    return adjusted


def adjust_family(pvalues: Sequence[float], method: str) -> list[float]:
    """Adjust like `adjust_pvalues`; the family may be empty, and the method "none" returns it unchanged."""
    if method == "none" or not pvalues:
        return list(pvalues)
    return [float(p) for p in adjust_pvalues(pvalues, method=method)]  # type: ignore[arg-type]  # known by now


def closed_e_bh(log_evalues: Sequence[float]) -> list[float]:
    """Return the smallest level at which each hypothesis is rejected, from log e-values under any dependence.

    The expected share of false rejections is at most the level. The best r hypotheses are rejected at the level a if
    the mean e-value of each set S of hypotheses is at least the share of S among the r, divided by a. This rejects all
    that e-BH does, and often more (Xu, Fischer and Ramdas 2025, Bringing closure to false discovery rate control).

    >>> [round(level, 6) for level in closed_e_bh(np.log([100, 50, 8]).tolist())]
    [0.018987, 0.018987, 0.041667]
    """
    order = np.argsort(-np.asarray(log_evalues, dtype=np.float64), kind="stable")
    evalues = np.exp(np.clip(np.asarray(log_evalues, dtype=np.float64)[order], -300.0, 300.0))
    level, levels = np.inf, np.empty(len(evalues))
    for r in range(len(evalues), 0, -1):
        # Among all sets S with given numbers of the r and of others, the one with the smallest e-values decides.
        inside, outside = np.cumsum(evalues[:r][::-1]), np.cumsum(evalues[r:][::-1])
        of_r = np.arange(1, r + 1)[:, None]
        sums = inside[:, None] + np.r_[0.0, outside]
        level = min(level, float((of_r * (of_r + np.arange(len(outside) + 1)) / (r * sums)).max()))
        levels[order[r - 1]] = level
    return [min(1.0, float(level)) for level in levels]


def fewest_resamples(tests: int, others: Sequence[float], *, method: str, alpha: float) -> int:
    """Return the fewest replicates with which tests are rejected if none of their replicates is as extreme as the data.

    With B replicates the p-value of these `tests` is 1 / (B + 1); `others` are the p-values of the rest of the family.

    >>> fewest_resamples(24, [], method="holm", alpha=0.05), fewest_resamples(1, [], method="none", alpha=0.05)
    (479, 19)
    """

    def rejects(size: int) -> bool:
        return max(adjust_family([1 / (size + 1)] * tests + [*others], method)[:tests]) <= alpha

    return bisect_left(range(10**18), True, key=rejects)


Spending: TypeAlias = Literal["each", "series", "linear", "pocock", "obrien-fleming"]


def spent_level(look: int, *, alpha: float = 0.05, spending: Spending = "series", looks: int | None = None) -> float:
    """Return the level of one of many looks at the same data, numbered from 1; `alpha` is the level of all together.

    Each candidate tested on the same rows is another chance of a false alarm. Spending functions divide one level among
    the looks, so that the probability of any false alarm is at most that level (union bound), however the looks depend
    on each other.

    When not to use: for candidates *chosen* because they did well on this test set. Their estimated errors are too low,
    which no level corrects; test them on new data.

    `spending`: ``"each"``: every look has the whole level; false alarms add up. ``"series"``: ``6 / pi**2 / look**2``
    of the level, which adds up to the level over infinitely many looks, so their number need not be known.
    ``"linear"``: the same for each of `looks` looks (Bonferroni). ``"pocock"``: ``alpha * ln(1 + (e - 1) t)`` is spent
    up to the share `t` of the looks, slightly more on early ones. ``"obrien-fleming"``: ``2 - 2 Phi(z(1 - alpha / 2) /
    sqrt(t))`` is spent up to `t`, nearly all on late ones. The last three need `looks`; after the last look the level
    is 0. Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70 (1983). Foster and Stine,
    Alpha-investing, Journal of the Royal Statistical Society B 70 (2008), for looks without an end.
    """
    number = as_count(look, "look", minimum=1)
    level = as_real(alpha, "alpha", low=0, high=0.5, open_ends=True)
    how = as_choice(spending, "spending", get_args(Spending))
    if how == "each":
        return level
    if how == "series":
        return level * 6 / (math.pi * number) ** 2
    if looks is None:
        raise refuse("looks", looks, f"the number of looks, for the spending {how!r}")
    planned = as_count(looks, "looks", minimum=1)
    if number > planned:
        return 0.0
    if how == "linear":
        return level / planned
    return _spent_by(number / planned, level, how) - _spent_by((number - 1) / planned, level, how)


def _spent_by(share: float, alpha: float, how: str) -> float:
    """Return the level spent up to a share of the looks (Lan and DeMets, section 3)."""
    if share == 0:
        return 0.0
    if how == "pocock":
        return alpha * math.log1p((math.e - 1) * share)
    return 2 * math.exp(log_ndtr(ndtri(alpha / 2) / math.sqrt(share)))


def cliques(models: Sequence[str], differing: set[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the largest sets of models without a significant pair, neighbours or not (Bron and Kerbosch 1973)."""
    position = {model: i for i, model in enumerate(models)}
    tied = {a: {b for b in models if b != a and frozenset((a, b)) not in differing} for a in models}
    complete: list[tuple[str, ...]] = []

    def grow(clique: list[str], candidates: set[str], done: set[str]) -> None:
        if not candidates and not done:
            complete.append(tuple(sorted(clique, key=position.__getitem__)))
            return
        pivot = max(candidates | done, key=lambda model: len(tied[model] & candidates))
        for model in sorted(candidates - tied[pivot], key=position.__getitem__):
            grow([*clique, model], candidates & tied[model], done & tied[model])
            candidates = candidates - {model}
            done = done | {model}

    grow([], set(models), set())
    return tuple(sorted(complete, key=lambda clique: [position[model] for model in clique]))


#: With more p-values the levels share the error by Bonferroni's inequality, which makes the band slightly wider.
MOST_EXACT = 5_000


@lru_cache(maxsize=32)
def ecdf_band(n: int, levels: tuple[float, ...], confidence_level: float = 0.95) -> tuple[IntArray, IntArray]:
    """Return simultaneous bounds of the numbers, of `n` uniform p-values, at or below each of the rising levels.

    The band has one probability outside it at every level (equal local levels: Berk and Jones 1979; Gontscharuk,
    Landwehr and Finner 2016), the largest for which the probability of leaving it anywhere, computed exactly since the
    counts at rising levels are a Markov chain with binomial steps (Noe 1972), is at most ``1 - confidence_level``.
    """
    allowed = 1 - confidence_level
    local = allowed / len(levels)
    if n > MOST_EXACT:
        return _bounds(n, levels, local)
    low, high = local, allowed
    for _ in range(10):
        middle = np.sqrt(low * high)
        if stays_within(n, levels, *_bounds(n, levels, middle)) >= confidence_level:
            low = middle
        else:
            high = middle
    return _bounds(n, levels, low)


def _bounds(n: int, levels: tuple[float, ...], local: float) -> tuple[IntArray, IntArray]:
    from scipy.stats import binom  # slow to import, for those who draw no band too

    low, high = np.asarray(binom.ppf(local / 2, n, levels)), np.asarray(binom.isf(local / 2, n, levels))
    return low.astype(np.int64), high.astype(np.int64)


def stays_within(n: int, levels: tuple[float, ...], low: IntArray, high: IntArray) -> float:
    """Return the exact probability that the numbers of n uniform p-values up to the levels are within these bounds."""
    from scipy.stats import binom

    counts, weights = np.array([0]), np.array([1.0])
    before = 0.0
    for level, least, most in zip(levels, low.tolist(), high.tolist(), strict=True):
        wanted = np.arange(least, most + 1)
        steps = binom.pmf(wanted[None] - counts[:, None], n - counts[:, None], (level - before) / (1 - before))
        weights = weights @ steps
        counts, before = wanted, level
    return float(np.sum(weights))


def shares(p_values: FloatArray, levels: tuple[float, ...]) -> FloatArray:
    """Return the share of p-values at or below each level, with the tolerance of all comparisons here.

    >>> shares(np.array([0.01, 0.1 + 0.2, 0.5]), (0.05, 0.3)).tolist()
    [0.3333333333333333, 0.6666666666666666]
    """
    from ._common.extreme import at_most

    return np.array([np.count_nonzero(at_most(p_values, level)) / p_values.size for level in levels])
