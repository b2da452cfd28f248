"""The directions of L-BFGS for many problems, compiled by Numba: what a problem's pairs hold stays in cache."""

import functools
from typing import Any

import numpy as np

from sigstats._common.compiled import compiled

#: Sums may be taken in another order, and become vector instructions.
_numbers = functools.partial(compiled, fastmath={"contract", "reassoc", "nsz"})


@_numbers
def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@_numbers
def _add(out: Any, amount: float, other: Any) -> None:
    for i in range(len(out)):
        out[i] += amount * other[i]


@compiled
def directions(out: Any, at: Any, steps: Any, changes: Any, inverses: Any, order: Any, scale: Any) -> None:
    """Multiply each row of `out`, minus a gradient, by the inverse Hessian of its pairs.

    Parameters
    ----------
    out : ndarray, shape (rows, parameters)
    at : ndarray of int, shape (rows,)
        The problem of each row.
    steps, changes : ndarray, shape (problems, pairs, parameters)
    inverses : ndarray, shape (problems, pairs)
        One over the products of steps and changes.
    order : ndarray of int
        Which pairs there are, the oldest first.
    scale : ndarray, shape (rows,)
    """
    amounts = np.empty(len(order))
    for row in range(len(out)):
        own, p = out[row], at[row]
        for place in range(len(order) - 1, -1, -1):
            pair = order[place]
            amounts[place] = inverses[p, pair] * _dot(steps[p, pair], own)
            _add(own, -amounts[place], changes[p, pair])
        own *= scale[row]
        for place in range(len(order)):
            pair = order[place]
            _add(own, amounts[place] - inverses[p, pair] * _dot(changes[p, pair], own), steps[p, pair])
