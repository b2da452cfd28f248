"""The observed runs that a study stores, and the hypotheses of the tests that are made of them."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ..observed_run import ObservedRun
from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis
from ..statistical_tests import OfRuns, StatisticalTest


def observed_run(results: Results, cell: Cell) -> ObservedRun | None:
    """The observed run of a cell; None if it is missing."""
    table = results.table(cell)
    if table is None:
        return None
    label, prediction = (table.column(name).to_numpy().astype(np.int64) for name in ("label", "prediction"))
    return ObservedRun(label, prediction, results.groups(cell))


def observed_run_of(results: Results, *, dataset: str, classifier: str) -> ObservedRun | None:
    """The observed run of a classifier on a data set; None if it is missing."""
    cells = results.cells("crossval", dataset=dataset, classifier=classifier)
    return observed_run(results, cells[0]) if cells else None


def rows_of_runs(results: Results, name: str, test: StatisticalTest, of: OfRuns) -> Iterator[Hypothesis]:
    """The hypotheses of a test of runs: of each classifier, every two, or all on a data set, in the plan's order."""
    for cells in results.by_dataset("crossval").values():
        for compared in _compared(of, cells):
            names = [cell.subject["classifier"] for cell in compared]
            base = results.hypothesis(
                *compared,
                test=name,
                method=of.method,
                alternative=of.alternative,
                null=test.null,
                measure=of.measure,
            ).with_(**dict(zip(_SUBJECTS[of.compared], names, strict=False)))
            runs = [run for run in (observed_run(results, cell) for cell in compared) if run is not None]
            yield base.with_(**of.compute(runs, base.cell)) if len(runs) == len(compared) else base


#: The fields that name the classifiers of a hypothesis.
_SUBJECTS = {"one": ("classifier",), "two": ("a", "b"), "all": ()}


def _compared(of: OfRuns, cells: Sequence[Cell]) -> Iterator[Sequence[Cell]]:
    if of.compared == "all":
        if len(cells) > 1:
            yield cells
    else:
        yield from combinations(cells, len(_SUBJECTS[of.compared]))
