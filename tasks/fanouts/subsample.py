"""Test sets drawn from a population, each tested: how often a test rejects, and how often its interval holds the truth.

The stream is keyed by the population and the size alone, and the test sets of a lane are drawn before any test draws:
so all tests see the same test sets.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..plan import Block
from ..schema import REPLICATE, column
from ..store import Store
from ..trials import Population, tested

VERSION = 1
LANE_SIZE = 100

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("p_value", pa.float64(), "probability", "the test's p-value on the test set"),
        column(
            "covers",
            pa.bool_(),
            "yes or no",
            "whether the test's interval holds the population's difference; null for a test without one",
            nullable=True,
        ),
        column("no_positive", pa.bool_(), "yes or no", "whether no row of the test set is truly positive"),
    ]
)


def stream(work: Mapping[str, Any]) -> dict[str, Any]:
    """Keyed by what is drawn, whatever is done with it."""
    return {"population": work["population"], "n": work["n"]}


def population(work: Mapping[str, Any]) -> Population:
    """The population of a cell."""
    values = dict(work["population"])
    return Population(**{**values, "outcomes": tuple(values["outcomes"])})


def compute(block: Block, store: Store) -> pa.Table:  # noqa: ARG001
    """The test of each test set of the block."""
    work = block.cell.work
    drawn_from = population(work)
    p_values, no_positive = [], []
    covers: list[bool | None] = []
    for rng, size in block.lanes():
        drawn = drawn_from.draw(work["n"], rng, LANE_SIZE)[:size]  # whole lanes, so that more begin with the fewer
        found = tested(work["test"], drawn, drawn_from, rng)
        p_values.append(found.p_value)
        covers.extend([None] * size if found.covers is None else found.covers.tolist())
        no_positive.append(drawn[:, :4].sum(axis=1) == 0)
    columns: dict[str, Any] = {
        "replicate": np.arange(block.first, block.last, dtype=np.int64),
        "p_value": np.concatenate(p_values),
        "covers": covers,
        "no_positive": np.concatenate(no_positive),
    }
    return pa.table(columns, schema=SCHEMA)
