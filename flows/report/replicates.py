"""What replicates say of a hypothesis: the null distribution of retrains, and what a test states of test sets.

Keller, Mariethoz and Bengio hold the confidence of one test set against other test sets. Where every test set states
one, and the population is known, the share of statements that are right is known too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sigstats.tasks.calibration.work import AppliedTest, Tested
from sigstats.tasks.schema import Hypothesis

from .evidence import Evidence, is_proportion

#: The steps in which measures are counted that are no shares of rows.
_STEP = 1e-5


@dataclass(frozen=True)
class NullDistribution:
    """The null distribution of one hypothesis, in whole steps of its measure: of an error a step is a row."""

    row: Hypothesis
    #: The measure in steps, one number a replicate: of an error the rows got wrong.
    counts: NDArray[np.int64]
    #: The measure without permuting, likewise.
    observed: int
    step: float

    @property
    def values(self) -> NDArray[np.float64]:
        """The measure of each replicate."""
        values = self.counts * self.step if self.more_is_better else self.counts / (self.row.n or 1)
        return np.asarray(values, dtype=np.float64)

    @property
    def more_is_better(self) -> bool:
        """Whether replicates above the observed one are extreme."""
        return self.row.alternative == "greater"

    @property
    def in_percent(self) -> bool:
        """Whether the measure is a share of rows."""
        return is_proportion(self.row)


def null_distribution(row: Hypothesis, evidence: Evidence) -> NullDistribution | None:
    """The null distribution behind a row, None if it is missing."""
    cells = [cell for cell in evidence.cells_of(row) if cell.fanout in ("retrain", "measured-retrain")]
    if not cells or row.estimate is None or not row.n:
        return None
    table = evidence.results.table(cells[0])
    if table is None:
        return None
    if cells[0].fanout == "retrain":
        wrong = table.column("wrong").to_numpy().astype(np.int64)
        return NullDistribution(row, wrong[: row.replicates], round(row.estimate * row.n), 1 / row.n)
    values = table.column("value").to_numpy()[: row.replicates]
    return NullDistribution(row, np.rint(values / _STEP).astype(np.int64), round(row.estimate / _STEP), _STEP)


@dataclass(frozen=True)
class Statements:
    """What a test states on test sets of one size."""

    #: On each test set its confidence that the classifier which is better there is better in truth, at least 1/2.
    stated: NDArray[np.float64]
    #: Whether that classifier is.
    right: NDArray[np.bool_]

    @property
    def bias(self) -> float:
        """By how much the mean stated confidence is above the share that is right."""
        return float(self.stated.mean() - self.right.mean())


def statements(rows: Sequence[Hypothesis], evidence: Evidence) -> Statements | None:
    """What a test states in all populations in which one classifier is better; None if there is none."""
    stated, right = [], []
    truths = {row.cell: row.truth for row in rows if row.truth}
    for name, truth in truths.items():
        cell = evidence.cells[name]
        table, test = evidence.results.table(cell), cell.work_of(Tested).test
        if table is None or _one_side_alone(test):
            continue
        ahead, p = table.column("advantage").to_numpy(), table.column("p_value").to_numpy()
        decided = (ahead != 0) & ~np.isnan(p)
        stated.append(confidences(p, ahead, test.options["alternative"])[decided])
        right.append((ahead * truth > 0)[decided])
    if not stated or not sum(map(len, stated)):
        return None
    return Statements(np.concatenate(stated), np.concatenate(right))


def _one_side_alone(test: AppliedTest) -> bool:
    """Whether 1 - p of a test is not the p-value of its other side: the observed counts belong to both tails."""
    one_sided = test.options["alternative"] != "two-sided"
    return bool(test.test == "mcnemar" and one_sided and test.options["method"] == "exact")


def confidences(p: NDArray[np.float64], ahead: NDArray[np.float64], alternative: str) -> NDArray[np.float64]:
    """The stated confidence in the classifier that is better on each test set, from the p-values.

    Two-sided p is twice the smaller one-sided p, so that the confidence is 1 - p / 2. One-sided it is 1 - p where the
    alternative is that this classifier is better, and p where it is the other.
    """
    if alternative == "two-sided":
        return 1 - p / 2
    named = ahead > 0 if alternative == "less" else ahead < 0
    values: NDArray[np.float64] = np.where(named, 1 - p, p)
    return values
