"""Loops over columns that lie side by side, in vectors of a line of memory or two; compiled by Numba.

LLVM would ask before each of its own vector loops whether the arrays overlap, which takes longer than the loop, and
would write to memory what is gathered over rows. These arrays do not overlap, and a row of codes has whole lines.
"""

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

#: The bytes of a line of memory.
_LINE: Final = 64

#: A vector of 16 bits for each column of a line of codes.
_WIDE: Final = ir.VectorType(ir.IntType(16), _LINE)
_NARROW: Final = ir.VectorType(ir.IntType(8), _LINE)

# Numba's, which say nothing of their types.
_variable: Any = cgutils.alloca_once_value
_unpacked: Any = cgutils.unpack_tuple


def everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """A vector of one number."""
    nowhere = ir.Constant(vector, ir.Undefined)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(builder.insert_element(nowhere, number, ir.IntType(32)(0)), nowhere, mask)


Body = Callable[[Any, list[Any], list[Any]], list[Any]]


def _lanes(array: Any) -> Any:
    """The vector of a line of an array's type."""
    return ir.VectorType(ir.IntType(array.dtype.bitwidth), 8 * _LINE // array.dtype.bitwidth)


def _open(target: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    return [target.make_array(kind)(target, builder, value) for kind, value in zip(kinds, values, strict=True)]


def _place(builder: Any, array: Any, at: Any, vector: Any) -> Any:
    return builder.bitcast(builder.gep(array.data, [at]), vector.as_pointer())


def _load(builder: Any, array: Any, at: Any, vector: Any) -> Any:
    return builder.load(_place(builder, array, at, vector), align=vector.element.width // 8)


def _store(builder: Any, made: Any, array: Any, at: Any) -> None:
    builder.store(made, _place(builder, array, at, made.type), align=made.type.element.width // 8)


def _over(builder: Any, length: Any, step: int) -> Any:
    """A loop over the first columns of vectors."""
    return cgutils.for_range_slice(builder, length.type(0), length, length.type(step), intp=length.type)


def constant(number: int) -> Any:
    """A vector of 16 bits of one number."""
    return ir.Constant(_WIDE, [number] * _LINE)


def by_vectors(body: Body) -> Any:
    """A function ``(arrays, numbers)`` that replaces the last of arrays by what `body` makes of the vectors of all.

    They have one length, a multiple of `_LINE`, and numbers of 16 bits, or of 8, which `body` is given in 16.
    """

    def typed(context: Any, arrays: Any, numbers: Any) -> Any:  # noqa: ARG001 (Numba's)
        narrow = [each.dtype.bitwidth == 8 for each in arrays.types]

        def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
            given = _open(target, builder, arrays.types, _unpacked(builder, values[0]))
            short = [builder.trunc(each, _WIDE.element) for each in _unpacked(builder, values[1])]
            spread = [everywhere(builder, each, _WIDE) for each in short]
            length = builder.extract_value(given[0].shape, 0)
            with _over(builder, length, _LINE) as (at, _):
                vectors = []
                for each, small in zip(given, narrow, strict=True):
                    loaded = _load(builder, each, at, _NARROW if small else _WIDE)
                    vectors.append(builder.zext(loaded, _WIDE) if small else loaded)
                made = body(builder, vectors, spread)
                for each, small, one in zip(given[-len(made) :], narrow[-len(made) :], made, strict=True):
                    _store(builder, builder.trunc(one, _NARROW) if small else one, each, at)
            return target.get_dummy_value()

        return types.void(arrays, numbers), lower

    return extending.intrinsic(typed)


def _find_bounds(context: Any, codes: Any, members: Any, low: Any, high: Any) -> Any:  # noqa: ARG001
    """Find the lowest and the highest code of each column in a node."""
    vector = _lanes(codes)

    def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        of, rows, least, most = _open(target, builder, signature.args, values)
        width, count = builder.extract_value(of.shape, 1), builder.extract_value(rows.shape, 0)

        def row(each: Any) -> Any:
            own = builder.zext(builder.load(builder.gep(rows.data, [each])), width.type)
            return _load(builder, of, builder.add(builder.mul(own, width), at), vector)

        with _over(builder, width, vector.count) as (at, _):
            bounds = [_variable(builder, row(width.type(0))) for _ in range(2)]
            with _over(builder, count, 1) as (each, _):
                own = row(each)
                for bound, sign in zip(bounds, "<>", strict=True):
                    known = builder.load(bound)
                    better = builder.icmp_unsigned(sign, own, known)
                    builder.store(builder.select(better, own, known), bound)
            for bound, to in zip(bounds, (least, most), strict=True):
                _store(builder, builder.load(bound), to, at)
        return target.get_dummy_value()

    return types.void(codes, members, low, high), lower


find_bounds: Any = extending.intrinsic(_find_bounds)


def _count_alike(context: Any, classes: Any, counts: Any, at: Any, start: Any, stop: Any) -> Any:  # noqa: ARG001
    """Count in each column the rows from `start` to `stop` that are of the class of row `at`: up to 255."""
    vector = _lanes(classes)

    def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        of, to = _open(target, builder, signature.args[:2], values[:2])
        own_row, first, last = values[2:]
        width = builder.extract_value(of.shape, 1)
        with _over(builder, width, vector.count) as (column, _):

            def row(each: Any) -> Any:
                return _load(builder, of, builder.add(builder.mul(each, width), column), vector)

            own, count = row(own_row), _variable(builder, ir.Constant(vector, [0] * vector.count))
            with cgutils.for_range_slice(builder, first, last, width.type(1), intp=width.type) as (each, _):
                alike = builder.sext(builder.icmp_unsigned("==", row(each), own), vector)
                builder.store(builder.sub(builder.load(count), alike), count)
            _store(builder, builder.load(count), to, column)
        return target.get_dummy_value()

    return types.void(classes, counts, types.uint64, types.uint64, types.uint64), lower


count_alike: Any = extending.intrinsic(_count_alike)


def _add_sides(builder: Any, sums: list[Any], own: Any, there: Any) -> None:
    """Add a class's squared counts on both sides, and its count on the left, of `there` rows in all."""
    rest = builder.sub(everywhere(builder, there, own.type), own)
    for kept, more in zip(sums, (builder.mul(own, own), builder.mul(rest, rest), own), strict=True):
        builder.store(builder.add(builder.load(kept), more), kept)


def _count_left(
    context: Any,  # noqa: ARG001 (Numba's)
    codes: Any,
    members: Any,
    total: Any,
    highest: Any,
    left: Any,
    right: Any,
    rows: Any,
) -> Any:
    """Count the rows up to the `highest` code of each column: the squared counts of both sides, the number there.

    `members` are in the order of their classes, of which `total` has the numbers: less than 2^16 rows in all.
    """
    vector = _lanes(codes)
    short, wide = (ir.VectorType(ir.IntType(size), vector.count) for size in (16, 32))

    def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        of, listed, all_of, most, *sums = _open(target, builder, signature.args, values)
        width, classes = builder.extract_value(of.shape, 1), builder.extract_value(all_of.shape, 0)
        with _over(builder, width, vector.count) as (at, _):
            limit, start = _load(builder, most, at, vector), _variable(builder, width.type(0))
            found = [_variable(builder, ir.Constant(wide, [0] * wide.count)) for _ in sums]
            with _over(builder, classes, 1) as (each, _):
                there = builder.load(builder.gep(all_of.data, [each]))
                with builder.if_then(builder.icmp_signed("!=", there, there.type(0))):
                    count, first = _variable(builder, ir.Constant(short, [0] * short.count)), builder.load(start)
                    end = builder.add(first, there)
                    with cgutils.for_range_slice(builder, first, end, width.type(1), intp=width.type) as (place, _):
                        row = builder.zext(builder.load(builder.gep(listed.data, [place])), width.type)
                        own = _load(builder, of, builder.add(builder.mul(row, width), at), vector)
                        goes = builder.sext(builder.icmp_unsigned("<=", own, limit), short)
                        builder.store(builder.sub(builder.load(count), goes), count)
                    builder.store(end, start)
                    own = builder.zext(builder.load(count), wide)
                    _add_sides(builder, found, own, builder.trunc(there, wide.element))
            for kept, array in zip(found, sums, strict=True):
                _store(builder, builder.load(kept), array, at)
        return target.get_dummy_value()

    return types.void(codes, members, total, highest, left, right, rows), lower


count_left: Any = extending.intrinsic(_count_left)


def _pass_level(
    context: Any,  # noqa: ARG001 (Numba's)
    counts: Any,
    total: Any,
    here: Any,
    left: Any,
    right: Any,
    rows: Any,
    level: Any,  # noqa: ARG001
) -> Any:
    """Move the rows of a level to the left: the counts there, the squared counts of both sides, the number there.

    `counts` (classes, levels, width) and `here` (classes, width) have 16 bits, the squares and the number 32.
    """
    vector, wide = _lanes(counts), ir.VectorType(ir.IntType(32), _LINE // 2)

    def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        of, all_of, to, *sums = _open(target, builder, signature.args[:-1], values[:-1])
        classes, levels, width = (builder.extract_value(of.shape, axis) for axis in range(3))
        with _over(builder, width, vector.count) as (at, _):
            found = [_variable(builder, ir.Constant(wide, [0] * wide.count)) for _ in sums]
            with _over(builder, classes, 1) as (each, _):
                there = builder.trunc(builder.load(builder.gep(all_of.data, [each])), wide.element)
                with builder.if_then(builder.icmp_signed("!=", there, wide.element(0))):
                    row = builder.add(builder.mul(each, levels), values[-1])
                    moved = _load(builder, of, builder.add(builder.mul(row, width), at), vector)
                    place = builder.add(builder.mul(each, width), at)
                    passed = builder.add(moved, _load(builder, to, place, vector))
                    _store(builder, passed, to, place)
                    _add_sides(builder, found, builder.zext(passed, wide), there)
            for kept, array in zip(found, sums, strict=True):
                _store(builder, builder.load(kept), array, at)
        return target.get_dummy_value()

    return types.void(counts, total, here, left, right, rows, types.uint64), lower


pass_level: Any = extending.intrinsic(_pass_level)
