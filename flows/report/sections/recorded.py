"""Tests with a record whose verdicts or columns are not the usual ones, and numbers that are computed alone."""

from collections.abc import Sequence
from functools import partial

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import NBSP, join_words, number, signed, told_apart
from .. import usual_columns as usual
from ..evidence import Evidence
from ..section import Column, Section, Verdict, caveat, section_of
from ..usual_columns import where
from . import _tables, _verdicts


def _friedman_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    statistic = usual.value("F", "statistic", partial(number, decimals=4))
    return _tables.columns(rows, usual.ROWS.named("Data sets", "data sets with a score of every model"), statistic)


def _signed_rank_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    meaning = "Hodges and Lehmann's estimate of the score of B minus that of A; turned where less is better"
    difference = usual.value(f"B{NBSP}−{NBSP}A", "estimate", partial(signed, decimals=4), meaning)
    interval = usual.interval_by(
        lambda row, low, high: " to ".join(told_apart(low, high, signed, 4)).replace("inf", "∞"),
        "of this difference, by the signed-rank test",
    )
    sizes = usual.ROWS.named("Data sets", "data sets with a score of both")
    return [*usual.subject_columns(rows), sizes, difference, interval, *usual.closing_columns(rows)]


def _efficiency_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Who is better than chance, then every case that is not."""
    if all(row.classifier is None for row in rows):
        return _tables.verdict(rows, evidence)
    claim = "agreed with the true classes better than chance"
    found = _verdicts.headline(rows, evidence, claim=claim, by="Nyssen's exact test")
    doubts = _verdicts.sentences_on_retained(rows, "could not be told from random assignment", evidence)
    return Verdict(found, tuple(doubts), caveat("efficiency"))


def _efficiency_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    value = usual.estimate("Accuracy", "share of right predictions, observed")
    return usual.case_columns(
        rows, value, usual.null_mean("Chance", "mean accuracy of random assignment with the same margins")
    )


def _outcomes_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    difference = usual.difference("95% percentile interval of the difference")
    return _tables.columns(rows, usual.MEASURE, usual.OBJECTS, *difference)


def _outcomes_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    return _tables.verdict(rows, evidence, by=rows[0].method)


_WHOLE = "{:,.0f}".format


def _terms_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
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


def _terms_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    number = usual.value("Tables", "estimate", _WHOLE, "tables of the same margins with as many right or more")
    return [usual.DATASET, usual.OBJECTS, number, *usual.printed_columns(rows)]


def _replicates_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    sizes = [f"{row.estimate:,.0f} replicates at {row.dataset}" for row in rows if row.estimate is not None]
    return Verdict(f"A Monte-Carlo test should have at least {join_words(sizes)}." if sizes else "There is no result.")


def _replicates_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    return [usual.DATASET.named("Level"), usual.value("Replicates", "estimate", _WHOLE), *usual.printed_columns(rows)]


def _rows_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    found = [f"{row.estimate:,.0f} rows on {where(row)}" for row in rows if row.estimate is not None]
    return Verdict(f"Half of the time is reached with {join_words(found)}." if found else "No formula says.")


def _rows_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    return [
        Column("Population", where),
        usual.METHOD.named("Test"),
        usual.value("Rows", "estimate", _WHOLE, "from how many rows on the test rejects half of the time"),
        *usual.printed_columns(rows),
    ]


_SAMPLE_SIZE = Section(
    order=91,
    test="sample-size",
    name="Rows for half of the time",
    question="With how many rows does the test reject more often than not?",
    verdict=_rows_verdict,
    columns=_rows_columns,
    method=(
        "The least number of rows from which on the exact rate at which McNemar's test rejects is at least one half, "
        "by the probabilities with which only one of the two is right. It is of no size that was drawn."
    ),
    source="Sturm, Comparing two classifiers using a contingency table",
)

SECTIONS = (
    section_of("efficiency", verdict=_efficiency_verdict, columns=_efficiency_columns),
    section_of("joint-outcomes", verdict=_outcomes_verdict, columns=_outcomes_columns),
    section_of("friedman", verdict=_tables.verdict, columns=_friedman_columns),
    section_of("signed-rank", verdict=partial(_verdicts.verdict, by="signed ranks"), columns=_signed_rank_columns),
    section_of("enumeration-size", verdict=_terms_verdict, columns=_terms_columns),
    section_of("monte-carlo-size", verdict=_replicates_verdict, columns=_replicates_columns),
    _SAMPLE_SIZE,
)
