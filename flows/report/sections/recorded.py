"""Tests with a record whose verdicts or columns are not the usual ones."""

from collections.abc import Sequence
from functools import partial

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import NBSP, number, signed, told_apart
from .. import usual_columns as usual
from ..evidence import Evidence
from ..section import Column, Verdict, caveat, section_of
from . import _cases, _pairs, _tables


def _friedman_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The data sets and the statistic."""
    statistic = Column(
        "F",
        lambda row: usual.ABSENT if row.statistic is None else number(row.statistic, 4),
        lambda row: row.statistic,
    )
    sizes = Column("Data sets", usual.ROWS.text, usual.ROWS.sort, "data sets with a score of every model")
    return _tables.columns(rows, sizes, statistic)


def _signed_rank_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both models, and by how much the second is better."""
    difference = Column(
        f"B{NBSP}−{NBSP}A",
        lambda row: usual.ABSENT if row.estimate is None else signed(row.estimate, 4),
        lambda row: row.estimate,
        "Hodges and Lehmann's estimate of the score of B minus that of A; turned where less is better",
    )
    interval = Column(
        "95% interval", _between, lambda row: row.estimate_low, "of this difference, by the signed-rank test"
    )
    sizes = Column("Data sets", usual.ROWS.text, usual.ROWS.sort, "data sets with a score of both")
    return [*usual.subject_columns(rows), sizes, difference, interval, *usual.closing_columns(rows)]


def _between(row: Hypothesis) -> str:
    if row.estimate_low is None or row.estimate_high is None:
        return usual.ABSENT
    return " to ".join(told_apart(row.estimate_low, row.estimate_high, signed, 4)).replace("inf", "∞")


def _efficiency_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Who is better than chance, then every case that is not."""
    if all(row.classifier is None for row in rows):
        return _tables.verdict(rows, evidence)
    claim = "agreed with the true classes better than chance"
    found = _cases.headline(rows, evidence, claim=claim, by="Nyssen's exact test")
    doubts = _cases.sentences_on_retained(rows, "could not be told from random assignment", evidence)
    return Verdict(found, tuple(doubts), caveat("efficiency"))


def _efficiency_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Observed beside expected accuracy."""
    value = usual.estimate("Accuracy", "share of right predictions, observed")
    return usual.case_columns(
        rows, value, usual.null_mean("Chance", "mean accuracy of random assignment with the same margins")
    )


def _outcomes_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers, what is compared, and the difference."""
    interval = usual.interval("95% percentile interval of the difference")
    difference = usual.estimate("B − A", "measure of B minus measure of A")
    return _tables.columns(rows, usual.MEASURE, usual.OBJECTS, difference, interval)


def _outcomes_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """In which tables the two differ."""
    return _tables.verdict(rows, evidence, by=rows[0].method)


SECTIONS = (
    section_of("efficiency", verdict=_efficiency_verdict, columns=_efficiency_columns),
    section_of("joint-outcomes", verdict=_outcomes_verdict, columns=_outcomes_columns),
    section_of("friedman", verdict=_tables.verdict, columns=_friedman_columns),
    section_of("signed-rank", verdict=partial(_pairs.verdict, by="signed ranks"), columns=_signed_rank_columns),
)
