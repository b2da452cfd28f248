"""Rounds of histogram boosting, compiled by Numba: gradients of the logistic loss, and a tree for each class."""

import math
from typing import Any, Final

import numpy as np

from sigstats._common.compiled import compiled

from ._growth import BIN, CHILD, COLUMN, END, MISSING_LEFT, START, VALUE, Binned, Room, Rules, grow

#: Below it the logistic function is the exponential function.
_FAR: Final = -37.0


@compiled
def steps_of_two(label: Any, raw: Any, steps: Any) -> None:
    """Gradients and hessians of the logistic loss, shape (1, m, 2), of labels 0 and 1 and raw predictions (1, n)."""
    for row in range(len(label)):
        of_second = float(label[row])
        if raw[0, row] > _FAR:
            power = math.exp(-raw[0, row])
            steps[0, row, 0] = ((1 - of_second) - of_second * power) / (1 + power)
            steps[0, row, 1] = power / ((1 + power) * (1 + power))
        else:
            power = math.exp(raw[0, row])
            steps[0, row, 0], steps[0, row, 1] = power - of_second, power


@compiled
def steps_of_many(label: Any, raw: Any, steps: Any) -> None:
    """Gradients and hessians of the multinomial loss, shape (classes, m, 2), of raw predictions (classes, n)."""
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
def _add(data: Binned, room: Room, nodes: int, raw: Any) -> None:
    """Add a tree's values to the raw predictions of all rows."""
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
            found = data.binned[own[COLUMN] // width, row, own[COLUMN] % width]
            missing = found == data.columns[own[COLUMN], 1]
            goes_left = own[MISSING_LEFT] if missing else found <= own[BIN]
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
    """Add the trees of so many rounds to raw predictions; `columns` are as `bin_rows` writes them."""
    data, limits = Binned(binned, columns, columns[:, 0].astype(np.uint64), len(label)), Rules(*rules)
    steps = np.empty((len(raw), len(label), 2), dtype=np.float32)
    for _ in range(rounds):
        if len(raw) == 1:
            steps_of_two(label, raw, steps)
        else:
            steps_of_many(label, raw, steps)
        for k in range(len(raw)):
            nodes = grow(data, limits, steps[k], room)
            _add(data, room, nodes, raw[k])
