"""Populations of which everything is said: of each record the module that draws test sets and applies a test to one.

A module has ``TEST``, the name of the test that is applied; ``fits(population, test)``; ``draw(population,
n, rng, size)``; and ``rows_of(population, test_set)``. Where the test is an interval it has ``truth(population,
measure)`` and ``run_interval(population, test, test_set, rng)``, else ``null_holds(population, test)`` and
``run_test(population, test, test_sets, rng)``, the answers on all test sets of a lane.
"""

from collections.abc import Mapping
from typing import Any

from ..work import Described, JudgedRows, Kinds, TaskRows, Votes
from . import judged, kinds, task_rows, votes

#: The module of each record.
OF_RECORDS: Mapping[type[Described], Any] = {JudgedRows: judged, Kinds: kinds, TaskRows: task_rows, Votes: votes}


def module_of(population: Described) -> Any:
    """The module of a population."""
    return OF_RECORDS[type(population)]
