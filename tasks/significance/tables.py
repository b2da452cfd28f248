"""Tests of tables of counts: results of methods without replicates, and replicates of Monte-Carlo tests."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sigstats.measures.own import is_path

from ..fan_out import FanOut, replicates_table
from ..plan import Block
from ..record import Work
from ..schema import REPLICATE, SUMMARY, column, to_numpy
from ..statistical_tests import run_table_test, table_test
from ..storage.store import Store


class TableTested(Work):
    """Work of ``replicate``."""

    test: str
    data: Mapping[str, Any]


class Evaluated(TableTested):
    """Work of ``evaluate``."""

    method: str


#: Columns of the summary with results of a test.
RESULT = (
    "method", "alternative", "measure", "n", "statistic", "estimate", "estimate_low", "estimate_high", "null_mean",
    "replicates", "exceedances", "p_value", "log10_p", "p_low", "p_high", "note",
)  # fmt: skip
_RESULT = pa.schema([REPLICATE, *(SUMMARY.field(name) for name in RESULT)])
#: Tests of two models; since revision 1 differences are a - b.
_OF_TWO = ("mcnemar", "joint-outcomes", "signed-rank")


def _revision(work: Evaluated) -> int:
    """Return 1 for tests of two models, and for exact chi-squares, which since then are compared as fractions."""
    by_chi2 = work.data.get("ordering") == "chi2" and work.method == "exact"
    return int((work.test == "goodness-of-fit" and by_chi2) or work.test in _OF_TWO)


def _own_code(work: Evaluated) -> Mapping[str, str] | None:
    name: str = work.data.get("measure", "")
    return {"learner": name, **work.data["measure_code"]} if is_path(name) and work.method == "bootstrap" else None


def _evaluate(block: Block, store: Store, work: Evaluated) -> pa.Table:  # noqa: ARG001
    result = run_table_test(work.test, work.data, work.method)
    columns: dict[str, list[Any]] = {name: [result.get(name, "" if name == "note" else None)] for name in RESULT}
    return replicates_table(block, _RESULT, **columns)


EVALUATE = FanOut(
    about="A test of a table of counts by a method without replicates: its result is the only row.",
    in_words="test",
    work=Evaluated,
    version=2,
    revision=_revision,
    schema=_RESULT,
    compute=_evaluate,
    own_code=_own_code,
)

_EXCEEDS = pa.schema(
    [REPLICATE, column("exceeds", pa.bool_(), "yes or no", "whether it is at least as extreme as observed")]
)


def _replicate(block: Block, store: Store, work: TableTested) -> pa.Table:  # noqa: ARG001
    drawn = table_test(work.test).exceedances
    if drawn is None:
        raise ValueError(f"test: {work.test!r} is not valid; expected a test with the method monte-carlo")
    return replicates_table(
        block, _EXCEEDS, exceeds=np.concatenate([drawn(work.data, size, rng) for rng, size in block.lanes()])
    )


REPLICATE_TABLES = FanOut(
    about="Monte-Carlo replicates of a test of a table of counts, drawn under its null hypothesis.",
    in_words="random tables",
    work=TableTested,
    # A multiple of the batches in which `sigstats` draws, so that a lane wastes no random numbers.
    lane_size=10_000,
    stream=lambda work: {"test": work.test, "data": work.data},
    schema=_EXCEEDS,
    compute=_replicate,
    exceeds=lambda table, observed: to_numpy(table.column("exceeds")),
)
