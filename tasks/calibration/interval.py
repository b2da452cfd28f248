"""Intervals on test sets from a population: the estimate, both ends and the stated standard error.

The stream is that of `sigstats.tasks.calibration.subsample`, so that intervals and tests are given the same test sets.
"""

from dataclasses import astuple, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..fan_out import replicates_table
from ..own_code import admit_measure
from ..plan import Block
from ..schema import REPLICATE, column
from ..storage.store import Store
from . import subsample
from .population import Population
from .populations.intervals import draws, run_intervals, true_f1
from .populations.judged import JudgedRows
from .populations.tests import require_some_defined
from .subsample import LANE_SIZE, draw_lanes, groups_of_lanes
from .work import Described, OnTestSets

#: An interval with an end that equals the truth up to rounding contains it.
_TIE = 1e-12

_SCHEMA = pa.schema(
    [
        REPLICATE,
        column("estimate", pa.float64(), "of the measure", "what is estimated, on the test set"),
        column("low", pa.float64(), "of the measure", "lower end of the interval"),
        column("high", pa.float64(), "of the measure", "upper end of the interval"),
        column("standard_error", pa.float64(), "of the measure", "the standard error that the method states"),
        column("covers", pa.bool_(), "yes or no", "whether the interval contains the true value of the population"),
        column("undefined", pa.bool_(), "yes or no", "whether the measure is 0/0 on the test set, taken as 0"),
    ]
)


def _revision(work: OnTestSets) -> int:
    """In revision 1 the truth is that of exchanged outputs, and rows of a judge have one unseen row."""
    return int(work.population.swapped or isinstance(work.population, JudgedRows))


def population(work: OnTestSets, store: Store) -> Population | Described | None:
    """The population of a cell; None if the cell that counts its outcomes is incomplete."""
    drawn_from = subsample.population(work, store)
    assert drawn_from is None or isinstance(drawn_from, Population | Described)  # the study refuses others
    return drawn_from


def true_value(work: OnTestSets, drawn_from: Population | Described) -> float:
    """The value that an interval should contain."""
    if isinstance(drawn_from, Population):
        return true_f1(drawn_from, work.test.options["of"])
    return drawn_from.truth(work.test.compared)


def _compute(block: Block, store: Store, work: OnTestSets) -> pa.Table:
    admit_measure(work.test.measure, work.test.measure_code)
    drawn_from = population(work, store)
    assert drawn_from is not None  # the engine completes prerequisites first
    parts: list[NDArray[np.float64]] = []
    alone = isinstance(drawn_from, Described) or draws(work.test.options)
    for lanes in groups_of_lanes(block, drawn_from, alone=alone):
        rng, size = lanes[0]
        if isinstance(drawn_from, Population):
            estimates, problem = run_intervals(work.test.options, draw_lanes(drawn_from, work.n, lanes), rng)
        else:
            sets, problem = drawn_from.draw(work.n, rng, LANE_SIZE)[:size], ""
            estimates = np.array([astuple(drawn_from.run_interval(work.test, one, rng)) for one in sets], np.float64)
        if block.first == 0 and not parts:
            require_some_defined(estimates[:LANE_SIZE, 1], problem)
        parts.append(estimates)
    true = true_value(work, drawn_from)
    estimate, low, high, error, undefined = np.concatenate(parts).T
    columns = {"estimate": estimate, "low": low, "high": high, "standard_error": error, "undefined": undefined > 0}
    covers = (low - _TIE <= true) & (true <= high + _TIE)
    return replicates_table(block, _SCHEMA, **columns, covers=covers)


def _misses(table: pa.Table, alpha: float) -> NDArray[np.bool_]:  # noqa: ARG001
    """A mask of the intervals that miss the truth or are undefined; `alpha` has no effect."""
    return np.asarray(~table.column("covers").to_numpy())


FAN_OUT = replace(
    subsample.FAN_OUT,
    about="Intervals on test sets from a population: the estimate, both ends and the stated standard error.",
    version=1,
    revision=_revision,
    schema=_SCHEMA,
    compute=_compute,
    rejections=_misses,
)
