"""The plan and replicates of a finished or interrupted study, read only from its Parquet files, and their export.

Exported replicates are tables that any engine can read: one per fan-out, in Hive-style folders.
"""

import io
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from sigstats.sequential.joint_rule import JointRule, JointStop
from sigstats.sequential.rules import SequentialResult

from .engine.stopping import exceeds, joint_ends
from .fan_out import observed_cell, work_type
from .plan import Cell, Plan, group_by
from .record import canonical, digest, record
from .schema import Hypothesis, as_summary, column
from .storage.files import open_files
from .storage.seal import Damaged, first_replicates, replicates_of, unseal
from .storage.store import Store

#: The columns of ``plan.parquet``.
PLAN = pa.schema(
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
    """Write the plan of a study."""
    rows = [
        {
            "cell": cell.name,
            "fanout": cell.fanout,
            "version": cell.version,
            "subject": json.dumps(dict(cell.subject)),  # not sorted: its order is the order of the columns
            "work": canonical(cell.work),
            "stream": canonical(cell.stream),
            "seed": cell.seed,
            "replicates": cell.replicates,
            "lane_size": cell.lane_size,
            "stopping": None if cell.stopping is None else canonical(cell.stopping),
        }
        for cell in plan.cells
    ]
    limits = {cell.name: dict(cell.limits) for cell in plan.cells if cell.limits}
    settings = {
        "study": plan.study,
        "kind": plan.kind,
        "analyses": list(plan.analyses),
        "alpha": plan.alpha,
        "adjust": plan.adjust,
        **plan.given,
        **({"limits": limits} if limits else {}),
    }
    table = pa.Table.from_pylist(rows, schema=PLAN).replace_schema_metadata({b"plan": canonical(settings).encode()})
    store.write_table("plan.parquet", table, kind="plan", fingerprint=digest("plan", **settings))


def read_plan(store: Store) -> Plan:
    """Read the plan of a study.

    Raises FileNotFoundError if the store has no plan. Raises Damaged if the plan cannot be used.
    """
    return _plan_of(store.files.read("plan.parquet"))


@lru_cache(maxsize=1)
def _plan_of(content: bytes) -> Plan:
    table = unseal(content, "plan.parquet", kind="plan")
    settings = json.loads(table.schema.metadata[b"plan"])
    limits = settings.pop("limits", {})
    cells = []
    for row in table.to_pylist():
        name = row.pop("cell")
        for key in ("subject", "work", "stream", "stopping"):
            row[key] = None if row.get(key) is None else json.loads(row[key])
        try:
            row["work"] = record(work_type(row["fanout"]), row["work"])
        except (KeyError, TypeError):
            raise Damaged(f"plan.parquet: the work of cell {name} is not valid for {row['fanout']!r}") from None
        cell = Cell(**row, limits=limits.get(name))
        if cell.name != name:
            raise Damaged(f"plan.parquet: the cell {name} has values of {cell.name}")
        cells.append(cell)
    settings |= {name: tuple(settings[name]) for name in ("analyses", "measures", "slices") if name in settings}
    return Plan(cells=tuple(cells), **settings)


@dataclass(frozen=True)
class Results:
    """The plan and the replicates of one study, for analyses, figures and reports."""

    store: Store
    _tables: dict[str, pa.Table | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the study."""
        return read_plan(self.store)

    def cells(self, fanout: str, **subject: str) -> list[Cell]:
        """Return the cells of a fan-out with these values in their subject, in the order of the plan."""
        wanted = subject.items()
        return [cell for cell in self.plan.cells if cell.fanout == fanout and wanted <= cell.subject.items()]

    def by_dataset(self, fanout: str) -> dict[str, list[Cell]]:
        """Return the cells of a fan-out by data set."""
        return group_by(self.cells(fanout), lambda cell: cell.subject["dataset"])

    def table(self, cell: Cell) -> pa.Table | None:
        """Return the replicates of a cell up to its stop, in order, or None if some are missing or damaged."""
        if cell.name not in self._tables:
            self._tables[cell.name] = self.read(cell)
        return self._tables[cell.name]

    def count(self, cell: Cell) -> SequentialResult | None:
        """Count the replicates at least as extreme as observed; return the result of the cell's rule, or None."""
        if cell.stopping is None and observed_cell(cell) is None:  # there may be too many replicates for memory
            sizes = [(len(part), int(exceeds(cell, part, None).sum())) for part in self.store.parts(cell)]
            drawn, extreme = (sum(numbers) for numbers in zip((0, 0), *sizes, strict=True))
            return cell.rule.of_counts(drawn, extreme) if drawn == cell.replicates else None
        table = self.table(cell)
        return None if table is None else self._apply_rule(cell, table)

    def read(self, cell: Cell) -> pa.Table | None:
        """Return the same as `table` without caching it, for replicates with a row per row of a data set."""
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
        """Return a hypothesis about cells, with the data set of the first cell. `of`: the other fields."""
        fields = {key: cells[0].subject.get(key) for key in ("dataset", "slice")} if cells else {}
        return Hypothesis(study=self.plan.study, cell=" ".join(cell.name for cell in cells), **{**fields, **of})

    def _apply_rule(self, cell: Cell, table: pa.Table) -> SequentialResult | None:
        other = observed_cell(cell)
        observed = None if other is None else self.table(other)
        if other is not None and observed is None:
            return None
        flags = exceeds(cell, table, observed)
        if isinstance(cell.rule, JointRule):
            stop = self._joint_ends[cell.name]
            if not stop.ended:
                return None
            result = cell.rule.stopped(flags, stop.replicates)
            return replace(result, verdict="reject" if stop.rejected else "keep")
        return cell.rule.test(flags)

    @cached_property
    def _joint_ends(self) -> dict[str, JointStop]:
        return joint_ends(self.plan.cells, self.store)

    @cached_property
    def summary(self) -> pa.Table:
        """The stored summary."""
        return as_summary(self.store.read_table("summary.parquet", kind="summary"))


def sequential_fields(result: SequentialResult) -> dict[str, Any]:
    """Return the fields from ``replicates`` to ``p_high``, and a note if the rule stopped early."""
    note = ""
    if result.n_resamples < result.maximum:
        note = f"stopped after {result.n_resamples:,} of {result.maximum:,} replicates"
        if result.method == "joint":
            note += {"reject": ": rejected", "keep": f": {result.exceedances} as extreme"}.get(result.verdict, "")
    return {
        "replicates": result.n_resamples,
        "exceedances": result.exceedances,
        "p_value": result.pvalue,
        "p_low": result.pvalue_interval.low,
        "p_high": result.pvalue_interval.high,
        "note": note,
    }


#: The keys of a subject that become folders, in order. The other keys become columns of the files.
FOLDERS = ("dataset", "classifier", "null_hypothesis")

#: Name of a folder that engines read as a missing value.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Exported:
    """A summary of the exported files."""

    #: The exported fan-outs, one table each.
    fanouts: tuple[str, ...]
    files: int
    rows: int
    #: The cells that were left out since replicates are missing.
    incomplete: tuple[Cell, ...]


def export(results: Results, to: str) -> Exported:
    """Write the replicates of all complete cells, with a file per data set, classifier and null hypothesis.

    ``TO/fanout=retrain/dataset=iris/classifier=lda/null_hypothesis=labels/replicates.parquet``

    `to`: a folder or an fsspec URL. Raises LookupError, and writes nothing, if no cell is complete.
    """
    files = open_files(to)
    if files.names("") or files.folders(""):
        raise ValueError(f"{to!r} contains files; choose a new or empty folder")
    keys: dict[str, set[str]] = {}  # of the subjects, by fan-out
    for cell in results.plan.cells:
        keys.setdefault(cell.fanout, set()).update(cell.columns)
    folders = group_by(results.plan.cells, lambda cell: folder_of(cell, keys[cell.fanout]))
    fanouts: list[str] = []
    incomplete: list[Cell] = []
    written = rows = 0
    for folder, cells in folders.items():
        tables = {cell: table for cell in cells if (table := results.read(cell)) is not None}
        incomplete += [cell for cell in cells if cell not in tables]
        if tables:
            table = _joined(tables)
            content = io.BytesIO()
            pq.write_table(table, content)
            files.write(f"{folder}/replicates.parquet", content.getvalue())
            fanouts.append(cells[0].fanout)
            written, rows = written + 1, rows + table.num_rows
    if not written:
        raise LookupError(f"none of {len(incomplete)} cells is complete; run the study again to complete them")
    return Exported(tuple(dict.fromkeys(fanouts)), written, rows, tuple(incomplete))


def folder_of(cell: Cell, keys: Collection[str]) -> str:
    """Return the folder of a cell, with a level for each of `FOLDERS` among the `keys` of its fan-out's subjects."""
    values = {key: cell.columns.get(key) for key in FOLDERS if key in keys}
    levels = [f"{key}={_MISSING if value is None else quote(value, safe='')}" for key, value in values.items()]
    return "/".join([f"fanout={cell.fanout}", *levels])


def _joined(tables: Mapping[Cell, pa.Table]) -> pa.Table:
    """Join the replicates of cells of a folder, with columns for the keys of the subjects that are not in its name."""
    named = {*FOLDERS, *(name for table in tables.values() for name in table.column_names)}
    keys = list(dict.fromkeys(key for cell in tables for key in cell.columns if key not in named))
    parts = []
    for cell, part in tables.items():
        for position, key in enumerate(keys):
            field = column(key, pa.string(), "name", f"the {key} of the cell", nullable=True)
            part = part.add_column(position, field, pa.array([cell.columns.get(key)] * part.num_rows, pa.string()))
        parts.append(part.replace_schema_metadata(None))
    return pa.concat_tables(parts, promote_options="default")
