"""Performance: what a simulation study reports of an interval, and of a test at the level that it really has."""

from collections.abc import Sequence

from sigstats.tasks.rates import COVERAGE, SHARES, UNDEFINED, WIDTH, monte_carlo_error
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of, join_words, number, percent
from .. import usual_columns as usual
from ..evidence import Evidence, group_by, rejected
from ..section import Column, Section, Verdict
from ..usual_columns import FAILED, TEST_SETS, where


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Which intervals keep their confidence, and which do not, with the least that each reached."""
    coverages = [row for row in rows if row.measure == COVERAGE and row.estimate is not None]
    if not coverages:
        return Verdict("The power of each test at the level that it really has is in the table below.")
    groups = group_by(coverages, lambda row: row.method)
    kept = [method for method, group in groups.items() if not rejected(group)]
    failed = [method for method in groups if method not in kept]
    stated = percent(1 - evidence.alpha)
    trusted = f"Of {count_of(len(groups), 'interval')}, {join_words(kept)} held the truth as often as stated ({stated})"
    if not kept:
        trusted = f"No interval held the truth as often as stated ({stated}) on all test sets"
    elif not failed:
        trusted = f"All intervals held the truth as often as stated ({stated})"
    warned = f"; do not rely on {join_words(failed)} where the coverage below is short of it" if failed else ""
    return Verdict(f"{trusted}{warned}.", tuple(_of(method, group, rows) for method, group in groups.items()))


def _of(method: str, coverages: Sequence[Hypothesis], rows: Sequence[Hypothesis]) -> str:
    """The least coverage of a method, where it fails, how wide it is there, and what was undefined or failed."""
    worst = min(coverages, key=lambda row: row.estimate or 0)
    width = next((row.estimate for row in rows if row.cell == worst.cell and row.measure == WIDTH), None)
    fails = rejected(coverages)
    undefined = sum(
        round((row.estimate or 0) * (row.replicates or 0))
        for row in rows
        if row.method == method and row.measure == UNDEFINED
    )
    drawn = sum(row.replicates or 0 for row in coverages)
    wide = "" if width is None else f", {number(width, 3)} wide on average"
    failing = f"it is short of that stated in {len(fails)} of {len(coverages)} settings; " if fails else ""
    return (
        f"{method}: the coverage is least on {where(worst)}, with {count_of(worst.n or 0, 'row')}: "
        f"{percent(worst.estimate or 0)}{wide}; {failing}the measure was undefined on {undefined:,} of {drawn:,} "
        f"test sets, and no interval was given on {sum(row.unanswered or 0 for row in coverages):,}."
    )


def _shown(row: Hypothesis, value: float | None) -> str:
    if value is None:
        return usual.ABSENT
    return percent(value) if row.measure in SHARES else number(value, 4)


def _error(row: Hypothesis) -> str:
    error = monte_carlo_error(row)
    if error is None:
        return usual.ABSENT
    return f"{number(100 * error, 2)}%" if row.measure in SHARES else number(error, 4)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The population, the method, the size, the measure, its value and Monte-Carlo error."""
    return [
        Column("Population", where),
        Column("Method", usual.METHOD.text),
        Column("Rows", usual.ROWS.text, usual.ROWS.sort, "rows of a test set"),
        usual.MEASURE,
        Column("Value", lambda row: _shown(row, row.estimate), lambda row: row.estimate),
        Column("MC error", _error, monte_carlo_error, "Monte-Carlo standard error of the value"),
        Column("Stated", lambda row: _shown(row, row.null_mean), lambda row: row.null_mean, "what it should be"),
        usual.P,
        TEST_SETS,
        FAILED,
        *usual.notes(rows),
    ]


_SECTION = Section(
    order=92,
    test="performance",
    name="Performance",
    question="Which interval can be trusted, and what does a test find at the level that it really has?",
    verdict=verdict,
    columns=columns,
    method=(
        "Every method is applied to the same test sets. Bias is the mean estimate less the truth; the empirical "
        "standard error is the standard deviation of the estimates, the stated one the root mean square of what "
        "the method states. Coverage is how often the interval holds the truth, bias-eliminated coverage how often "
        "it holds the mean estimate; an interval that misses lies below the truth or above it. Of the difference that "
        "people see, type I error and power are how often the interval leaves zero out. A measure that is "
        "0/0 on a test set is undefined there and taken as 0; such test sets are counted, none is left out. Size- "
        "adjusted power is the share of test sets rejected at the largest p-value that at most the stated share of "
        "test sets without a difference fall below; its Monte-Carlo error counts that this p-value is an estimate too. "
        "A test set on which a method fails counts as a miss, or as not rejected. p tests whether a coverage is below "
        "what is stated."
    ),
    source=(
        "Morris, White and Crowther, Using simulation studies to evaluate statistical methods, Statistics in Medicine "
        "38 (2019)"
    ),
)

SECTIONS = (_SECTION,)
