"""A test of another package on test sets from a population: its p-values, and why some are undefined.

The stream is that of `sigstats.tasks.replicates.subsample`, so that all tests are given the same test sets.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from ..fan_out import replicates_table
from ..own_code import require_as_planned, require_measure
from ..plan import Block
from ..populations import own_tests
from ..populations.scored import ScorePopulation
from ..populations.tests import advantage, require_some_defined
from ..schema import column
from ..storage.store import Store
from ..work import Described, OnTestSets
from . import subsample
from .subsample import drawn_rows as drawn_rows
from .subsample import needs as needs
from .subsample import rejections as rejections
from .subsample import stand_in as stand_in
from .subsample import stream as stream

VERSION = 1
LANE_SIZE = subsample.LANE_SIZE

SCHEMA = subsample.SCHEMA.append(
    column("problem", pa.string(), "", "why the p-value is undefined (NaN); null where it is not", nullable=True)
)


def own_code(work: OnTestSets) -> Mapping[str, str] | None:
    """That of the test."""
    return {"learner": work.test.test, **(work.test.code or {})}


def compute(block: Block, store: Store) -> pa.Table:
    """The answer of the test on each test set of the block."""
    work = block.cell.work_of(OnTestSets)
    test = work.test
    assert test.code is not None
    name, allowed = test.test, (test.code["package"],)
    require_as_planned(name, test.code, partial(own_tests.code_of, name, allowed))
    require_measure(test.measure, test.measure_code)
    function = own_tests.find(name, allowed)
    drawn_from = subsample.population(work, store)
    assert drawn_from is not None  # the engine completes prerequisites first
    assert not isinstance(drawn_from, ScorePopulation | Described)  # the study refuses others
    p_values, advantages, no_positive = [], [], []
    problems: list[str | None] = []
    for rng, size in block.lanes():
        drawn = drawn_from.draw(work.n, rng, LANE_SIZE)[:size]
        found, why = own_tests.run_own_test(function, test.options, drawn, drawn_from, rng)
        if block.first == 0 and not problems:
            require_some_defined(found, f"p undefined in its first {size} test sets ({why[0]})")
        p_values.append(found)
        problems.extend(why)
        advantages.append(advantage(test, drawn, drawn_from))
        no_positive.append(drawn_from.lacking(drawn))
    return replicates_table(
        block,
        SCHEMA,
        p_value=np.concatenate(p_values),
        covers=pa.nulls(len(problems), pa.bool_()),
        advantage=np.concatenate(advantages),
        no_positive=np.concatenate(no_positive),
        problem=pa.array(problems, pa.string()),
    )
