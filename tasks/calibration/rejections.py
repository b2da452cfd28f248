"""Rejection rate of a test, and coverage of its interval, on test sets from a known population.

For rates only, the fan-out ``tally`` counts the outcomes of very many test sets; a row stands for 10,000 of them. The
test sets are the same as in `sigstats.tasks.calibration.subsample`, so the counts agree with its rows. A formula gives
the number of rows at which McNemar's test rejects half of the time, for comparison with published numbers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.extreme import at_most
from sigstats.intervals import clopper_pearson

from ..fan_out import cell_of
from ..plan import Block, Cell, group_by
from ..results import Results
from ..schema import POWER, REPLICATE, SPAN, Hypothesis, column, from_numpy, to_numpy
from ..statistical_tests import estimated, of_sets
from ..storage.store import Store
from . import subsample
from .population import EventPopulation, Population
from .populations.scored import ScorePopulation
from .populations.tests import exact_rate, null_holds, true_advantage
from .subsample import population
from .work import AppliedTest, Described, Events, OfFolds, OnTestSets, Tallied, Tested

#: The number of test sets that a row of the tally counts.
LANE_SIZE = 10_000
#: The number of lanes with test sets in memory at the same time.
_TOGETHER = 100

#: The outcomes that the tally counts.
_OUTCOMES = {
    "rejected": "on which the test rejects at the study's level",
    "unanswered": "on which the test gives no p-value",
    "without_class": "without a row of a class that counts",
    "with_interval": "on which the test has an interval",
    "covers": "whose interval holds the population's difference",
    "a_better": "on which A is better, in the measure that is tested",
    "b_better": "on which B is better",
}

_SCHEMA = pa.schema(
    [REPLICATE, SPAN]
    + [column(name, pa.int64(), "test sets", f"test sets {meaning}") for name, meaning in _OUTCOMES.items()]
)


def _compute(block: Block, store: Store, work: Tallied) -> pa.Table:
    """Return the counts of each lane of the block."""
    cell, counts, firsts = with_rows(block.cell), [], np.arange(block.first, block.last, LANE_SIZE)
    a_lane = LANE_SIZE // cell.lane_size
    for first in range(block.first_lane, block.last_lane, _TOGETHER):
        last = min(first + _TOGETHER, block.last_lane)
        part = cell.block(first * a_lane, min(last * a_lane, cell.lanes))
        flags = _outcomes(subsample.FAN_OUT.compute(part, store, cell.work_of(OnTestSets)), work.alpha)
        starts = np.arange(0, part.last - part.first, LANE_SIZE)
        counts.append([np.add.reduceat(flag.astype(np.int64), starts) for flag in flags.values()])
    columns = [firsts, np.diff(firsts, append=block.last), *np.concatenate(counts, axis=1)]
    return pa.table([from_numpy(values, pa.int64()) for values in columns], schema=_SCHEMA)


def with_rows(cell: Cell) -> Cell:
    """Return the equivalent of `cell` with one row per test set, which is `cell` itself unless it is tallied."""
    if not isinstance(cell.work, Tallied):
        return cell
    work = OnTestSets(**{attribute.name: getattr(cell.work, attribute.name) for attribute in fields(OnTestSets)})
    return cell_of("subsample", subject=cell.subject, work=work, seed=cell.seed, replicates=cell.replicates)


def totals(table: pa.Table, alpha: float) -> dict[str, int]:
    """Count the ``test_sets`` in a table, and those with each outcome; a row stands for one test set or for several."""
    if SPAN.name in table.column_names:
        counts = {name: int(to_numpy(table.column(name)).sum()) for name in (SPAN.name, *_OUTCOMES)}
        return {"test_sets": counts.pop(SPAN.name), **counts}
    counts = {name: int(np.count_nonzero(flags)) for name, flags in _outcomes(table, alpha).items()}
    return {"test_sets": table.num_rows, **counts}


def _outcomes(table: pa.Table, alpha: float) -> dict[str, NDArray[np.bool_]]:
    """Return for each outcome a mask of the test sets that have it."""
    p_values, better = (table.column(name).to_numpy() for name in ("p_value", "advantage"))
    covers = table.column("covers")
    masks = (
        at_most(p_values, alpha),
        np.isnan(p_values),
        to_numpy(table.column("no_positive")),
        to_numpy(covers.is_valid()),
        to_numpy(covers.fill_null(pa.scalar(False))),
        better < 0,
        better > 0,
    )
    return dict(zip(_OUTCOMES, masks, strict=True))


FAN_OUT = replace(
    subsample.FAN_OUT,
    about="Tests on very many test sets, for rates only. A row counts the outcomes of 10,000 test sets.",
    work=Tallied,
    like="subsample",
    lane_size=LANE_SIZE,
    schema=_SCHEMA,
    compute=_compute,
    rejections=lambda table, _: to_numpy(table.column("rejected")),  # at the level of the study
    drawn_rows=None,
)


#: Measures of rows of the test ``calibration``, in addition to `POWER`.
ERROR, COVERAGE = "type I error", "coverage"
#: The fan-outs that apply a built-in test to test sets from a population.
_READY = ("subsample", "tally")


def rates(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield the rejection rate of each test, population and size, and the coverage if the test has an interval."""
    for fanout in (*_READY, "own-test", "fold-test"):
        for cell in results.cells(fanout):
            yield from _rates_of_cell(results, cell)


