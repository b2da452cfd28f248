"""The sections of tests that have no module here: as their record says it, or every column that holds something."""

from collections.abc import Sequence
from dataclasses import replace

from sigstats.tasks import statistical_tests
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of
from ..evidence import Evidence, is_proportion, not_rejected, rejected
from ..section import Column, Section, Verdict, caveat, section_of
from . import _columns, _pairs, _tables

_BETTER = {"greater": "A is better", "less": "B is better"}


def section_without_module(name: str) -> Section:
    """The section of a test by its record, or of rows of a test that has none."""
    if statistical_tests.find(name) is None:
        return replace(_PLAIN, test=name, name=name, question=name)
    return section_of(name, verdict=_verdict_of_record, columns=_columns_of_record)


def _verdict_of_record(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """In how many tables or data sets it rejects; or of pairs, how many differ and who is better than whom."""
    test = statistical_tests.named(rows[0].test)
    if not test.claim:
        found = _pairs.verdict(rows, evidence, by=test.by or test.label)
    else:
        found = _tables.verdict(rows, evidence)
    return found if evidence.of_tables else replace(found, beside=caveat(rows[0].test))


def _columns_of_record(rows: Sequence[Hypothesis]) -> list[Column]:
    """The subject, the size, the difference of two with its interval where there is one, and the usual rest."""
    size = _columns.OBJECTS if statistical_tests.named(rows[0].test).claim else _columns.ROWS
    sides = [Column("Alternative", lambda row: _BETTER.get(row.alternative, row.alternative))]
    one_sided = any(row.alternative in _BETTER and row.b for row in rows)
    return [
        *_columns.subject_columns(rows),
        *(sides if one_sided else []),
        size,
        *_difference(rows),
        *_columns.closing_columns(rows),
    ]


def _difference(rows: Sequence[Hypothesis]) -> list[Column]:
    if any(map(is_proportion, rows)):
        return _pairs.in_points("95% interval of the difference (Tango)")
    if all(row.estimate is None for row in rows):
        return []
    interval = Column("95% interval", _columns.INTERVAL.text, _columns.INTERVAL.sort, "95% interval of the difference")
    return [_columns.estimate("B − A", "measure of B minus measure of A"), interval]


def _verdict(rows: Sequence[Hypothesis], _evidence: Evidence) -> Verdict:
    """How many null hypotheses are rejected."""
    decided = len(rejected(rows)) + len(not_rejected(rows))
    nulls = "; ".join(dict.fromkeys(row.null for row in rows))
    return Verdict(f"Rejected in {len(rejected(rows))} of {count_of(decided, 'test')}: {nulls}.")


def _every_column(rows: Sequence[Hypothesis]) -> list[Column]:
    """The subject of the rows, their estimate, and the usual rest."""
    subject = {
        "dataset": _columns.DATASET,
        "slice": _columns.SLICE,
        "classifier": _columns.CLASSIFIER,
        "a": _columns.A,
        "b": _columns.B,
        "measure": _columns.MEASURE,
        "n": _columns.ROWS,
        "estimate": _columns.estimate("Estimate"),
        "estimate_low": _columns.INTERVAL,
        "null_mean": _columns.null_mean("Under the null"),
    }
    used = [column for name, column in subject.items() if any(getattr(row, name) is not None for row in rows)]
    return [*used, *_columns.closing_columns(rows)]


_PLAIN = Section(order=1000, test="", name="", question="", verdict=_verdict, columns=_every_column, method="")
