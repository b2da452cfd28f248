"""The best split of each column of a node of few rows, which are sorted by every column; compiled by Numba.

Columns lie side by side in vectors of 16 bits, which hold the squared counts of classes in up to `FEW` rows, and what
compares splits. Splits as good as the best but for rounding are compared as scikit-learn does.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

from sigstats.learners.compiled.jit import borrowed, inlined, merged

from ._coded_splits import Coded
from ._forest_folds import improvement

#: A node of more rows counts classes by level. More than 63 overflow 16 bits.
FEW: Final = 48

#: Numbers of 16 bits in a vector, of which a line of codes has a multiple.
_LANES: Final = 32
_VECTOR: Final = ir.VectorType(ir.IntType(16), _LANES)

#: A key is a code, and in these bits a class.
_CLASS: Final = 255


class Found(NamedTuple):
    """The best split of each column: how good it is, and the highest code that goes left; arrays of shape (width,)."""

    gain: Any
    code: Any


class FewRows(NamedTuple):
    """Memory of a search among few rows.

    ``keys`` (few, width) are sorted. ``before`` and ``after`` (few, width) count rows of a row's class, and become the
    squared counts to the left and the right of the split behind the row. ``sums`` (width,) compare the splits at a
    place, and ``largest`` (few,) is the largest of each place.
    """

    keys: Any
    before: Any
    after: Any
    sums: Any
    largest: Any


def _by_vectors(body: Callable[[Any, list[Any], list[Any]], list[Any]]) -> Any:
    """A function ``(arrays, numbers)`` that replaces arrays of one length by what `body` makes of their vectors.

    LLVM would ask before each of its own vector loops whether the arrays overlap, which takes longer than the loop.
    They do not, and have a multiple of `_LANES` numbers of 16 bits.
    """

    def typed(context: Any, arrays: Any, numbers: Any) -> Any:  # noqa: ARG001 (Numba's)
        unpacked: Any = cgutils.unpack_tuple

        def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = target.make_array(signature.args[0].dtype)
            given = [array(target, builder, each) for each in unpacked(builder, values[0])]
            spread = [_everywhere(builder, each) for each in unpacked(builder, values[1])]
            length = builder.extract_value(given[0].shape, 0)
            start, step = length.type(0), length.type(_LANES)
            with cgutils.for_range_slice(builder, start, length, step, intp=length.type) as (at, _):
                places = [builder.bitcast(builder.gep(each.data, [at]), _VECTOR.as_pointer()) for each in given]
                found = body(builder, [builder.load(place, align=2) for place in places], spread)
                for place, made in zip(places, found, strict=True):
                    builder.store(made, place, align=2)
            return target.get_dummy_value()

        return types.void(arrays, numbers), lower

    return extending.intrinsic(typed)


def _everywhere(builder: Any, number: Any) -> Any:
    """A vector of one number."""
    nowhere = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nowhere, builder.trunc(number, ir.IntType(16)), ir.IntType(32)(0))
    return builder.shuffle_vector(first, nowhere, ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES))


def _constant(number: int) -> Any:
    return ir.Constant(_VECTOR, [number] * _LANES)


def _in_order(builder: Any, keys: list[Any], _: list[Any]) -> list[Any]:
    """The smaller of two keys, and the larger."""
    one, other = keys
    ordered = builder.icmp_unsigned("<", one, other)
    return [builder.select(ordered, one, other), builder.select(ordered, other, one)]


def _count_same(builder: Any, vectors: list[Any], _: list[Any]) -> list[Any]:
    """Keys as they are, and counts that grow by 1 where both are of one class."""
    one, other, after, before = vectors
    unlike = builder.and_(builder.xor(one, other), _constant(_CLASS))
    same = builder.zext(builder.icmp_unsigned("==", unlike, _constant(0)), _VECTOR)
    return [one, other, builder.add(after, same), builder.add(before, same)]


def _move(builder: Any, vectors: list[Any], _: list[Any]) -> list[Any]:
    """The squared counts of both sides, and those after a row moves to the left; it gives how many are there."""
    left, right, before, after = vectors
    to_left = builder.add(left, builder.add(builder.add(before, before), _constant(1)))
    to_right = builder.sub(right, builder.add(builder.add(after, after), _constant(1)))
    return [left, right, to_left, to_right]


def _compare_split(builder: Any, vectors: list[Any], numbers: list[Any]) -> list[Any]:
    """The squared counts of each side times the number of the other, where the keys are of different codes."""
    low, high, left, right, _ = vectors
    n_left, n_right = numbers
    here = builder.add(builder.mul(left, n_right), builder.mul(right, n_left))
    apart = builder.icmp_unsigned(">", builder.xor(low, high), _constant(_CLASS))
    return [low, high, left, right, builder.select(apart, here, _constant(0))]


_sort_two, _pair = _by_vectors(_in_order), _by_vectors(_count_same)
_advance, _weigh = _by_vectors(_move), _by_vectors(_compare_split)


@inlined
def _sort(keys: Any, m: int) -> None:
    """Sort the first `m` rows of each column, by Batcher's network (Knuth's algorithm 5.2.2 M)."""
    size = 1
    while size < m:
        step = size
        while step:
            for start in range(step % size, m - step, 2 * step):
                for at in range(start, min(start + step, m - step)):
                    if at // (2 * size) == (at + step) // (2 * size):
                        _sort_two((borrowed(keys[np.uint64(at)]), borrowed(keys[np.uint64(at + step)])), ())
            step //= 2
        size *= 2


@inlined
def _improve(low: Any, high: Any, left: Any, right: Any, found: Found, n_left: float, n_right: float) -> None:
    """Keep the split between two rows of each column where it is better than the best before."""
    gain, code = borrowed(found.gain), borrowed(found.code)
    for column in range(len(low)):
        here, above = low[column] >> 8, high[column] >> 8
        made = improvement(left[column], n_left, right[column], n_right)[0]
        better = (made > gain[column]) & (here != above)
        gain[column] = made if better else gain[column]
        code[column] = here if better else code[column]


@merged
def _make_keys(sample: Coded, members: Any, keys: Any) -> None:
    """Sort the rows of a node by each column."""
    for at in range(len(members)):
        row = members[at]
        own, key, label = borrowed(sample.codes[row]), borrowed(keys[np.uint64(at)]), np.uint16(sample.label[row])
        for column in range(len(own)):
            key[column] = np.uint16(own[column]) << 8 | label
    _sort(keys, len(members))


@merged
def _count(m: int, squares: int, room: FewRows) -> None:
    """Find the squared counts to the left and the right of the splits behind all rows but the last."""
    keys, before, after = room.keys, room.before, room.after
    before[: np.uint64(m)] = 0
    after[: np.uint64(m)] = 0
    for at in range(np.uint64(m)):
        for earlier in range(at):
            _pair((borrowed(keys[earlier]), borrowed(keys[at]), borrowed(after[earlier]), borrowed(before[at])), ())
    before[0] = 1
    after[0] = squares - (2 * after[0] + 1)
    for at in range(np.uint64(1), np.uint64(m - 1)):
        last = at - np.uint64(1)
        _advance((borrowed(before[last]), borrowed(after[last]), borrowed(before[at]), borrowed(after[at])), ())


@inlined
def _largest(sums: Any) -> Any:
    largest = np.uint16(0)
    for column in range(len(sums)):
        largest = max(largest, sums[column])
    return np.int64(largest)


@merged
def search_few(sample: Coded, members: Any, squares: int, smallest: int, found: Found, room: FewRows) -> None:
    """Find the best split of each column, if it is the best of all columns but for rounding."""
    m, keys, before, after, sums = len(members), room.keys, room.before, room.after, borrowed(room.sums)
    _make_keys(sample, members, keys)
    _count(m, squares, room)
    best, of = 0, 1
    for cut in range(smallest, m + 1 - smallest):
        at, here = np.uint64(cut - 1), np.uint64(cut)
        rows = borrowed(keys[at]), borrowed(keys[here]), borrowed(before[at]), borrowed(after[at])
        _weigh((*rows, sums), (cut, m - cut))
        largest = _largest(sums)
        room.largest[here] = largest
        if largest * of > best * (cut * (m - cut)):
            best, of = largest, cut * (m - cut)
    found.gain[:] = -np.inf
    for cut in range(smallest, m + 1 - smallest):
        at, here = np.uint64(cut - 1), np.uint64(cut)
        if best and room.largest[here] * of == best * (cut * (m - cut)):
            rows = borrowed(keys[at]), borrowed(keys[here]), borrowed(before[at]), borrowed(after[at])
            _improve(*rows, found, float(cut), float(m - cut))