def null_is_true(results: Results, cell: Cell) -> bool:
    """Return True if the null hypothesis of a cell's test is true in its population."""
    work = cell.work
    if isinstance(work, OfFolds):
        from .populations import two_views  # importing the learners takes a third of a second

        return two_views.null_holds(work.population, work.test)
    assert isinstance(work, OnTestSets)
    drawn_from = population(work, results.store)
    if isinstance(drawn_from, Described):
        return drawn_from.null_holds(work.test)
    if drawn_from is None or isinstance(drawn_from, ScorePopulation):
        # The outcomes are missing, or the population has scores: their measures are never exactly equal.
        return work.population.swapped
    return null_holds(drawn_from, work.test)


def _rates_of_cell(results: Results, cell: Cell) -> Iterator[Hypothesis]:
    work, alpha = cell.work_of(Tested), results.plan.alpha
    rejections = _expected_rejections(results, cell)
    coverage = rejections.with_(
        alternative="less",
        null_hypothesis="the interval contains the true difference as often as stated",
        measure=COVERAGE,
        statistic=None,
        null_mean=1 - alpha,
        rows_half=None,
        rows_four_fifths=None,
    )
    table = results.table(cell)
    if table is None:
        yield rejections
        if "confidence" in work.test.options and cell.fanout in _READY:
            yield coverage
        return
    counts = totals(table, alpha)
    trials, empty = counts["test_sets"], counts["without_class"]
    notes = list(note_on_undefined(counts["unanswered"], trials, table=table))
    if empty:
        has_categories = isinstance(work, OnTestSets) and isinstance(work.population, Events)
        lacking = "a class or category without a true row" if has_categories else "no truly positive row"
        notes.append(f"{lacking} in {empty:,} of {trials:,} test sets")
    remarks = {"note": "; ".join(notes), "unanswered": counts["unanswered"], "without_class": empty}
    yield _rate(rejections.with_(**remarks), counts["rejected"], trials)
    if counts["with_interval"]:
        yield _rate(coverage.with_(**remarks), counts["covers"], counts["with_interval"])


def _expected_rejections(results: Results, cell: Cell) -> Hypothesis:
    """Return the row of a cell's rejection rate with the rate that is expected, without results on test sets."""
    work, alpha = cell.work_of(Tested), results.plan.alpha
    is_null = null_is_true(results, cell)
    row = results.hypothesis(
        cell,
        test="calibration",
        method=cell.subject["test"],
        alternative="greater",
        null_hypothesis="the test rejects no more often than stated",
        measure=ERROR if is_null else POWER,
        n=work.n,
        null_mean=alpha if is_null else None,
    )
    known = population(cell.work_of(OnTestSets), results.store) if cell.fanout in _READY else None
    if known is None or isinstance(known, ScorePopulation | Described):
        return row
    row = row.with_(truth=true_advantage(known, work.test))
    if not is_null:
        half, four_fifths = (rows_needed(known, work.test, share, alpha) for share in (0.5, 0.8))
        row = row.with_(rows_half=half, rows_four_fifths=four_fifths)
    exact = exact_rate(known, work.n, work.test, alpha)
    if exact is None:
        return row
    sentence = "the test rejects as often as its exact rate says"
    return row.with_(alternative="two-sided", null_hypothesis=sentence, null_mean=exact, statistic=exact)


