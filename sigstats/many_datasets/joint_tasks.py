"""One decision over several tasks: A is better on all rows, in the mean over tasks, on any task, or on every task.

When not to use: the question is about other tasks than these (`sigstats.signed_rank_test`); rows of one task are not
independent (`sigstats.sign_flip_test`), or tasks share rows; or you want a pass: a large p-value does not exclude a
drop (`sigstats.compare` does).
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import bdtrc

from .._common.extreme import TIE_TOLERANCE
from .._common.random_streams import RNG, as_generator
from .._common.validation import FloatArray, IntArray, as_choice, as_count
from ..intervals import Interval
from ..mcnemar.mcnemar_test import mcnemar_test
from ..test_result import TestResult, monte_carlo_outcome
from .stratified import as_strata, stratified_paired_test

_ASSUMED = (
    "exact if A is better on no task; of the mean over tasks, where gains and losses cancel, the level is asymptotic"
)
#: The most numbers that are drawn at a time.
_BATCH = 2**20


@dataclass(frozen=True, kw_only=True)
class JointTasksResult(TestResult):
    """The result of `joint_tasks_test`.

    Attributes
    ----------
    statistic : float
        The smallest of the p-values `all_rows`, `mean_over_tasks` and `any_task`.
    pvalue : float
        The p-value of the joint decision; its null hypothesis is that A is better on no task.
    pvalue_interval : Interval
        The Clopper-Pearson interval of the replicates counted. The replicates also rank the three p-values, an error
        that the interval ignores: where two of them are close, it may miss the p-value of infinitely many replicates in
        10% of runs. The level of `pvalue` is not affected.
    estimate : float
        The accuracy of A minus that of B, the mean over tasks.
    confidence_interval : Interval
        The one-sided interval of `estimate`, that of `sigstats.stratified_paired_test`.
    all_rows : float
        McNemar's p-value of all rows together, with equal weights.
    mean_over_tasks : float
        The p-value of the mean over tasks, with equal weights (`sigstats.stratified_paired_test`).
    any_task : float
        The smallest p-value of a task, adjusted for all tasks.
    every_task : float
        The p-value of "A is better on every task": the largest unadjusted p-value of a task (Berger 1982).
    tasks : tuple of float
        The p-value of each task, adjusted for all of them: A is better on all tasks whose value is at most the level.
    """

    _question = "Joint test over tasks: is A better anywhere?"
    _null = "A is better on no task"

    estimate: float
    confidence_interval: Interval
    all_rows: float
    mean_over_tasks: float
    any_task: float
    every_task: float
    tasks: tuple[float, ...]


def joint_tasks_test(
    only_a: Any,
    only_b: Any,
    n: Any,
    *,
    alternative: Literal["greater", "less"] = "greater",
    confidence_level: float = 0.95,
    n_resamples: int = 9_999,
    rng: RNG = None,
) -> JointTasksResult:
    """Test whether one of two models is better on any of several tasks, by one decision.

    Null hypothesis: on every task, a row of an independent sample is at most as likely to be right only by A as only by
    B.

    Parameters
    ----------
    only_a, only_b : array_like of int, shape (T,)
        The numbers of rows of each task that only A, and only B, got right.
    n : array_like of int, shape (T,)
        The number of rows of each task.
    alternative : {"greater", "less"}
        ``"greater"``: A is better; ``"less"``: B is, and A and B change places in the descriptions.
    confidence_level : float
        The confidence of the interval, above 1/2 and below 1.
    n_resamples : int
        The number of random draws for the joint decision.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the draws. All p-values but the joint one draw nothing.

    Returns
    -------
    JointTasksResult
        Without discordant rows every p-value is 1.

    Raises
    ------
    ValueError
        As `stratified_paired_test`, or if an option is out of range.

    Notes
    -----
    Given the discordant rows of each task, the numbers that A got right are independent, and binomial with probability
    at most 1/2 under the null hypothesis. `any_task` is the exact probability that the smallest p-value of all tasks is
    as small as the observed one. The p-values of single tasks are adjusted stepwise in the same way, which takes into
    account that a task with few discordant rows cannot have a small one (Westfall and Young). The joint decision takes
    the smallest p-value of all rows, the mean and any task, and simulates its distribution (Westfall and Young's single
    step). Kuebler et al. allow for three tests by Bonferroni's method, which ignores their dependence.

    References
    ----------
    Westfall and Young (1993), section 2.6. Kuebler et al., arXiv 2602.10144 (2026).

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.joint_tasks_test([30, 8, 21], [12, 7, 20], [500, 100, 300], rng=1)
    >>> [round(p, 4) for p in (result.all_rows, result.mean_over_tasks, result.any_task, result.every_task)]
    [0.0272, 0.1468, 0.0098, 0.5]
    >>> [round(p, 4) for p in result.tasks], result.pvalue < 0.05
    ([0.0098, 0.75, 0.75], True)
    """
    a, b, size = as_strata(only_a, only_b, n)
    way = as_choice(alternative, "alternative", ("greater", "less"))
    n_draws, generator = as_count(n_resamples, "n_resamples", minimum=1, maximum=10**7), as_generator(rng)
    won, lost = (a, b) if way == "greater" else (b, a)
    all_rows = mcnemar_test(int(won.sum()), int(lost.sum()), alternative="greater").pvalue
    mean = stratified_paired_test(won, lost, size, alternative="greater", confidence_level=confidence_level)
    tails = [tails_of(discordant) for discordant in (a + b).tolist()]
    pvalues = np.array([tail[k] for tail, k in zip(tails, won.tolist(), strict=True)])
    tasks = adjusted_by_steps(pvalues, tails)
    _, joint = exceedances(won[None], a + b, size, n_draws, generator)
    return JointTasksResult(
        statistic=min(all_rows, mean.pvalue, float(tasks.min())),
        method="monte-carlo",
        alternative=way,
        reason=_ASSUMED,
        estimate=mean.estimate if way == "greater" else -mean.estimate,
        confidence_interval=mean.confidence_interval if way == "greater" else -mean.confidence_interval,
        all_rows=all_rows,
        mean_over_tasks=mean.pvalue,
        any_task=float(tasks.min()),
        every_task=float(pvalues.max()),
        tasks=tuple(tasks.tolist()),
        **monte_carlo_outcome(int(joint[0]), n_draws),
    )


def exceedances(
    won: IntArray, n: IntArray, size: IntArray, count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Count the draws, out of `count`, with each statistic, and with a joint decision, as extreme as observed.

    `won` (shape (m, T)): the rows won of each task in m sets of data, which are compared with the same draws. `n` and
    `size` (shape (T,)): the discordant rows and all rows of each task. Returns arrays of shape (3, m), for the three
    statistics of `_statistics`, and (m,), for the smallest of their three p-values.
    """
    tails = [tails_of(discordant) for discordant in n.tolist()]
    batch = max(1, _BATCH // len(n))
    drawn = (rng.binomial(n, 0.5, size=(min(batch, count - start), len(n))) for start in range(0, count, batch))
    values = np.hstack([_statistics(array, size, tails) for array in (won, *drawn)])
    values = np.round(values * 1e9 / np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300))  # ties
    observed, draws = values[:, : len(won)], values[:, len(won) :]
    ascending = np.sort(draws, axis=1)

    def as_extreme(statistics: FloatArray) -> IntArray:
        """Return the number of draws that are as extreme as each of these values, statistic by statistic."""
        return count - np.array([np.searchsorted(*pair) for pair in zip(ascending, statistics, strict=True)])

    of_observed, of_draws = as_extreme(observed), as_extreme(draws)
    joint = []
    for value, smallest_rank in zip(observed.T, of_observed.min(axis=0) + 1, strict=True):
        # The observed value counts among the draws, for itself and for each draw.
        ranks = of_draws + (draws <= value[:, np.newaxis])
        joint.append(np.count_nonzero((ranks <= smallest_rank).any(axis=0)))
    return of_observed, np.array(joint, dtype=np.int64)


