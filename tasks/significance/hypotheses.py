"""The tests of a significance study: each table of counts by each of its methods."""

from collections.abc import Iterator
from typing import Any

from ..plan import Cell
from ..results import Results, sequential_fields
from ..schema import Hypothesis
from ..statistical_tests import MONTE_CARLO, named, table_test
from .work import TableTested

#: The name in the summary of a test that is an analysis of its own.
LIKENESS = "likeness"


def table_hypothesis(results: Results, cell: Cell) -> Hypothesis:
    """The hypothesis of a cell, with its results if they are stored."""
    work = cell.work_of(TableTested)
    test = named(work.test)
    seen = table_test(work.test).observed(work.data)
    base = results.hypothesis(
        cell, test=cell.subject["test"], method=cell.subject["method"], alternative="", null_hypothesis=test.null
    ).with_(**{key: cell.subject[key] for key in ("dataset", "classifier", "a", "b") if key in cell.subject}, **seen)
    if cell.fanout == "replicate":
        count = results.count(cell)
        return base if count is None else base.with_(method=MONTE_CARLO, **sequential_fields(count))
    table = results.table(cell)
    if table is None:
        return base
    answer: dict[str, Any] = table.drop_columns("replicate").to_pylist()[0]
    answer["note"] = "; ".join(filter(None, (answer["note"], work.data.get("note"))))
    if answer["p_value"] is None:
        return base.with_(**answer, decision="none")
    return base.with_(**answer)


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each table and method."""
    for cell in results.plan.cells:
        if cell.fanout in ("evaluate", "replicate") and cell.subject["test"] != LIKENESS:
            yield table_hypothesis(results, cell)
