"""The test of two models by a judge's verdicts, corrected by human labels, on rows or in the mean over tasks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._common.extreme import drawn_error
from ..._common.random_streams import as_generator
from ..._common.validation import IntArray
from ...intervals import Interval
from ..evidence import Judged
from ..rows import ComparisonRow
from ..rule import ComparisonRule, RowTest

if TYPE_CHECKING:
    from ...unseen_row.judged import JudgedRows, Law


class JudgedTasks(NamedTuple):
    """The rows of one task or several. All tasks have the same weight, and each has its own unseen label."""

    tasks: "Sequence[JudgedRows]"

    @property
    def labels(self) -> int:
        """The number of labelled rows."""
        return int(sum(rows.labels.sum() for rows in self.tasks))

    @property
    def estimate(self) -> float:
        """The mean over tasks of their values."""
        return float(np.mean([rows.estimate for rows in self.tasks]))

    def law(self, size: int, generator: np.random.Generator) -> "Law":
        """Return the law of the mean over tasks, whose rows are independent."""
        laws = [rows.law(size, generator) for rows in self.tasks]
        return type(laws[0])(*(sum(sides) / len(laws) for sides in zip(*laws, strict=True)))

    def labels_to_get(self, share: float) -> str:
        """Return advice on the labels that would show a difference; for several tasks their number is not known."""
        one, *others = self.tasks
        return f"{self.labels:,} labels of people; label more in each task" if others else one.labels_to_get(share)


def by_task(part: Judged, tasks: IntArray | None) -> list[Judged]:
    """Return the rows of each task, or all rows if there are no tasks."""
    return [part] if tasks is None else [part.take(np.flatnonzero(tasks == task)) for task in np.unique(tasks)]


def test_judged(row: ComparisonRow, part: Judged, rule: ComparisonRule, tasks: IntArray | None) -> ComparisonRow:
    """Test the difference that people see: the judge's, corrected by labels; `tasks` have equal weights."""
    if tasks is not None and part.units.crossed:
        return replace(row, note="a group has rows of several tasks")
    parts = by_task(part, tasks)
    data, tail = JudgedTasks([part.of_both() for part in parts]), (1 - rule.confidence_level) / 2
    labels = data.labels
    if not labels:
        return replace(row, note="no row has labels of people for both models: nothing can be tested")
    law = data.law(rule.n_resamples, as_generator(rule.rng))
    of_one = [JudgedTasks([part.of_one(side) for part in parts]) for side in (0, 1)]
    laws = [one.law(rule.n_resamples, as_generator(rule.rng)) for one in of_one]
    baseline, candidate = (Interval(law.low(tail), law.high(tail), rule.confidence_level) for law in laws)
    less, greater, margin = law.pvalue(0.0, "less"), law.pvalue(0.0, "greater"), rule.margin_of(row)
    return replace(
        row,
        baseline=of_one[0].estimate,
        candidate=of_one[1].estimate,
        baseline_interval=baseline,
        candidate_interval=candidate,
        difference=data.estimate,
        low=law.low(tail),
        high=law.high(tail),
        # The draws with the unseen label against A and against B are averaged.
        standard_error=float(np.std(law.against_a + law.against_b) / 2),
        test=RowTest("verdicts of a judge, corrected by labels of people, with an unseen label", "judged"),
        pvalue=less,
        pvalue_error=drawn_error(less, rule.n_resamples),
        two_sided_pvalue=min(1.0, 2 * min(less, greater)),
        equivalence_pvalue=max(law.pvalue(-margin, "greater"), law.pvalue(margin, "less")),
        differing=int(np.any([np.subtract(*part.judge), np.nan_to_num(np.subtract(*part.people))], axis=0).sum()),
        note=f"{labels:,} labels of people" if less <= tail or greater <= tail else data.labels_to_get(tail),
    )
