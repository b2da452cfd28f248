"""Printed numbers of a publication, which a study may give and its summary compares with the computed numbers.

A printed number agrees if the computed number rounds to it, and a Monte-Carlo estimate agrees if both could
be draws of the same test. If the experiment differs (other folds, another implementation), the study gives a tolerance,
or a threshold that must not separate the two numbers.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

import pyarrow as pa

from .plan import group_by
from .record import digest
from .schema import Hypothesis, renamed, schema_of
from .storage.store import Store

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
