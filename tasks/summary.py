"""The summary of a study, computed only from its Parquet files, and the pruning of files that are no longer needed."""

import math
from collections.abc import Iterable, Mapping
from pkgutil import resolve_name

from sigstats.multiplicity import adjust_family, adjust_pvalues
from sigstats.possibilistic_indices import possibility

from .plan import Cell, Plan, group_by
from .record import digest
from .references import compare_with_published, read_references
from .results import Results, read_plan
from .schema import POWER, Hypothesis, as_summary, summary_table
from .storage.block_files import BLOCKS, REPLICATES
from .storage.seal import Damaged
from .storage.store import Store

#: Version of the summary, which is increased when the summary of equal replicates gains or changes columns.
VERSION = 4


def summarize(store: Store, analyses: Mapping[str, str]) -> list[Hypothesis]:
    """Write ``summary.parquet`` and return its rows.

    `analyses`: the functions of the analyses of the kind of study, as ``module:function``. A function is called with
    the results and the name of the analysis.

    Raises FileNotFoundError if the store has no plan. Raises sigstats.tasks.storage.seal.Damaged if the plan cannot be
    used.
    """
    results = Results(store)
    plan = results.plan
    hypotheses = [row for name in plan.analyses for row in resolve_name(analyses[name])(results, name)]
    rows = list(compare_with_published(complete(hypotheses, plan), read_references(store)))
    store.write_table("summary.parquet", summary_table(rows), kind="summary", fingerprint=fingerprint(plan))
    return rows


def is_current(store: Store) -> bool:
    """Return True if the stored summary belongs to the plan and this version, and no replicates are missing."""
    try:
        wanted = fingerprint(Results(store).plan)
        table = store.read_table("summary.parquet", kind="summary", fingerprint=wanted)
    except (FileNotFoundError, Damaged):
        return False
    return "missing" not in table.column("decision").to_pylist()


def complete(rows: Iterable[Hypothesis], plan: Plan) -> list[Hypothesis]:
    """Return the rows with adjusted p-values, possibilistic indices and decisions.

    A family consists of all rows of one test by one method: the p-values answer the same question for many data sets
    and classifiers. A row that already has an adjusted p, since its test cannot reject, does not belong to a family.
    """
    rows = list(rows)
    tested = [i for i, row in enumerate(rows) if row.p_value is not None and row.p_adjusted is None]
    for family in group_by(tested, lambda i: (rows[i].test, rows[i].method)).values():
        raw = [p for i in family if (p := rows[i].p_value) is not None]
        holm, by = adjust_pvalues(raw, method="holm"), adjust_pvalues(raw, method="benjamini-yekutieli")
        chosen = adjust_family(raw, plan.adjust)
        for i, p, p_holm, p_by, p_adjusted in zip(family, raw, holm, by, chosen, strict=True):
            row = rows[i].with_(p_holm=float(p_holm), p_by=float(p_by), p_adjusted=float(p_adjusted))
            rows[i] = _decide(row, p, float(p_adjusted), plan.alpha)
    return rows


def _decide(row: Hypothesis, p: float, p_adjusted: float, alpha: float) -> Hypothesis:
    log10_p = row.log10_p
    if row.pd is None:  # otherwise an analysis has compared it with a rival
        indices = possibility(p)
        row = row.with_(pd=indices.pd, psd=indices.psd, nsd=indices.nsd)
    if log10_p is None and p > 0:
        log10_p = math.log10(p)
    # The p-value of a power concerns the simulation, so there is no hypothesis to keep.
    kept = "none" if row.measure == POWER else "keep"
    return row.with_(log10_p=log10_p, decision="reject" if p_adjusted <= alpha else kept)


def fingerprint(plan: Plan) -> str:
    """Return the fingerprint of a summary, which depends on the plan and the version."""
    cells = [[cell.fingerprint, cell.replicates, cell.stopping] for cell in plan.cells]
    rule = {"analyses": plan.analyses, "alpha": plan.alpha, "adjust": plan.adjust}
    return digest("summary", version=VERSION, cells=cells, **rule, **plan.given)


#: The folders that `prune` deletes, by the value of `keep`.
DELETED = {
    "replicates": ["blocks", "receipts"],
    "summary": ["blocks", "receipts", "replicates", "counts", "data", "code"],
}


def prune(store: Store, keep: str) -> list[str]:
    """Delete the folders that are not needed if the study keeps only `keep`; return the deleted folders."""
    with store.files.lock():
        deleted = [folder for folder in store.files.folders("") if folder in DELETED[keep]]
        for folder in deleted:
            store.files.drop(folder)
    return deleted


def lost(store: Store) -> list[Cell]:
    """Return the cells that the stored summary needs but whose replicates are lost."""
    stored, _ = store.usable("summary.parquet", kind="summary")
    rows = [] if stored is None else as_summary(stored).select(["cell", "decision"]).to_pylist()
    with_decision = {name for row in rows if row["decision"] != "missing" for name in row["cell"].split()}
    absent = with_decision.difference(*map(store.files.folders, (REPLICATES, BLOCKS)))
    return [cell for cell in read_plan(store).cells if cell.name in absent] if absent else []
