"""The mean over tasks: each task counts the same, however many rows it has, as on a leaderboard.

A row of a task of n rows counts 1/n. One more row of the smallest task would not undo the p-value and interval.

When not to use: the question is about other tasks than these (`sigstats.compare_over_datasets`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._common.messages import join_words, some_of
from .._common.note import Note
from .._common.numerals import p_number
from .._common.validation import IntArray
from ..measures.table import MEASURES
from ..ranking.means import task_weights
from .mean_tests import Tested, with_bound
from .paired_predictions import PairedPredictions
from .part import Part
from .rows import ComparisonRow
from .rule import ComparisonRule
from .runs import test_runs

if TYPE_CHECKING:
    from ..many_datasets.joint_tasks import JointTasksResult

#: So many tasks are named, and so many are decided over, by so many draws.
_MOST_NAMED, _MOST_TASKS, _MOST_DRAWS = 5, 1000, 10_000


def has_task_mean(measure: str) -> bool:
    """True if a measure is a mean of bounded values a row, so that its mean over tasks has a bound."""
    spec = MEASURES[measure]
    return (
        measure == "accuracy"
        or (spec.needs == "marks" and spec.test == "means")
        or (spec.needs == "probabilities" and spec.span is not None)
    )


def without_task_mean(paired: PairedPredictions, measures: Sequence[str]) -> list[Note]:
    """A line on the measures that are not tested in the mean over tasks; none without tasks."""
    names = [name for name in measures if not has_task_mean(name)]
    if paired.units.tasks is None or not names:
        return []
    told = f"{join_words(names)}: no mean over tasks is tested; --slice (slices) tests each task"
    return [Note("no-task-mean", told)]


def test_task_mean(row: ComparisonRow, part: Part, tasks: IntArray, rule: ComparisonRule) -> Tested:
    """The row with the mean over tasks of its measure, tested."""
    if part.runs is not None:
        return test_runs(row, part, rule, tasks)
    spec, group, totals = MEASURES[row.measure], part.units.group, part.all_answers(MEASURES[row.measure])
    span = part.span(spec)
    if totals is None:
        values = part.values(spec)
    else:
        assert part.units.items is not None
        of_items, group = part.of_items(totals)
        tasks, values = tasks[np.unique(part.units.items, return_index=True)[1]], of_items.means
    if span is None:
        return replace(row, note="no limits of the marks are known: score_range states them")
    weights, sizes = task_weights(tasks), np.bincount(tasks)
    baseline, candidate = (float((weights * value).sum() / len(sizes)) for value in values)
    row = replace(row, n=len(tasks), baseline=baseline, candidate=candidate)
    what = f"{'rows' if group is None else 'groups'} of {len(sizes)} tasks"
    return with_bound(row, values, group, span, what, rule, weights=weights)


def joint_over_tasks(part: Part, paired: PairedPredictions, rule: ComparisonRule) -> "JointTasksResult | None":
    """The joint decision over all tasks on right answers; None for one task, very many tasks or rows, and groups."""
    alone = all(array is None for array in (part.units.group, part.right, part.marks, part.runs))
    if paired.units.tasks is None or len(paired.units.task_names) > _MOST_TASKS or not alone:
        return None
    right = _right(part, marks=not paired.predicted)
    if right is None:
        return None
    from ..many_datasets.joint_tasks import joint_tasks_test  # nine modules, for those who name no tasks too
    from ..many_datasets.stratified import MOST_DISCORDANT

    counts = [
        np.bincount(paired.units.tasks, which, minlength=len(paired.units.task_names)).astype(np.int64)
        for which in (right[0] & ~right[1], right[1] & ~right[0], np.ones(part.n))
    ]
    if counts[0].sum() + counts[1].sum() > MOST_DISCORDANT:
        return None
    return joint_tasks_test(*counts, n_resamples=min(rule.n_resamples, _MOST_DRAWS), rng=rule.rng)


def _right(part: Part, *, marks: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """The right answers of each model; None for marks other than 0 and 1."""
    if not marks:
        return part.a == part.label, part.b == part.label
    if part.scores is None or part.per is not None or any(((score != 0) & (score != 1)).any() for score in part.scores):
        return None
    a, b = (score != part.lower for score in part.scores)
    return a, b


def joint_in_words(joint: "JointTasksResult", names: Sequence[str], rule: ComparisonRule) -> list[Note]:
    """The decision over all tasks in a line."""
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
    told = f"one decision over {len(names):,} tasks: {shown}, p {p_number(joint.pvalue)} ({parts}){where}"
    return [Note("joint-decision", told)]
