"""C4.5, compiled: the functions of `sigstats.learners.c45_tree`, which also run without Numba."""

import inspect

from numba.extending import register_jitable

from sigstats.learners.compiled.jit import compiled

from .. import c45_splits, c45_tree

for _module in (c45_splits, c45_tree):
    for _, _function in inspect.getmembers(_module, inspect.isfunction):
        if _function.__module__ == _module.__name__:
            register_jitable(nogil=True, error_model="numpy")(_function)


grow, probabilities = compiled(c45_tree.grow), compiled(c45_tree.probabilities)

__all__ = ["grow", "probabilities"]
