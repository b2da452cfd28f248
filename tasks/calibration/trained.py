"""The sets of classifiers that a calibration study trained: the chosen parameters, and their performance.

Each is measured on the test set and on all rows that stand for the population, which it has not seen either.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sigstats.measures.measure import as_measure

from ..plan import Cell
from ..record import SIDES
from ..results import Results
from ..schema import Hypothesis
from .populations.tests import AnyPopulation
from .subsample import trained_rows
from .training import chosen
from .work import Categorised


def rows(results: Results) -> Iterator[Hypothesis]:
    """Each measure of each classifier: ``statistic`` on the test set, ``estimate`` on the population."""
    for cell in results.cells("categorise"):
        yield from _of_cell(results, cell)


def _of_cell(results: Results, cell: Cell) -> Iterator[Hypothesis]:
    table = results.table(cell)
    work = cell.work_of(Categorised)
    params = chosen(work, results.store)
    for place, side in enumerate(SIDES):
        for measure in ("micro-f1", "macro-f1"):
            row = results.hypothesis(
                cell,
                test="trained",
                method=_described(params[side]) if side in params else "as given",
                alternative="none",
                null_hypothesis="none",
                classifier=f"{side.upper()} ({work.side(side).learner})",
                measure=as_measure(measure).name,
                n=work.split.test,
            )
            if table is None:
                yield row
                continue
            test_set, population = (trained_rows(cell, table, test=test) for test in (True, False))
            yield row.with_(
                statistic=_value(measure, test_set, place), estimate=_value(measure, population, place), decision="none"
            )


def _described(params: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}" for name, value in params.items()
    )


def _value(measure: str, population: AnyPopulation, place: int) -> float:
    counts = np.atleast_2d(population.counts)
    record = population.record(counts[0].astype(np.int64).tolist())
    confusion = record.confusions(np.asarray([record.counts], dtype=np.float64))[place]
    return float(np.ravel(as_measure(measure).of(confusion, record.kind))[0])
