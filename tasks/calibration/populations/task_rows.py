"""Rows of several tasks, some of which only one model gets right, and tests of whether B is worse on any task.

All test sets of a lane are compared with the same random draws, which makes thousands of them cheap. The tests are
those of `sigstats.joint_tasks_test`, and the tests of Kuebler et al. (2026, arXiv 2602.10144, section 4), implemented
from their definitions.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import bdtrc, gammaincc

from sigstats._common.validation import FloatArray, IntArray
from sigstats.many_datasets.joint_tasks import adjusted_by_steps, exceedances, tails_of

from ..work import AppliedTest, Described
from .tests import Answers


class _TestSets(NamedTuple):
    """The test sets of a lane, and the random draws with which all of them are compared."""

    #: The number of rows of each task, and how many of them are discordant, in every test set; shape (T,).
    rows: IntArray
    discordant: IntArray
    #: The number of discordant rows that only A gets right; shape (test sets, T).
    only_a: IntArray
    draws: int
    rng: np.random.Generator

    def of_tasks(self) -> FloatArray:
        """Return McNemar's exact p-value of each task."""
        return _tail(self.only_a, self.discordant)

    def exceeding(self) -> tuple[IntArray, IntArray]:
        """Count the draws in which each question, and the joint decision, is at least as extreme."""
        return exceedances(self.only_a, self.discordant, self.rows, self.draws, self.rng)

    def pvalues(self, exceeding: IntArray) -> FloatArray:
        """Return the p-values for these numbers of extreme draws."""
        return np.asarray((1.0 + exceeding) / (1.0 + self.draws))


def _tail(won: IntArray, n: IntArray) -> FloatArray:
    """Return the probability of at least `won` wins in n fair trials."""
    return np.asarray(np.where(won > 0, bdtrc(np.maximum(won - 1.0, 0), n, 0.5), 1.0))


def _any(sets: _TestSets) -> FloatArray:
    tails = [tails_of(value) for value in sets.discordant.tolist()]
    return np.array([adjusted_by_steps(value, tails).min() for value in sets.of_tasks()])


def _pooled(sets: _TestSets) -> FloatArray:
    """Return the p-value of McNemar's exact test of all rows."""
    return _tail(sets.only_a.sum(axis=1), sets.discordant.sum())


def _largest(sets: _TestSets) -> FloatArray:
    """Return the p-value of the largest standardized drop of a task, by draws."""
    n = sets.discordant
    won = np.vstack([sets.only_a, sets.rng.binomial(n, 0.5, size=(sets.draws, len(n)))])
    drops = np.round(((2 * won - n) / np.sqrt(np.maximum(n, 1))).max(axis=1), 9)
    seen, drawn = drops[: len(sets.only_a)], np.sort(drops[len(sets.only_a) :])
    return sets.pvalues(sets.draws - np.searchsorted(drawn, seen))


def _fisher(sets: _TestSets) -> FloatArray:
    """Return Fisher's combination of the tasks' p-values: minus twice the sum of their logarithms is chi-square."""
    return np.asarray(gammaincc(len(sets.rows), -np.log(sets.of_tasks()).sum(axis=1)))


def _three(sets: _TestSets) -> FloatArray:
    """Return the p-value of the joint decision of Kuebler et al.: three tests, each at a third of the level."""
    return np.asarray(np.minimum(1.0, 3 * np.min([value(sets) for value in (_pooled, _largest, _fisher)], axis=0)))


_METHODS: Mapping[str, Callable[[_TestSets], FloatArray]] = {
    "joint-tasks-test": lambda sets: sets.pvalues(sets.exceeding()[1]),
    # By draws from the distribution that `stratified_paired_test` sums.
    "mean-over-tasks": lambda sets: sets.pvalues(sets.exceeding()[0][1]),
    "any-task": _any,
    "all-rows": _pooled,
    "largest-drop": _largest,
    "fisher": _fisher,
    "three-at-a-third": _three,
}


class TaskRows(Described):
    """A population of rows of several tasks. Each field has one value per task, except `errors`."""

    TEST: ClassVar[str] = "joint-tasks"
    ABOUT: ClassVar[str] = "whether B is worse on any task"

    #: Share of the task among all rows.
    shares: tuple[float, ...]
    #: Share of the rows of the task that exactly one model gets right.
    discordant: tuple[float, ...]
    #: Difference by which B is worse on the task, from -1 to 1.
    worse: tuple[float, ...]
    #: Difference by which B is worse, over the tasks on which it is worse, in standard errors.
    errors: float = 3.0

    def null_holds(self, test: AppliedTest) -> bool:  # noqa: ARG002
        """Return True if B is not worse on any task."""
        return all(worse <= 0 or not share for worse, share in zip(self.worse, self.discordant, strict=True))

    def draw(self, n: int, rng: np.random.Generator, size: int) -> IntArray:
        """Draw test sets of n rows: for each task its rows, the rows that only A gets right, and those only B does.

        Returns an array of shape (size, 3, T). The number of discordant rows of a task is the same in all test sets.
        """
        ends = np.round(np.cumsum(self.shares) / math.fsum(self.shares) * n).astype(np.int64)
        rows = np.maximum(np.diff(ends, prepend=0), 1)
        differing, worse = np.round(rows * np.array(self.discordant)).astype(np.int64), np.array(self.worse)
        tilt = self.errors / math.sqrt(max(differing[worse > 0].sum() or differing.sum(), 1))
        only_a = rng.binomial(differing, np.clip((1 + tilt * worse) / 2, 0, 1), (size, len(rows)))
        return np.stack(np.broadcast_arrays(rows, only_a, differing - only_a), axis=1)

    def run_test(self, test: AppliedTest, sets: IntArray, rng: np.random.Generator) -> Answers:
        """Return the p-value of "B is not worse on any task" on each test set. `rng` is for the random methods."""
        rows, only_a, only_b = sets[0, 0], sets[:, 1], sets[:, 2]
        test_sets = _TestSets(rows, only_a[0] + only_b[0], only_a, test.options["resamples"], rng)
        return Answers(_METHODS[test.options["method"]](test_sets))

    def rows_of(self, test_set: IntArray) -> dict[str, Any]:
        """Return the counts of one test set, one row per task."""
        n, only_a, only_b = test_set
        return {"task": np.arange(1, len(n) + 1), "n": n, "only_a": only_a, "only_b": only_b}
