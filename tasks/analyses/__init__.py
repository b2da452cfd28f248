"""The analyses: how stored replicates become hypotheses.

A test of tables or of cross-validated runs is a record of `sigstats.tasks.statistical_tests`; what reads other
replicates, or makes rows of several tests, is a module of this folder.

`sigstats.tasks.summary.summarize` adds the adjustment for multiplicity, the possibilistic indices and the decision.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

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


@runtime_checkable
class UsesSome(Protocol):
    """An analysis that does not read the replicates of every fan-out."""

    @property
    def USES(self) -> tuple[str, ...]:  # noqa: N802
        """The fan-outs whose replicates it reads; others are not computed for it."""


@runtime_checkable
class TakesGroups(Protocol):
    """An analysis whose level holds where rows come in groups that are not independent; others are refused there."""

    @property
    def TAKES_GROUPS(self) -> bool:  # noqa: N802
        """True."""


REGISTRY = Registry(__name__, Analysis, what="analysis", optional=(UsesSome, TakesGroups))


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
    module = REGISTRY.module(name)
    return isinstance(module, TakesGroups) and module.TAKES_GROUPS


def used_by(names: Iterable[str], fanout: str) -> bool:
    """True if one of these analyses reads the replicates of a fan-out, for all that it says."""
    return any(fanout == "crossval" if statistical_tests.of_runs(name) else _uses(name, fanout) for name in names)


def _uses(name: str, fanout: str) -> bool:
    module = REGISTRY.module(name)
    return not isinstance(module, UsesSome) or fanout in module.USES
