"""The best split of each column of a node of few rows, which are sorted by every column; compiled by Numba.

Columns are adjacent in vectors of 16 bits, which hold the squared counts of classes in up to `FEW` rows, and the
criterion of splits. Splits that equal the best except for rounding are compared as in scikit-learn.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import lean, merged

from ._coded_splits import Coded
from ._forest_folds import improvement
from ._vectors import count_alike

#: A node of more rows counts classes by level. More than 63 overflow 16 bits.
FEW: Final = 48

#: A key is a code, and in so many bits below it a class.
_SHIFT: Final = 8
_CLASS: Final = 2**_SHIFT - 1


class Found(NamedTuple):
    """The best split of each column: how good it is, and the highest code that goes left; arrays of shape (width,)."""

    gain: Any
    code: Any


class FewRows(NamedTuple):
    """Memory of a search among few rows.

    ``keys`` (few, width) are sorted; ``classes`` are theirs. ``alike`` (2, width) counts rows of a row's class before
    and after it; ``left`` and ``right`` are the squared counts of both sides before each row. ``largest`` (few,)
    compares the best splits of each place.
    """

    keys: Any
    classes: Any
    alike: Any
    left: Any
    right: Any
    largest: Any


def _network(m: int) -> list[tuple[int, int]]:
    """The pairs that Batcher's network puts in order, one after the other (Knuth's algorithm 5.2.2 M)."""
    pairs, size = [], 1
    while size < m:
        step = size
        while step:
            for start in range(step & (size - 1), m - step, 2 * step):
                ends = range(start, min(start + step, m - step))
                pairs += [(at, at + step) for at in ends if at ^ (at + step) < 2 * size]
            step >>= 1
        size *= 2
    return pairs


_NETWORKS: Final = [_network(m) for m in range(FEW + 1)]
#: The pairs of all numbers of rows, and the first of each number.
_PAIRS: Final = np.array([pair for network in _NETWORKS for pair in network], dtype=np.uint8)
_FIRST: Final = np.cumsum([0, *map(len, _NETWORKS)])


@lean
def _improve(
    keys: Any, at: Any, here: Any, left: Any, right: Any, gain: Any, code: Any, n_left: float, n_right: float
) -> None:
    """Keep the split between two rows of each column where it is better than the best before."""
    for column in range(np.uint64(keys.shape[1])):
        below, above = keys[at, column] >> _SHIFT, keys[here, column] >> _SHIFT
        made = improvement(left[here, column], n_left, right[here, column], n_right)[0]
        better = (made > gain[column]) & (below != above)
        gain[column] = made if better else gain[column]
        code[column] = below if better else code[column]


@lean
def _make_keys(codes: Any, labels: Any, members: Any, keys: Any) -> None:
    """Sort the rows of a node by each column: a key is a code and, below it, a class."""
    width = np.uint64(keys.shape[1])
    for at in range(np.uint64(len(members))):
        row = np.uint64(members[at])
        label = np.uint16(labels[row])
        for column in range(width):
            keys[at, column] = np.uint16(codes[row, column]) << _SHIFT | label
    for pair in range(_FIRST[len(members)], _FIRST[len(members) + 1]):
        one, other = np.uint64(_PAIRS[pair, 0]), np.uint64(_PAIRS[pair, 1])
        for column in range(width):
            low, high = min(keys[one, column], keys[other, column]), max(keys[one, column], keys[other, column])
            keys[one, column], keys[other, column] = low, high


@lean
def _count(keys: Any, classes: Any, alike: Any, left: Any, right: Any, m: int, squares: int) -> None:
    """Find the squared counts to the left and the right of the splits behind all rows but the last."""
    width, before, after = np.uint64(keys.shape[1]), np.uint64(0), np.uint64(1)
    for at in range(np.uint64(m)):
        for column in range(width):
            classes[at, column] = keys[at, column] & _CLASS
    left[0] = 0
    right[0] = squares
    for at in range(np.uint64(m - 1)):
        behind = at + np.uint64(1)
        count_alike(classes, alike, before, at, np.uint64(0), at)
        count_alike(classes, alike, after, at, behind, np.uint64(m))
        for column in range(width):
            left[behind, column] = left[at, column] + 2 * alike[before, column] + 1
            right[behind, column] = right[at, column] - 2 * alike[after, column] - 1


@lean
def _weigh(keys: Any, at: Any, here: Any, left: Any, right: Any, n_left: Any, n_right: Any) -> Any:
    """The largest sum, over columns, of the squared counts of each side times the number of the other.

    Only columns count in which the two keys are of different codes.
    """
    largest = np.uint16(0)
    for column in range(np.uint64(keys.shape[1])):
        weighed = np.uint16(left[here, column] * n_right + right[here, column] * n_left)
        apart = np.uint16(keys[at, column] ^ keys[here, column]) > np.uint16(_CLASS)
        largest = max(largest, weighed if apart else np.uint16(0))
    return np.int64(largest)


@merged
def search_few(sample: Coded, members: Any, squares: int, smallest: int, splits: Found, room: FewRows) -> None:
    """Find the best split of each column, if it is the best of all columns except for rounding."""
    m, keys, left, right = len(members), room.keys, room.left, room.right
    _make_keys(sample.codes, sample.label, members, keys)
    _count(keys, room.classes, room.alike, left, right, m, squares)
    best, of = 0, 1
    for cut in range(smallest, m + 1 - smallest):
        at, here = np.uint64(cut - 1), np.uint64(cut)
        largest = _weigh(keys, at, here, left, right, np.uint16(cut), np.uint16(m - cut))
        room.largest[here] = largest
        if largest * of > best * (cut * (m - cut)):
            best, of = largest, cut * (m - cut)
    splits.gain[:] = -np.inf
    for cut in range(smallest, m + 1 - smallest):
        at, here = np.uint64(cut - 1), np.uint64(cut)
        if best and room.largest[here] * of == best * (cut * (m - cut)):
            _improve(keys, at, here, left, right, splits.gain, splits.code, float(cut), float(m - cut))
