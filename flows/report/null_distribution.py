"""The errors of retrains on permuted data: the null distribution behind a hypothesis."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sigstats.tasks.schema import Hypothesis

from .evidence import Evidence


@dataclass(frozen=True)
class NullDistribution:
    """The null distribution of one hypothesis, in whole rows.

    Attributes
    ----------
    row : Hypothesis
    wrong : array of int
        Rows got wrong, one number a replicate.
    observed : int
        Rows got wrong without permuting.
    """

    row: Hypothesis
    wrong: NDArray[np.int64]
    observed: int


def null_distribution(row: Hypothesis, evidence: Evidence) -> NullDistribution | None:
    """The null distribution behind a row, None where it is missing."""
    cells = [cell for cell in evidence.cells_of(row) if cell.fanout == "retrain"]
    if not cells or row.estimate is None or not row.n:
        return None
    table = evidence.results.table(cells[0])
    if table is None:
        return None
    wrong = table.column("wrong").to_numpy().astype(np.int64)
    return NullDistribution(row, wrong[: row.replicates], round(row.estimate * row.n))
