"""The best split of each column of a node at once, in trees that look at all columns and draw no row twice.

Counts of many columns lie side by side, and LLVM makes vector instructions of loops over columns. A node of few rows
sorts them by every column. A larger one counts classes by level, and leaves what it counted to its larger child, from
which the rows of the smaller are taken. Compiled by Numba.
"""

import functools
from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import compiled, inlined, lean, merged

from ._coded_splits import Choice, Coded, Tried
from ._few_rows import FEW, FewRows, Found, search_few
from ._forest_folds import Columns, Settings, improvement
from ._vectors import pass_level

#: Bytes of the counts that nodes leave to their children; a node whose counts have no place counts anew.
_MOST_BYTES: Final = 2**22


#: How much of the rows of a node splits may differ that are compared in 32 bits.
_ROUNDING: Final = 1e-5

#: Numbers that are none of them NaN.
_in_any_order = functools.partial(lean, fastmath={"nnan"})


class Levels(NamedTuple):
    """Counts by level, and memory of a search by them.

    ``counts`` (slots, classes, levels, width) are those of nodes. ``free`` is the number of slots that no node has, and
    then these; slot 0 is of a node that leaves nothing. Up to a level are ``left`` (classes, width) and ``rows``
    (width,); ``squares`` (2, width) are the squared counts of both sides.
    """

    counts: Any
    free: Any
    left: Any
    rows: Any
    squares: Any


class Search(NamedTuple):
    """Memory of the search of all columns."""

    columns: Columns
    few: FewRows
    levels: Levels
    splits: Found


