"""Tests of a significance study, each table by each of its methods; and resemblance of a new algorithm to known ones.

Resemblance follows Hryniewicz (section 4): for each known algorithm, the hypothesis is tested that the new one behaves
like it; its possibilistic indices compare it with the most plausible of the others.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sigstats.possibilistic_indices import weigh_hypotheses

from ..plan import Cell
from ..results import Results, sequential_fields
from ..schema import Hypothesis
from ..statistical_tests import MONTE_CARLO, named, table_test
from .tables import TableTested

#: The name in the summary of a test that is an analysis of its own.
LIKENESS = "likeness"


def rows_of(results: Results, name: str) -> Iterator[Hypothesis]:
    """Return the rows of one of the two analyses."""
    yield from _likenesses(results) if name == LIKENESS else _tables(results)


def _tables(results: Results) -> Iterator[Hypothesis]:
    for cell in results.plan.cells:
        if cell.fanout in ("evaluate", "replicate") and cell.subject["test"] != LIKENESS:
            yield _of_table(results, cell)


def _of_table(results: Results, cell: Cell) -> Hypothesis:
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
    return base.with_(**answer, **({"decision": "none"} if answer["p_value"] is None else {}))


def _likenesses(results: Results) -> Iterator[Hypothesis]:
    """Yield one hypothesis for each known algorithm and method."""
    groups: dict[tuple[str, str], list[Hypothesis]] = defaultdict(list)
    for cell in results.plan.cells:
        if cell.subject.get("test") == LIKENESS:
            hypothesis = "the new algorithm falls into the classes as a does"
            row = _of_table(results, cell).with_(null_hypothesis=hypothesis)
            groups[cell.subject["dataset"], cell.subject["method"]].append(row)
    for group in groups.values():
        yield from _rank(group)


def _rank(rows: list[Hypothesis]) -> Iterator[Hypothesis]:
    pvalues = {row.a: row.p_value for row in rows if row.a is not None and row.p_value is not None}
    if len(pvalues) < len(rows):  # a rival is missing, so no hypothesis can be ranked
        yield from (row.with_(p_value=None, decision="missing") for row in rows)
        return
    ranked = {hypothesis.name: hypothesis for hypothesis in weigh_hypotheses(pvalues)}
    for row in rows:
        index = ranked[str(row.a)]
        yield row.with_(b=index.rival, pd=index.pd, psd=index.psd, nsd=index.nsd)
