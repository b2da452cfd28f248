"""Passes over the rows of a kernel machine that find a largest value and the last place that has it, as vectors.

LLVM makes no vectors of a loop that looks for a maximum and for where it is, so these are said one by one. Nothing is
rounded otherwise than in a plain loop.
"""

import functools
from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

from ..vector_products import LANES, Block, everywhere

#: So many vectors are looked through at a time, of which one need not wait for another.
_AT_ONCE: Final = 4

_LINE: Final = Block(rows=1, vectors=1, lanes=LANES, sign=1)
_SINGLE: Final = ir.VectorType(ir.FloatType(), LANES)


class Fields:
    """The fields of a table of floats, and rows of a kernel of floats of 32 bits, from a row on."""

    def __init__(self, builder: Any, table: Any, kernel: Any, width: Any) -> None:
        self._builder, self._table, self._kernel, self._width = builder, table, kernel, width

    def _place(self, data: Any, line: Any, at: Any, kind: Any) -> Any:
        place = self._builder.gep(data, [self._builder.add(self._builder.mul(line, self._width), at)])
        return self._builder.bitcast(place, kind.as_pointer())

    def field(self, number: int, at: Any) -> Any:
        """A vector of a field."""
        return self._builder.load(self._place(self._table, self._width.type(number), at, _LINE.vector), align=8)

    def put(self, number: int, at: Any, value: Any) -> None:
        """Store a vector into a field."""
        self._builder.store(value, self._place(self._table, self._width.type(number), at, _LINE.vector), align=8)

    def kernel(self, row: Any, at: Any) -> Any:
        """A vector of a row of the kernel."""
        single = self._builder.load(self._place(self._kernel, row, at, _SINGLE), align=4)
        return self._builder.fpext(single, _LINE.vector)


def _variable(builder: Any, value: Any) -> Any:
    return cgutils.alloca_once_value(builder, value)  # type: ignore[no-untyped-call]


def _unpacked(builder: Any) -> Callable[[Any], Any]:
    return functools.partial(cgutils.unpack_tuple, builder)


def _later(builder: Any, one: Any, other: Any) -> Any:
    """The larger of two (value, place), or the later where they are equal."""
    larger = builder.fcmp_ordered(">", one[0], other[0])
    equal = builder.and_(builder.fcmp_ordered("==", one[0], other[0]), builder.fcmp_ordered(">", one[1], other[1]))
    take = builder.or_(larger, equal)
    return builder.select(take, one[0], other[0]), builder.select(take, one[1], other[1])


def _of_lanes(builder: Any, found: Any) -> Any:
    """The last place of the largest value of all lanes."""
    shift = LANES // 2
    while shift:
        turned = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [(lane + shift) % LANES for lane in range(LANES)])
        found = _later(builder, found, [builder.shuffle_vector(each, each, turned) for each in found])
        shift //= 2
    return [builder.extract_element(each, ir.IntType(32)(0)) for each in found]


def last_largest(builder: Any, rows: Any, body: Callable[[Any], list[Any]], values: int) -> list[Any]:
    """The largest of each of some values over the first rows, and the last place that has it.

    As many `rows` as the vectors fill are looked through; `body` gives the vectors of places, and of values, from a row
    on.
    """
    start = [ir.Constant(_LINE.vector, [float("-inf")] * LANES), ir.Constant(_LINE.vector, [-1.0] * LANES)]
    kept = [[[_variable(builder, each) for each in start] for _ in range(values)] for _ in range(_AT_ONCE)]
    done = rows.type(0)
    for vectors in (_AT_ONCE, 1):
        step = rows.type(vectors * LANES)
        end = builder.mul(builder.sdiv(rows, step), step)
        with cgutils.for_range_slice(builder, done, end, step, intp=rows.type) as (first, _):
            for own in range(vectors):
                at = builder.add(first, rows.type(own * LANES))
                place, *found = body(at)
                for value, (best, where) in zip(found, kept[own], strict=True):
                    before = builder.load(best), builder.load(where)
                    for each, variable in zip(_later(builder, (value, place), before), (best, where), strict=True):
                        builder.store(each, variable)
        done = end
    out = []
    for number in range(values):
        found = [[builder.load(each) for each in kept[own][number]] for own in range(_AT_ONCE)]
        while len(found) > 1:
            found = [_later(builder, *found[two : two + 2]) for two in range(0, len(found), 2)]
        out += _of_lanes(builder, found[0])
    return out


def scan(body: Callable[..., list[Any]], values: int) -> Any:
    """A function ``(table, kernel, rows, integers, floats)`` for compiled code that returns what `last_largest` finds.

    `body`: ``body(builder, fields, integers, vectors, at)`` gives the vectors of places, and of values, from row `at`
    on; each of the floats is a vector of its own.
    """

    def typed(context: Any, table: Any, kernel: Any, rows: Any, integers: Any, floats: Any) -> Any:  # noqa: ARG001
        result = types.UniTuple(types.float64, 2 * values)  # type: ignore[no-untyped-call]

        def lower(target: Any, builder: Any, signature: Any, given: Any) -> Any:
            arrays = [
                target.make_array(kind)(target, builder, value)
                for kind, value in zip(signature.args[:2], given[:2], strict=True)
            ]
            width = builder.extract_value(arrays[0].shape, 1)
            fields = Fields(builder, arrays[0].data, arrays[1].data, width)
            whole, parts = map(_unpacked(builder), given[3:])
            spread = [everywhere(builder, part, _LINE.vector) for part in parts]
            found = last_largest(builder, given[2], lambda at: body(builder, fields, whole, spread, at), values)
            return target.make_tuple(builder, signature.return_type, found)

        return result(table, kernel, types.intp, integers, floats), lower

    return extending.intrinsic(typed)
