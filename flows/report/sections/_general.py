"""The section of a test that has none of its own: every column that holds something."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of
from ..evidence import Evidence, not_rejected, rejected
from ..section import Column, Section, Verdict
from . import _columns


def verdict(rows: Sequence[Hypothesis], _evidence: Evidence) -> Verdict:
    """How many null hypotheses are rejected."""
    decided = len(rejected(rows)) + len(not_rejected(rows))
    nulls = "; ".join(dict.fromkeys(row.null for row in rows))
    return Verdict(f"Rejected in {len(rejected(rows))} of {count_of(decided, 'test')}: {nulls}.")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
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


GENERAL = Section(
    order=1000,
    test="",
    name="",
    question="",
    verdict=verdict,
    columns=columns,
    method="",
)
