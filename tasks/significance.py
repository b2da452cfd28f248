"""Significance studies: tests of tables of counts by all methods, and resemblance of an algorithm to known algorithms.

The fan-outs compute results of methods without replicates, and replicates of Monte-Carlo tests.

Resemblance follows Hryniewicz (section 4): for each known algorithm, the hypothesis that the new algorithm behaves like
it is tested, and possibilistic indices compare this hypothesis with the most plausible of the others.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sigstats.measures.own import is_path
from sigstats.possibilistic_indices import weigh_hypotheses

from .fan_out import FanOut, replicates_table
from .plan import Block, Cell, group_by
from .record import Work
from .results import Results, sequential_fields
from .schema import REPLICATE, SUMMARY, Hypothesis, column, to_numpy
from .statistical_tests import MONTE_CARLO, named, run_table_test, table_test
from .storage.store import Store


class TableTested(Work):
    """Work of ``replicate``."""

    test: str
    data: Mapping[str, Any]


class Evaluated(TableTested):
    """Work of ``evaluate``."""

    method: str


#: Columns of the summary that contain the result of a test.
RESULT = (
    "method", "alternative", "measure", "n", "statistic", "estimate", "estimate_low", "estimate_high", "null_mean",
    "replicates", "exceedances", "p_value", "log10_p", "p_low", "p_high", "note",
)  # fmt: skip
_RESULT = pa.schema([REPLICATE, *(SUMMARY.field(name) for name in RESULT)])
#: Tests of two models. Since revision 1, differences are a - b.
_OF_TWO = ("mcnemar", "joint-outcomes", "signed-rank")


def _revision(work: Evaluated) -> int:
    """Return 1 for tests of two models, and for exact chi-squares, which revision 1 compares as fractions."""
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
    about="A test of a table of counts by a method without replicates. The result is the only row.",
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
    exceeds = np.concatenate([drawn(work.data, size, rng) for rng, size in block.lanes()])
    return replicates_table(block, _EXCEEDS, exceeds=exceeds)


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


#: The test's name in the summary, for the analysis `likenesses`.
LIKENESS = "likeness"


def tested_tables(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield a hypothesis per table and method."""
    for cell in results.plan.cells:
        if cell.fanout in ("evaluate", "replicate") and cell.subject["test"] != LIKENESS:
            yield _hypothesis_of_table(results, cell)


def _hypothesis_of_table(results: Results, cell: Cell) -> Hypothesis:
    """Return the hypothesis of a cell, with the results if they are stored."""
    work = cell.work_of(TableTested)
    test = named(work.test)
    seen = {**table_test(work.test).observed(work.data), "note": work.data.get("note", "")}
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
    answer["note"] = "; ".join(filter(None, (answer["note"], base.note)))
    return base.with_(**answer, **({"decision": "none"} if answer["p_value"] is None else {}))


def likenesses(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield a hypothesis per known algorithm and method."""
    cells = [cell for cell in results.plan.cells if cell.subject.get("test") == LIKENESS]
    hypothesis = "the new algorithm falls into the classes as a does"
    for group in group_by(cells, lambda cell: (cell.subject["dataset"], cell.subject["method"])).values():
        yield from _rank([_hypothesis_of_table(results, cell).with_(null_hypothesis=hypothesis) for cell in group])


def _rank(rows: list[Hypothesis]) -> Iterator[Hypothesis]:
    pvalues = {row.a: row.p_value for row in rows if row.a is not None and row.p_value is not None}
    if len(pvalues) < len(rows):  # a result is missing, so the hypotheses cannot be ranked
        yield from (row.with_(p_value=None, decision="missing") for row in rows)
        return
    ranked = {hypothesis.name: hypothesis for hypothesis in weigh_hypotheses(pvalues)}
    for row in rows:
        index = ranked[str(row.a)]
        yield row.with_(b=index.rival, pd=index.pd, psd=index.psd, nsd=index.nsd)
