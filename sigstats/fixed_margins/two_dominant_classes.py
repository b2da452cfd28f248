r"""The number correct if two classes contain nearly all objects, to full relative precision at any size.

In a table of two classes the number correct takes only every second value. Here this is nearly so, and a smooth
integral does not resolve it. But the number correct is hypergeometric given the names of the few objects outside both
classes, the *rest*, and the objects that get the few names outside both. The probability is a finite sum of positive
terms over

- e, how many rest objects get a rest name, and how many of these are correct,
- f, how many of the other rest objects are named as the first class,
- g, how many of the other rest names go to objects of the first class.

When not to use: for a rest of more than a few thousand objects, and where `sigstats.fixed_margins.saddle_point` has an
answer because the rest is spread evenly over both classes.
"""

import math
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._common.extreme import ROUNDING
from .._common.validation import FloatArray
from .rook_factor import log_factorial
from .rook_polynomial import Classes, LogTail, log_ratio, rook_coefficients

#: The most combinations of f and g that are tried, and that are summed, for each e.
_GRID, _TERMS = 500_000, 20_000
#: The most that are tried, and that are summed, in all.
_EFFORT = 10_000_000
#: Terms below exp(-_SPAN) of the largest are left out, and together below 1e-11 of the sum; with their rounding.
_SPAN, _ERROR = 36.0, 3e-11


def tail(total: int, classes: Classes, correct: int) -> LogTail | None:
    """Return both probabilities, within `sigstats.fixed_margins.rook_factor.DIGITS`; None if the rest is too large.

    Far below the mean the point probability, which then adds nothing to the upper tail, is less precise.
    """
    ordered = sorted((pair for pair, times in classes.items() for _ in range(times)), key=sum, reverse=True)
    first, second = (*ordered, (0, 0))[:2]
    rest_rows, rest_columns = (total - first[i] - second[i] for i in (0, 1))
    if max(rest_rows, rest_columns) > _GRID:
        return None
    rest = dict(Counter(ordered[2:]))
    upper = point = largest = Decimal(0)
    reach, effort = 200.0, 0
    for e in range(min(rest_rows, rest_columns) + 1):
        while (terms := _terms(total, first, second, rest, e, correct, upper, reach)) is None and reach < 1e4:
            reach *= 4
        if terms is None:
            return None
        upper, point, effort = upper + terms.upper, point + terms.point, effort + terms.effort
        if effort > _EFFORT:
            return None
        # Log-concave in e, so once negligible they stay so.
        if terms.upper < largest and terms.upper < upper * Decimal("1e-20"):
            break
        largest = max(largest, terms.upper)
    return LogTail(upper.ln(), point.ln(), _ERROR + 1e-15 * math.sqrt(total))


class _Terms(NamedTuple):
    """The sum of the terms of one e in each probability, and the work that they took, in combinations of f and g."""

    upper: Decimal
    point: Decimal
    effort: int


