"""The section of a calibration study on the performance of intervals, and of tests at their true level."""

from collections.abc import Sequence

from sigstats.tasks.calibration.performance import SHARES
from sigstats.tasks.calibration.rejections import COVERAGE
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import number, percent
from ...report import usual_columns as usual
from ...report.evidence import Column, Evidence, Section, Verdict
from ...report.usual_columns import where
from .page import FAILED, MONTE_CARLO_ERROR, TEST_SETS, advice, headline_of, rates_of_tests


def _performance_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    tests = rates_of_tests([row for row in rows if row.measure == COVERAGE], evidence.alpha)
    if not tests:
        return Verdict("The table below gives the power of each test at its true level.")
    return Verdict(headline_of(tests), to_do=advice(tests))


def _in_unit(row: Hypothesis, value: float | None) -> str:
    if value is None:
        return usual.ABSENT
    return percent(value) if row.measure in SHARES else number(value, 4)


_PERFORMANCE = Section(
    order=92,
    test="performance",
    name="Performance",
    question="Which interval can be trusted, and what is the power of a test at its true level?",
    verdict=_performance_verdict,
    columns=(
        Column("Population", where),
        usual.METHOD,
        usual.ROWS.named("Rows", "rows of a test set"),
        usual.MEASURE,
        Column("Value", lambda row: _in_unit(row, row.estimate), lambda row: row.estimate),
        MONTE_CARLO_ERROR.named("MC error", "Monte-Carlo standard error of the value"),
        Column("Stated", lambda row: _in_unit(row, row.null_mean), lambda row: row.null_mean, "what it should be"),
        usual.P,
        TEST_SETS,
        FAILED,
        usual.NOTE,
    ),
    method=(
        "Every method is applied to the same test sets. Bias is the mean estimate minus the truth; the empirical "
        "standard error is the standard deviation of the estimates, the stated one the root mean square of the "
        "standard errors that the method states. Coverage is how often the interval contains the truth, "
        "bias-eliminated coverage how often it contains the mean estimate; an interval that misses lies below or "
        "above the truth. For the difference that people see, type I error and power are how often the interval "
        "excludes zero. A measure that is 0/0 on a test set is undefined there and taken as 0; such test sets are "
        "counted and not left out. Size-adjusted power is the share of test sets rejected at the largest p-value "
        "that at most the stated share of test sets without a difference fall below; its Monte-Carlo error allows "
        "for the estimation of this p-value. A test set on which a method fails counts as a miss, or as not "
        "rejected. p tests whether a coverage is below the stated one."
    ),
    source=(
        "Morris, White and Crowther, Using simulation studies to evaluate statistical methods, Statistics in Medicine "
        "38 (2019)"
    ),
)


SECTIONS = (_PERFORMANCE,)
