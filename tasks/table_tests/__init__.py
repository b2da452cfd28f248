"""The tests of one table of counts in a significance study. A new test is one new module of this folder.

The name of a test is that of its module, with dashes. `data` is a mapping of JSON values: it is part of a cell's
identity.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sigstats._common.registry import Registry

#: The method whose replicates are computed in blocks.
MONTE_CARLO = "monte-carlo"


class TableTest(Protocol):
    """The members that a module of this folder must have."""

    @property
    def NULL(self) -> str:  # noqa: N802
        """The null hypothesis in plain words."""

    @property
    def METHODS(self) -> tuple[str, ...]:  # noqa: N802
        """The methods that need no replicates."""

    def observed(self, data: Mapping[str, Any], /) -> dict[str, Any]:
        """The fields of a hypothesis that no method changes: ``n`` to ``null_mean``, ``measure`` and ``alternative``.

        Raises
        ------
        ValueError
            One line, for data that no method could take.
        """

    def evaluate(self, data: Mapping[str, Any], method: str, /) -> dict[str, Any]:
        """The fields from ``p_value`` to ``p_high``, ``method``, ``statistic`` and ``note``."""


@runtime_checkable
class MonteCarloTest(Protocol):
    """The further members of a module whose test has the method ``monte-carlo``."""

    def exceedances(self, data: Mapping[str, Any], size: int, rng: np.random.Generator, /) -> NDArray[np.bool_]:
        """Which of `size` replicates are at least as extreme as observed."""


REGISTRY = Registry(__name__, TableTest, what="test", optional=(MonteCarloTest,))


def table_test(name: str) -> TableTest:
    """The module of a test."""
    return REGISTRY.module(name)


def methods(name: str) -> tuple[str, ...]:
    """The methods of a test."""
    module = table_test(name)
    return (*module.METHODS, MONTE_CARLO) if isinstance(module, MonteCarloTest) else module.METHODS


def run_table_test(name: str, data: Mapping[str, Any], method: str) -> dict[str, Any]:
    """All fields of a hypothesis that a method without replicates gives."""
    module = table_test(name)
    return {**module.observed(data), **module.evaluate(data, method)}
