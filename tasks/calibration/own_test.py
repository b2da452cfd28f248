"""A test of another package on test sets from a population: p-values, and reasons for undefined ones.

The stream is that of `sigstats.tasks.calibration.subsample`, so that all tests are given the same test sets.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from ..own_code import require_as_planned
from ..plan import Block
from ..schema import column
from ..storage.store import Store
from . import subsample
from .populations import own_tests
from .populations.tests import Answers, advantage
from .subsample import LANE_SIZE, Lanes
from .work import OnTestSets

_SCHEMA = subsample.SCHEMA.append(
    column("problem", pa.string(), "", "why the p-value is undefined (NaN); null where it is not", nullable=True)
)


def _own_code(work: OnTestSets) -> Mapping[str, str] | None:
    """The identity of the code of the test."""
    return {"learner": work.test.test, **(work.test.code or {})}


def _compute(block: Block, store: Store, work: OnTestSets) -> pa.Table:
    test = work.test
    assert test.code is not None
    name, allowed = test.test, (test.code["package"],)
    require_as_planned(name, test.code, partial(own_tests.code_of, name, allowed))
    function = own_tests.find(name, allowed)
    problems: list[str | None] = []

    def answer(work: OnTestSets, drawn_from: Any, lanes: Lanes) -> subsample.Answered:
        ((rng, size),) = lanes
        drawn = drawn_from.draw(work.n, rng, LANE_SIZE)[:size]
        values, why = own_tests.run_own_test(function, test.options, drawn, drawn_from, rng)
        problems.extend(why)
        answers = Answers(values, problem=f"p undefined in its first {size} test sets ({why[0]})")
        return answers, advantage(test, drawn, drawn_from), drawn_from.lacking(drawn)

    table = subsample.answered(block, store, work, answer)
    return table.append_column(_SCHEMA.field("problem"), pa.array(problems, pa.string()))


FAN_OUT = replace(
    subsample.FAN_OUT,
    about="A test of another package on test sets from a population: p-values, and reasons for undefined ones.",
    version=1,
    revision=lambda work: 0,
    schema=_SCHEMA,
    compute=_compute,
    own_code=_own_code,
)
