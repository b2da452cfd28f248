"""Confidence: how sure a test is on one test set, beside how often other test sets agree."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of, percent
from .. import usual_columns as usual
from ..evidence import Evidence, group_by
from ..section import Column, Section, Verdict
from ..usual_columns import RATE, RATE_INTERVAL, TEST_SETS, share, where

#: With more results the verdict leaves them to the table.
_MOST = 12


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """How many tests are surer than test sets agree, then each."""
    found = [row for row in rows if row.statistic is not None]
    if not found:
        return Verdict("There is no result: every comparison is missing, or neither is better on the test set.")
    over, under = (sum(_beside(row) == sign for row in found) for sign in (1, -1))
    return Verdict(
        f"Of {count_of(len(found), 'stated confidence')}, {over} {'is' if over == 1 else 'are'} above and {under} "
        f"{'is' if under == 1 else 'are'} below the interval of what test sets of the same size achieve.",
        tuple(_of(row) for row in found),
        _side_by_side(found) if len(found) <= _MOST else "",
    )


def _side_by_side(found: Sequence[Hypothesis]) -> str:
    """Table 3 of the paper, a sentence for each test."""
    single = len({row.dataset for row in found}) == 1

    def said(row: Hypothesis) -> str:
        name = row.slice if single and row.slice else where(row)
        return (
            f"on {name} {percent(row.statistic or 0)} sure of {row.b}, where {percent(row.estimate or 0)} of test sets "
            "agree"
        )

    groups = group_by(found, lambda row: row.method).items()
    return " ".join(f"{method[:1].upper()}{method[1:]} was {'; '.join(map(said, group))}." for method, group in groups)


def _beside(row: Hypothesis) -> int:
    """1 if the stated confidence is above what is achieved, with its interval, -1 if below, 0 if inside."""
    assert row.statistic is not None
    assert row.estimate_low is not None
    assert row.estimate_high is not None
    return int(row.statistic > row.estimate_high) - int(row.statistic < row.estimate_low)


def _of(row: Hypothesis) -> str:
    return (
        f"{where(row)}: {row.method} was {percent(row.statistic or 0)} sure that {row.b} is better in {row.measure}; "
        f"it was so on {percent(row.estimate or 0)} of {row.replicates or 0:,} other test sets."
    )


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The population, the test, who is better, how sure the test is, how often that is so."""
    return [
        Column("Population", where),
        Column("Test", usual.METHOD.text),
        usual.MEASURE,
        Column("Rows", usual.ROWS.text, usual.ROWS.sort, "rows of the test set"),
        Column("Better", usual.B.text, meaning="which of A and B is better on the test set"),
        Column("Stated", lambda row: share(row.statistic), lambda row: row.statistic, "the test's confidence in that"),
        Column("Achieved", RATE.text, RATE.sort, "share of other test sets on which the same one is better"),
        RATE_INTERVAL,
        TEST_SETS,
        *usual.notes(rows),
    ]


_SECTION = Section(
    order=95,
    test="confidence",
    name="Confidence",
    question="Is a test as sure as other test sets of the same size agree?",
    verdict=verdict,
    columns=columns,
    method=(
        "Both classifiers are trained once and compared on one test set; all rows that neither has seen stand for the "
        "truth. The confidence that a test states on the one test set, that the classifier which is better there is "
        "better in truth, stands beside the share of other test sets of the same size, drawn from those rows without "
        "replacement, on which the same classifier is better. The stated confidence is that of one test set and would "
        "be another on the next."
    ),
    source=(
        "Keller, Mariethoz and Bengio, Significance tests for 'bizarre' measures in 2-class classification tasks, "
        "section 5 and Table 3"
    ),
)

SECTIONS = (_SECTION,)