@merged
def make_search(sample: Coded, settings: Settings) -> Search:
    """Room for a search, or for none."""
    width, n_classes = sample.codes.shape[1] if settings.at_once else 0, settings.n_classes
    n_levels = sample.values.shape[1]
    slots = max(1, min(64, _MOST_BYTES // max(1, 2 * n_classes * n_levels * width)))
    free = np.arange(slots)
    free[0] = slots - 1
    few = (FEW, width)
    return Search(
        Columns(np.zeros(width, dtype=np.uint8), np.zeros(width, dtype=np.int32), np.zeros(width, dtype=np.uint32)),
        FewRows(
            np.zeros(few, dtype=np.uint16),
            np.zeros(few, dtype=np.uint8),
            np.zeros((2, width), dtype=np.uint8),
            np.zeros(few, dtype=np.uint16),
            np.zeros(few, dtype=np.uint16),
            np.zeros(FEW, dtype=np.int64),
        ),
        Levels(
            np.empty((slots, n_classes, n_levels, width), dtype=np.int16),
            free,
            np.zeros((n_classes, width), dtype=np.int16),
            np.zeros(width, dtype=np.int32),
            np.zeros((2, width), dtype=np.int32),
        ),
        Found(np.zeros(width), np.zeros(width, dtype=np.uint16)),
    )


@lean
def _count_rows(codes: Any, labels: Any, members: Any, counts: Any, slot: Any, one: Any) -> None:
    """Add rows to the counts by level and class in a slot, or take them away."""
    for at in range(np.uint64(len(members))):
        row = np.uint64(members[at])
        own = np.uint64(labels[row])
        for column in range(np.uint64(codes.shape[1])):
            counts[slot, own, np.uint64(codes[row, column]), column] += one


@_in_any_order
def _largest(gain: Any) -> Any:
    largest = -np.inf
    for column in range(len(gain)):
        largest = max(largest, gain[column])
    return largest


@lean
def _promises(n: Any, smallest: int, sides: Any, rows: Any, floor: Any) -> Any:
    """True if a column may have a split as good as the one that `floor_of` was computed from, in 32 bits."""
    hits = np.int32(0)
    for column in range(np.uint64(len(rows))):
        n_left, n_right = np.float32(rows[column]), np.float32(n - rows[column])
        here = np.float32(sides[0, column]) * n_right + np.float32(sides[1, column]) * n_left
        allowed = (rows[column] >= smallest) & (n - rows[column] >= smallest)
        hits += np.int32((here >= floor * (n_left * n_right)) & allowed)
    return hits > 0


@lean
def _improve(level: Any, n: Any, smallest: int, sides: Any, rows: Any, gain: Any, code: Any) -> None:
    """Keep the split at a level in the columns in which it is better than the best before."""
    for column in range(np.uint64(len(rows))):
        n_left, n_right = float(rows[column]), float(np.int32(n - rows[column]))
        made = improvement(sides[0, column], n_left, sides[1, column], n_right)[0]
        better = (made > gain[column]) & (n_left >= smallest) & (n_right >= smallest)
        gain[column] = made if better else gain[column]
        code[column] = level if better else code[column]


@merged
def _search_levels(counts: Any, total: Any, n: int, smallest: int, tried: Tried, splits: Found, room: Levels) -> None:
    """Find the best split of each column by the counts by level and class, if it is the best of all columns."""
    room.left[:] = 0
    splits.gain[:] = -np.inf
    floor = np.float32(-np.inf)
    lowest, highest = tried.lowest[0], tried.highest[0]
    for column in range(len(tried.lowest)):
        lowest, highest = min(lowest, tried.lowest[column]), max(highest, tried.highest[column])
    for level in range(np.uint64(lowest), np.uint64(highest)):
        pass_level(counts, total, room.left, room.squares, room.rows, level)
        if _promises(np.int32(n), np.int32(smallest), room.squares, room.rows, floor):
            _improve(np.uint16(level), np.int32(n), smallest, room.squares, room.rows, splits.gain, splits.code)
            floor = np.float32(_largest(splits.gain) + n - _ROUNDING * n)


@merged
def _best(sample: Coded, members: Any, tried: Tried, n_found: int, splits: Found, total: Any, left: Any) -> Choice:
    """The best of the columns that were drawn, the first of equal ones."""
    best, feature = _largest(splits.gain), np.int64(-1)
    for place in range(n_found if best > -np.inf else 0):
        feature = np.int64(tried.columns[place])
        if splits.gain[np.uint64(feature)] == best:
            break
    if feature < 0:
        return Choice(feature, np.int64(0), 0, 0, 0)
    code, own = np.int64(splits.code[np.uint64(feature)]), sample.columns[np.uint64(feature)]
    left[:] = 0
    for row in members:
        left[sample.label[row]] += np.int64(np.int64(own[row]) <= code)
    n_left, left_squares, right_squares = 0, 0, 0
    for label in range(len(total)):
        n_left += left[label]
        left_squares += left[label] * left[label]
        right_squares += (total[label] - left[label]) ** 2
    return Choice(feature, code, n_left, left_squares, right_squares)


@compiled
def count_levels(settings: Settings, label: Any, codes: Any, values: Any) -> Any:
    """All rows by class, level and column, for trees that look at all columns."""
    n_levels = values.shape[1] if settings.at_once else 0
    counts = np.zeros((settings.n_classes, n_levels, codes.shape[1]), dtype=np.int16)
    for row in range(len(label) if settings.at_once else 0):
        for column in range(codes.shape[1]):
            counts[label[row], codes[row, column], column] += 1
    return counts


@inlined
def _take(levels: Levels) -> Any:
    """A slot that no node has, or 0."""
    slot = levels.free[levels.free[0]] if levels.free[0] else 0
    levels.free[0] -= slot > 0
    return slot


@inlined
def count_root(sample: Coded, tests: Any, all_rows: Any, levels: Levels) -> Any:
    """The slot with the counts of all rows except the tested ones."""
    slot = _take(levels)
    for own, level, column in np.ndindex(all_rows.shape):
        levels.counts[slot, own, level, column] = all_rows[own, level, column]
    _count_rows(sample.codes, sample.label, tests, levels.counts, np.uint64(slot), np.int16(-1))
    return slot


@inlined
def count_anew(sample: Coded, members: Any, levels: Levels) -> Any:
    """The slot with the counts of rows."""
    slot = _take(levels)
    levels.counts[slot] = 0
    _count_rows(sample.codes, sample.label, members, levels.counts, np.uint64(slot), np.int16(1))
    return slot


@merged
def best_of_all(
    sample: Coded,
    members: Any,
    slot: int,
    tried: Tried,
    n_found: int,
    squares: int,
    smallest: int,
    total: Any,
    left: Any,
    search: Search,
) -> Any:
    """The best split of a node, and the slot of its counts or -1; `slot` is that of counts it was left, or -1."""
    levels, m = search.levels, len(members)
    if m <= FEW:
        search_few(sample, members, squares, smallest, search.splits, search.few)
    else:
        if slot < 0:
            slot = count_anew(sample, members, levels)
        _search_levels(levels.counts[slot], total, m, smallest, tried, search.splits, levels)
    return _best(sample, members, tried, n_found, search.splits, total, left), slot


@inlined
def release(slot: int, levels: Levels) -> None:
    """Give the slot of a node's counts back, if it has one."""
    if slot > 0:
        levels.free[0] += 1
        levels.free[levels.free[0]] = slot


@inlined
def leave_counts(
    sample: Coded, members: Any, cut: int, left_ends: bool, right_ends: bool, slot: int, levels: Levels
) -> tuple[int, int]:
    """Leave the counts of a node to its children, unless they end or have few rows: their slots, or -1."""
    right_larger = len(members) - cut > cut
    larger = max(cut, len(members) - cut)
    smaller = members[:cut] if right_larger else members[cut:]
    ends, smaller_ends = (right_ends, left_ends) if right_larger else (left_ends, right_ends)
    own: Any = -1
    if slot < 1 or ends or larger <= FEW:
        release(slot, levels)
        return -1, -1
    if len(smaller) > FEW and not smaller_ends and levels.free[0]:
        own = count_anew(sample, smaller, levels)
        left, taken = levels.counts[slot].reshape(-1), levels.counts[own].reshape(-1)
        for label in range(len(left)):
            left[label] -= taken[label]
    else:
        _count_rows(sample.codes, sample.label, smaller, levels.counts, np.uint64(slot), np.int16(-1))
    return (own, slot) if right_larger else (slot, own)
