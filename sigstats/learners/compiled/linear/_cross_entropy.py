"""Losses of logistic regressions and their gradients, compiled by Numba: one pass over rows that are in cache.

The regressions share their rows. Of a tile of rows the scores in many regressions are one product, which turns into
derivatives and goes into another product while it is in cache. Exponentials are polynomials, within a few roundings of
the last bit, and become vector instructions. A sum of logarithms is the logarithm of a product of as many factors as
cannot overflow.
"""

import functools
import math
from typing import Any, Final

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.learners.compiled.jit import borrowed, compiled

from ..vector_products import COLUMNS, ROWS, add_product

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_COEFFICIENTS = tuple(1 / math.factorial(power) for power in range(13, -1, -1))

#: A number to which one of size below 2^51 is added as a whole number, which its last bits are.
_WHOLE = 1.5 * 2.0**52

#: Rows of a tile. So many sums of exponentials, each at most the number of classes, 2^14, have a product that is a
#: number.
_TILE: Final = 64

#: Scores of so many outputs are one product.
_OUTPUTS: Final = 64

#: What is known of the rows of a tile: the class, or -1; the largest score; that of the last class, and then the sum of
#: exponentials; the loss; and room for exponentials.
_CODE, _TOP, _SUM, _LOSS, _REST = range(5)

#: Products and sums may be one instruction; no sum is taken in another order. Loops of few arrays become vectors.
_approximate = functools.partial(compiled, fastmath={"contract"}, forceinline=True)
_numbers = functools.partial(compiled, fastmath={"contract", "nnan", "nsz"}, forceinline=True)


@_numbers
def _exponentials(values: Any, below: Any, room: Any, bits: Any) -> None:
    """Values to the exponentials of their differences to others, which are 0 or less."""
    for i in range(_TILE):
        exponent = max(values[i] - below[i], -700.0)
        shifted = exponent * 1.4426950408889634 + _WHOLE
        room[i] = shifted
        whole = shifted - _WHOLE
        rest = (exponent - whole * _LN2_HIGH) - whole * _LN2_LOW
        power = 0.0
        for coefficient in _COEFFICIENTS:
            power = power * rest + coefficient
        values[i] = power
    for i in range(_TILE):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(_TILE):
        values[i] *= room[i]


@_numbers
def _add(values: Any, others: Any, sign: float) -> None:
    for i in range(_TILE):
        values[i] += sign * others[i]


@_numbers
def _add_where(values: Any, others: Any, sign: float, codes: Any, code: int) -> None:
    """Add others where the class is `code`."""
    for i in range(_TILE):
        values[i] += sign * others[i] if codes[i] == code else 0.0


@_numbers
def _raise(values: Any, others: Any) -> None:
    for i in range(_TILE):
        values[i] = max(values[i], others[i])


@_numbers
def _trained_alone(losses: Any, sums: Any, codes: Any) -> None:
    """No loss, and a sum of 1, of rows that are not trained on."""
    for i in range(_TILE):
        losses[i] = losses[i] if codes[i] >= 0 else 0.0
    for i in range(_TILE):
        sums[i] = sums[i] if codes[i] >= 0 else 1.0


@_numbers
def _derive(shares: Any, factors: Any, codes: Any, code: int) -> None:
    for i in range(_TILE):
        shares[i] = shares[i] * factors[i] - (1.0 if codes[i] == code else 0.0)


@_approximate
def _total(losses: Any, sums: Any) -> float:
    """The sum of the losses of a tile, and of the logarithms of its sums."""
    total, product = 0.0, 1.0
    for i in range(0, _TILE, 4):
        total += (losses[i] + losses[i + 1]) + (losses[i + 2] + losses[i + 3])
        product *= (sums[i] * sums[i + 1]) * (sums[i + 2] * sums[i + 3])
    return float(total + math.log(product))


@_approximate
def _softmax(scores: Any, room: Any, bits: Any) -> float:
    """The loss of the training rows of a tile; scores of all classes but the last become derivatives."""
    codes, top, whole, losses, rest = room[_CODE], room[_TOP], room[_SUM], room[_LOSS], room[_REST]
    top[:], whole[:], losses[:] = scores[0], 0.0, 0.0
    for k in range(len(scores)):
        _raise(top, scores[k])
        _add(whole, scores[k], -1.0)
        _add_where(losses, scores[k], -1.0, codes, k)
    _raise(top, whole)
    _add_where(losses, whole, -1.0, codes, len(scores))
    _add(losses, top, 1.0)
    _exponentials(whole, top, rest, bits)
    for k in range(len(scores)):
        _exponentials(scores[k], top, rest, bits)
        _add(whole, scores[k], 1.0)
    for i in range(_TILE):
        top[i] = 1.0 / whole[i] if codes[i] >= 0 else 0.0
    for k in range(len(scores)):
        _derive(scores[k], top, codes, k)
    _trained_alone(losses, whole, codes)
    return float(_total(losses, whole))


