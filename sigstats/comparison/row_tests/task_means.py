"""The mean over tasks: each task counts the same, however many rows it has, as on a leaderboard.

A row of a task with n rows has weight 1/n. One more row of the smallest task would not undo the p-value and interval;
with a judge, one more label in every task would not.

When not to use: the question is about other tasks than these (`sigstats.compare_over_datasets`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..._common.messages import Note, join_words, some_of
from ..._common.numerals import p_number
from ..._common.validation import IntArray
from ...measures.table import MEASURES
from ...ranking.means import task_weights
from ..evidence import Evidence, Judged, Runs, Values
from ..paired_predictions import PairedPredictions
from ..rows import ComparisonRow
from ..rule import ComparisonRule
from .mean_tests import Tested, with_bound

if TYPE_CHECKING:
    from ...many_datasets.joint_tasks import JointTasksResult

#: The most tasks that are named, that are decided over, and the most draws for that.
_MOST_NAMED, _MOST_TASKS, _MOST_DRAWS = 5, 1000, 10_000


def has_task_mean(measure: str) -> bool:
    """Return True if a measure is a mean of bounded values of rows, so that its mean over tasks has a bound."""
    spec = MEASURES[measure]
    bounded = spec.needs == "marks" or (spec.span is not None and not spec.answers)
    return measure == "accuracy" or (spec.test == "means" and bounded)


def without_task_mean(paired: PairedPredictions, measures: Sequence[str]) -> list[Note]:
    """Return a line on the measures that are not tested in the mean over tasks; none without tasks."""
    units = paired.units
    crossed = paired.people is not None and units.crossed
    names = [name for name in measures if crossed or not has_task_mean(name)]
    if units.tasks is None or not names:
        return []
    text = f"{join_words(names)}: no mean over tasks is tested; --slice (slices) tests each task"
    return [Note("no-task-mean", text)]


def test_task_mean(row: ComparisonRow, part: Evidence, tasks: IntArray, rule: ComparisonRule) -> Tested:
    """Return the row with the mean over tasks of its measure, tested."""
    if isinstance(part, Runs):
        from .runs import test_runs  # here and below: few comparisons have runs or a judge

        return test_runs(row, part, rule, tasks)
    if isinstance(part, Judged):
        from .judged import test_judged

        return test_judged(row, part, rule, tasks)
    assert isinstance(part, Values)  # by `has_task_mean`
    group, values, span = part.units.group, part.values, part.span
    if part.totals is not None:  # the models' numbers of answers to items differ: test means of items
        first, group = part.units.first_of_items(), part.units.group_of_items()
        tasks, values = tasks[first], part.totals.take(part.units.items[first]).means  # type: ignore[index]
    if span is None:
        return replace(row, note="no limits of the marks are known: score_range states them")
    weights, sizes = task_weights(tasks), np.bincount(tasks)
    baseline, candidate = (float((weights * value).sum() / len(sizes)) for value in values)
    row = replace(row, n=len(tasks), baseline=baseline, candidate=candidate)
    what = f"{'rows' if group is None else 'groups'} of {len(sizes)} tasks"
    return with_bound(row, values, group, span, what, rule, weights=weights)


def joint_over_tasks(paired: PairedPredictions, rule: ComparisonRule) -> "JointTasksResult | None":
    """Return the joint decision over all tasks, or None for dependent rows, one task, or very many tasks or rows."""
    units, names = paired.units, paired.units.task_names
    if units.tasks is None or len(names) > _MOST_TASKS or units.stated or paired.people is not None:
        return None
    right = _right(paired)
    if right is None:
        return None
    from ...many_datasets.joint_tasks import joint_tasks_test  # nine modules, for those who name no tasks too
    from ...many_datasets.stratified import MOST_DISCORDANT

    counts = [
        np.bincount(units.tasks, which, minlength=len(names)).astype(np.int64)
        for which in (right[0] & ~right[1], right[1] & ~right[0], np.ones(paired.n))
    ]
    if counts[0].sum() + counts[1].sum() > MOST_DISCORDANT:
        return None
    return joint_tasks_test(*counts, n_resamples=min(rule.n_resamples, _MOST_DRAWS), rng=rule.rng)


def _right(paired: PairedPredictions) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    if paired.predicted:
        return paired.predicted.right
    marks = paired.scored
    if marks is None or marks.per is not None or any(((score != 0) & (score != 1)).any() for score in marks.scores):
        return None
    a, b = (score != marks.lower for score in marks.scores)  # 1 is right, or 0 if lower is better
    return a, b


def joint_in_words(joint: "JointTasksResult", paired: PairedPredictions, rule: ComparisonRule) -> list[Note]:
    """State the decision over all tasks in a line."""
    names, marks = paired.units.task_names, paired.scored
    worse = [name for name, p in zip(names, joint.tasks, strict=True) if p <= rule.alpha]
    questions = {
        "all rows": joint.all_rows,
        "mean over tasks": joint.mean_over_tasks,
        "any task": joint.any_task,
        "every task": joint.every_task,
    }
    parts = ", ".join(f"{question} {p_number(p)}" for question, p in questions.items())
    shown = "worse" if joint.pvalue <= rule.alpha else "not shown to be worse"
    where = f"; worse on {some_of(worse, _MOST_NAMED)}" if worse else ""
    by_score = f" by {marks.column}" if marks and not paired.predicted else ""
    text = f"one decision over {len(names):,} tasks{by_score}: {shown}, p {p_number(joint.pvalue)} ({parts}){where}"
    return [Note("joint-decision", text)]
