"""Histograms of gradients, and the best split of a node, compiled by Numba, identical to scikit-learn to the last bit.

A histogram has four floats for each bin of each column: sums of gradients and hessians, the number of rows, and 0 as
padding to 32 bytes. Within a bin, rows are added in scikit-learn's order.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import compiled, inlined

#: Added to sums of hessians to avoid division by 0.
_LITTLE: Final = 1e-15
#: Smallest sum of hessians of a leaf.
LEAST_HESSIAN: Final = 1e-3
#: NumPy adds up this many values in eight parts.
_PART: Final = 128


class Node(NamedTuple):
    """A node: sums of gradients and hessians, loss, number of rows."""

    gradients: float
    hessians: float
    loss: float
    rows: float


class Filled(NamedTuple):
    """Nonzero bins of a histogram: in order from the first of each column, and their numbers."""

    bins: Any
    lengths: Any


class Split(NamedTuple):
    """A split: gain or 0, column, last bin on the left, whether missing values go left, sums on the left."""

    gain: float
    column: int
    bin: Any
    missing_left: bool
    gradients: float
    hessians: float
    rows: int


@compiled
def add_rows(binned: Any, first: Any, rows: Any, steps: Any, sums: Any) -> None:
    """Add gradients and hessians, `steps` in the order of `rows`, to the bins of `sums` from `first` on."""
    width = binned.shape[2]
    for group in range(len(binned)):
        begin, values = first[group * width : (group + 1) * width], binned[group]
        for place in range(len(rows)):
            own = values[rows[place]]
            gradient, hessian = np.float64(steps[place, 0]), np.float64(steps[place, 1])
            for column in range(len(begin)):
                at = begin[column] + np.uint64(own[column])
                sums[at, 0] += gradient
                sums[at, 1] += hessian
                sums[at, 2] += 1.0


@compiled
def clear(sums: Any, first: Any, filled: Filled) -> None:
    """Set the `filled` bins of a histogram to 0."""
    for column in range(len(first)):
        base = first[column]
        for place in range(filled.lengths[column]):
            at = base + np.uint64(filled.bins[base + np.uint64(place)])
            sums[at, 0], sums[at, 1], sums[at, 2], sums[at, 3] = 0.0, 0.0, 0.0, 0.0


@compiled
def subtract(sums: Any, filled: Filled, small: Any, small_filled: Filled, first: Any) -> None:
    """Subtract the smaller child's histogram from the parent's, and find the nonzero bins of both children."""
    for column in range(len(first)):
        base, in_small, in_large = first[column], np.uint64(first[column]), np.uint64(first[column])
        for place in range(filled.lengths[column]):
            own = filled.bins[base + np.uint64(place)]
            at = base + np.uint64(own)
            small_filled.bins[in_small] = own
            in_small += np.uint64(small[at, 2] > 0)
            filled.bins[in_large] = own
            for part in range(3):
                sums[at, part] -= small[at, part]
            # Rounding residues count as nonzero.
            in_large += np.uint64((sums[at, 0] != 0) | (sums[at, 1] != 0) | (sums[at, 2] != 0))
        small_filled.lengths[column], filled.lengths[column] = in_small - base, in_large - base


@inlined
def leaf_value(gradients: float, hessians: float, penalty: float) -> float:
    """Return the Newton step of a leaf."""
    return -gradients / (hessians + penalty + _LITTLE)


@inlined
def _gain(total: Node, g: float, h: float, other_g: float, other_h: float, penalty: float) -> Any:
    """Return the decrease of the loss by a split."""
    gain = total.loss - leaf_value(g, h, penalty) * g
    return gain - leaf_value(other_g, other_h, penalty) * other_g


@compiled
def best_split(sums: Any, filled: Filled, columns: Any, total: Node, smallest: int, penalty: float) -> Split:
    """Return the split of a node with the largest gain; the first column, and in it the first bin, wins ties.

    A bin that is 0 changes no sum, so its split equals that of the bin before.
    """
    best = Split(0.0, 0, 0, False, 0.0, 0.0, 0)
    for column in range(len(columns)):
        first, bins, missing = columns[column, 0], columns[column, 1], columns[column, 2]
        own = sums[first : first + bins + missing]
        some = filled.bins[first : first + filled.lengths[column]]
        best = _scan(own, some, bins - 1 + missing, False, column, total, smallest, penalty, best)
        if missing:
            best = _scan(own, some[::-1], 0, True, column, total, smallest, penalty, best)
    return best


@inlined
def _scan(
    sums: Any, bins: Any, end: int, back: bool, column: int, total: Node, smallest: int, penalty: float, best: Split
) -> Split:
    """Return the best split so far, or a better one of a column, by adding up its `bins` before the bin `end`.

    From the first bin on, the sums are those of the left side, and missing values go right. With `back`, from the last
    bin (missing values) on, the sums are those of the right side, and missing values go left.
    """
    g, h, rows = 0.0, 0.0, 0.0
    for at in bins:
        if (at <= end) if back else (at >= end):
            break
        g += sums[at, 0]
        h += sums[at, 1]
        rows += sums[at, 2]
        if rows < smallest or h < LEAST_HESSIAN:
            continue
        other_g, other_h = total.gradients - g, total.hessians - h
        if total.rows - rows < smallest or other_h < LEAST_HESSIAN:
            break
        left_g, left_h, right_g, right_h = (other_g, other_h, g, h) if back else (g, h, other_g, other_h)
        gain = _gain(total, left_g, left_h, right_g, right_h, penalty)
        if gain > best.gain:
            last, left_rows = (np.int64(at) - 1, total.rows - rows) if back else (np.int64(at), rows)
            best = Split(gain, column, last, back, left_g, left_h, int(left_rows))
    return best


@compiled
def numpy_sum(values: Any) -> Any:
    """Return the sum of values in NumPy's order, eight parts of up to 128 values at a time."""
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
    """Return the sum of up to 128 values in NumPy's order."""
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
