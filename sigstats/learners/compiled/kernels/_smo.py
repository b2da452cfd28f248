"""The dual of a kernel machine, compiled by Numba: the steps that libsvm goes, one by one.

Sequential minimal optimisation stops where a tolerance says so, and where that is depends on the way. Here pairs are
chosen by the same second-order rule (Fan, Chen and Lin 2005, JMLR 6, 1889-1918, Algorithm 2), rows are set aside and
taken up again as libsvm does (Chang and Lin 2011, ACM TIST 2, 27, section 5.1), and every sum is taken in the same
order, so the coefficients are libsvm's to the last bit. What is kept of a row is minus the derivative times its sign:
signs cancel in all rules, the kernel needs none, and loops over rows become vector instructions.

The rows of a machine are the columns of a table of floats. libsvm moves rows, so that those that are active come first:
sums are taken and ties are broken in this order. Here rows stay, as moving a column of the kernel takes longer than ten
steps, and places change; rows that are set aside may neither grow nor fall.
"""

from typing import Any, Final

import numpy as np

from sigstats._common.validation import FloatArray
from sigstats.learners.compiled.jit import compiled

from ..vector_products import LANES
from ._vector_scans import scan

#: What the table holds of a row: the class as -1 or 1, the kernel with itself, and the coefficient;
_SIGN: Final = 0
_DIAGONAL: Final = 1
_ALPHA: Final = 2
#: minus the derivative times the sign, and the part of it that comes from coefficients at the cost;
_SCORE: Final = 3
_BOUNDED: Final = 4
#: 0 where the coefficient times the sign may grow, and where it may fall, else -inf and inf.
_UP: Final = 5
_LOW: Final = 6
#: The place in libsvm's order.
_PLACE: Final = 7
_FIELDS: Final = 8

#: Stands for the curvature of a pair that has none.
_LEAST_CURVATURE = 1e-12

#: Between two times that rows are set aside there are as many steps as rows, or so many.
_STEPS = 1000


def _scores_moved(builder: Any, fields: Any, rows: Any, parts: Any, at: Any) -> list[Any]:
    """The scores after a step, where coefficients may grow."""
    first, second = (builder.fmul(fields.kernel(row, at), part) for row, part in zip(rows, parts, strict=True))
    score = builder.fsub(fields.field(_SCORE, at), builder.fadd(first, second))
    fields.put(_SCORE, at, score)
    return [fields.field(_PLACE, at), builder.fadd(score, fields.field(_UP, at))]


def _gains(builder: Any, fields: Any, rows: Any, parts: Any, at: Any) -> list[Any]:
    """The gain of a step with a row, and how far the scores of those that may fall are below its own."""
    top, curvature, zero, two, least = parts
    fall = builder.fsub(top, builder.fadd(fields.field(_SCORE, at), fields.field(_LOW, at)))
    fall = builder.select(builder.fcmp_ordered(">", fall, zero), fall, zero)
    bend = builder.fadd(curvature, fields.field(_DIAGONAL, at))
    bend = builder.fsub(bend, builder.fmul(two, fields.kernel(rows[0], at)))
    bend = builder.select(builder.fcmp_ordered(">", bend, zero), bend, least)
    return [fields.field(_PLACE, at), builder.fdiv(builder.fmul(fall, fall), bend), fall]


_scan_scores, _scan_gains = scan(_scores_moved, 1), scan(_gains, 2)


@compiled
def _move_scores(kernel: Any, table: Any, order: Any, rows: Any, parts: Any) -> int:
    """Move scores by two rows of the kernel; the last with the largest of those that may grow, or -1."""
    i, j = rows
    part_i, part_j = parts
    n = len(order)
    largest, place = _scan_scores(table, kernel, n, rows, parts)
    for row in range(n - n % LANES, n):
        table[_SCORE, row] -= kernel[i, row] * part_i + kernel[j, row] * part_j
        value = table[_SCORE, row] + table[_UP, row]
        if value > largest or (value == largest and table[_PLACE, row] > place):
            largest, place = value, table[_PLACE, row]
    return order[int(place)] if largest > -np.inf else -1


