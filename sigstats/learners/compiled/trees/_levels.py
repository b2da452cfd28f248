"""Find the best thresholds of all columns with few levels in one pass.

Inner loops run over columns, so that vector instructions search several columns at a time.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from ..jit import inlined, lean, merged
from ._forest_folds import Features, Sample, Settings, improvement

#: Sums of squared counts must fit into 32 bits.
_MOST_ROWS: Final = 46_340


class Levels(NamedTuple):
    """Memory of the search. The last axis of every array is the column."""

    #: Level of each row; empty if columns are searched one by one.
    codes: Any
    #: Rows by level and class; 0 between searches.
    counts: Any
    #: Rows on the left by class.
    left: Any
    #: Rows on the left, and sums of squared counts of classes on both sides.
    sums: Any
    #: Results: largest improvement, last level on the left, whether the column varies.
    gain: Any
    below: Any
    varies: Any
    #: Not positive if a level cannot be as good as the best so far, which saves divisions.
    margin: Any


@merged
def levels_of(features: Features, settings: Settings, drawn_once: bool) -> Levels:
    """Return memory of the search, with codes if all columns have few levels and are tried in every node."""
    d, n = features.codes.shape
    at_once = drawn_once and not settings.drawn_thresholds and settings.tried >= d and n <= _MOST_ROWS
    at_once = at_once and len(settings.terms) == 0
    at_once = at_once and not features.nominal.any() and not features.list_of.any()
    n_levels, rows = (features.levels.shape[1], n) if at_once else (0, 0)
    codes = np.empty((rows, d), dtype=np.uint8)
    for row in range(rows):
        for column in range(d):
            codes[row, column] = features.codes[column, row]
    return Levels(
        codes,
        np.zeros((n_levels, settings.n_classes, d), dtype=np.int32),
        np.empty((settings.n_classes, d), dtype=np.int32),
        np.empty((3, d), dtype=np.int32),
        np.empty(d),
        np.empty(d, dtype=np.int64),
        np.empty(d, dtype=np.uint8),
        np.empty(d),
    )


@inlined
def _move_left(counts: Any, left: Any, total: int, lefts: Any, left_squares: Any, right_squares: Any) -> None:
    """Move the rows of one level and class to the left in all columns."""
    for column in range(len(counts)):
        own = counts[column]
        counts[column] = 0
        so_far = left[column] + own
        left[column] = so_far
        lefts[column] += own
        left_squares[column] += so_far * so_far
        right_squares[column] += (total - so_far) * (total - so_far)


@lean
def search_levels(sample: Sample, members: Any, total: Any, smallest: int, levels: Levels) -> None:
    """Search all columns of a node whose rows are drawn once; write the results to `levels`.

    The first of equal thresholds wins. Columns that cannot be the best of the node get an improvement of -inf.
    """
    codes, counts, left, sums, gain, below, varies, margin = levels
    n, d = len(members), codes.shape[1]
    for row in members:
        own_class, code = sample.label[row], codes[row]
        for column in range(d):
            counts[code[column], own_class, column] += 1
    left[:] = 0
    gain[:] = -np.inf
    varies[:] = 0
    lefts, left_squares, right_squares = sums[0], sums[1], sums[2]
    lefts[:] = 0
    best = -np.inf
    for level in range(len(counts)):
        left_squares[:] = 0
        right_squares[:] = 0
        for label in range(len(total)):
            if total[label]:
                _move_left(counts[level, label], left[label], total[label], lefts, left_squares, right_squares)
        # Lower bound, with rounding, of the sum of squares over rows of a split as good as the best.
        floor = best + n - 1e-9 * n
        for column in range(d):
            n_left = lefts[column]
            n_right = np.int32(n) - n_left
            varies[column] |= np.uint8(min(n_left, n_right) > 0)
            squares = float(left_squares[column]) * float(n_right) + float(right_squares[column]) * float(n_left)
            margin[column] = squares - floor * (float(n_left) * float(n_right))
        for column in range(d):
            n_left = lefts[column]
            if not margin[column] > 0.0 or min(n_left, n - n_left) < smallest:
                continue
            rights = n - n_left
            own = improvement((), total, total, left_squares[column], n_left, right_squares[column], rights, best)[0]
            if own > gain[column]:
                gain[column], below[column] = own, level
                best = max(best, own)


@lean
def divide_levels(features: Features, feature: int, below: int, members: Any, label: Any, left: Any) -> Any:
    """Return the number of rows up to the level `below` and the threshold above it; write class counts to `left`."""
    codes, levels = features.codes[feature], features.levels[feature]
    left[:] = 0
    cut, above = np.int64(0), np.int64(len(levels))
    for row in members:
        code: Any = np.int64(codes[row])
        if code > below:
            above = min(above, code)
        else:
            cut += 1
            left[label[row]] += 1
    return cut, float(levels[below]) / 2.0 + float(levels[above]) / 2.0
