"""Bins (`bin_rows`) and rounds (`boost`) of scikit-learn's histogram boosting, compiled by Numba, with its results.

The raw prediction of a row is the sum of the values of its leaves. A step has the gradient and hessian of its loss.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from ..jit import compiled
from ._growth import BIN, CHILD, COLUMN, END, MISSING_LEFT, START, VALUE, Binned, Room, Rules, grow


class Levels(NamedTuple):
    """Distinct values of columns."""

    #: Values of all columns, sorted within columns.
    values: Any
    #: Start of each column in the values; array of int64, shape (columns + 1,).
    starts: Any
    #: True if a column has missing values, whose level is the number of values; array of bool, shape (columns,).
    gaps: Any
    #: True if a column is that of a category, and omitted if no training row has it; array of bool, shape (columns,).
    optional: Any


@compiled
def _find_cuts(values: Any, counts: Any, most: int, shares: Any, cuts: Any) -> int:
    """Write the thresholds of bins to `cuts`; return their number, or -1 if no training row has a value."""
    distinct, total = 0, 0
    for count in counts:
        distinct += count > 0
        total += count
    if distinct == 0:
        return -1
    filled, before = 0, -1
    if distinct <= most:  # halfway between neighbours
        for level in range(len(values)):
            if counts[level]:
                if before >= 0:
                    cut = (values[before] + values[level]) / 2
                    if filled == 0 or cut != cuts[filled - 1]:
                        cuts[filled] = cut
                        filled += 1
                before = level
        return filled
    level, passed = 0, counts[0]  # quantiles by the inverted distribution function, averaged at its steps
    for share in shares:
        place = total * share - 1
        low = int(np.floor(place))
        halfway = place == low
        low = min(max(low, 0), total - 1)
        high = min(max(int(np.floor(place)) + 1, 0), total - 1)
        while passed <= low:
            level += 1
            passed += counts[level]
        upper, reached = level, passed
        while reached <= high:
            upper += 1
            reached += counts[upper]
        cut = values[upper]
        if halfway:
            cut -= (values[upper] - values[level]) * 0.5
        if filled == 0 or cut != cuts[filled - 1]:
            cuts[filled] = cut
            filled += 1
    return filled


@compiled
def bin_rows(levels: Any, known: Levels, rows: Any, m: int, most: int, shares: Any, binned: Any, columns: Any) -> int:
    """Bin rows by thresholds from the first `m`; return the number of columns, or -1 if scikit-learn would fail.

    `rows`: indices of the rows in `levels`. `most`: largest number of bins of a column. `shares`, shape (most - 1,):
    quantiles that are thresholds if a column has more values. Output: `binned`, shape (groups of columns, n, columns of
    a group), with missing values in a bin after the last one; and `columns`, shape (columns, 3): the first bin among
    those of all columns, the number of bins, and whether a training value is missing.
    """
    first, used, width = 0, 0, binned.shape[2]
    cuts = np.empty(most, dtype=np.float64)
    for column in range(len(levels)):
        values = known.values[known.starts[column] : known.starts[column + 1]]
        counts = np.zeros(len(values) + 1, dtype=np.int64)
        own = levels[column]
        for row in rows[:m]:
            counts[own[row]] += 1
        if known.optional[column] and counts[-2] == (m if values[-1] == 0 else 0):
            continue
        n_cuts = _find_cuts(values, counts[:-1], most, shares, cuts)
        if n_cuts < 0:
            return -1
        bins = np.empty(len(values) + 1, dtype=np.uint8)
        at = 0
        for level in range(len(values)):
            while at < n_cuts and values[level] > cuts[at]:
                at += 1
            bins[level] = at
        bins[len(values)] = n_cuts + 1
        for place in range(len(rows)):
            binned[used // width, place, used % width] = bins[own[rows[place]]]
        columns[used, 0], columns[used, 1], columns[used, 2] = first, n_cuts + 1, counts[-1] > 0
        first += n_cuts + 1 + known.gaps[column]
        used += 1
    return used


#: Below this the logistic function is computed as the exponential function.
_FAR: Final = -37.0


@compiled
def _binary_steps(label: Any, raw: Any, steps: Any) -> None:
    """Write gradients and hessians of the logistic loss to `steps`, shape (1, m, 2), for labels 0 and 1."""
    for row in range(len(label)):
        is_second = float(label[row])
        if raw[0, row] > _FAR:
            power = math.exp(-raw[0, row])
            steps[0, row, 0] = ((1 - is_second) - is_second * power) / (1 + power)
            steps[0, row, 1] = power / ((1 + power) * (1 + power))
        else:
            power = math.exp(raw[0, row])
            steps[0, row, 0], steps[0, row, 1] = power - is_second, power


@compiled
def _multinomial_steps(label: Any, raw: Any, steps: Any) -> None:
    """Write gradients and hessians of the multinomial loss to `steps`, shape (classes, m, 2)."""
    shares = np.empty(len(raw), dtype=np.float64)
    for row in range(len(label)):
        top = raw[0, row]
        for k in range(1, len(raw)):
            top = max(top, raw[k, row])
        whole = 0.0
        for k in range(len(raw)):
            shares[k] = math.exp(raw[k, row] - top)
            whole += shares[k]
        for k in range(len(raw)):
            share = shares[k] / whole
            steps[k, row, 0] = share - (label[row] == k)
            steps[k, row, 1] = share * (1.0 - share)


@compiled
def _add_tree(data: Binned, room: Room, nodes: int, raw: Any) -> None:
    """Add the values of a tree to the raw predictions of all rows."""
    for node in range(nodes):
        own = room.whole[node]
        if own[CHILD] < 0:
            for row in room.rows[own[START] : own[END]]:
                raw[row] += room.real[node, VALUE]
    width = data.binned.shape[2]
    for row in range(data.m, len(raw)):
        node = 0
        while room.whole[node, CHILD] >= 0:
            own = room.whole[node]
            code = data.binned[own[COLUMN] // width, row, own[COLUMN] % width]
            missing = code == data.columns[own[COLUMN], 1]
            goes_left = own[MISSING_LEFT] if missing else code <= own[BIN]
            node = own[CHILD] + (0 if goes_left else 1)
        raw[row] += room.real[node, VALUE]


@compiled
def boost(
    binned: Any,
    columns: Any,
    label: Any,
    rules: tuple[int, int, int, float, float, int],
    room: Room,
    raw: Any,
    rounds: int,
) -> None:
    """Add the trees of all rounds to the raw predictions; `columns` are those of `bin_rows`."""
    first, steps = columns[:, 0].astype(np.uint64), np.empty((len(raw), len(label), 2), dtype=np.float32)
    data, limits = Binned(binned, columns, first, len(label)), Rules(*rules)
    for _ in range(rounds):
        if len(raw) == 1:
            _binary_steps(label, raw, steps)
        else:
            _multinomial_steps(label, raw, steps)
        for k in range(len(raw)):
            nodes = grow(data, limits, steps[k], room)
            _add_tree(data, room, nodes, raw[k])
