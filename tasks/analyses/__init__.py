"""The analyses: how stored replicates become hypotheses. A new test of a study is one new module of this folder.

`sigstats.tasks.summary.summarize` adds the adjustment for multiplicity, the possibilistic indices and the decision.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from sigstats._common.registry import Registry

from ..results import Results
from ..schema import Hypothesis


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


def takes_groups(name: str) -> bool:
    """Whether an analysis says of itself that it may be made of rows in groups."""
    module = REGISTRY.module(name)
    return isinstance(module, TakesGroups) and module.TAKES_GROUPS


def used_by(names: Iterable[str], fanout: str) -> bool:
    """Whether one of these analyses reads the replicates of a fan-out, for all that it says."""
    modules = [REGISTRY.module(name) for name in names]
    return any(not isinstance(module, UsesSome) or fanout in module.USES for module in modules)
