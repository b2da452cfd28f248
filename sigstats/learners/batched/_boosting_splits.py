"""Histograms of gradients and the best split of a node by them, compiled by Numba, to the bit as in scikit-learn.

A histogram has a row of four floats for each bin of each column: sums of gradients and of hessians, the number of rows,
and one that fills the line, so that one vector addition adds a row of the data. Within a bin rows are added in
scikit-learn's order.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled, inlined

#: Added to sums of hessians, which may be 0.
_LITTLE: Final = 1e-15

#: The least sum of hessians of a leaf.
LEAST_HESSIAN: Final = 1e-3

#: So many sums are added up in eight parts by NumPy.
_PART: Final = 128


class Split(NamedTuple):
    """A split: its gain or -1, column, last bin on the left, whether missing values go there, and sums of the left."""

    gain: float
    column: int
    bin: int
    missing_left: bool
    gradients: float
    hessians: float
    rows: int


@compiled
def add_up(binned: Any, columns: Any, rows: Any, weights: Any, sums: Any) -> None:
    """Add the gradients and hessians of `rows`, given in their order as `weights`, to the bins of `sums`."""
    sums[:] = 0
    for place in range(len(rows)):
        own = binned[rows[place]]
        gradient, hessian = float(weights[place, 0]), float(weights[place, 1])
        for column in range(len(columns)):
            cell = sums[columns[column, 0] + own[column]]
            cell[0] += gradient
            cell[1] += hessian
            cell[2] += 1.0
            cell[3] += 0.0


@inlined
def leaf_value(gradients: float, hessians: float, penalty: float) -> float:
    """Newton's step of a leaf."""
    return -gradients / (hessians + penalty + _LITTLE)


@inlined
def _gain(left: Any, gradients: float, hessians: float, loss: float, penalty: float) -> Any:
    """How much a split lessens the loss."""
    other = gradients - left[0]
    gain = loss - leaf_value(left[0], left[1], penalty) * left[0]
    return gain - leaf_value(other, hessians - left[1], penalty) * other


@compiled
def best_split(
    sums: Any, columns: Any, n: int, gradients: float, hessians: float, value: float, smallest: int, penalty: float
) -> Split:
    """The split of a node with the largest gain; where gains are equal, of the first column, and in it the first."""
    best = Split(-1.0, 0, 0, False, 0.0, 0.0, 0)
    loss = gradients * value
    for column in range(len(columns)):
        first, bins, missing = columns[column, 0], columns[column, 1], columns[column, 2]
        found = _from_left(
            sums[first : first + bins], bins - 1 + missing, n, gradients, hessians, loss, smallest, penalty
        )
        if missing:
            other = _from_right(sums[first : first + bins], n, gradients, hessians, loss, smallest, penalty)
            if other.gain > found.gain:
                found = other
        if found.gain > best.gain:
            best = Split(found.gain, column, found.bin, found.missing_left, found.gradients, found.hessians, found.rows)
    return best


@compiled
def _from_left(
    sums: Any, end: int, n: int, gradients: float, hessians: float, loss: float, smallest: int, penalty: float
) -> Split:
    """The best split of a column where missing values go to the right."""
    g, h, rows = 0.0, 0.0, 0.0
    best = Split(-1.0, 0, 0, False, 0.0, 0.0, 0)
    for at in range(end):
        g += sums[at, 0]
        h += sums[at, 1]
        rows += sums[at, 2]
        if rows < smallest:
            continue
        if n - rows < smallest:
            break
        if h < LEAST_HESSIAN:
            continue
        if hessians - h < LEAST_HESSIAN:
            break
        gain = _gain((g, h), gradients, hessians, loss, penalty)
        if gain > best.gain and gain > 0:
            best = Split(gain, 0, at, False, g, h, int(rows))
    return best


@compiled
def _from_right(
    sums: Any, n: int, gradients: float, hessians: float, loss: float, smallest: int, penalty: float
) -> Split:
    """The best split of a column where missing values go to the left."""
    g, h, rows = 0.0, 0.0, 0.0
    best = Split(-1.0, 0, 0, False, 0.0, 0.0, 0)
    for at in range(len(sums) - 2, -1, -1):
        g += sums[at + 1, 0]
        h += sums[at + 1, 1]
        rows += sums[at + 1, 2]
        if rows < smallest:
            continue
        if n - rows < smallest:
            break
        if h < LEAST_HESSIAN:
            continue
        if hessians - h < LEAST_HESSIAN:
            break
        left = gradients - g, hessians - h
        gain = loss - leaf_value(left[0], left[1], penalty) * left[0]
        gain -= leaf_value(g, h, penalty) * g
        if gain > best.gain and gain > 0:
            best = Split(gain, 0, at, True, left[0], left[1], n - int(rows))
    return best


@compiled
def in_eighths(values: Any) -> Any:
    """The sum of values in NumPy's order, eight parts of up to 128 at a time."""
    n, first = len(values), 0
    parts, filled = np.empty(64, dtype=np.float64), 0
    while n - first > _PART:
        half = (n - first) // 2
        half -= half % 8
        parts[filled] = _short_sum(values[first : first + half])
        filled += 1
        first += half
    total = _short_sum(values[first:])
    for part in range(filled - 1, -1, -1):
        total = parts[part] + total
    return total


@compiled
def _short_sum(values: Any) -> Any:
    """The sum of up to 128 values in NumPy's order."""
    n = len(values)
    if n < 8:
        total = 0.0
        for value in values:
            total += value
        return total
    parts = values[:8].copy()
    whole = n - n % 8
    for first in range(8, whole, 8):
        for part in range(8):
            parts[part] += values[first + part]
    total = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]))
    for value in values[whole:]:
        total += value
    return total
