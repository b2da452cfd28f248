"""Every two classifiers of a data set, compared on the same rows."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis
from ._observed_run import ObservedRun, observed_run


class Pair(NamedTuple):
    """Two classifiers on one data set: the hypothesis without its results, and both runs if they are stored."""

    base: Hypothesis
    runs: tuple[ObservedRun, ObservedRun] | None


def pairs(results: Results, *, test: str, method: str, null: str, measure: str | None = None) -> Iterator[Pair]:
    """The pairs of a benchmark, in the order of the plan."""
    by_dataset: dict[str, list[Cell]] = {}
    for cell in results.cells("crossval"):
        by_dataset.setdefault(cell.subject["dataset"], []).append(cell)
    for dataset, cells in by_dataset.items():
        for first, second in combinations(cells, 2):
            base = Hypothesis(
                study=results.plan.study,
                cell=f"{first.name} {second.name}",
                test=test,
                method=method,
                alternative="two-sided",
                null=null,
                dataset=dataset,
                a=first.subject["classifier"],
                b=second.subject["classifier"],
                measure=measure,
            )
            a, b = observed_run(results, first), observed_run(results, second)
            yield Pair(base, None if a is None or b is None else (a, b))
