"""The best split of each column of a node of few rows, which are sorted by every column; compiled by Numba.

Columns lie side by side in vectors of 16 bits, which hold the squared counts of classes in up to `FEW` rows, and what
compares splits. Splits as good as the best but for rounding are compared as scikit-learn does.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import borrowed, inlined, merged

from ._coded_splits import Coded
from ._forest_folds import improvement
from ._vectors import by_vectors, constant, count_alike

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
    and after it; ``left`` and ``right`` are the squared counts of both sides before each row. ``sums`` (width,) compare
    the splits at a place, and ``largest`` (few,) is the largest of each place.
    """

    keys: Any
    classes: Any
    alike: Any
    left: Any
    right: Any
    sums: Any
    largest: Any


def _in_order(builder: Any, keys: list[Any], _: list[Any]) -> list[Any]:
    """The smaller of two keys, and the larger."""
    one, other = keys
    ordered = builder.icmp_unsigned("<", one, other)
    return [builder.select(ordered, one, other), builder.select(ordered, other, one)]


def _key_of(builder: Any, vectors: list[Any], numbers: list[Any]) -> list[Any]:
    """Keys of codes and a class."""
    return [builder.or_(builder.shl(vectors[0], constant(_SHIFT)), numbers[0])]


def _class_of(builder: Any, vectors: list[Any], _: list[Any]) -> list[Any]:
    """The classes of keys."""
    return [builder.and_(vectors[0], constant(_CLASS))]


def _move(builder: Any, vectors: list[Any], _: list[Any]) -> list[Any]:
    """The squared counts of both sides, after a row moves to the left of whose class `before` and `after` are there."""
    before, after, left, right, *_ = vectors
    to_left = builder.add(left, builder.add(builder.add(before, before), constant(1)))
    to_right = builder.sub(right, builder.add(builder.add(after, after), constant(1)))
    return [to_left, to_right]


def _compare_split(builder: Any, vectors: list[Any], numbers: list[Any]) -> list[Any]:
    """The squared counts of each side times the number of the other, where the keys are of different codes."""
    low, high, left, right, _ = vectors
    n_left, n_right = numbers
    here = builder.add(builder.mul(left, n_right), builder.mul(right, n_left))
    apart = builder.icmp_unsigned(">", builder.xor(low, high), constant(_CLASS))
    return [builder.select(apart, here, constant(0))]


_make_key, _sort_two, _take_class = by_vectors(_key_of), by_vectors(_in_order), by_vectors(_class_of)
_advance, _weigh = by_vectors(_move), by_vectors(_compare_split)


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


@inlined
def _improve(low: Any, high: Any, left: Any, right: Any, found: Found, n_left: float, n_right: float) -> None:
    """Keep the split between two rows of each column where it is better than the best before."""
    gain, code = borrowed(found.gain), borrowed(found.code)
    for column in range(len(low)):
        here, above = low[column] >> _SHIFT, high[column] >> _SHIFT
        made = improvement(left[column], n_left, right[column], n_right)[0]
        better = (made > gain[column]) & (here != above)
        gain[column] = made if better else gain[column]
        code[column] = here if better else code[column]


@merged
def _make_keys(sample: Coded, members: Any, keys: Any) -> None:
    """Sort the rows of a node by each column."""
    for at in range(len(members)):
        row = members[at]
        _make_key((borrowed(sample.codes[row]), borrowed(keys[np.uint64(at)])), (np.int64(sample.label[row]),))
    for each in range(_FIRST[len(members)], _FIRST[len(members) + 1]):
        one, other = np.uint64(_PAIRS[each, 0]), np.uint64(_PAIRS[each, 1])
        _sort_two((borrowed(keys[one]), borrowed(keys[other])), ())


@merged
def _count(m: int, squares: int, room: FewRows) -> None:
    """Find the squared counts to the left and the right of the splits behind all rows but the last."""
    keys, classes, left, right = room.keys, room.classes, room.left, room.right
    before, after = borrowed(room.alike[0]), borrowed(room.alike[1])
    for at in range(np.uint64(m)):
        _take_class((borrowed(keys[at]), borrowed(classes[at])), ())
    left[0] = 0
    right[0] = squares
    for at in range(np.uint64(m - 1)):
        behind = at + np.uint64(1)
        count_alike(classes, before, at, np.uint64(0), at)
        count_alike(classes, after, at, behind, np.uint64(m))
        sides = borrowed(left[at]), borrowed(right[at]), borrowed(left[behind]), borrowed(right[behind])
        _advance((before, after, *sides), ())


@inlined
def _largest(sums: Any) -> Any:
    largest = np.uint16(0)
    for column in range(len(sums)):
        largest = max(largest, sums[column])
    return np.int64(largest)


@merged
def search_few(sample: Coded, members: Any, squares: int, smallest: int, found: Found, room: FewRows) -> None:
    """Find the best split of each column, if it is the best of all columns but for rounding."""
    m, keys, left, right, sums = len(members), room.keys, room.left, room.right, borrowed(room.sums)
    _make_keys(sample, members, keys)
    _count(m, squares, room)
    best, of = 0, 1
    for cut in range(smallest, m + 1 - smallest):
        at, here = np.uint64(cut - 1), np.uint64(cut)
        rows = borrowed(keys[at]), borrowed(keys[here]), borrowed(left[here]), borrowed(right[here])
        _weigh((*rows, sums), (cut, m - cut))
        largest = _largest(sums)
        room.largest[here] = largest
        if largest * of > best * (cut * (m - cut)):
            best, of = largest, cut * (m - cut)
    found.gain[:] = -np.inf
    for cut in range(smallest, m + 1 - smallest):
        at, here = np.uint64(cut - 1), np.uint64(cut)
        if best and room.largest[here] * of == best * (cut * (m - cut)):
            rows = borrowed(keys[at]), borrowed(keys[here]), borrowed(left[here]), borrowed(right[here])
            _improve(*rows, found, float(cut), float(m - cut))
