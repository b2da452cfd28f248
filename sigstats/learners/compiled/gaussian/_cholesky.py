"""The inverse of Cholesky's factor in blocks of eight, compiled by Numba."""

import math
from typing import Any

from sigstats._common.compiled import compiled, inlined

from ..vector_products import SIDE, add_square, subtract_square


@inlined
def _inverse_of_block(matrix: Any, at: int, m: int) -> bool:
    """The inverse factor of a block in its lower half, zeros above it; False where it is not positive definite.

    A row that is done holds the inverse factor up to its diagonal and the factor's transpose behind it.
    """
    for i in range(SIDE):
        own = at + i * m
        pivot = matrix[own + i]
        if not 0 < pivot < math.inf:
            return False
        scale = 1 / math.sqrt(pivot)
        for j in range(SIDE):
            matrix[own + j] *= scale
        matrix[own + i] = scale
        for p in range(i + 1, SIDE):
            factor, other = matrix[own + p], at + p * m
            matrix[other + i] = 0.0
            for j in range(i + 1):
                matrix[other + j] -= factor * matrix[own + j]
            for j in range(p, SIDE):
                matrix[other + j] -= factor * matrix[own + j]
    for i in range(SIDE):
        for j in range(i + 1, SIDE):
            matrix[at + i * m + j] = 0.0
    return True


@compiled
def inverse_factor(matrix: Any, m: int, room: Any) -> bool:
    """Turn a symmetric matrix into the inverse of Cholesky's factor L, in its lower half; False where it has none.

    `matrix` (ndarray, shape (m * m,)): the upper half is read. What is above the blocks on the diagonal is of no use
    afterwards. `m`: a multiple of `SIDE`.
    """
    for k in range(0, m, SIDE):
        if not _inverse_of_block(matrix, k * m + k, m):
            return False
        # The other columns of these rows are multiplied by the inverse factor of the block.
        first = k * m
        for place in range(SIDE * m):
            room[place] = matrix[first + place]
            matrix[first + place] = 0.0
        for i in range(SIDE):
            for j in range(k, k + SIDE):
                matrix[first + i * m + j] = room[i * m + j]
        for j in range(0, m, SIDE):
            if j != k:
                add_square(room, room, matrix, (k, m, 1, j, m, first + j, m, SIDE))
        for p in range(k + SIDE, m, SIDE):
            for i in range(p, p + SIDE):
                for j in range(k, k + SIDE):
                    matrix[i * m + j] = 0.0
            for j in range(0, m, SIDE):
                if j <= k or j >= p:
                    subtract_square(matrix, matrix, matrix, (first + p, 1, m, first + j, m, p * m + j, m, SIDE))
    return True
