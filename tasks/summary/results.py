"""What a finished or interrupted study has stored, read from its Parquet files alone."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from sigstats.sequential.rules import SequentialResult

from ..engine.stopping import exceeds
from ..fingerprint import canonical, digest
from ..plan import Cell, Plan
from ..replicates import observed_cell
from ..schema import SUMMARY, column
from ..storage.block_files import first_replicates, replicates_of
from ..storage.seal import Damaged
from ..storage.store import Store

_PLAN = pa.schema(
    [
        column("cell", pa.string(), "name", "the cell's folder under replicates/"),
        column("fanout", pa.string(), "name", "the fan-out that computes it"),
        column("version", pa.int64(), "number", "the fan-out's version"),
        column("subject", pa.string(), "JSON", "what the cell is about: data set, classifier, null hypothesis ..."),
        column("work", pa.string(), "JSON", "everything its replicates depend on, except the seed"),
        column("stream", pa.string(), "JSON", "what its random stream is keyed by"),
        column("seed", pa.int64(), "number", "the study's seed"),
        column("replicates", pa.int64(), "number", "replicates wanted"),
        column("lane_size", pa.int64(), "number", "replicates that share one random stream"),
        column("stopping", pa.string(), "JSON", "the rule that may stop it before all replicates", nullable=True),
    ]
)


def write_plan(store: Store, plan: Plan) -> None:
    """Keep the plan as ``plan.parquet``."""
    columns: dict[str, list[Any]] = {name: [] for name in _PLAN.names}
    for cell in plan.cells:
        row = {
            "cell": cell.name,
            "fanout": cell.fanout,
            "version": cell.version,
            "subject": json.dumps(dict(cell.subject)),  # the order of the subject is the order of its columns
            "work": canonical(cell.work),
            "stream": canonical(cell.stream),
            "seed": cell.seed,
            "replicates": cell.replicates,
            "lane_size": cell.lane_size,
            "stopping": None if cell.stopping is None else canonical(cell.stopping),
        }
        for name, value in row.items():
            columns[name].append(value)
    settings = {
        "study": plan.study,
        "kind": plan.kind,
        "analyses": list(plan.analyses),
        "alpha": plan.alpha,
        "adjust": plan.adjust,
    }
    table = pa.table(columns, schema=_PLAN).replace_schema_metadata({b"plan": canonical(settings).encode()})
    store.write_table("plan.parquet", table, kind="plan", fingerprint=digest("plan", **settings))


def read_plan(store: Store) -> Plan:
    """The plan of a store; FileNotFoundError where none was written, Damaged where it cannot be used."""
    table = store.read_table("plan.parquet", kind="plan")
    settings = json.loads(table.schema.metadata[b"plan"])
    cells = []
    for row in table.to_pylist():
        name = row.pop("cell")
        for key in ("subject", "work", "stream", "stopping"):
            row[key] = None if row.get(key) is None else json.loads(row[key])
        cell = Cell(**row)
        if cell.name != name:
            raise Damaged(f"plan.parquet names the cell {name}, which is now {cell.name}")
        cells.append(cell)
    settings["analyses"] = tuple(settings["analyses"])
    return Plan(cells=tuple(cells), **settings)


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

    def table(self, cell: Cell) -> pa.Table | None:
        """The replicates of a cell that count, in order, or None where some are missing or damaged."""
        cache = self._tables
        if cell.name not in cache:
            cache[cell.name] = self._read(cell)
        return cache[cell.name]

    def count(self, cell: Cell) -> SequentialResult | None:
        """How many replicates of a cell are at least as extreme as observed, and the p-value; None as for `table`."""
        table = self.table(cell)
        return None if table is None else self._tested(cell, table)

    @cached_property
    def _tables(self) -> dict[str, pa.Table | None]:
        return {}

    def _read(self, cell: Cell) -> pa.Table | None:
        table: pa.Table | None
        try:
            table = self.store.read_block(cell, 0, cell.replicates)
        except (FileNotFoundError, Damaged):
            table = self.store.read_prefix(cell)
        if cell.stopping is not None and table is not None:
            result = self._tested(cell, table)
            return None if result is None else first_replicates(table, result.replicates)
        return table if table is not None and replicates_of(table) == cell.replicates else None

    def _tested(self, cell: Cell, table: pa.Table) -> SequentialResult | None:
        compared = observed_cell(cell)
        observed = None if compared is None else self.table(compared)
        if compared is not None and observed is None:
            return None
        return cell.rule.test(exceeds(cell, table, observed))

    @cached_property
    def summary(self) -> pa.Table:
        """The summary that was written last."""
        return self.store.read_table("summary.parquet", kind="summary").cast(SUMMARY)
