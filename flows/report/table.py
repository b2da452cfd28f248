"""The table of a test: a line for each hypothesis, with what has no room in a column as notes below."""

from collections.abc import Sequence
from dataclasses import dataclass

from sigstats.tasks.schema import Hypothesis

from .evidence import Evidence, distinct
from .section import Column, Section


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
    key : str
        What the column is sorted by; empty for the text.
    hint : str
        What a pointer over it shows.
    """

    text: str
    key: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Table:
    """The table of a test.

    Attributes
    ----------
    section : Section
    heading : str
    columns : sequence of Column
    rows : list of list of Cell
    notes : tuple of str
        The sentences to which numbers in the cells refer, from 1.
    """

    section: Section
    heading: str
    columns: Sequence[Column]
    rows: list[list[Cell]]
    notes: tuple[str, ...]


def table_of(section: Section, evidence: Evidence) -> Table:
    """The table of a section's hypotheses."""
    rows = evidence.of(section.test)
    columns = section.columns(rows)
    one, several = ("row", "rows") if all(row.decision == "none" for row in rows) else ("hypothesis", "hypotheses")
    heading = f"{section.name}: " + (f"the only {one}" if len(rows) == 1 else f"all {len(rows):,} {several}")
    notes = distinct(column.text(row) or None for row in rows for column in columns if column.note)
    return Table(section, heading, columns, [[_cell(column, row, notes) for column in columns] for row in rows], notes)


def _cell(column: Column, row: Hypothesis, notes: tuple[str, ...]) -> Cell:
    text = column.text(row)
    if column.note:
        return Cell(str(notes.index(text) + 1), hint=text) if text else Cell("")
    value = None if column.sort is None else column.sort(row)
    return Cell(text, "" if value is None else repr(float(value)))
