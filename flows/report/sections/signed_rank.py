"""The signed-rank test: which of two models is better on data sets like these."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import NBSP, signed, told_apart
from ..evidence import Evidence
from ..section import Column, Verdict, section_of
from . import _columns, _pairs


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """How many pairs differ, then who is better than whom."""
    return _pairs.verdict(rows, evidence, by="signed ranks")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both models, and by how much the second is better."""
    difference = Column(
        f"B{NBSP}−{NBSP}A",
        lambda row: _columns.ABSENT if row.estimate is None else signed(row.estimate, 4),
        lambda row: row.estimate,
        "Hodges and Lehmann's estimate of the score of B minus that of A; turned where less is better",
    )
    interval = Column(
        "95% interval", _between, lambda row: row.estimate_low, "of this difference, by the signed-rank test"
    )
    sizes = Column("Data sets", _columns.ROWS.text, _columns.ROWS.sort, "data sets with a score of both")
    return [*_columns.subject_columns(rows), sizes, difference, interval, *_columns.closing_columns(rows)]


def _between(row: Hypothesis) -> str:
    if row.estimate_low is None or row.estimate_high is None:
        return _columns.ABSENT
    return " to ".join(told_apart(row.estimate_low, row.estimate_high, signed, 4)).replace("inf", "∞")


SECTION = section_of("signed-rank", verdict=verdict, columns=columns)
