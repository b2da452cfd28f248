"""The summary of a study, from its Parquet files only, so that it can be written again; and pruning of files."""

import importlib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sigstats.multiplicity import adjust_pvalues, adjusted
from sigstats.possibilistic_indices import possibility

from ..plan import Cell, Plan
from ..record import digest
from ..results import Results, read_plan
from ..schema import POWER, Hypothesis, as_summary, summary_table
from ..storage.block_files import BLOCKS, REPLICATES
from ..storage.seal import Damaged
from ..storage.store import Store
from .published import compare_with_published, read_references

#: Raised when the summary of equal replicates gains or changes columns.
VERSION = 4


def summarize(store: Store, analyses: Mapping[str, str]) -> list[Hypothesis]:
    """Write ``summary.parquet`` and return its rows.

    `analyses`: the module of each analysis of the kind of study. It has ``rows(results)``, or ``rows_of(results,
    name)`` if it is the module of several.

    Raises FileNotFoundError if the store has no plan. Raises sigstats.tasks.storage.seal.Damaged if its plan cannot
    be used.
    """
    results = Results(store)
    plan = results.plan
    modules = [(name, importlib.import_module(analyses[name])) for name in plan.analyses]
    hypotheses = [row for name, module in modules for row in _rows(module, results, name)]
    rows = list(compare_with_published(complete(hypotheses, plan), read_references(store)))
    store.write_table("summary.parquet", summary_table(rows), kind="summary", fingerprint=fingerprint(plan))
    return rows


def _rows(module: Any, results: Results, name: str) -> Iterator[Hypothesis]:
    rows: Iterator[Hypothesis] = module.rows_of(results, name) if hasattr(module, "rows_of") else module.rows(results)
    return rows


def is_current(store: Store) -> bool:
    """True if the stored summary is that of the plan, of this version, and lacks no replicates."""
    try:
        wanted = fingerprint(Results(store).plan)
        table = store.read_table("summary.parquet", kind="summary", fingerprint=wanted)
    except (FileNotFoundError, Damaged):
        return False
    return "missing" not in table.column("decision").to_pylist()


def complete(rows: Iterable[Hypothesis], plan: Plan) -> list[Hypothesis]:
    """Add the adjusted p-values, the possibilistic indices and the decision to every row.

    A family is all rows of one test by one method: its p-values answer the same question for many data sets and
    classifiers.
    """
    rows = list(rows)
    families: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, row in enumerate(rows):
        if row.p_value is not None:
            families[row.test, row.method].append(position)
    for members in families.values():
        raw = [p for position in members if (p := rows[position].p_value) is not None]
        holm, by = adjust_pvalues(raw, method="holm"), adjust_pvalues(raw, method="benjamini-yekutieli")
        chosen = adjusted(raw, plan.adjust)
        for position, p_holm, p_by, p_adjusted in zip(members, holm, by, chosen, strict=True):
            row = rows[position].with_(p_holm=float(p_holm), p_by=float(p_by), p_adjusted=float(p_adjusted))
            rows[position] = _decide(row, plan.alpha)
    return rows


def _decide(row: Hypothesis, alpha: float) -> Hypothesis:
    p, p_adjusted, log10_p = row.p_value, row.p_adjusted, row.log10_p
    assert p is not None
    assert p_adjusted is not None
    if row.pd is None:  # otherwise an analysis has compared it with a rival
        indices = possibility(p)
        row = row.with_(pd=indices.pd, psd=indices.psd, nsd=indices.nsd)
    if log10_p is None and p > 0:
        log10_p = math.log10(p)
    # The p-value of a power concerns its simulation; there is no hypothesis to keep.
    kept = "none" if row.measure == POWER else "keep"
    return row.with_(log10_p=log10_p, decision="reject" if p_adjusted <= alpha else kept)


def fingerprint(plan: Plan) -> str:
    """The fingerprint of a summary: that of the plan, and the version."""
    cells = [[cell.fingerprint, cell.replicates, cell.stopping] for cell in plan.cells]
    named = {
        name: getattr(plan, name) for name in ("measures", "measure_code", "slices", "positive") if getattr(plan, name)
    }
    rule = {"analyses": plan.analyses, "alpha": plan.alpha, "adjust": plan.adjust}
    return digest("summary", version=VERSION, cells=cells, **rule, **named)


#: The folders that are deleted, by what is kept.
DELETED = {
    "replicates": ["blocks", "receipts"],
    "summary": ["blocks", "receipts", "replicates", "counts", "data", "code"],
}


def prune(store: Store, keep: str) -> list[str]:
    """Delete the folders that `keep` does not need; return those that existed."""
    with store.files.lock():
        deleted = [folder for folder in store.files.folders("") if folder in DELETED[keep]]
        for folder in deleted:
            store.files.drop(folder)
    return deleted


def lost(store: Store) -> list[Cell]:
    """Return the cells that the stored summary needs and that have lost their replicates."""
    stored, _ = store.usable("summary.parquet", kind="summary")
    rows = [] if stored is None else as_summary(stored).select(["cell", "decision"]).to_pylist()
    told = {name for row in rows if row["decision"] != "missing" for name in row["cell"].split()}
    absent = told.difference(*map(store.files.folders, (REPLICATES, BLOCKS)))
    return [cell for cell in read_plan(store).cells if cell.name in absent] if absent else []