def count_undefined(table: pa.Table, name: str = "p_value") -> int:
    """Count the test sets without a p-value or an interval, which have NaN in the column `name`."""
    return int(np.count_nonzero(np.isnan(table.column(name).to_numpy())))


def note_on_undefined(count: int, trials: int, what: str = "p", *, table: pa.Table) -> Iterator[str]:
    """Yield a note on the test sets without a p-value (counted as not rejected) or an interval (a miss), if any.

    The note includes the reasons if the `table` contains them, as for tests from other packages.
    """
    if not count:
        return
    counted = "not rejected" if what == "p" else "misses"
    sentence = f"{what} is undefined in {count:,} of {trials:,} test sets, which count as {counted}"
    if "problem" not in table.column_names:
        yield sentence
        return
    reasons = Counter(reason for reason in table.column("problem").to_pylist() if reason is not None)
    (commonest, _), more = reasons.most_common(1)[0], len(reasons) - 1
    others = f", and {more} other {'reason' if more == 1 else 'reasons'}" if more else ""
    yield f"{sentence} ({commonest}{others})"


def _rate(row: Hypothesis, count: int, trials: int) -> Hypothesis:
    share = estimated(count / trials, clopper_pearson(count, trials))
    row = row.with_(replicates=trials, decision="none", **share)
    if row.null_mean is None:
        return row
    from scipy.stats import binom  # slow to import

    below, above = float(binom.cdf(count, trials, row.null_mean)), float(binom.sf(count - 1, trials, row.null_mean))
    # The two-sided p is at most 0.05 exactly if Clopper and Pearson's interval does not contain the expected rate.
    p = {"two-sided": min(1.0, 2 * min(below, above)), "less": below, "greater": above}[row.alternative]
    return row.with_(p_value=p, p_low=p, p_high=p)


def sample_sizes(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield the number of rows that each McNemar test needs, for each population with a better classifier."""
    for group in cells_by_test(results.plan.cells):
        work, subject = group[0].work_of(OnTestSets), group[0].subject
        drawn_from = population(work, results.store) if _rows_formula(work.test.test) else None
        if not isinstance(drawn_from, (Population, EventPopulation)) or null_holds(drawn_from, work.test):
            continue
        needed = rows_needed(drawn_from, work.test, 0.5, results.plan.alpha)
        yield results.hypothesis(
            *group,
            test="sample-size",
            method=subject["test"],
            alternative="none",
            null_hypothesis="none",
            measure="rows for half of the time",
            estimate=None if needed is None else float(needed),
            decision="none",
        )


def cells_by_test(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Group cells by test and population, over all sizes of test sets."""
    ready = (cell for cell in cells if cell.fanout in _READY)
    groups = group_by(ready, lambda cell: tuple(cell.subject.get(name) for name in ("dataset", "slice", "test")))
    return list(groups.values())


def rows_needed(known: Population | EventPopulation, test: AppliedTest, share: float, alpha: float) -> int | None:
    """Return the least number of rows from the infinite population at which McNemar's test rejects with power `share`.

    Returns None for other tests, if the test looks in the other direction, or if too many rows would be needed.
    """
    formula = _rows_formula(test.test)
    if formula is None:
        return None
    only_a, only_b = (value / (known.rows or 1) for value in known.discordant)
    return _least_rows(formula, only_a, only_b, share, alpha, tuple(test.options.items()))


@lru_cache(maxsize=1024)  # cells of several sizes need the same number
def _least_rows(
    formula: Callable[..., int], only_a: float, only_b: float, share: float, alpha: float, options: tuple[Any, ...]
) -> int | None:
    try:
        return formula(only_a=only_a, only_b=only_b, power=share, alpha=alpha, **dict(options))
    except ValueError:
        return None


def _rows_formula(name: str) -> Callable[..., int] | None:
    """Return the formula for the number of rows that a test needs, or None if there is none."""
    test = of_sets(name)
    return None if test is None else test.rows_needed
