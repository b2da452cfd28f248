"""The tests of a significance study: each table of counts by each of its methods."""

from collections.abc import Iterator

from ..results import Results
from ..schema import Hypothesis
from ._table_hypothesis import table_hypothesis
from .likeness import LIKENESS


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each table and method."""
    for cell in results.plan.cells:
        if cell.fanout in ("evaluate", "replicate") and cell.subject["test"] != LIKENESS:
            yield table_hypothesis(results, cell)
