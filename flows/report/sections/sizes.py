"""Numbers that are computed, and nothing is tested: of terms, of replicates, of rows."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import join_words
from .. import usual_columns as usual
from ..evidence import Evidence
from ..section import Column, Section, Verdict, section_of
from ..usual_columns import where


def _counted(row: Hypothesis) -> str:
    return usual.ABSENT if row.estimate is None else f"{row.estimate:,.0f}"


def _number(header: str, meaning: str = "") -> Column:
    return Column(header, _counted, lambda row: row.estimate, meaning)


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
    """The table's name and how many tables there are."""
    number = _number("Tables", "tables of the same margins with as many right or more")
    return [usual.DATASET, usual.OBJECTS, number, *usual.printed_columns(rows)]


def _replicates_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """The sizes."""
    sizes = [f"{row.estimate:,.0f} replicates at {row.dataset}" for row in rows if row.estimate is not None]
    return Verdict(f"A Monte-Carlo test should have at least {join_words(sizes)}." if sizes else "There is no result.")


def _replicates_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The level's name and the size."""
    return [Column("Level", usual.DATASET.text), _number("Replicates"), *usual.printed_columns(rows)]


def _rows_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """The numbers of rows."""
    found = [f"{_counted(row)} rows on {where(row)}" for row in rows if row.estimate is not None]
    return Verdict(f"Half of the time is reached with {join_words(found)}." if found else "No formula says.")


def _rows_columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The population, the test and the number of rows."""
    return [
        Column("Population", where),
        Column("Test", usual.METHOD.text),
        _number("Rows", "from how many rows on the test rejects half of the time"),
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
    section_of("enumeration-size", verdict=_terms_verdict, columns=_terms_columns),
    section_of("monte-carlo-size", verdict=_replicates_verdict, columns=_replicates_columns),
    _SAMPLE_SIZE,
)
