"""Friedman's test: whether any of several models differ on data sets like these."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import number
from ..evidence import Evidence
from ..section import Column, Verdict, section_of
from . import _columns, _tables


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Whether any differ."""
    return _tables.verdict(rows, evidence)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The data sets and the statistic."""
    statistic = Column(
        "F",
        lambda row: _columns.ABSENT if row.statistic is None else number(row.statistic, 4),
        lambda row: row.statistic,
    )
    sizes = Column("Data sets", _columns.ROWS.text, _columns.ROWS.sort, "data sets with a score of every model")
    return _tables.columns(rows, sizes, statistic)


SECTION = section_of("friedman", verdict=verdict, columns=columns)
