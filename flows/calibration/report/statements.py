"""Statements of a test on test sets.

Keller, Mariethoz and Bengio compare the confidence of one test set with other test sets. If every test set states one,
and the population is known, the share of right statements is known too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sigstats.tasks.calibration.work import AppliedTest, Tested
from sigstats.tasks.schema import Hypothesis

from ...report.evidence import Evidence


@dataclass(frozen=True)
class Statements:
    """The statements of a test on test sets of one size."""

    #: On each test set its confidence that the classifier which is better there is better in truth, at least 1/2.
    stated: NDArray[np.float64]
    #: Whether that classifier is.
    right: NDArray[np.bool_]

    @property
    def bias(self) -> float:
        """The mean stated confidence minus the share that is right."""
        return float(self.stated.mean() - self.right.mean())


def statements(rows: Sequence[Hypothesis], evidence: Evidence) -> Statements | None:
    """The statements of a test in all populations in which one classifier is better; None if there is none."""
    stated, right = [], []
    truths = {row.cell: row.truth for row in rows if row.truth}
    for name, truth in truths.items():
        cell = evidence.cells[name]
        table, test = evidence.results.table(cell), cell.work_of(Tested).test
        if table is None or cell.fanout == "tally" or _one_side_alone(test):
            continue
        ahead, p = table.column("advantage").to_numpy(), table.column("p_value").to_numpy()
        decided = (ahead != 0) & ~np.isnan(p)
        stated.append(confidences(p, ahead, test.options["alternative"])[decided])
        right.append((ahead * truth > 0)[decided])
    if not stated or not sum(map(len, stated)):
        return None
    return Statements(np.concatenate(stated), np.concatenate(right))


def _one_side_alone(test: AppliedTest) -> bool:
    """True if 1 - p of a test is not the p-value of its other side, since the observed counts belong to both tails."""
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
