"""The dual of a kernel machine, compiled by Numba: the steps that libsvm goes, one by one.

Sequential minimal optimisation stops where a tolerance says so, and where that is depends on the way. Here pairs are
chosen by the same second-order rule (Fan, Chen and Lin 2005, JMLR 6, 1889-1918, Algorithm 2), rows are set aside and
taken up again as libsvm does (Chang and Lin 2011, ACM TIST 2, 27, section 5.1), and every sum is taken in the same
order, so the coefficients are libsvm's to the last bit. What is kept of a row is minus the derivative times its sign:
signs cancel in all rules, the kernel needs none, and loops over rows become vector instructions.

The rows of a machine are the columns of a table of floats, in an order that changes: those that are active come first.
One array is handed from function to function, as each costs some nanoseconds of a step.
"""

from typing import Any, Final

import numpy as np

from sigstats._common.compiled import compiled
from sigstats._common.validation import FloatArray

#: What the table holds of a row: the class as -1 or 1, the kernel with itself, and the coefficient;
_SIGN: Final = 0
_DIAGONAL: Final = 1
_ALPHA: Final = 2
#: minus the derivative times the sign, and the part of it that comes from coefficients at the cost;
_SCORE: Final = 3
_BOUNDED: Final = 4
#: 0 where the coefficient times the sign may grow, and where it may fall, else -inf and inf;
_UP: Final = 5
_LOW: Final = 6
#: how far it is below the steepest row, and what a step with that one gains.
_FALL: Final = 7
_GAIN: Final = 8
_FIELDS: Final = 9

#: Stands for the curvature of a pair that has none.
_LEAST_CURVATURE = 1e-12

_MAGNITUDE = np.int64(2**63 - 1)

#: Between two times that rows are set aside there are as many steps as rows, or so many.
_STEPS = 1000


@compiled
def _last_largest(bits: Any, field: int, n: int) -> int:
    """The last of the first `n` rows with the largest value in a field.

    Numbers that are not negative are ordered as the integers that their bits are, which vector instructions compare.
    """
    largest, at = bits[field, 0], 0
    for row in range(n):
        largest = max(largest, bits[field, row])
    for row in range(n):
        at = max(at, row if bits[field, row] == largest else 0)
    return at


@compiled
def _steepest(table: Any, bits: Any, active: int) -> int:
    """The last row with the largest score of those that may grow; -1 where there is none."""
    for row in range(active):
        table[_FALL, row] = table[_SCORE, row] + table[_UP, row]
    for row in range(active):
        bits[_FALL, row] ^= (bits[_FALL, row] >> 63) & _MAGNITUDE  # so negative numbers are in order; none is -0
    row = _last_largest(bits, _FALL, active)
    return row if table[_UP, row] == 0 else -1


@compiled
def _partner(kernel: Any, table: Any, bits: Any, own: int, active: int) -> tuple[int, float]:
    """The last row whose step with `own` gains most, and how far the lowest score of those that may fall is below."""
    top, curvature = table[_SCORE, own], table[_DIAGONAL, own]
    for row in range(active):
        fall = max(top - (table[_SCORE, row] + table[_LOW, row]), 0.0)
        bend = curvature + table[_DIAGONAL, row] - 2.0 * kernel[own, row]
        bend = bend if bend > 0 else _LEAST_CURVATURE
        table[_FALL, row] = fall
        table[_GAIN, row] = fall * fall / bend
    return _last_largest(bits, _GAIN, active), table[_FALL, _last_largest(bits, _FALL, active)]


@compiled
def _moved(first: float, second: float, same: bool, step: float, cost: float) -> tuple[float, float]:
    """Two coefficients after a step along their constraint, cut at 0 and `cost`."""
    if same:
        total = first + second
        first, second = first + step, second - step
        if total > cost:
            if first > cost:
                first, second = cost, total - cost
            if second > cost:
                first, second = total - cost, cost
        else:
            if second < 0:
                first, second = total, 0.0
            if first < 0:
                first, second = 0.0, total
        return first, second
    difference = first - second
    first, second = first + step, second + step
    if difference > 0:
        if second < 0:
            first, second = difference, 0.0
        if first > cost:
            first, second = cost, cost - difference
    else:
        if first < 0:
            first, second = 0.0, -difference
        if second > cost:
            first, second = cost + difference, cost
    return first, second


@compiled
def _set(kernel: Any, table: Any, row: int, value: float, cost: float) -> None:
    """Give a row its coefficient, and count it among those at the cost where it comes there, or no longer."""
    sign, before = table[_SIGN, row], table[_ALPHA, row]
    table[_ALPHA, row] = value
    at_cost, at_zero = value >= cost, value <= 0
    bound = at_cost or at_zero
    table[_UP, row] = -np.inf if bound and at_cost == (sign > 0) else 0.0
    table[_LOW, row] = np.inf if bound and at_cost != (sign > 0) else 0.0
    if (before >= cost) != at_cost:
        part = -cost * sign if at_cost else cost * sign
        for other in range(table.shape[1]):
            table[_BOUNDED, other] += part * kernel[row, other]


@compiled
def _step(kernel: Any, table: Any, i: int, j: int, active: int, cost: float) -> None:
    """Move the coefficients of two rows, and the scores of the active ones with them."""
    bend = table[_DIAGONAL, i] + table[_DIAGONAL, j] - 2.0 * kernel[i, j]
    bend = bend if bend > 0 else _LEAST_CURVATURE
    own, other = table[_SIGN, i], table[_SIGN, j]
    before_i, before_j = table[_ALPHA, i], table[_ALPHA, j]
    step = own * ((table[_SCORE, i] - table[_SCORE, j]) / bend)
    after_i, after_j = _moved(before_i, before_j, own == other, step, cost)
    part_i, part_j = own * (after_i - before_i), other * (after_j - before_j)
    for row in range(active):
        table[_SCORE, row] -= kernel[i, row] * part_i + kernel[j, row] * part_j
    _set(kernel, table, i, after_i, cost)
    _set(kernel, table, j, after_j, cost)


