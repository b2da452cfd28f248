"""Performance measures of a method in addition to its rates (Morris, White and Crowther 2019).

For intervals they are bias, standard errors, coverage, misses and width; for tests, the power at the true level.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.extreme import at_most
from sigstats._common.numerals import significant
from sigstats.intervals import clopper_pearson

from ..plan import Cell
from ..record import canonical
from ..results import Results
from ..schema import POWER, Hypothesis
from ..statistical_tests import estimated
from .interval import true_value
from .population import Population
from .populations.judged import JudgedRows
from .rejections import COVERAGE, ERROR, count_undefined, note_on_undefined, null_is_true
from .subsample import population
from .work import Described, OnTestSets, Tested

#: The measures of the test ``performance`` in addition to coverage, in order.
BIAS, EMPIRICAL, STATED = "bias", "empirical standard error", "stated standard error"
ELIMINATED, BELOW, ABOVE = "bias-eliminated coverage", "interval below the truth", "interval above the truth"
WIDTH, UNDEFINED, ADJUSTED_POWER = "width", "undefined", "size-adjusted power"
#: Rates that are shares of the test sets.
SHARES = (COVERAGE, ELIMINATED, BELOW, ABOVE, UNDEFINED, ADJUSTED_POWER, ERROR, POWER)
#: Quantile of the normal distribution for the 95% intervals of means.
Z = 1.959963984540054


def monte_carlo_error(row: Hypothesis) -> float | None:
    """Return the Monte-Carlo standard error of a row's estimate, or None if there is no estimate.

    The error of a rate is sqrt(p (1 - p) / n). For a mean or size-adjusted power, it follows from the stored interval.
    """
    if row.estimate is None or not row.replicates:
        return None
    if row.test == "calibration" or (row.measure in SHARES and row.measure != ADJUSTED_POWER):
        return math.sqrt(max(row.estimate * (1 - row.estimate), 0.0) / row.replicates)
    assert row.estimate_low is not None
    assert row.estimate_high is not None
    return (row.estimate_high - row.estimate_low) / (2 * Z)


def rows(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield nine or ten rows per interval, and one per test with both power and a population without a difference."""
    for cell in results.cells("interval"):
        yield from _rows_of_interval(results, cell)
    yield from _adjusted_powers(results)


def _rows_of_interval(results: Results, cell: Cell) -> Iterator[Hypothesis]:
    from scipy.stats import binom

    work, alpha = cell.work_of(OnTestSets), results.plan.alpha
    row = results.hypothesis(
        cell,
        test="performance",
        method=cell.subject["test"],
        alternative="less",
        null_hypothesis="the interval contains the truth as often as stated",
        n=work.n,
    )
    drawn_from, table = population(work, results.store), results.table(cell)
    if table is None or drawn_from is None:
        yield row.with_(measure=COVERAGE, null_mean=1 - alpha)
        return
    assert isinstance(drawn_from, Population | Described)  # studies refuse intervals on others
    true, missing = true_value(work, drawn_from), count_undefined(table, "low")
    row = row.with_(
        truth=true,
        replicates=table.num_rows,
        decision="none",
        unanswered=missing,
        note="; ".join(note_on_undefined(missing, table.num_rows, "the interval", table=table)),
    )
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    coverage = _share(row.with_(measure=COVERAGE, null_mean=1 - alpha), columns["covers"])
    p = float(binom.cdf(np.count_nonzero(columns["covers"]), table.num_rows, 1 - alpha))
    yield coverage.with_(p_value=p, p_low=p, p_high=p)
    low, high = columns["low"], columns["high"]
    missed = ~columns["covers"].astype(np.bool_)
    centre = columns["estimate"].mean()
    shares = {
        ELIMINATED: (low - 1e-12 <= centre) & (centre <= high + 1e-12),
        BELOW: missed & (high < true),
        ABOVE: missed & (low > true),
        UNDEFINED: columns["undefined"],
    }
    if isinstance(drawn_from, JudgedRows):
        shares[POWER if true else ERROR] = (columns["low"] > 0) | (columns["high"] < 0)
    yield from (_share(row.with_(measure=name), flags) for name, flags in shares.items())
    yield from _means(row, columns, true)


def _share(row: Hypothesis, flags: NDArray[np.bool_]) -> Hypothesis:
    count = int(np.count_nonzero(flags))
    return row.with_(**estimated(count / flags.size, clopper_pearson(count, flags.size)))


