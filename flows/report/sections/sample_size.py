"""Rows that a test needs to reject half of the time, beside what a publication prints."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import join_words
from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _columns
from ._columns import where


def _rows(row: Hypothesis) -> str:
    return _columns.ABSENT if row.estimate is None else f"{row.estimate:,.0f}"


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """The numbers of rows."""
    found = [f"{_rows(row)} rows on {where(row)}" for row in rows if row.estimate is not None]
    return Verdict(f"Half of the time is reached with {join_words(found)}." if found else "No formula says.")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The population, the test and the number of rows."""
    return [
        Column("Population", where),
        Column("Test", _columns.METHOD.text),
        Column("Rows", _rows, lambda row: row.estimate, "from how many rows on the test rejects half of the time"),
        *_columns.printed_columns(rows),
    ]


SECTION = Section(
    order=91,
    test="sample-size",
    name="Rows for half of the time",
    question="With how many rows does the test reject more often than not?",
    verdict=verdict,
    columns=columns,
    method=(
        "The least number of rows from which on the exact rate at which McNemar's test rejects is at least one half, "
        "by the probabilities with which only one of the two is right. It is of no size that was drawn."
    ),
    source="Sturm, Comparing two classifiers using a contingency table",
)
