"""Rates of tests and intervals in calibration studies, and their Monte-Carlo errors."""

import math

from sigstats.measures.measure import Measure, as_measure
from sigstats.measures.own import is_path
from sigstats.measures.table import OwnMeasure

from ..schema import POWER as POWER
from ..schema import Hypothesis
from ..statistical_tests.joint_outcomes import of_two_classes
from .work import AppliedTest

#: Rates in rows of the test ``calibration``, in addition to `POWER`.
ERROR, COVERAGE = "type I error", "coverage"
#: The further measures of the test ``performance``, in their order.
BIAS, EMPIRICAL, STATED = "bias", "empirical standard error", "stated standard error"
ELIMINATED, BELOW, ABOVE = "bias-eliminated coverage", "interval below the truth", "interval above the truth"
WIDTH, UNDEFINED, ADJUSTED_POWER = "width", "undefined", "size-adjusted power"
#: Rates that are shares of the test sets.
SHARES = (COVERAGE, ELIMINATED, BELOW, ABOVE, UNDEFINED, ADJUSTED_POWER, ERROR, POWER)
#: Quantile of the normal law for the intervals of means.
Z = 1.959963984540054


def monte_carlo_error(row: Hypothesis) -> float | None:
    """The Monte-Carlo standard error of a row's estimate, or None.

    For a rate it is sqrt(p (1 - p) / n); for a mean, and for size-adjusted power, it is that of the interval.
    """
    if row.estimate is None or not row.replicates:
        return None
    if row.test == "calibration" or (row.measure in SHARES and row.measure != ADJUSTED_POWER):
        return math.sqrt(max(row.estimate * (1 - row.estimate), 0.0) / row.replicates)
    assert row.estimate_low is not None
    assert row.estimate_high is not None
    return (row.estimate_high - row.estimate_low) / (2 * Z)


def measure_of(test: AppliedTest) -> Measure:
    """The measure in which a test compares two classifiers."""
    if test.test == "dcf":
        return as_measure("dcf", **{key: test.options[key] for key in ("cost_fn", "cost_fp", "prior")})
    compared = test.compared
    return of_two_classes(compared) if isinstance(compared, OwnMeasure) else as_measure(compared)


def measure_name(test: AppliedTest) -> str:
    """Return the name of the measure of a test, without code of other packages."""
    return str(test.measure) if is_path(test.measure) else measure_of(test).name


def is_large_part(n: int, rows: float) -> bool:
    """True if test sets of n rows, without replacement, vary clearly less than new rows: more than a tenth of all."""
    return 10 * n > rows
