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


def _operation(operate: Callable[[Any, Any, Any], Any]) -> Any:
    """A function of two vectors."""

    def typed(typing: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 (Numba's)
        def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
            return operate(builder, *values)

        return a(a, a), lower

    return extending.intrinsic(typed)


load: Any = extending.intrinsic(_load)
"""The vector of `array` from an element on."""
store: Any = extending.intrinsic(_store)
"""Write a vector to `array` from an element on."""
lower: Any = _operation(lambda builder, a, b: builder.select(builder.icmp_unsigned("<", a, b), a, b))
higher: Any = _operation(lambda builder, a, b: builder.select(builder.icmp_unsigned(">", a, b), a, b))
