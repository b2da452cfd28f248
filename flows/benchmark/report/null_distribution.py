"""The null distribution of a hypothesis: its measure after each retraining on permuted data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sigstats.tasks.schema import Hypothesis

from ...report.evidence import Evidence, is_proportion

#: The steps in which measures are counted that are no shares of rows.
_STEP = 1e-5


@dataclass(frozen=True)
class NullDistribution:
    """The null distribution of one hypothesis, in whole steps of its measure; a step of an error is a row."""

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
        """True if replicates above the observed one are extreme."""
        return self.row.alternative == "greater"

    @property
    def in_percent(self) -> bool:
        """True if the measure is a share of rows."""
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