@compiled
def _restore(kernel: Any, table: Any, active: int) -> None:
    """Give rows that were set aside the scores that they have by now."""
    n = table.shape[1]
    if active == n:
        return
    for row in range(active, n):
        table[_SCORE, row] = table[_BOUNDED, row] + table[_SIGN, row]
    for free in range(active):
        if table[_UP, free] == 0 and table[_LOW, free] == 0:
            part = table[_ALPHA, free] * table[_SIGN, free]
            for row in range(active, n):
                table[_SCORE, row] -= part * kernel[free, row]


@compiled
def _exchange(kernel: Any, table: Any, order: Any, i: int, j: int) -> None:
    """Let two rows change places."""
    for field in range(_FIELDS):
        table[field, i], table[field, j] = table[field, j], table[field, i]
    order[i], order[j] = order[j], order[i]
    for row in range(len(kernel)):
        kernel[i, row], kernel[j, row] = kernel[j, row], kernel[i, row]
    for row in range(len(kernel)):
        kernel[row, i], kernel[row, j] = kernel[row, j], kernel[row, i]


@compiled
def _settled(table: Any, row: int, highest: float, lowest: float) -> bool:
    """Whether a coefficient at a bound is driven against it more than that of any row that may move."""
    score = table[_SCORE, row]
    return bool((table[_UP, row] < 0 and score > highest) or (table[_LOW, row] > 0 and score < lowest))


@compiled
def _set_aside(kernel: Any, table: Any, order: Any, active: int, tol: float, taken_up: bool) -> tuple[int, bool]:
    """Put rows that are settled behind the others; once, near the end, all are taken up first."""
    highest, lowest = -np.inf, np.inf
    for row in range(active):
        highest = max(highest, table[_SCORE, row] + table[_UP, row])
        lowest = min(lowest, table[_SCORE, row] + table[_LOW, row])
    if not taken_up and highest - lowest <= tol * 10:
        taken_up = True
        _restore(kernel, table, active)
        active = len(order)
    row = 0
    while row < active:
        if _settled(table, row, highest, lowest):
            active -= 1
            while active > row:
                if not _settled(table, active, highest, lowest):
                    _exchange(kernel, table, order, row, active)
                    break
                active -= 1
        row += 1
    return active, taken_up


@compiled
def _threshold(table: Any) -> float:
    """Minus the intercept: the mean of free rows, or the middle between the bounds of the others."""
    free, total, upper, lower = 0, 0.0, np.inf, -np.inf
    for row in range(table.shape[1]):
        value = -table[_SCORE, row]
        if table[_UP, row] == 0 and table[_LOW, row] == 0:
            free += 1
            total += value
        elif table[_UP, row] == 0:
            upper = min(upper, value)
        else:
            lower = max(lower, value)
    return total / free if free > 0 else (upper + lower) / 2


@compiled
def _chosen(kernel: Any, table: Any, bits: Any, active: int) -> tuple[int, int, float]:
    """The two rows of the next step, and by how much they violate the conditions of the optimum."""
    i = _steepest(table, bits, active)
    if i < 0:
        return 0, 0, 0.0
    j, violation = _partner(kernel, table, bits, i, active)
    return i, j, violation


@compiled
def _descend(kernel: Any, table: Any, bits: Any, order: Any, cost: float, tol: float, shrinking: bool) -> None:
    """Go from coefficients of 0 to where no pair violates the conditions of the optimum by `tol`."""
    n = len(order)
    active, taken_up, pause = n, False, min(n, _STEPS) + 1
    while True:
        pause -= 1
        if pause == 0:
            pause = min(n, _STEPS)
            if shrinking:
                active, taken_up = _set_aside(kernel, table, order, active, tol, taken_up)
        i, j, violation = _chosen(kernel, table, bits, active)
        if violation < tol:
            _restore(kernel, table, active)
            active, pause = n, 1
            i, j, violation = _chosen(kernel, table, bits, active)
            if violation < tol:
                return
        _step(kernel, table, i, j, active, cost)


def solve(
    kernel: Any, sign: FloatArray, diagonal: FloatArray, cost: float, tol: float, shrinking: bool
) -> tuple[FloatArray, float]:
    """Solve the dual of a machine of two classes.

    Parameters
    ----------
    kernel : ndarray of float32, shape (n, n)
        It is put into another order.
    sign : ndarray, shape (n,)
        The class of each row: 1, the first, or -1.
    diagonal : ndarray, shape (n,)
        The kernel of each row with itself, unrounded.
    cost, tol, shrinking
        As of `sklearn.svm.SVC`.

    Returns
    -------
    coefficients : ndarray, shape (n,)
        Times the signs, in the order given.
    threshold : float
        What a sum of kernels times coefficients must exceed for the first class.
    """
    table, order = np.zeros((_FIELDS, len(sign))), np.arange(len(sign))
    table[_SIGN], table[_DIAGONAL], table[_SCORE] = sign, diagonal, sign
    table[_UP, sign < 0], table[_LOW, sign > 0] = -np.inf, np.inf
    _descend(kernel, table, table.view(np.int64), order, cost, tol, shrinking)
    found = np.empty(len(sign))
    found[order] = table[_ALPHA] * table[_SIGN]
    return found, _threshold(table)
