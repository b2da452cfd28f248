"""Vectors of the length of a line of memory in functions compiled by Numba: as many whole numbers as 64 bytes hold.

Loops over short rows spend more time on their beginning and end, and on asking whether arrays overlap, than on work.
A vector stays in a register between the rows. Each function is one or two instructions of the processor; numbers are
without sign and wrap around.
"""

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import extending, types

#: The bytes of a line of memory.
LINE: Final = 64


class Lanes(types.Type):
    """The type of a vector: `count` numbers of `bits` bits."""

    def __init__(self, bits: int, count: int) -> None:
        self.bits, self.count = bits, count
        super().__init__(name=f"Lanes({bits}, {count})")


def _model(manager: Any, lanes: Lanes) -> Any:
    """The form in which a vector is passed and kept."""
    model: Any = extending.models.PrimitiveModel
    return model(manager, lanes, ir.VectorType(ir.IntType(lanes.bits), lanes.count))


_register: Any = extending.register_model
_register(Lanes)(_model)


def _address(context: Any, builder: Any, array_type: Any, array: Any, at: Any, vector: Any) -> Any:
    """The address of the vector that begins with element `at` of an array without gaps."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _load(typing: Any, array: Any, at: Any) -> Any:  # noqa: ARG001 (Numba's)
    bits = array.dtype.bitwidth
    lanes = Lanes(bits, 8 * LINE // bits)

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, at = values
        vector = ir.VectorType(ir.IntType(bits), lanes.count)
        loaded = builder.load(_address(context, builder, signature.args[0], array, at, vector))
        loaded.align = 1
        return loaded

    return lanes(array, types.uint64), lower


def _store(typing: Any, array: Any, at: Any, lanes: Any) -> Any:  # noqa: ARG001 (Numba's)
    if array.dtype.bitwidth != lanes.bits:
        return None

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, at, vector = values
        builder.store(vector, _address(context, builder, signature.args[0], array, at, vector.type)).align = 1
        return context.get_dummy_value()

    return types.none(array, types.uint64, lanes), lower


def _spread(typing: Any, lanes: Any, number: Any) -> Any:  # noqa: ARG001 (Numba's)
    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        vector, number = values
        small = builder.trunc(number, vector.type.element)
        one = builder.insert_element(ir.Constant(vector.type, ir.Undefined), small, ir.IntType(32)(0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), vector.type.count), None)
        return builder.shuffle_vector(one, one, places)

    return lanes(lanes, types.int64), lower


def _operation(operate: Callable[[Any, Any, Any], Any]) -> Any:
    """A function of two vectors."""

    def typed(typing: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 (Numba's)
        def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
            return operate(builder, *values)

        return a(a, a), lower

    return extending.intrinsic(typed)


def _widen(typing: Any, lanes: Any) -> Any:  # noqa: ARG001 (Numba's)
    wide = Lanes(32, lanes.count)

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        (narrow,) = values
        return narrow if lanes.bits == wide.bits else builder.zext(narrow, ir.VectorType(ir.IntType(32), wide.count))

    return wide(lanes), lower


load: Any = extending.intrinsic(_load)
"""The vector of `array` from an element on."""
store: Any = extending.intrinsic(_store)
"""Write a vector to `array` from an element on."""
spread: Any = extending.intrinsic(_spread)
"""A number in all places of a vector like `lanes`."""
widen: Any = extending.intrinsic(_widen)
"""The same numbers, of 32 bits."""
add: Any = _operation(lambda builder, a, b: builder.add(a, b))
subtract: Any = _operation(lambda builder, a, b: builder.sub(a, b))
multiply: Any = _operation(lambda builder, a, b: builder.mul(a, b))
lower: Any = _operation(lambda builder, a, b: builder.select(builder.icmp_unsigned("<", a, b), a, b))
higher: Any = _operation(lambda builder, a, b: builder.select(builder.icmp_unsigned(">", a, b), a, b))
up_to: Any = _operation(lambda builder, a, b: builder.sext(builder.icmp_unsigned("<=", a, b), a.type))
"""All bits where `a` is at most `b`, which is -1, and none elsewhere."""
