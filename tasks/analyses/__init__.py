"""The analyses: how stored replicates become hypotheses.

A test of tables or of cross-validated runs is a record of `sigstats.tasks.statistical_tests`; what reads other
replicates, or makes rows of several tests, is a module of this folder.

`sigstats.tasks.summary.summarize` adds the adjustment for multiplicity, the possibilistic indices and the decision.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from sigstats._common.registry import Registry

from .. import statistical_tests
from ..results import Results
from ..schema import Hypothesis
from ._runs import rows_of_runs


class Analysis(Protocol):
    """The members that a module of this folder must have."""

    def rows(self, results: Results, /) -> Iterator[Hypothesis]:
        """Every hypothesis of the test in a study, in the order of the plan.

        One whose replicates are missing has ``decision="missing"``. The fields that all tests share are added later.
        """


class MaySay(Protocol):
    """What an analysis may say of itself besides."""

    #: The fan-outs whose replicates it reads; others are not computed for it. Without it all are.
    USES: tuple[str, ...]
    #: True if its level holds where rows come in groups that are not independent; others are refused there.
    TAKES_GROUPS: bool


REGISTRY = Registry(__name__, Analysis, what="analysis", optional=MaySay)


def names() -> tuple[str, ...]:
    """The names of all analyses, and of all tests that are made of cross-validated runs."""
    of_runs = [name for name in statistical_tests.REGISTRY.names() if statistical_tests.of_runs(name)]
    return tuple(sorted({*REGISTRY.names(), *of_runs}))


def rows(name: str, results: Results) -> Iterator[Hypothesis]:
    """The hypotheses of an analysis, or of a test of runs."""
    test = statistical_tests.find(name)
    if test is not None and test.runs is not None:
        return rows_of_runs(results, name, test, test.runs)
    return REGISTRY.module(name).rows(results)


def takes_groups(name: str) -> bool:
    """Whether an analysis or a test says of itself that it may be made of rows in groups."""
    test = statistical_tests.of_runs(name)
    if test is not None:
        return test.takes_groups
    return getattr(REGISTRY.module(name), "TAKES_GROUPS", False)


def used_by(names: Iterable[str], fanout: str) -> bool:
    """True if one of these analyses reads the replicates of a fan-out, for all that it says."""

    def uses(name: str) -> tuple[str, ...]:
        return ("crossval",) if statistical_tests.of_runs(name) else getattr(REGISTRY.module(name), "USES", (fanout,))

    return any(fanout in uses(name) for name in names)
