"""The rows that McNemar's test needs to reject half of the time, to compare with the number of a publication."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis
from ..statistical_tests import of_sets
from .populations.population import EventPopulation, Population
from .populations.tests import null_holds
from .subsample import population
from .work import AppliedTest, OnTestSets

#: The measure of a row.
HALF = "rows for half of the time"


def rows(results: Results) -> Iterator[Hypothesis]:
    """The number of rows for each of McNemar's tests in each population in which one classifier is better."""
    for group in one_test(results.plan.cells):
        work, subject = group[0].work_of(OnTestSets), group[0].subject
        drawn_from = population(work, results.store) if _formula(work.test.test) else None
        if not isinstance(drawn_from, (Population, EventPopulation)) or null_holds(drawn_from, work.test):
            continue
        needed = rows_needed(drawn_from, work.test, 0.5, results.plan.alpha)
        yield results.hypothesis(
            *group,
            test="sample-size",
            method=subject["test"],
            alternative="none",
            null_hypothesis="none",
            measure=HALF,
            estimate=None if needed is None else float(needed),
            decision="none",
        )


def one_test(cells: Iterable[Cell]) -> list[list[Cell]]:
    """The cells that apply one test to test sets of one population, of all sizes."""
    groups: dict[tuple[str | None, ...], list[Cell]] = {}
    for cell in cells:
        if cell.fanout in ("subsample", "tally"):
            key = tuple(cell.subject.get(name) for name in ("dataset", "slice", "test"))
            groups.setdefault(key, []).append(cell)
    return list(groups.values())


def rows_needed(known: Population | EventPopulation, test: AppliedTest, share: float, alpha: float) -> int | None:
    """The rows of an infinite population of the same answers from which on McNemar's test rejects this often.

    None for another test, if the test looks the other way, or if more would be needed than can be summed over.
    """
    formula = _formula(test.test)
    if formula is None:
        return None
    only_a, only_b = (value / (known.rows or 1) for value in known.discordant)
    return _least_rows(formula, only_a, only_b, share, alpha, tuple(test.options.items()))


@lru_cache(maxsize=1024)  # cells of several sizes ask the same
def _least_rows(
    formula: Callable[..., int], only_a: float, only_b: float, share: float, alpha: float, options: tuple[Any, ...]
) -> int | None:
    try:
        return formula(only_a=only_a, only_b=only_b, power=share, alpha=alpha, **dict(options))
    except ValueError:
        return None


def _formula(name: str) -> Callable[..., int] | None:
    test = of_sets(name)
    return None if test is None else test.rows_needed