@compiled
def _partner(kernel: Any, table: Any, order: Any, own: int) -> tuple[int, float]:
    """The last row whose step with `own` gains most, and how far the lowest score of those that may fall is below."""
    top, curvature = table[_SCORE, own], table[_DIAGONAL, own]
    floats = (top, curvature, 0.0, 2.0, _LEAST_CURVATURE)
    n = len(order)
    most, place, furthest, _ = _scan_gains(table, kernel, n, (own,), floats)
    for row in range(n - n % LANES, n):
        fall = max(top - (table[_SCORE, row] + table[_LOW, row]), 0.0)
        bend = curvature + table[_DIAGONAL, row] - 2.0 * kernel[own, row]
        gain = fall * fall / (bend if bend > 0 else _LEAST_CURVATURE)
        furthest = max(furthest, fall)
        if gain > most or (gain == most and table[_PLACE, row] > place):
            most, place = gain, table[_PLACE, row]
    return order[int(place)], furthest


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
def _release(table: Any, row: int, cost: float) -> None:
    """Note whether the coefficient of a row may grow and fall."""
    sign, value = table[_SIGN, row], table[_ALPHA, row]
    at_cost, at_zero = value >= cost, value <= 0
    bound = at_cost or at_zero
    table[_UP, row] = -np.inf if bound and at_cost == (sign > 0) else 0.0
    table[_LOW, row] = np.inf if bound and at_cost != (sign > 0) else 0.0


@compiled
def _set(kernel: Any, table: Any, row: int, value: float, cost: float) -> None:
    """Give a row its coefficient, and count it among those at the cost where it comes there, or no longer."""
    sign, before, at_cost = table[_SIGN, row], table[_ALPHA, row], value >= cost
    table[_ALPHA, row] = value
    _release(table, row, cost)
    if (before >= cost) != at_cost:
        part = -cost * sign if at_cost else cost * sign
        for other in range(table.shape[1]):
            table[_BOUNDED, other] += part * kernel[row, other]


@compiled
def _step(kernel: Any, table: Any, order: Any, i: int, j: int, cost: float) -> int:
    """Move the coefficients of two rows, and all scores with them; the steepest row then."""
    bend = table[_DIAGONAL, i] + table[_DIAGONAL, j] - 2.0 * kernel[i, j]
    bend = bend if bend > 0 else _LEAST_CURVATURE
    own, other = table[_SIGN, i], table[_SIGN, j]
    before_i, before_j = table[_ALPHA, i], table[_ALPHA, j]
    step = own * ((table[_SCORE, i] - table[_SCORE, j]) / bend)
    after_i, after_j = _moved(before_i, before_j, own == other, step, cost)
    _set(kernel, table, i, after_i, cost)
    _set(kernel, table, j, after_j, cost)
    parts = (own * (after_i - before_i), other * (after_j - before_j))
    return int(_move_scores(kernel, table, order, (i, j), parts))


@compiled
def _restore(kernel: Any, table: Any, order: Any, active: int, cost: float) -> None:
    """Give rows that were set aside the scores that they have by now."""
    if active == len(order):
        return
    scores = table[_BOUNDED] + table[_SIGN]
    for place in range(active):
        row = order[place]
        if table[_UP, row] == 0 and table[_LOW, row] == 0:
            part = table[_ALPHA, row] * table[_SIGN, row]
            for other in range(len(scores)):
                scores[other] -= part * kernel[row, other]
    for place in range(active, len(order)):
        row = order[place]
        table[_SCORE, row] = scores[row]
        _release(table, row, cost)