def _statistics(won: IntArray, size: IntArray, tails: list[FloatArray]) -> FloatArray:
    """Return the rows won, a multiple of the mean over tasks and -log of the smallest p-value: shape (3, m)."""
    smallest = np.min([tail[k] for tail, k in zip(tails, won.T, strict=True)], axis=0)
    return np.array([won.sum(axis=1), won @ (size.min() / size), -np.log(np.maximum(smallest, 1e-300))])


def tails_of(n: int) -> FloatArray:
    """Return P(X >= k) for k = 0 to n, X binomial with n trials and p = 1/2."""
    return np.asarray(bdtrc(np.arange(-1.0, n), n, 0.5), dtype=np.float64) if n else np.ones(1)


def adjusted_by_steps(pvalues: FloatArray, tails: list[FloatArray]) -> FloatArray:
    """Return the adjusted p-values of tasks, from the smallest: the probability that a remaining one is as small."""
    # Tasks with equal numbers of discordant rows have the same law.
    remaining = Counter(len(tail) for tail in tails)
    laws = {len(tail): tail for tail in tails}
    adjusted, largest = np.empty(len(pvalues)), 0.0
    for task in np.argsort(pvalues, kind="stable").tolist():
        chances = {length: min(_chance_of(tail, pvalues[task]), 1 - 2**-53) for length, tail in laws.items()}
        log_none = sum(times * math.log1p(-chances[length]) for length, times in remaining.items())
        largest = max(largest, -math.expm1(log_none), float(pvalues[task]))
        adjusted[task] = largest
        remaining[len(tails[task])] -= 1
    return adjusted


def _chance_of(tails: FloatArray, p: float) -> float:
    """Return the probability that a task has a p-value of at most `p`: the largest such p-value, or 0."""
    first = int(np.searchsorted(-tails, -p * (1 + TIE_TOLERANCE)))
    return float(tails[first]) if first < len(tails) else 0.0
