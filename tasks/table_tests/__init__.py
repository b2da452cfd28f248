"""The tests of a significance study: what one table of counts is asked. A new test is one new module of this folder.

A module, named as its test is, states

``NULL``
    the null hypothesis in plain words;
``METHODS``
    the methods that need no replicates; ``monte-carlo`` is offered beside them where the module has ``exceedances``;
``observed(data)``
    what is seen whatever the method: the fields of `sigstats.tasks.schema.Hypothesis` from ``n`` to ``null_mean``,
    ``measure`` and ``alternative``. It raises ValueError, one line, for data that no method could take;
``evaluate(data, method)``
    the fields from ``p_value`` to ``p_high``, ``method``, ``statistic`` and ``note``;
``exceedances(data, size, rng)``
    which of `size` replicates are at least as extreme as observed.

`data` is a mapping of JSON values: it is part of a cell's identity.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

#: The method whose replicates are fanned out.
MONTE_CARLO = "monte-carlo"


def names() -> list[str]:
    """The names of all tests, as the summary has them."""
    found = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return sorted(name.replace("_", "-") for name in found)


@cache
def question(name: str) -> ModuleType:
    """The module of a test."""
    if name not in names():
        raise ValueError(f"test: {name!r} is not valid; expected one of {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


def methods(name: str) -> tuple[str, ...]:
    """The methods of a test."""
    module = question(name)
    return (*module.METHODS, MONTE_CARLO) if hasattr(module, "exceedances") else tuple(module.METHODS)


def answer(name: str, data: Mapping[str, Any], method: str) -> dict[str, Any]:
    """All fields of a hypothesis that a method without replicates fills in."""
    module = question(name)
    return {**module.observed(data), **module.evaluate(data, method)}