@_numbers
def _shares(score: Any, powers: Any, shares: Any) -> None:
    """The probabilities of the second class, from exponentials of minus the sizes of scores."""
    for i in range(_TILE):
        shares[i] = (1.0 if score[i] >= 0 else powers[i]) / (1.0 + powers[i])


@_approximate
def _logistic(scores: Any, room: Any, bits: Any) -> float:
    """The same of two classes, of which there is one score."""
    codes, top, whole, losses, rest = room[_CODE], room[_TOP], room[_SUM], room[_LOSS], room[_REST]
    score = scores[0]
    for i in range(_TILE):
        losses[i] = max(score[i], 0.0)
    _add_where(losses, score, -1.0, codes, 1)
    for i in range(_TILE):
        whole[i] = -abs(score[i])
    top[:] = 0.0
    _exponentials(whole, top, rest, bits)
    _shares(score, whole, rest)
    for i in range(_TILE):
        top[i] = 1.0 if codes[i] >= 0 else 0.0
    score[:] = rest
    _derive(score, top, codes, 1)
    whole += 1.0
    _trained_alone(losses, whole, codes)
    return float(_total(losses, whole))


@compiled
def _tile_losses(scores: Any, codes: Any, binary: bool, room: Any, bits: Any, values: Any) -> None:
    """Add the losses of a tile to the values of some regressions, scores of which become derivatives."""
    scores, room, bits = borrowed(scores), borrowed(room), borrowed(bits)
    for p in range(len(values)):
        for i in range(_TILE):
            room[_CODE, i] = -1.0
        for i in range(codes.shape[1]):
            room[_CODE, i] = codes[p, i]
        values[p] += _logistic(scores[p], room, bits) if binary else _softmax(scores[p], room, bits)


@compiled
def _add_up(across: Any, down: Any, slopes: Any, free: int, codes: Any, binary: bool, values: Any, sums: Any) -> None:
    """Add the losses of regressions to their values, and the gradients to their sums.

    `across` and `down`, (tiles, m, rows) and (tiles, rows, width), are the columns of the rows of each tile, and the
    same transposed. `slopes` and `sums`, (groups, lines, m) and (groups, lines, width), are the outputs of each group
    of regressions, `free` each, and lines of zeros. `codes` have the class of each training row; -1 for others.
    """
    tiles, m, _ = across.shape
    groups, lines, width = sums.shape
    together = -(-len(values) // groups)
    scores, room = np.empty((lines, _TILE)), np.empty((5, _TILE))
    of_each, bits = scores[: together * free].reshape(together, free, _TILE), room[_REST].view(np.int64)
    for tile in range(tiles):
        start = tile * _TILE
        for group in range(groups):
            first = group * together
            last = min(first + together, len(values))
            used = -(-(last - first) * free // ROWS) * ROWS
            scores[:used] = 0.0
            for row in range(0, used, ROWS):
                own = (group * lines + row) * m
                for column in range(0, _TILE, COLUMNS):
                    other, to = tile * m * _TILE + column, row * _TILE + column
                    add_product(slopes, across, scores, (own, m, 1, other, _TILE, to, _TILE, m))
            _tile_losses(of_each, codes[first:last, start : start + _TILE], binary, room, bits, values[first:last])
            for column in range(0, width, COLUMNS):
                other = tile * _TILE * width + column
                for row in range(0, used, ROWS):
                    to = (group * lines + row) * width + column
                    add_product(scores, down, sums, (row * _TILE, _TILE, 1, other, width, to, width, _TILE))


class Losses:
    """The sums of losses over training rows, and of their gradients, of regressions on the same columns."""

    def __init__(self, columns: FloatArray) -> None:
        n, self._m = columns.shape
        tiles, width = -(-n // _TILE), -(-self._m // COLUMNS) * COLUMNS
        self._down = np.zeros((tiles, _TILE, width))
        self._down.reshape(-1, width)[:n, : self._m] = columns
        self._across = np.ascontiguousarray(self._down[:, :, : self._m].transpose(0, 2, 1))

    def __call__(self, slopes: FloatArray, codes: IntArray, binary: bool) -> tuple[FloatArray, FloatArray]:
        """Values, shape (regressions,), and gradients, (regressions, outputs, m), of `slopes` of that shape.

        These are, of two classes, those of the second; of more, of all but the last, as the scores of a row sum to 0.
        `codes` (int16, (regressions, n)) have the class of each training row; -1 for others.
        """
        count, free, m = slopes.shape
        together = min(max(_OUTPUTS // free, 1), count)
        groups = -(-count // together)
        together = -(-count // groups)
        used = together * free
        lines = -(-used // ROWS) * ROWS
        own, sums, values = (
            np.zeros((groups, lines, m)),
            np.zeros((groups, lines, self._down.shape[2])),
            np.zeros(count),
        )
        grouped = np.zeros((groups * together, free, m))
        grouped[:count] = slopes
        own[:, :used] = grouped.reshape(groups, used, m)
        _add_up(self._across, self._down, own, free, codes, binary, values, sums)
        return values, sums[:, :used, :m].reshape(-1, free, m)[:count]
