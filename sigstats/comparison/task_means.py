"""The mean over tasks: each task counts the same, however many rows it has, as on a leaderboard.

A row of a task of n rows counts 1/n. The p-value is that of all changes of sign of the rows' weighted differences.

When not to use: the question is about other tasks than these (`sigstats.compare_over_datasets`).
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._common.task_weights import task_weights
from .._common.validation import FloatArray, IntArray
from ..measures.table import MEASURES
from .mean_tests import with_sign_flips
from .part import Part
from .rows import ComparisonRow
from .rule import ComparisonRule

#: Differences that are multiples of a fraction with no larger denominator are taken for these.
_DENOMINATOR, _NEAR = 1000, 1e-12


def has_task_mean(measure: str) -> bool:
    """Whether a measure is a mean of bounded values a row, so that its mean over tasks has an exact test."""
    spec = MEASURES[measure]
    return measure == "accuracy" or (spec.needs in ("marks", "probabilities") and spec.test == "sign-flips")


def test_task_mean(row: ComparisonRow, part: Part, tasks: IntArray, rule: ComparisonRule) -> ComparisonRow:
    """The row with the mean over tasks of its measure, tested."""
    spec, group = MEASURES[row.measure], part.group
    span: float | None = 1.0
    if row.measure != "accuracy":
        values, span = part.values(spec), part.span(spec)
    elif part.right is None:
        values = (part.a == part.label).astype(np.float64), (part.b == part.label).astype(np.float64)
    totals = part.right if row.measure == "accuracy" else part.marks if spec.needs == "marks" else None
    if totals is not None:
        assert part.items is not None
        of_items, group = part.of_items(totals)
        tasks = tasks[np.unique(part.items, return_index=True)[1]]
        a, b = of_items.means
        values = (a, b) if row.measure == "accuracy" else (part.sign * a, part.sign * b)
    if span is None:
        return replace(row, note="marks outside of 0 to 1, whose range is not given: score_range gives it")
    weights, sizes = task_weights(tasks), np.bincount(tasks)
    baseline, candidate = (float((weights * each).sum() / len(sizes)) for each in values)
    units = np.arange(len(tasks)) if group is None else np.unique(group, return_inverse=True)[1]
    row = replace(row, n=len(tasks), baseline=baseline, candidate=candidate)
    sums = _sums(values[1] - values[0], units, sizes[tasks])
    what = f"{'rows' if group is None else 'groups'} of {len(sizes)} tasks"
    return with_sign_flips(row, sums, np.bincount(units, weights), span, rule, what)


def _sums(differences: FloatArray, units: IntArray, sizes: IntArray) -> "list[Fraction] | FloatArray":
    """The sum of the weighted differences of each unit, in fractions where the differences are such."""
    distinct, codes = np.unique(differences, return_inverse=True)
    near = [Fraction(each).limit_denominator(_DENOMINATOR) for each in distinct.tolist()]
    if any(abs(float(one) - each) > _NEAR for one, each in zip(near, distinct.tolist(), strict=True)):
        return np.asarray(np.bincount(units, differences / sizes), dtype=np.float64)
    sums = [Fraction(0)] * (int(units.max()) + 1)
    moved: NDArray[np.intp] = np.flatnonzero(differences)
    for unit, code, size in zip(units[moved].tolist(), codes[moved].tolist(), sizes[moved].tolist(), strict=True):
        sums[unit] += near[code] / size
    return sums
