"""Calibration: whether a test rejects, and its interval holds the truth, as often as it says."""

from collections.abc import Sequence

from sigstats.tasks.analyses.calibration import POWER
from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence, distinct, group_by, not_rejected, rejected
from ..section import Column, Section, Verdict
from ..wording import adjusted_p, count_of, join_words, percent
from . import _cases, _columns
from ._rates import INTERVAL, RATE, TEST_SETS, share, where


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Whether the rates are as expected, then what each test does in each population."""
    wrong, fine = rejected(rows), not_rejected(rows)
    total, name = len(wrong) + len(fine), adjusted_p(evidence.adjust)
    found = [row for row in rows if row.estimate is not None]
    if not found:
        return Verdict("There is no result: every rate is missing.")
    details = tuple(_of_group(group) for group in group_by(found, _group).values())
    if not total:
        return Verdict(f"{count_of(len(found), 'rate')} were found; there is none to hold them against.", details)
    if not wrong:
        subject = f"All {total} rates are" if total > 1 else "The rate is"
        return Verdict(f"{subject} as expected ({_cases.smallest_p(fine, name)}).", details)
    what = distinct(f"{row.measure} of {row.method} on {where(row)}" for row in wrong)
    named = f": {join_words(what)}" if len(what) <= 4 else ""
    return Verdict(f"{len(wrong)} of {total} rates are not as expected{named}.", details)


def _group(row: Hypothesis) -> tuple[str | None, str | None, str, str | None]:
    return row.dataset, row.slice, row.method, row.measure


def _of_group(rows: Sequence[Hypothesis]) -> str:
    first = rows[0]
    rates = [row.estimate or 0 for row in rows]
    subject = f"On {where(first)}, the {first.measure} of {first.method} was"
    reached = ""
    if first.measure == POWER:
        known = [(row.n or 0, row.estimate if row.statistic is None else row.statistic) for row in rows]
        above = [n for n, rate in known if rate is not None and rate > 0.5]
        rate = "it" if first.statistic is None else "its exact value"
        reached = (
            f"; {rate} is above one half from {min(above):,} rows on" if above else "; nowhere is it above one half"
        )
    if len(rows) == 1:
        return f"{subject} {percent(rates[0])} with {count_of(first.n or 0, 'row')}{reached}."
    return f"{subject} {percent(min(rates))} to {percent(max(rates))}{reached}."


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The population, the size, the test, the rate and what it is held against."""
    parts = [_columns.SLICE] if any(row.slice for row in rows) else []
    notes = [_columns.NOTE] if any(row.note for row in rows) else []
    adjusted = [] if all(row.p_adjusted == row.p_value for row in rows) else [_columns.ADJUSTED]
    return [
        Column("Population", _columns.DATASET.text),
        *parts,
        Column("Test", _columns.METHOD.text),
        _columns.MEASURE,
        Column("Rows", _columns.ROWS.text, _columns.ROWS.sort, "rows of a test set"),
        TEST_SETS,
        RATE,
        INTERVAL,
        Column(
            "Expected", lambda row: share(row.null_mean), lambda row: row.null_mean, "the exact rate, or what is stated"
        ),
        _columns.P,
        *adjusted,
        Column("As expected", lambda row: {"reject": "no", "keep": "yes"}.get(row.decision, row.decision)),
        *notes,
    ]


SECTION = Section(
    order=90,
    test="calibration",
    name="Calibration",
    question="Can the tests be trusted at these sample sizes?",
    verdict=verdict,
    columns=columns,
    method=(
        "Test sets are drawn from a population of which all is known and every test is applied to each of them: all "
        "tests see the same test sets. The rate of rejections is the type I error where neither classifier is better, "
        "the power where one is; the coverage is how often the interval holds the true difference. Where a test "
        "depends on counts alone, its exact rate is summed over all test sets there are, and p tests whether the "
        "simulation agrees with it; elsewhere p tests whether the type I error is above the level, or the coverage "
        "below the confidence, that is stated."
    ),
    source=(
        "Sturm, Comparing two classifiers using a contingency table; Keller, Mariethoz and Bengio, Significance tests "
        "for 'bizarre' measures in 2-class classification tasks, section 5"
    ),
)
