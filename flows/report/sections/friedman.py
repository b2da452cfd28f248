"""Friedman's test: whether any of several models differ on data sets like these."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import number
from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _columns, _tables


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Whether any differ."""
    return _tables.verdict(rows, evidence, claim="some of the models differ", by="Friedman")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The data sets and the statistic."""
    statistic = Column(
        "F",
        lambda row: _columns.ABSENT if row.statistic is None else number(row.statistic, 4),
        lambda row: row.statistic,
    )
    sizes = Column("Data sets", _columns.ROWS.text, _columns.ROWS.sort, "data sets with a score of every model")
    return _tables.columns(rows, sizes, statistic)


SECTION = Section(
    order=11,
    test="friedman",
    name="Friedman",
    question="Do any of the models differ on data sets like these?",
    verdict=verdict,
    columns=columns,
    method=(
        "The models are ranked on each data set, and Friedman's statistic, corrected for ties, says how far their mean "
        "ranks are apart; p is that of Iman and Davenport's F. The null hypothesis is that on each data set all orders "
        "of the models are equally likely."
    ),
    source=(
        "Friedman, The use of ranks to avoid the assumption of normality, Journal of the American Statistical "
        "Association 32 (1937); Iman and Davenport, Communications in Statistics A 9 (1980)"
    ),
)