@compiled
def _exchange(table: Any, order: Any, i: int, j: int) -> None:
    """Let the rows at two places change them."""
    order[i], order[j] = order[j], order[i]
    table[_PLACE, order[i]], table[_PLACE, order[j]] = i, j


@compiled
def _settled(table: Any, row: int, highest: float, lowest: float) -> bool:
    """True if a coefficient at a bound is driven against it more than that of any row that may move."""
    score = table[_SCORE, row]
    return bool((table[_UP, row] < 0 and score > highest) or (table[_LOW, row] > 0 and score < lowest))


@compiled
def _set_aside(
    kernel: Any, table: Any, order: Any, active: int, cost: float, tol: float, taken_up: bool
) -> tuple[int, bool]:
    """Put rows that are settled behind the others; once, near the end, all are taken up first."""
    highest, lowest = -np.inf, np.inf
    for row in range(len(order)):
        highest = max(highest, table[_SCORE, row] + table[_UP, row])
        lowest = min(lowest, table[_SCORE, row] + table[_LOW, row])
    if not taken_up and highest - lowest <= tol * 10:
        taken_up = True
        _restore(kernel, table, order, active, cost)
        active = len(order)
    place = 0
    while place < active:
        if _settled(table, order[place], highest, lowest):
            active -= 1
            while active > place:
                if not _settled(table, order[active], highest, lowest):
                    _exchange(table, order, place, active)
                    break
                active -= 1
        place += 1
    for place in range(active, len(order)):
        table[_UP, order[place]], table[_LOW, order[place]] = -np.inf, np.inf
    return active, taken_up


@compiled
def _threshold(table: Any, order: Any) -> float:
    """Minus the intercept: the mean of free rows, or the middle between the bounds of the others."""
    free, total, upper, lower = 0, 0.0, np.inf, -np.inf
    for row in order:
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
def _steepest(kernel: Any, table: Any, order: Any) -> int:
    """The last row with the largest score of those that may grow; -1 where there is none."""
    return int(_move_scores(kernel, table, order, (0, 0), (0.0, 0.0)))


@compiled
def _descend(kernel: Any, table: Any, order: Any, cost: float, tol: float, shrinking: bool) -> None:
    """Go from coefficients of 0 to where no pair violates the conditions of the optimum by `tol`."""
    n = len(order)
    active, taken_up, pause = n, False, min(n, _STEPS) + 1
    i = _steepest(kernel, table, order)
    while True:
        pause -= 1
        if pause == 0:
            pause = min(n, _STEPS)
            if shrinking:
                active, taken_up = _set_aside(kernel, table, order, active, cost, tol, taken_up)
                i = _steepest(kernel, table, order)
        j, violation = _partner(kernel, table, order, i) if i >= 0 else (0, 0.0)
        if violation < tol:
            _restore(kernel, table, order, active, cost)
            active, pause = n, 1
            i = _steepest(kernel, table, order)
            j, violation = _partner(kernel, table, order, i) if i >= 0 else (0, 0.0)
            if violation < tol:
                return
        i = _step(kernel, table, order, i, j, cost)


def solve(
    kernel: Any, sign: FloatArray, diagonal: FloatArray, cost: float, tol: float, shrinking: bool
) -> tuple[FloatArray, float]:
    """Solve the dual of a machine of two classes: coefficients times signs, (n,), and the threshold.

    `sign`: the class of each row: 1, the first, or -1. `diagonal`: the kernel of each row with itself, unrounded.
    `cost`, `tol` and `shrinking`: as of `sklearn.svm.SVC`.
    """
    table, order = np.zeros((_FIELDS, len(sign))), np.arange(len(sign))
    table[_SIGN], table[_DIAGONAL], table[_SCORE], table[_PLACE] = sign, diagonal, sign, order
    table[_UP, sign < 0], table[_LOW, sign > 0] = -np.inf, np.inf
    _descend(kernel, table, order, cost, tol, shrinking)
    return table[_ALPHA] * table[_SIGN], _threshold(table, order)
