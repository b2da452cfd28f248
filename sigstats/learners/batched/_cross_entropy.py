"""Losses of logistic regression and their derivatives, compiled by Numba: one pass over scores that are in cache.

Exponentials are polynomials, within a few roundings of the last bit, and become vector instructions. A sum of
logarithms is the logarithm of a product of as many factors as cannot overflow.
"""

import functools
import math
from typing import Any

import numpy as np

from sigstats._common.compiled import compiled

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_COEFFICIENTS = tuple(1 / math.factorial(power) for power in range(13, -1, -1))

#: A number to which one of size below 2^51 is added as a whole number, which its last bits are.
_WHOLE = 1.5 * 2.0**52

#: So many sums of exponentials, each at most the number of classes, 2^14, have a product that is a number.
_FACTORS = 64

#: Products and sums may be one instruction; no sum is taken in another order.
_approximate = functools.partial(compiled, fastmath={"contract"})
_numbers = functools.partial(compiled, fastmath={"contract", "nnan", "nsz"})


@_numbers
def _exponentials(values: Any, below: Any, room: Any) -> None:
    """Values to the exponentials of their differences to others, which are 0 or less."""
    bits = room.view(np.int64)
    for i in range(len(values)):
        exponent = max(values[i] - below[i], -700.0)
        shifted = exponent * 1.4426950408889634 + _WHOLE
        room[i] = shifted
        whole = shifted - _WHOLE
        rest = (exponent - whole * _LN2_HIGH) - whole * _LN2_LOW
        power = 0.0
        for coefficient in _COEFFICIENTS:
            power = power * rest + coefficient
        values[i] = power
    for i in range(len(values)):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(len(values)):
        values[i] *= room[i]


@compiled
def _sum_of_logarithms(values: Any) -> float:
    total = 0.0
    for first in range(0, len(values), _FACTORS):
        product = 1.0
        for i in range(first, min(first + _FACTORS, len(values))):
            product *= values[i]
        total += math.log(product)
    return total


@_approximate
def _softmax(scores: Any, codes: Any, room: Any) -> float:
    """The loss of the training rows of one problem; scores of all classes but the last become derivatives."""
    outputs, n = scores.shape
    top, last, whole, scratch = room[0, :n], room[1, :n], room[2, :n], room[3, :n]
    for i in range(n):
        top[i], last[i] = scores[0, i], -scores[0, i]
    for k in range(1, outputs):
        for i in range(n):
            top[i] = max(top[i], scores[k, i])
            last[i] -= scores[k, i]
    loss = 0.0
    for i in range(n):
        top[i] = max(top[i], last[i])
        if codes[i] >= 0:
            loss += top[i] - (scores[codes[i], i] if codes[i] < outputs else last[i])
    _exponentials(last, top, scratch)
    whole[:] = last
    for k in range(outputs):
        _exponentials(scores[k], top, scratch)
        for i in range(n):
            whole[i] += scores[k, i]
    for i in range(n):
        scratch[i] = 1.0 / whole[i] if codes[i] >= 0 else 0.0
        whole[i] = whole[i] if codes[i] >= 0 else 1.0
    for k in range(outputs):
        for i in range(n):
            scores[k, i] *= scratch[i]
    for i in range(n):
        if 0 <= codes[i] < outputs:
            scores[codes[i], i] -= 1.0
    return float(loss + _sum_of_logarithms(whole))


@_approximate
def _logistic(scores: Any, codes: Any, room: Any) -> float:
    """The same of two classes, of which there is one score."""
    n = len(scores)
    value, zero, scratch = room[0, :n], room[1, :n], room[2, :n]
    loss = 0.0
    for i in range(n):
        value[i], zero[i] = -abs(scores[i]), 0.0
        above = max(scores[i], 0.0) - (scores[i] if codes[i] == 1 else 0.0)
        loss += above if codes[i] >= 0 else 0.0
    _exponentials(value, zero, scratch)
    for i in range(n):
        share = (1.0 if scores[i] >= 0 else value[i]) / (1.0 + value[i])
        scores[i] = share - (1.0 if codes[i] == 1 else 0.0) if codes[i] >= 0 else 0.0
        value[i] = 1.0 + value[i] if codes[i] >= 0 else 1.0
    return float(loss + _sum_of_logarithms(value))


@compiled
def losses(scores: Any, codes: Any, binary: bool, total: Any) -> None:
    """Add the losses of the training rows of each problem to `total`, and turn scores into derivatives.

    Parameters
    ----------
    scores : ndarray, shape (problems, outputs, n)
        Of two classes that of the second; of more those of all but the last, as the scores of a row sum to 0.
    codes : ndarray of int, shape (problems, n)
        The class of each training row; -1 for others.
    binary : bool
    total : ndarray, shape (problems,)
    """
    room = np.empty((4, scores.shape[2]))
    for p in range(len(scores)):
        if binary:
            total[p] += _logistic(scores[p, 0], codes[p], room)
        else:
            total[p] += _softmax(scores[p], codes[p], room)
