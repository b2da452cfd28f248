"""What the tables of rates share: the population, the share of the test sets, and its interval."""

from sigstats.tasks.rates import monte_carlo_error
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import number, percent, percent_range
from ..section import Column
from ..usual_columns import ABSENT


def share(value: float | None) -> str:
    """A share in percent, a dash where there is none."""
    return ABSENT if value is None else percent(value)


def whole(count: int | None) -> str:
    """A number of test sets, a dash where it is not known."""
    return ABSENT if count is None else f"{count:,}"


def _interval(row: Hypothesis) -> str:
    if row.estimate_low is None or row.estimate_high is None:
        return ABSENT
    return percent_range(row.estimate_low, row.estimate_high)


TEST_SETS = Column("Test sets", lambda row: f"{row.replicates or 0:,}", lambda row: row.replicates)
FAILED = Column(
    "Failed",
    lambda row: whole(row.unanswered),
    lambda row: row.unanswered,
    "test sets on which a test gave no p-value or a method no interval",
)
RATE = Column("Rate", lambda row: share(row.estimate), lambda row: row.estimate, "share of the test sets")
INTERVAL = Column(
    "95% interval", _interval, lambda row: row.estimate_low, "95% interval of the share (Clopper, Pearson)"
)


def _error(row: Hypothesis) -> str:
    error = monte_carlo_error(row)
    return ABSENT if error is None else f"{number(100 * error, 2)}%"


MONTE_CARLO_ERROR = Column(
    "MC error", _error, monte_carlo_error, "Monte-Carlo standard error of the rate, sqrt(p (1 - p) / n)"
)
