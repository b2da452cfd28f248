"""The summary of a study, computed only from its Parquet files, and the pruning of files that are no longer needed.

A study may give printed numbers of a publication, which its summary compares with the computed numbers. A printed
number agrees if the computed number rounds to it, and a Monte-Carlo estimate agrees if both could be draws of the same
test. If the experiment differs (other folds, another implementation), the study gives a tolerance, or a threshold that
must not separate the two numbers.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pkgutil import resolve_name
from typing import Annotated

import pyarrow as pa

from sigstats.multiplicity import adjust_family, adjust_pvalues
from sigstats.possibilistic_indices import possibility

from .plan import Cell, Plan, group_by
from .record import digest
from .results import Results, read_plan
from .schema import POWER, Hypothesis, as_summary, renamed, schema_of, summary_table
from .storage.seal import BLOCKS, REPLICATES, Damaged
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


#: The columns of the summary that a publication may print.
PRINTABLE = ("p_value", "estimate", "statistic", "null_mean", "pd", "psd", "nsd")
#: Probability below which two Monte-Carlo estimates are too far apart to be of the same p-value.
_SAME_DRAW = 0.001


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A printed number. The fields are the columns of ``references.parquet``."""

    cell: Annotated[str, "name", "the cell behind the row of the summary"]
    #: One of `PRINTABLE`.
    name: Annotated[str, "name", "the column of the summary that is printed"]
    #: With all printed digits, which show its precision.
    printed: Annotated[str, "number", "the number as it is printed"]
    tolerance: Annotated[float | None, "of the column", "how far the computed number may be from it"] = None
    side: Annotated[float | None, "of the column", "both numbers must be at most this, or both above"] = None
    remark: Annotated[str, "text", "remark; empty if there is none"] = ""


def write_references(store: Store, references: Iterable[Reference]) -> None:
    """Write printed numbers as ``references.parquet``."""
    rows = [vars(reference) for reference in references]
    table = pa.Table.from_pylist(rows, schema=schema_of(Reference))
    store.write_table("references.parquet", table, kind="references", fingerprint=digest("references", rows=rows))


def read_references(store: Store) -> list[Reference]:
    """Return the printed numbers of a study, or an empty list if it gives none."""
    try:
        table = store.read_table("references.parquet", kind="references")
    except FileNotFoundError:
        return []
    return [Reference(**row) for row in renamed(table).to_pylist()]


def compare_with_published(rows: Iterable[Hypothesis], references: Iterable[Reference]) -> Iterator[Hypothesis]:
    """Yield the rows with the printed numbers of a publication, and with the numbers that disagree."""
    by_cell = group_by(references, lambda reference: reference.cell)
    for row in rows:
        of_cell = by_cell.get(row.cell, [])
        printed = "; ".join(f"{reference.name} {reference.printed}" for reference in of_cell)
        wrong = "; ".join(filter(None, (_complaint(row, reference) for reference in of_cell)))
        yield row.with_(printed=printed, disagrees=wrong) if of_cell else row


def agrees(value: float, printed: str) -> bool:
    """Return True if a number rounds to the printed number."""
    if not math.isfinite(value):
        return False
    number = Decimal(printed)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(Decimal(repr(float(value))) - number) <= Decimal(5).scaleb(exponent - 1)


def _is_close_enough(value: float, reference: Reference) -> bool:
    printed = float(reference.printed)
    if reference.side is not None:
        return (value <= reference.side) == (printed <= reference.side)
    if reference.tolerance is not None:
        return round(abs(value - printed), 12) <= reference.tolerance
    return agrees(value, reference.printed)


def _complaint(row: Hypothesis, reference: Reference) -> str:
    value: float | None = getattr(row, reference.name)
    if value is None or _is_close_enough(value, reference):
        return ""
    has_own_rule = reference.tolerance is not None or reference.side is not None
    if not has_own_rule and reference.name == "p_value" and row.replicates is not None and row.exceedances is not None:
        from sigstats.mcnemar.mcnemar_test import mcnemar_test  # most studies have no printed p-values

        printed_exceedances = round(float(reference.printed) * (row.replicates + 1)) - 1
        if mcnemar_test(max(printed_exceedances, 0), row.exceedances).pvalue >= _SAME_DRAW:
            return ""
    return f"{reference.name} {reference.printed} is printed, {value:.6g} recomputed" + (
        f" ({reference.remark})" if reference.remark else ""
    )
