"""The number of terms of Nyssen's equation (4)."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Verdict, section_of
from . import _columns


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """The largest number of tables, then each."""
    found = sorted((row for row in rows if row.estimate is not None), key=lambda row: -(row.estimate or 0))
    if not found:
        return Verdict("There is no result.")
    most = found[0]
    each = tuple(f"{row.dataset}: {row.estimate:,.0f} tables." for row in rows if row.estimate is not None)
    return Verdict(
        f"Up to {most.estimate:,.0f} tables ({most.dataset}) would have to be listed; the exact test lists none.",
        each if len(each) > 1 else (),
    )


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The table's name and how many tables there are."""
    number = Column(
        "Tables",
        lambda row: _columns.ABSENT if row.estimate is None else f"{row.estimate:,.0f}",
        lambda row: row.estimate,
        "tables of the same margins with as many right or more",
    )
    return [_columns.DATASET, _columns.OBJECTS, number, *_columns.printed_columns(rows)]


SECTION = section_of("enumeration-size", verdict=verdict, columns=columns)