def _means(row: Hypothesis, columns: Mapping[str, NDArray[np.float64]], true: float) -> Iterator[Hypothesis]:
    """Yield bias, standard errors and width, with the Monte-Carlo errors of Morris, White and Crowther.

    Standard errors and widths are averaged over the test sets on which the method gives an interval.
    """
    defined = ~np.isnan(columns["low"])
    estimates, stated = columns["estimate"], columns["standard_error"][defined]
    widths = (columns["high"] - columns["low"])[defined]
    n, k = estimates.size, widths.size
    if k < 2:
        return
    deviation, mean_square = float(estimates.std(ddof=1)), float(np.mean(stated**2))
    modelled = math.sqrt(mean_square)
    of_modelled = math.sqrt(float(np.var(stated**2, ddof=1)) / (4 * k * mean_square)) if mean_square else 0.0
    entries = {
        BIAS: (float(estimates.mean()) - true, deviation / math.sqrt(n)),
        EMPIRICAL: (deviation, deviation / math.sqrt(2 * (n - 1))),
        STATED: (modelled, of_modelled),
        WIDTH: (float(widths.mean()), float(widths.std(ddof=1)) / math.sqrt(k)),
    }
    for measure, (value, error) in entries.items():
        yield row.with_(measure=measure, **estimated(value, (value - Z * error, value + Z * error)))


def _adjusted_powers(results: Results) -> Iterator[Hypothesis]:
    """Yield the power of each test at the critical p-value of the test sets without a difference."""
    cells = [*results.cells("subsample"), *results.cells("fold-test")]
    nulls = {_key(cell): cell for cell in cells if null_is_true(results, cell)}
    for cell in cells:
        null = nulls.get(_key(cell))
        if null is None or null.name == cell.name or null_is_true(results, cell):
            continue
        row = results.hypothesis(
            cell,
            null,
            test="performance",
            method=cell.subject["test"],
            alternative="greater",
            null_hypothesis="the test rejects no more often than stated",
            measure=ADJUSTED_POWER,
            n=cell.work_of(Tested).n,
        )
        table, under_null = results.table(cell), results.table(null)
        if table is None or under_null is None:
            yield row
        else:
            yield _adjusted_power(row, table, under_null, results.plan.alpha)


def _key(cell: Cell) -> tuple[str, ...]:
    """Return the settings that a population shares with its counterpart in which the null hypothesis is true."""
    work = cell.work_of(Tested)
    if not isinstance(work, OnTestSets) or work.factors is not None:
        same = ", ".join(f"{name} = {value}" for name, value in (work.factors or {}).items() if name != "difference")
    elif work.endless:  # the counterpart has r = 0
        same = ""
    else:  # the outputs of the counterpart are exchanged
        drawn_from = work.population
        same = canonical(drawn_from if isinstance(drawn_from, Described) else replace(drawn_from, swapped=False))
    return cell.subject["dataset"], same, cell.subject["n"], cell.subject["test"]


def _adjusted_power(row: Hypothesis, table: pa.Table, null: pa.Table, alpha: float) -> Hypothesis:
    p_values, under_null = (item.column("p_value").to_numpy() for item in (table, null))
    level = critical_p(under_null, alpha)
    value = float(np.mean(at_most(p_values, level)))
    error = adjusted_power_error(p_values, under_null, alpha)
    share = f"a level reached by at most {significant(alpha, 3)} of the test sets without a difference"
    rejecting = f"rejecting if p is at most {significant(level, 3)}, {share}"
    missing = count_undefined(table)
    return row.with_(
        **estimated(value, (value - Z * error, value + Z * error)),
        statistic=level,
        replicates=p_values.size,
        unanswered=missing,
        decision="none",
        note="; ".join([rejecting, *note_on_undefined(missing, p_values.size, table=table)]),
    )


def adjusted_power_error(p_values: NDArray[np.float64], under_null: NDArray[np.float64], alpha: float) -> float:
    """Return the Monte-Carlo standard error of size-adjusted power, in which the critical p-value is also an estimate.

    Both vary independently. The critical p-value varies as in bootstrap samples of the test sets without a difference.
    No sample is drawn: the probability that at most the share alpha of a sample is at most v is binomial.
    """
    from scipy.stats import binom  # slow to import

    n = under_null.size
    values, counts = np.unique(under_null, return_counts=True)
    reached = binom.cdf(math.floor(alpha * n * (1 + 1e-12)), n, np.cumsum(counts) / n)
    chances = -np.diff(np.concatenate([[1.0], reached, [0.0]]))
    powers = np.array([np.mean(at_most(p_values, level)) for level in (0.0, *values[reached > 1e-6])])
    chances = chances[: powers.size] / chances[: powers.size].sum()
    variance = float(chances @ powers**2 - (chances @ powers) ** 2)
    power = float(np.mean(at_most(p_values, critical_p(under_null, alpha))))
    return math.sqrt(power * (1 - power) / p_values.size + max(variance, 0.0))


def critical_p(under_null: NDArray[np.float64], alpha: float) -> float:
    """Return the largest p-value such that at most the share alpha is that small, or 0 if there is none."""
    values, counts = np.unique(under_null, return_counts=True)
    allowed = values[np.cumsum(counts) <= alpha * under_null.size * (1 + 1e-12)]
    return float(allowed[-1]) if allowed.size else 0.0