def _terms(
    total: int,
    first: tuple[int, int],
    second: tuple[int, int],
    rest: Classes,
    e: int,
    correct: int,
    so_far: Decimal,
    reach: float,
) -> _Terms | None:
    """Return the terms of one e, or None if there are too many combinations, or some outside `reach` would matter.

    Only terms that are large enough, by approximation, are computed exactly. `so_far`: the sum over smaller e.
    """
    rest_rows, rest_columns = (total - first[i] - second[i] for i in (0, 1))
    weight = hypergeometric_tail(total, rest_rows, rest_columns, e).point
    n = total - rest_rows - rest_columns + e
    law_f = first[1] + second[1], first[1], rest_rows - e
    law_g = first[0] + second[0], first[0], rest_columns - e
    f, g = _log_pmf(*law_f, reach), _log_pmf(*law_g, reach)
    if len(f.numbers) * len(g.numbers) > _GRID:
        return None
    exact_f = cache(lambda i: hypergeometric_tail(*law_f, int(f.numbers[i])).point)
    exact_g = cache(lambda j: hypergeometric_tail(*law_g, int(g.numbers[j])).point)
    # Of the n objects of both classes that get their names, those of the first class, and those that get its name.
    rows, columns = first[0] - g.numbers[None, :], first[1] - f.numbers[:, None]
    upper, point, effort = Decimal(0), Decimal(0), 0
    for right, log_right in _rest_right(rest, rest_rows, rest_columns, e):
        # With m of the first class named as such, n - rows - columns + 2 m of these objects are correct.
        twice = correct - right - n + rows + columns
        least = -(-twice // 2)
        size = f.log[:, None] + g.log[None, :] + _log_tail_bound(n, rows, columns, least)
        log_share = float(weight + log_right)
        reference = max(float(size.max()) + log_share, float(so_far.ln()) if so_far > 0 else -np.inf)
        effort += size.size
        chosen = np.argwhere(size + log_share > reference - _SPAN)
        is_cut = any(np.isin(chosen[:, axis], law.cuts).any() for axis, law in enumerate((f, g)))
        if is_cut or len(chosen) > _TERMS:
            return None
        for i, j in chosen.tolist():
            share = (weight + log_right + exact_f(i) + exact_g(j)).exp()
            first_right = hypergeometric_tail(n, int(rows[0, j]), int(columns[i, 0]), int(least[i, j]))
            upper += share * first_right.upper.exp()
            if twice[i, j] % 2 == 0:
                point += share * first_right.point.exp()
        effort += 500 * len(chosen)  # an exact term costs as much as this many approximate ones
    return _Terms(upper, point, effort)


def _rest_right(rest: Classes, rows: int, columns: int, e: int) -> Iterator[tuple[int, Decimal]]:
    """Yield numbers correct among e rest objects that get a rest name, with the logarithm of their probability.

    As in `sigstats.fixed_margins.rook_polynomial`, but e of the objects and e of the names are matched, both at random:
    E C(T, j) = R_j (e)_j / ((rows)_j (columns)_j), with falling factorials.
    """
    rook = rook_coefficients(rest, e + 1)
    most = min(e, sum(min(pair) * times for pair, times in rest.items()))
    unit, weights = 1, [0] * (e + 1)
    for j in range(e, -1, -1):
        falling = 1
        for i in range(j):
            falling *= e - i
        weights[j] = int(rook[j]) * falling * unit
        unit *= (rows - j + 1) * (columns - j + 1) if j else 1
    for right in range(most + 1):
        count = sum((-1) ** (j - right) * comb(j, right) * weights[j] for j in range(right, e + 1))
        if count > 0:
            yield right, log_ratio(count, unit)


class _LogPmf(NamedTuple):
    """Consecutive numbers and their log-probabilities; `cuts` are the positions beyond which others were left out."""

    numbers: NDArray[np.int64]
    log: FloatArray
    cuts: tuple[int, ...]


def _log_pmf(total: int, marked: int, drawn: int, reach: float) -> _LogPmf:
    """Return the numbers of a hypergeometric law that are within exp(-reach) of the likeliest."""
    numbers = np.arange(max(0, marked + drawn - total), min(marked, drawn) + 1)
    log = _log_point(total, marked, drawn, numbers)
    kept = np.flatnonzero(log >= log.max() - reach)
    low, high = int(kept[0]), int(kept[-1])
    cuts = ((0,) if low > 0 else ()) + ((high - low,) if high < len(numbers) - 1 else ())
    return _LogPmf(numbers[low : high + 1], log[low : high + 1], cuts)


def _log_point(total: int, marked: object, drawn: object, number: NDArray[np.int64]) -> FloatArray:
    """Return the logarithm at a point, to about 1e-7, which is enough to choose terms."""
    r, c = np.asarray(marked), np.asarray(drawn)
    inside = gammaln(r + 1.0) + gammaln(c + 1.0) + gammaln(total - r + 1.0) + gammaln(total - c + 1.0)
    outside = gammaln(number + 1.0) + gammaln(r - number + 1.0) + gammaln(c - number + 1.0)
    return np.asarray(inside - outside - gammaln(total - r - c + number + 1.0) - gammaln(total + 1.0))


def _log_tail_bound(
    total: int, rows: NDArray[np.int64], columns: NDArray[np.int64], least: NDArray[np.int64]
) -> FloatArray:
    """Return an upper bound of the logarithm of a hypergeometric tail, close where it is small."""
    lowest, highest = np.maximum(0, rows + columns - total), np.minimum(rows, columns)
    at = np.clip(least, lowest, highest)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (rows - at) * (columns - at) / ((at + 1.0) * (total - rows - columns + at + 1.0))
        bound = _log_point(total, rows, columns, at) - np.log1p(-np.minimum(ratio, 1.0))
    bound = np.where(ratio < 1, np.minimum(bound, 0.0), 0.0)
    return np.where(least > highest, -np.inf, np.where(least <= lowest, 0.0, bound))


def hypergeometric_tail(total: int, marked: int, drawn: int, least: int) -> LogTail:
    """Logarithms of ``P(M >= least)`` and ``P(M = least)`` to full relative precision, however far out and large.

    It is to be called within `sigstats.fixed_margins.rook_factor.DIGITS`. M is the number of marked objects among
    `drawn` ones out of `total`, of which `marked` are.
    """
    lowest, highest = max(0, marked + drawn - total), min(marked, drawn)
    impossible = Decimal("-Infinity")
    if least > highest:
        return LogTail(impossible, impossible)
    if least <= lowest:
        return LogTail(Decimal(0), _exact_log_point(total, marked, drawn, lowest) if least == lowest else impossible)
    point = _exact_log_point(total, marked, drawn, least)
    if least > marked * drawn / total:
        ratio, error = _beyond(total, marked, drawn, least, highest)
        return LogTail(point + ratio.ln(), point, error)
    below = _exact_log_point(total, marked, drawn, least - 1)
    # Counting what was not drawn turns the lower tail into an upper one.
    other = total - marked
    ratio, error = _beyond(total, other, drawn, drawn - least + 1, drawn - lowest)
    lower = below.exp() * ratio
    return LogTail((1 - lower).ln(), point, error * float(lower / (1 - lower)))


def _exact_log_point(total: int, marked: int, drawn: int, number: int) -> Decimal:
    above = (marked, drawn, total - marked, total - drawn)
    below = (total, number, marked - number, drawn - number, total - marked - drawn + number)
    return sum(map(log_factorial, above), Decimal(0)) - sum(map(log_factorial, below), Decimal(0))


def _beyond(total: int, marked: int, drawn: int, number: int, highest: int) -> tuple[Decimal, float]:
    """``P(M >= number) / P(M = number)`` above the mean, and its error: a ratio of terms has at most four roundings."""
    spread = math.sqrt(marked * drawn / total * (1 - marked / total) * (1 - drawn / total)) + 1
    # From the mean on, log-concavity leaves less than 1e-20 of the sum beyond this many terms.
    length = min(highest - number, 100 + math.ceil(12 * spread))
    n = number + np.arange(length, dtype=float)
    ratio: FloatArray = (marked - n) * (drawn - n) / ((n + 1) * (total - marked - drawn + n + 1))
    terms = np.cumprod(ratio)
    whole = math.fsum([1.0, *terms])
    return Decimal(whole), ROUNDING * (2 + 5 * float(np.arange(1, length + 1) @ terms) / whole)
