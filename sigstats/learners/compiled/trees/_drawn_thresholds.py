"""The best split of a node of an extra tree of coded columns, of one threshold drawn for each, compiled by Numba."""

from typing import Any, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import compiled, inlined

from ._coded_splits import Choice, Coded, Tried, code_below, value_of
from ._forest_folds import improvement
from ._vectors import count_left


class Drawn(NamedTuple):
    """Memory of a search.

    ``codes`` (width,) are the highest that go left, ``sides`` (2, width) the squared counts there and to the right,
    ``rows`` (width,) the rows there, and ``gains`` (features,) compare the columns in the order in which they were
    drawn. ``own`` (1, width) counts the rows of a class.
    """

    codes: Any
    sides: Any
    rows: Any
    own: Any
    gains: Any


@inlined
def draw_code(sample: Coded, feature: Any, low: Any, high: Any, draw: int) -> Any:
    """The highest code that goes left for a draw of the threshold between the values of two codes."""
    # Numba's float() leaves 32 bits as they are.
    least, most = np.float64(value_of(sample, feature, low)), np.float64(value_of(sample, feature, high))
    threshold = (most - least) * float(draw) / 2147483647.0 + least
    low, high = np.int64(low), np.int64(high)
    guess = min(low + ((high - low) * np.int64(draw) >> 31), high - 1)
    return code_below(sample, feature, least if threshold == most else threshold, low, high, guess)


@inlined
def best_of_drawn(
    sample: Coded,
    members: Any,
    tried: Tried,
    varying: int,
    total: Any,
    n: int,
    smallest: int,
    once: bool,
    left: Any,
    drawn: Drawn,
) -> Any:
    """Draw thresholds of columns, and find the best, the first of equals; rows may be drawn `once`, and few."""
    for place in range(varying):
        feature = tried.columns[place]
        low, high = tried.lowest[feature], tried.highest[feature]
        tried.draws[place] = drawn.codes[feature] = draw_code(sample, feature, low, high, tried.draws[place])
    if once:
        return _best_of_all(sample, members, tried, varying, total, smallest, drawn)
    return _best_of_each(sample, members, tried, varying, total, n, smallest, left)


@compiled
def _best_of_each(
    sample: Coded, members: Any, tried: Tried, varying: int, total: Any, n: int, smallest: int, left: Any
) -> Any:
    """The best column, one after the other."""
    choice, best, m, codes = Choice(-1, 0, 0, 0, 0), -np.inf, len(members), sample.codes
    for place in range(varying):
        feature = np.uint64(tried.columns[place])
        code = tried.draws[place]
        left[:] = 0
        cut: Any = 0
        for at in range(m):
            row = members[at]
            goes = np.int64(np.int64(codes[row, feature]) <= code)
            cut += goes
            left[sample.label[row]] += sample.weight[row] * goes
        if min(cut, m - cut) < smallest:
            continue
        n_left, left_squares, right_squares = 0, 0, 0
        for own in range(len(total)):
            count, rest = left[own], total[own] - left[own]
            n_left += count
            left_squares += count * count
            right_squares += rest * rest
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best:
            best, choice = gain, Choice(np.int64(feature), code, n_left, left_squares, right_squares)
            if best >= 0:  # which parts the classes
                break
    return choice


@inlined
def _best_of_all(
    sample: Coded, members: Any, tried: Tried, varying: int, total: Any, smallest: int, drawn: Drawn
) -> Choice:
    """The best column, by counts of all side by side."""
    sides, rows, gains, m = drawn.sides, drawn.rows, drawn.gains, np.uint32(len(members))
    count_left(sample.codes, members, total, drawn.codes, sides, rows, drawn.own)
    for at in range(np.uint64(varying)):
        feature = np.uint64(tried.columns[at])
        cut = rows[feature]
        gain = improvement(sides[0, feature], cut, sides[1, feature], m - cut)[0]
        gains[at] = gain if min(cut, m - cut) >= smallest else -np.inf
    best: Any = -np.inf
    place: Any = np.uint64(0)
    for at in range(np.uint64(varying)):
        better = gains[at] > best
        best, place = gains[at] if better else best, at if better else place
    feature = np.uint64(tried.columns[place])
    counts = np.int64(rows[feature]), np.int64(sides[0, feature]), np.int64(sides[1, feature])
    return Choice(np.int64(feature) if best > -np.inf else -1, np.int64(drawn.codes[feature]), *counts)
