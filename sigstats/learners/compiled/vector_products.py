"""A product of small matrices that stays in registers, compiled by Numba.

A product within a compiled loop needs no call of a library and no array between. What LLVM makes of plain loops goes
through memory in each step, so vectors are said one by one here: they are as long as those of the processor.
"""

from typing import Any, Final, NamedTuple

from llvmlite import binding, ir
from numba import extending, types
from numba.core import cgutils

from sigstats.learners.compiled.jit import inlined


def _lanes() -> int:
    """The number of floats in a vector of this processor."""
    features = binding.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


#: How many floats a vector has.
LANES: Final = _lanes()
_VECTORS: Final = 2

#: A block of a product has so many rows and columns: 16 accumulators of 32 registers, or 12 of 16.
ROWS: Final = 8 if LANES == 8 else 6
COLUMNS: Final = LANES * _VECTORS

#: A square block has so many rows and columns on every processor; where registers are few it is summed in parts.
SIDE: Final = 8
_PART: Final = SIDE if LANES == 8 else SIDE // 2

#: A block of a product of floats of 32 bits has so many columns, and `ROWS` rows.
SINGLE_COLUMNS: Final = 2 * COLUMNS

_FIRST: Final = ir.IntType(32)(0)


class Block(NamedTuple):
    """A block of a product.

    Its rows, the vectors of a row, the floats of a vector, and the bytes of a float. The product is added where `sign`
    is 1, subtracted where it is -1, and stored in the place of what was there where it is 0.
    """

    rows: int
    vectors: int
    lanes: int
    sign: int
    size: int = 8

    @property
    def vector(self) -> Any:
        """The type of a vector."""
        return ir.VectorType(ir.DoubleType() if self.size == 8 else ir.FloatType(), self.lanes)

    def pointers(self, builder: Any, data: Any, first: Any) -> list[Any]:
        """The addresses of the vectors of a row."""
        places = [builder.gep(data, [builder.add(first, first.type(v * self.lanes))]) for v in range(self.vectors)]
        return [builder.bitcast(place, self.vector.as_pointer()) for place in places]


def everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """A vector of one number."""
    nowhere = ir.Constant(vector, ir.Undefined)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(builder.insert_element(nowhere, number, _FIRST), nowhere, mask)


def _emit(block: Block, builder: Any, arrays: list[Any], places: list[Any]) -> None:
    """The instructions of a product, as `add_product` states it."""
    (a, b, c), (i, row, step, j, skip, k, width, count) = arrays, places
    rows = [builder.add(k, builder.mul(width, k.type(r))) for r in range(block.rows)]
    here = [pointer for place in rows for pointer in block.pointers(builder, c, place)]
    sums = [cgutils.alloca_once(builder, block.vector) for _ in here]  # type: ignore[no-untyped-call]
    combine = builder.fsub if block.sign < 0 else builder.fadd
    nothing = ir.Constant(block.vector, [0.0] * block.lanes)
    for own, place in zip(sums, here, strict=True):
        builder.store(builder.load(place, align=block.size) if block.sign else nothing, own)
    with cgutils.for_range(builder, count) as loop:
        at = builder.add(j, builder.mul(loop.index, skip))
        others = [builder.load(place, align=block.size) for place in block.pointers(builder, b, at)]
        first = builder.add(i, builder.mul(loop.index, step))
        for r in range(block.rows):
            number = builder.load(builder.gep(a, [builder.add(first, builder.mul(row, row.type(r)))]))
            factor = everywhere(builder, number, block.vector)
            for own, other in zip(sums[r * block.vectors : (r + 1) * block.vectors], others, strict=True):
                product = builder.fmul(factor, other, flags=("contract",))
                builder.store(combine(builder.load(own), product, flags=("contract",)), own)
    for own, place in zip(sums, here, strict=True):
        builder.store(builder.load(own), place, align=block.size)


def _of(block: Block) -> Any:
    def add(context: Any, a: Any, b: Any, c: Any, places: Any) -> Any:  # noqa: ARG001 (Numba's)
        def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:
            arrays = [
                target.make_array(kind)(target, builder, value).data
                for kind, value in zip(signature.args[:3], values[:3], strict=True)
            ]
            numbers = cgutils.unpack_tuple(builder, values[3])  # type: ignore[no-untyped-call]
            _emit(block, builder, arrays, numbers)
            return target.get_dummy_value()

        return types.void(a, b, c, places), lower

    return extending.intrinsic(add)


#: Add a block of a product of a and b, which are flat in memory as c is, to c; within compiled functions alone.
#:
#: With ``i, row, step, j, skip, k, width, count = places``, ``c[k + r * width + s]`` grows by the sum of
#: ``a[i + r * row + t * step] * b[j + t * skip + s]`` over t below count, for r below `ROWS` and s below `COLUMNS`.
add_product: Any = _of(Block(ROWS, _VECTORS, LANES, 1))

#: Put a block of such a product of floats of 32 bits into c, for s below `SINGLE_COLUMNS`.
set_single_product: Any = _of(Block(ROWS, _VECTORS, 2 * LANES, 0, size=4))

_add_part: Any = _of(Block(_PART, 1, SIDE, 1))
_subtract_part: Any = _of(Block(_PART, 1, SIDE, -1))


@inlined
def add_square(a: Any, b: Any, c: Any, places: Any) -> None:
    """The same as `add_product` for r and s below `SIDE`."""
    i, row, step, j, skip, k, width, count = places
    for first in range(0, SIDE, _PART):
        _add_part(a, b, c, (i + first * row, row, step, j, skip, k + first * width, width, count))


@inlined
def subtract_square(a: Any, b: Any, c: Any, places: Any) -> None:
    """The same as `add_square`, where c shrinks by the sum."""
    i, row, step, j, skip, k, width, count = places
    for first in range(0, SIDE, _PART):
        _subtract_part(a, b, c, (i + first * row, row, step, j, skip, k + first * width, width, count))
