"""A product of small matrices that stays in registers, compiled by Numba.

A product within a compiled loop needs no call of a library and no array between. What LLVM makes of plain loops goes
through memory in each step, so vectors are said one by one here: they are as long as those of the processor.
"""

from typing import Any, Final

from llvmlite import binding, ir
from numba import extending, types
from numba.core import cgutils


def _lanes() -> int:
    """How many floats a vector of this processor has."""
    features = binding.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


_LANES: Final = _lanes()
_VECTORS: Final = 2

#: A block of a product has so many rows and columns: 16 accumulators of 32 registers, or 12 of 16.
ROWS: Final = 8 if _LANES == 8 else 6
COLUMNS: Final = _LANES * _VECTORS

_VECTOR: Final = ir.VectorType(ir.DoubleType(), _LANES)
_NOWHERE: Final = ir.Constant(_VECTOR, ir.Undefined)
_FIRST: Final = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)


def _vectors(builder: Any, data: Any, first: Any) -> list[Any]:
    """Pointers to the vectors of a row of a block."""
    places = [builder.gep(data, [builder.add(first, first.type(part * _LANES))]) for part in range(_VECTORS)]
    return [builder.bitcast(place, _VECTOR.as_pointer()) for place in places]


def _everywhere(builder: Any, number: Any) -> Any:
    """A vector of one number."""
    return builder.shuffle_vector(builder.insert_element(_NOWHERE, number, ir.IntType(32)(0)), _NOWHERE, _FIRST)


def _emit(builder: Any, arrays: list[Any], places: list[Any]) -> None:
    """The instructions of `add_product`."""
    (a, b, c), (i, row, step, j, skip, k, width, count) = arrays, places
    here = [pair for r in range(ROWS) for pair in _vectors(builder, c, builder.add(k, builder.mul(width, k.type(r))))]
    sums = [cgutils.alloca_once(builder, _VECTOR) for _ in here]  # type: ignore[no-untyped-call]
    for own, place in zip(sums, here, strict=True):
        builder.store(builder.load(place, align=8), own)
    with cgutils.for_range(builder, count) as loop:
        at = builder.add(j, builder.mul(loop.index, skip))
        others = [builder.load(place, align=8) for place in _vectors(builder, b, at)]
        first = builder.add(i, builder.mul(loop.index, step))
        for r in range(ROWS):
            number = builder.load(builder.gep(a, [builder.add(first, builder.mul(row, row.type(r)))]))
            factor = _everywhere(builder, number)
            for own, other in zip(sums[r * _VECTORS : (r + 1) * _VECTORS], others, strict=True):
                product = builder.fmul(factor, other, flags=("contract",))
                builder.store(builder.fadd(builder.load(own), product, flags=("contract",)), own)
    for own, place in zip(sums, here, strict=True):
        builder.store(builder.load(own), place, align=8)


def _add_product(context: Any, a: Any, b: Any, c: Any, places: Any) -> Any:  # noqa: ARG001 (Numba's)
    """Add a block of a product of a and b, which are flat in memory as c is, to c.

    With ``i, row, step, j, skip, k, width, count = places``, ``c[k + r * width + s]`` grows by the sum of
    ``a[i + r * row + t * step] * b[j + t * skip + s]`` over t below count, for r below `ROWS` and s below `COLUMNS`.
    """

    def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        arrays = [
            target.make_array(kind)(target, builder, value).data
            for kind, value in zip(signature.args[:3], values[:3], strict=True)
        ]
        numbers = cgutils.unpack_tuple(builder, values[3])  # type: ignore[no-untyped-call]
        _emit(builder, arrays, numbers)
        return target.get_dummy_value()

    return types.void(a, b, c, places), lower


#: For arrays of float64, within compiled functions alone.
add_product: Any = extending.intrinsic(_add_product)
