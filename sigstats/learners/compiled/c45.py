"""C4.5, compiled: the functions of `sigstats.learners.trees.c45_tree`, which run without Numba too."""

import inspect
from typing import Any

from numba.extending import overload, register_jitable

from sigstats.learners.compiled.jit import borrowed, compiled

from ..trees import c45_splits, c45_tree

for _module in (c45_splits, c45_tree):
    for _, _function in inspect.getmembers(_module, inspect.isfunction):
        if _function.__module__ == _module.__name__ and _function is not c45_splits.lent:
            register_jitable(nogil=True, error_model="numpy", forceinline=True)(_function)


@overload(c45_splits.lent)
def _lent(arrays: Any) -> Any:  # noqa: ARG001 (Numba's)
    def lent(arrays: Any) -> Any:
        return borrowed(arrays)

    return lent


grow, probabilities = compiled(c45_tree.grow), compiled(c45_tree.probabilities)

__all__ = ["grow", "probabilities"]
