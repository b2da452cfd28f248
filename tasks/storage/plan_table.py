"""The plan of a study as ``plan.parquet``, one row a cell."""

import json
from functools import lru_cache

import pyarrow as pa

from ..plan import Cell, Plan
from ..record import canonical, digest, record
from ..schema import column
from ..work import WORK, Work
from .seal import Damaged, unseal
from .store import Store

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
            "subject": json.dumps(dict(cell.subject)),  # the order of the subject is the order of its columns
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
        **({"measures": list(plan.measures)} if plan.measures else {}),
        **({"slices": list(plan.slices)} if plan.slices else {}),
        **({"positive": dict(plan.positive)} if plan.positive else {}),
        **({"limits": limits} if limits else {}),
    }
    table = pa.Table.from_pylist(rows, schema=PLAN).replace_schema_metadata({b"plan": canonical(settings).encode()})
    store.write_table("plan.parquet", table, kind="plan", fingerprint=digest("plan", **settings))


def read_plan(store: Store) -> Plan:
    """The plan of a study.

    Raises FileNotFoundError if the store has none. Raises Damaged if it cannot be used.
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
            row["work"] = record(WORK.get(row["fanout"], Work), row["work"])
        except (KeyError, TypeError):
            raise Damaged(f"plan.parquet has the cell {name}, whose work is not that of a {row['fanout']}") from None
        cell = Cell(**row, limits=limits.get(name))
        if cell.name != name:
            raise Damaged(f"plan.parquet names the cell {name}, which is now {cell.name}")
        cells.append(cell)
    settings |= {name: tuple(settings[name]) for name in ("analyses", "measures", "slices") if name in settings}
    return Plan(cells=tuple(cells), **settings)
