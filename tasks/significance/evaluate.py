"""A test of a table of counts by a method without replicates: its result is the only row."""

from typing import Any

import pyarrow as pa

from ..fan_out import draws_nothing, replicates_table
from ..plan import Block
from ..schema import REPLICATE, SUMMARY
from ..statistical_tests import run_table_test
from ..storage.store import Store
from .work import Evaluated

WORK = Evaluated
IN_WORDS = "test"
VERSION = 2
LANE_SIZE = 1
stream = draws_nothing

#: The columns of the summary that a test gives.
RESULT = (
    "method", "alternative", "measure", "n", "statistic", "estimate", "estimate_low", "estimate_high", "null_mean",
    "replicates", "exceedances", "p_value", "log10_p", "p_low", "p_high", "note",
)  # fmt: skip


#: Tests of two models, whose differences are of a less b since revision 1.
_OF_TWO = ("mcnemar", "joint-outcomes", "signed-rank")
SCHEMA = pa.schema([REPLICATE, *(SUMMARY.field(name) for name in RESULT)])


def revision(work: Evaluated) -> int:
    """Chi-squares of very unequal probabilities are compared as fractions since revision 1."""
    by_chi2 = work.data.get("ordering") == "chi2" and work.method == "exact"
    return int((work.test == "goodness-of-fit" and by_chi2) or work.test in _OF_TWO)


def compute(block: Block, store: Store, work: Evaluated) -> pa.Table:  # noqa: ARG001
    """The result, one row."""
    result = run_table_test(work.test, work.data, work.method)
    columns: dict[str, list[Any]] = {name: [result.get(name, "" if name == "note" else None)] for name in RESULT}
    return replicates_table(block, SCHEMA, **columns)
