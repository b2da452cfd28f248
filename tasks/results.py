"""The results of a finished or interrupted study, read from its Parquet files alone."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats.sequential.rules import SequentialResult

from .datasets.dataset import dataset_of
from .engine.stopping import exceeds
from .plan import Cell, Plan
from .replicates import observed_cell, prerequisites
from .schema import Hypothesis, as_summary
from .storage.block_files import first_replicates, replicates_of
from .storage.plan_table import read_plan
from .storage.seal import Damaged
from .storage.store import Store
from .work import CrossValidated


@dataclass(frozen=True)
class Results:
    """The plan and the replicates of one study, for analyses, figures and reports."""

    store: Store

    @cached_property
    def plan(self) -> Plan:
        """The study's plan."""
        return read_plan(self.store)

    def cells(self, fanout: str, **subject: str) -> list[Cell]:
        """The cells of a fan-out whose subject has these values, in the order of the plan."""
        return [
            cell
            for cell in self.plan.cells
            if cell.fanout == fanout and all(cell.subject.get(key) == value for key, value in subject.items())
        ]

    def by_dataset(self, fanout: str) -> dict[str, list[Cell]]:
        """The cells of a fan-out by their data set."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells(fanout):
            found.setdefault(cell.subject["dataset"], []).append(cell)
        return found

    def table(self, cell: Cell) -> pa.Table | None:
        """The replicates of a cell up to its stop, in order; None if some are missing or damaged."""
        cache = self._tables
        if cell.name not in cache:
            cache[cell.name] = self.read(cell)
        return cache[cell.name]

    def groups(self, cell: Cell) -> NDArray[np.int64] | None:
        """The group of each row of a cell's data set; None if rows are independent."""
        work = cell.work_of(CrossValidated)
        return dataset_of(self.store, work).groups if work.dataset.grouped else None

    def count(self, cell: Cell) -> SequentialResult | None:
        """The replicates of a cell that are at least as extreme as observed, and the p-value; None as for `table`."""
        table = self.table(cell)
        return None if table is None else self._apply_rule(cell, table)

    @cached_property
    def _tables(self) -> dict[str, pa.Table | None]:
        return {}

    def read(self, cell: Cell) -> pa.Table | None:
        """As `table`, but not remembered: for replicates that hold a row for every row of a data set."""
        table: pa.Table | None
        try:
            table = self.store.read_block(cell, 0, cell.replicates)
        except (FileNotFoundError, Damaged):
            table = self.store.read_prefix(cell)
        if cell.stopping is not None and table is not None:
            result = self._apply_rule(cell, table)
            return None if result is None else first_replicates(table, result.n_resamples)
        return table if table is not None and replicates_of(table) == cell.replicates else None

    def hypothesis(self, *cells: Cell, **of: Any) -> Hypothesis:
        """A hypothesis about cells, on the data of the first; `of`: the other fields."""
        on = {key: cell.subject.get(key) for cell in cells[:1] for key in ("dataset", "slice")}
        return Hypothesis(study=self.plan.study, cell=" ".join(cell.name for cell in cells), **{**on, **of})

    def _apply_rule(self, cell: Cell, table: pa.Table) -> SequentialResult | None:
        other = observed_cell(cell)
        observed = None if other is None else self.table(other)
        if other is not None and observed is None:
            return None
        return cell.rule.test(exceeds(cell, table, observed))

    def prerequisites(self, cell: Cell) -> list[str]:
        """The names of the cells that must be complete before a cell is computed."""
        return [before.name for before in prerequisites(cell)]

    @cached_property
    def summary(self) -> pa.Table:
        """The stored summary."""
        return as_summary(self.store.read_table("summary.parquet", kind="summary"))
