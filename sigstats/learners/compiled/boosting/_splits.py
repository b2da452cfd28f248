"""Histograms of gradients and the best split of a node by them, compiled by Numba, to the bit as in scikit-learn.

A histogram has a row of four floats for each bin of each column: sums of gradients and of hessians, the number of rows,
and one that is 0, so that a bin begins at a multiple of 32 bytes. Within a bin rows are added in scikit-learn's order.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import compiled, inlined

#: Added to sums of hessians, which may be 0.
_LITTLE: Final = 1e-15
#: The least sum of hessians of a leaf.
LEAST_HESSIAN: Final = 1e-3
#: So many sums are added up in eight parts by NumPy.
_PART: Final = 128


class Node(NamedTuple):
    """The sums of gradients and hessians of a node, its loss and its number of rows."""

    gradients: float
    hessians: float
    loss: float
    rows: float


class Filled(NamedTuple):
    """The bins of a histogram that are not 0: those of each column in order from its first, and how many these are."""

    bins: Any
    lengths: Any


class Split(NamedTuple):
    """A split: its gain or 0, column, last bin on the left, whether missing values go there, and sums of the left."""

    gain: float
    column: int
    bin: Any
    missing_left: bool
    gradients: float
    hessians: float
    rows: int


@compiled
def add_up(binned: Any, first: Any, rows: Any, steps: Any, sums: Any) -> None:
    """Add gradients and hessians, `steps` in the order of `rows`, to the bins of `sums` that begin at `first`."""
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
    """Set the bins of a histogram to 0 that are `filled`."""
    for column in range(len(first)):
        base = first[column]
        for place in range(filled.lengths[column]):
            at = base + np.uint64(filled.bins[base + np.uint64(place)])
            sums[at, 0], sums[at, 1], sums[at, 2], sums[at, 3] = 0.0, 0.0, 0.0, 0.0


@compiled
def take_away(sums: Any, filled: Filled, small: Any, small_filled: Filled, first: Any) -> None:
    """Take the smaller child's histogram from its parent's, and find the bins of both that are not 0."""
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
            # What rounding leaves counts too.
            in_large += np.uint64((sums[at, 0] != 0) | (sums[at, 1] != 0) | (sums[at, 2] != 0))
        small_filled.lengths[column], filled.lengths[column] = in_small - base, in_large - base


@inlined
def leaf_value(gradients: float, hessians: float, penalty: float) -> float:
    """Newton's step of a leaf."""
    return -gradients / (hessians + penalty + _LITTLE)


@inlined
def _gain(total: Node, g: float, h: float, other_g: float, other_h: float, penalty: float) -> Any:
    """The decrease of the loss by a split."""
    gain = total.loss - leaf_value(g, h, penalty) * g
    return gain - leaf_value(other_g, other_h, penalty) * other_g


@compiled
def best_split(sums: Any, filled: Filled, columns: Any, total: Node, smallest: int, penalty: float) -> Split:
    """The split of a node with the largest gain; where gains are equal, of the first column, and in it the first.

    A bin that is 0 moves no sum, so that its split is that of the bin before.
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
    """The best split, or a better one of a column whose `bins` are added up one by one, before the bin `end`.

    From the first bin on these are the rows on the left, and missing values go to the right. Where it goes `back` from
    the last bin, that of missing values, these are the rows on the right, and missing values go to the left.
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
