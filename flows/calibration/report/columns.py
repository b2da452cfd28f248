"""Columns of the tables of rates."""

from sigstats.tasks.calibration.rates import ERROR, POWER, SHARES, monte_carlo_error
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import number, percent, percent_range
from ...report import usual_columns as usual
from ...report.evidence import Column


def rate(row: Hypothesis) -> float:
    """The exact rate of rejections if it is known, otherwise the simulated rate."""
    if row.measure in (ERROR, POWER) and row.statistic is not None:
        return row.statistic
    return row.estimate or 0.0


def share(value: float | None) -> str:
    """Format a share in percent; a dash if it is missing."""
    return usual.ABSENT if value is None else percent(value)


TEST_SETS = Column("Test sets", lambda row: f"{row.replicates or 0:,}", lambda row: row.replicates)
FAILED = usual.value(
    "Failed", "unanswered", usual.COUNT, "test sets on which a test gave no p-value or a method no interval"
)
RATE = usual.value("Rate", "estimate", percent, "share of the test sets")
RATE_INTERVAL = usual.interval_by(
    lambda row, low, high: percent_range(low, high), "95% interval of the share (Clopper, Pearson)"
)


def _error(row: Hypothesis) -> str:
    error = monte_carlo_error(row)
    if error is None:
        return usual.ABSENT
    return f"{number(100 * error, 2)}%" if row.measure in SHARES else number(error, 4)


MONTE_CARLO_ERROR = Column(
    "MC error", _error, monte_carlo_error, "Monte-Carlo standard error of the rate, sqrt(p (1 - p) / n)"
)
