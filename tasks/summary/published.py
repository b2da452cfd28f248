"""Printed numbers of a publication, compared with the results on its data.

A study may state printed numbers; the summary then shows both, and names those that disagree. A printed number agrees
if the computed one rounds to it, and a Monte-Carlo estimate if both could be draws of the same test. If the experiment
itself was another one (other folds, another implementation), a study states a tolerance, or a limit on the same side
of which both should be.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

import pyarrow as pa

from ..record import digest
from ..schema import Hypothesis, renamed, schema_of
from ..storage.store import Store

#: The columns of the summary that a publication may print.
PRINTABLE = ("p_value", "estimate", "statistic", "null_mean", "pd", "psd", "nsd")
#: Two Monte-Carlo estimates of one p-value are further apart than this only once in a thousand times.
_SAME_DRAW = 0.001


@dataclass(frozen=True, kw_only=True)
class Reference:
    """One printed number; the fields are the columns of ``references.parquet``."""

    cell: Annotated[str, "name", "the cell behind the row of the summary"]
    #: One of `PRINTABLE`.
    name: Annotated[str, "name", "the column of the summary that is printed"]
    #: With the digits that are printed: they say how precise it is.
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
    """The printed numbers of a study; an empty list if it states none."""
    try:
        table = store.read_table("references.parquet", kind="references")
    except FileNotFoundError:
        return []
    return [Reference(**row) for row in renamed(table).to_pylist()]


def compare_with_published(rows: Iterable[Hypothesis], references: Iterable[Reference]) -> Iterator[Hypothesis]:
    """Each row with the numbers that are printed for it, and those that disagree."""
    by_cell: dict[str, list[Reference]] = defaultdict(list)
    for reference in references:
        by_cell[reference.cell].append(reference)
    for row in rows:
        of_cell = by_cell.get(row.cell, [])
        printed = "; ".join(f"{reference.name} {reference.printed}" for reference in of_cell)
        wrong = "; ".join(filter(None, (_complaint(row, reference) for reference in of_cell)))
        yield row.with_(printed=printed, disagrees=wrong) if of_cell else row


def agrees(value: float, printed: str) -> bool:
    """True if a number rounds to the printed one."""
    number = Decimal(printed)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(Decimal(repr(float(value))) - number) <= Decimal(5).scaleb(exponent - 1)


def _agrees(value: float, reference: Reference) -> bool:
    printed = float(reference.printed)
    if reference.side is not None:
        return (value <= reference.side) == (printed <= reference.side)
    if reference.tolerance is not None:
        return round(abs(value - printed), 12) <= reference.tolerance
    return agrees(value, reference.printed)


def _complaint(row: Hypothesis, reference: Reference) -> str:
    value: float | None = getattr(row, reference.name)
    if value is None or _agrees(value, reference):
        return ""
    ruled = reference.tolerance is not None or reference.side is not None
    if not ruled and reference.name == "p_value" and row.replicates is not None and row.exceedances is not None:
        from sigstats.mcnemar.mcnemar_test import mcnemar_test  # most studies have no printed p-values

        theirs = round(float(reference.printed) * (row.replicates + 1)) - 1
        if mcnemar_test(max(theirs, 0), row.exceedances).pvalue >= _SAME_DRAW:
            return ""
    return f"{reference.name} {reference.printed} is printed, {value:.6g} recomputed" + (
        f" ({reference.remark})" if reference.remark else ""
    )
