"""Trees of histogram boosting, compiled by Numba: scikit-learn's own, grown best split first (`grow`).

As in scikit-learn, the histogram of the smaller child is counted, and that of the larger is the parent's minus the
smaller's, so that sums agree to the last bit.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import compiled, merged

from ._splits import LEAST_HESSIAN, Filled, Node, add_rows, best_split, clear, leaf_value, numpy_sum, subtract

#: Columns of the arrays of nodes, `Room.whole` and `Room.real`: rows, depth, histogram, left child (the right one
#: follows) and best split; sums, value, gain, and the sums on the left.
START, END, DEPTH, SUMS, CHILD, COLUMN, BIN, MISSING_LEFT, LEFT_ROWS = range(9)
GRADIENTS, HESSIANS, VALUE, GAIN, LEFT_GRADIENTS, LEFT_HESSIANS = range(6)
_WIDTH: Final = 9


class Binned(NamedTuple):
    """Binned rows on which trees are grown."""

    #: Bins of the rows, training rows first; array of uint8, shape (groups of columns, n, columns of a group).
    binned: Any
    #: Columns as written by `bin_rows`; array of int64, shape (columns, 3).
    columns: Any
    #: First bin of each column, unsigned, so that indices need no check; array of uint64, shape (columns,).
    first: Any
    #: The number of training rows.
    m: int


class Rules(NamedTuple):
    """Limits of leaves, depth and rows of a leaf; L2 penalty, learning rate, and bins of a column."""

    most_leaves: int
    deepest: int
    smallest: int
    penalty: float
    rate: float
    most_bins: int


class Room(NamedTuple):
    """Memory that trees share: histograms, nodes and rows.

    `sums`, `bins`, `lengths`: histograms and their filled bins; `free`: the histograms that are not in use. `whole`,
    `real`: integers and floats of nodes; `heap`: nodes that wait for their split. `rows`: rows ordered by node.
    """

    sums: Any
    bins: Any
    lengths: Any
    whole: Any
    real: Any
    heap: Any
    free: Any
    rows: Any
    spare: Any
    weights: Any


@compiled
def room_for(columns: Any, m: int, rules: tuple[int, int, int, float, float, int]) -> Room:
    """Allocate memory to grow trees on `m` rows; `rules` are the fields of `Rules`."""
    d, limits = len(columns), Rules(*rules)
    cells = columns[d - 1, 0] + columns[d - 1, 1] + 1
    leaves = min(limits.most_leaves, max(m // limits.smallest, 1)) + 1
    # Adding is faster if no bin crosses a cache line.
    sums = np.empty((leaves + 1) * cells * 4 + 8, dtype=np.float64)
    shift = (-(sums.ctypes.data // 8)) % 8
    return Room(
        sums[shift : shift + (leaves + 1) * cells * 4].reshape(leaves + 1, cells, 4),
        np.empty((leaves + 1, cells), dtype=np.uint8),
        np.empty((leaves + 1, d), dtype=np.int64),
        np.empty((2 * leaves, _WIDTH), dtype=np.int64),
        np.empty((2 * leaves, 6), dtype=np.float64),
        np.empty(leaves + 1, dtype=np.int64),
        np.empty(leaves + 1, dtype=np.int64),
        np.empty(m, dtype=np.uint32),
        np.empty(m, dtype=np.uint32),
        np.empty((m, 2), dtype=np.float32),
    )


@compiled
def _push(heap: Any, place: int, node: int, gain: Any) -> None:
    """Push a node into the heap at `place` or above, as `heapq` does, larger gains first."""
    while place > 0:
        parent = (place - 1) >> 1
        if not gain[node, GAIN] > gain[heap[parent], GAIN]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = node


@compiled
def _pop(heap: Any, size: int, gain: Any) -> Any:
    """Pop the first node of a heap of `size` nodes."""
    last = heap[size - 1]
    if size == 1:
        return last
    first, place, size = heap[0], 0, size - 1
    child = 1
    while child < size:  # down to a leaf, then up
        if child + 1 < size and not gain[heap[child], GAIN] > gain[heap[child + 1], GAIN]:
            child += 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    _push(heap, place, last, gain)
    return first


@merged
def _filled_bins(room: Room, slot: int) -> Filled:
    """Return the filled bins of a histogram."""
    return Filled(room.bins[slot], room.lengths[slot])


@compiled
def _count_histograms(data: Binned, steps: Any, room: Room, small: int, slot: int, parent: int) -> None:
    """Compute the histogram of a child in `slot` from its rows, and the other child's from the parent's."""
    rows = room.rows[room.whole[small, START] : room.whole[small, END]]
    for place in range(len(rows)):
        room.weights[place, 0] = steps[rows[place], 0]
        room.weights[place, 1] = steps[rows[place], 1]
    sums, filled = room.sums[slot], _filled_bins(room, parent)
    clear(sums, data.first, filled)
    add_rows(data.binned, data.first, rows, room.weights, sums)
    subtract(room.sums[parent], filled, sums, _filled_bins(room, slot), data.first)


@compiled
def _find_split(data: Binned, rules: Rules, room: Room, node: int) -> Any:
    """Find the best split of a node; return whether one exists."""
    own, real = room.whole[node], room.real[node]
    total = Node(real[GRADIENTS], real[HESSIANS], real[GRADIENTS] * real[VALUE], float(own[END] - own[START]))
    sums, filled = room.sums[own[SUMS]], _filled_bins(room, own[SUMS])
    split = best_split(sums, filled, data.columns, total, rules.smallest, rules.penalty)
    own[COLUMN], own[BIN], own[MISSING_LEFT], own[LEFT_ROWS] = split.column, split.bin, split.missing_left, split.rows
    real[GAIN], real[LEFT_GRADIENTS], real[LEFT_HESSIANS] = split.gain, split.gradients, split.hessians
    return split.gain > 0


@compiled
def _partition(data: Binned, room: Room, node: int) -> Any:
    """Put the rows that go left first, both sides in order; return the start of the right side."""
    own = room.whole[node]
    column, last, missing = own[COLUMN], own[BIN], data.columns[own[COLUMN], 1]
    missing_left = own[MISSING_LEFT] > 0
    width = data.binned.shape[2]
    values = data.binned[column // width, :, column % width]
    left, right = own[START], 0
    for place in range(own[START], own[END]):
        row = room.rows[place]
        value = values[row]
        goes_left = (value <= last) | (missing_left & (value == missing))
        room.rows[left] = row  # both are written: a branch would be mispredicted half of the time
        room.spare[right] = row
        left += goes_left
        right += not goes_left
    room.rows[left : own[END]] = room.spare[:right]
    return left


@compiled
def _create_children(room: Room, rules: Rules, node: int, child: int, middle: int) -> None:
    """Create the two children of a node whose rows are partitioned."""
    own, real = room.whole[node], room.real[node]
    own[CHILD] = child
    for side in range(2):
        whole, floats = room.whole[child + side], room.real[child + side]
        whole[START], whole[END] = (middle, own[END]) if side else (own[START], middle)
        whole[DEPTH], whole[CHILD], whole[SUMS] = own[DEPTH] + 1, -1, -1
        if side:
            floats[GRADIENTS] = real[GRADIENTS] - real[LEFT_GRADIENTS]
            floats[HESSIANS] = real[HESSIANS] - real[LEFT_HESSIANS]
        else:
            floats[GRADIENTS], floats[HESSIANS] = real[LEFT_GRADIENTS], real[LEFT_HESSIANS]
        floats[VALUE] = leaf_value(floats[GRADIENTS], floats[HESSIANS], rules.penalty)


@compiled
def _create_root(data: Binned, rules: Rules, steps: Any, room: Room) -> Any:
    """Create the root; return whether it can be split."""
    own, real = room.whole[0], room.real[0]
    own[START], own[END], own[DEPTH], own[CHILD], own[SUMS] = 0, data.m, 0, -1, 0
    for row in range(data.m):
        room.rows[row] = row
    for column in range(len(data.columns)):
        first, bins = data.columns[column, 0], data.columns[column, 1]
        room.bins[0, first : first + bins] = np.arange(bins)
        room.lengths[0, column] = bins
    room.sums[0] = 0
    add_rows(data.binned, data.first, room.rows, steps, room.sums[0])
    bins, missing = data.columns[0, 1], data.columns[0, 2]
    for part in (GRADIENTS, HESSIANS):
        cells = np.zeros(rules.most_bins + 1)
        cells[:bins] = room.sums[0, :bins, part]
        if missing:
            cells[rules.most_bins] = room.sums[0, bins, part]
        real[part] = numpy_sum(cells)
    real[VALUE] = 0.0
    few = data.m < 2 * rules.smallest or real[HESSIANS] < LEAST_HESSIAN
    return not few and _find_split(data, rules, room, 0)


@compiled
def grow(data: Binned, rules: Rules, steps: Any, room: Room) -> int:
    """Grow a tree in `room` on gradients and hessians, `steps` of shape (m, 2); return the number of nodes."""
    nodes, waiting, leaves = 1, 0, 0
    for slot in range(1, len(room.free)):
        room.free[slot - 1] = slot
    free = len(room.free) - 1
    if _create_root(data, rules, steps, room):
        _push(room.heap, 0, 0, room.real)
        waiting = 1
    while waiting:
        node = _pop(room.heap, waiting, room.real)
        waiting -= 1
        own = room.whole[node]
        middle = _partition(data, room, node)
        n_left, n_right = middle - own[START], own[END] - middle
        if not data.columns[own[COLUMN], 2]:
            own[MISSING_LEFT] = n_left > n_right
        _create_children(room, rules, node, nodes, middle)
        left, right = nodes, nodes + 1
        nodes += 2
        if leaves + waiting + 2 == rules.most_leaves:
            break
        slot = own[SUMS]
        if own[DEPTH] + 1 == rules.deepest or max(n_left, n_right) < 2 * rules.smallest:
            leaves += 2
            room.free[free] = slot
            free += 1
            continue
        small, large = (left, right) if n_left < n_right else (right, left)
        free -= 1
        other = room.free[free]
        _count_histograms(data, steps, room, small, other, slot)
        room.whole[small, SUMS], room.whole[large, SUMS] = other, slot
        for child in (left, right):
            n = room.whole[child, END] - room.whole[child, START]
            if n >= 2 * rules.smallest and _find_split(data, rules, room, child):
                _push(room.heap, waiting, child, room.real)
                waiting += 1
            else:
                leaves += 1
                room.free[free] = room.whole[child, SUMS]
                free += 1
    for node in range(nodes):
        room.real[node, VALUE] *= rules.rate
    return nodes
