"""The best split of a node of few rows of a forest's tree of coded columns, compiled by Numba.

A line of memory holds the codes of a row in many columns, and all of these columns are counted at once, whether they
were drawn or not: a row takes about ten instructions of the processor, and none of them depends on what is compared.
Rows are in the order of their classes, and squared counts grow by 2 c + 1 with each row after c of its class.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled, inlined

from ._coded_splits import Choice, Coded, Tried
from ._improvement import improvement
from ._lanes import LINE, add, both, load, spread, store, subtract, up_to

#: The square of so many fits into a byte.
FEW: Final = 15

#: So many rows are counted faster so than class by class, where the squares fit.
SOME: Final = 40


class Few(NamedTuple):
    """By threshold, count and column: draws to the left, and squared counts to the left and right; `FEW` rows."""

    counts: Any
    rows: Any


@compiled
def room_for_few(width: int, kind: Any) -> Few:
    """Room to count in codes of a type."""
    return Few(np.zeros((FEW, 3, width), dtype=kind.dtype), np.empty(FEW, dtype=np.uint32))


@inlined
def _count_up_to(sample: Coded, members: Any, line: Any, top: Any, counts: Any) -> None:
    """Count the rows `members`, of which all weigh one, up to the codes `top` of the columns from `line` on."""
    codes, label = sample.codes, sample.label
    width = np.uint64(codes.shape[1])
    zero, one, every = spread(top, 0), spread(top, 1), spread(top, -1)
    left = right = left_squares = right_squares = here = zero
    before = label[members[0]]
    for row in members:
        own = label[row]
        same = spread(top, -np.int64(own == before))
        before = own
        left, right = both(left, same), both(right, same)
        goes = up_to(load(codes, row * width + line), top)
        stays = subtract(every, goes)
        left_squares = add(left_squares, both(goes, add(add(left, left), one)))
        right_squares = add(right_squares, both(stays, add(add(right, right), one)))
        left, right, here = subtract(left, goes), subtract(right, stays), subtract(here, goes)
    store(counts, line, here)
    store(counts, width + line, left_squares)
    store(counts, width + width + line, right_squares)


@inlined
def best_level_of_few(sample: Coded, members: Any, tried: Tried, found: int, n: int, few: Few) -> Any:
    """Search the columns that were drawn, each up to the code of each row, of up to `FEW` draws."""
    codes, counts, filled = sample.codes, few.counts, 0
    width = np.uint64(codes.shape[1])
    for row in members:
        for _ in range(sample.weight[row]):
            few.rows[filled] = row
            filled += 1
    for at in range(len(members)):
        for line in range(np.uint64(0), width, np.uint64(LINE // codes.itemsize)):
            _count_up_to(sample, few.rows[:filled], line, load(codes, members[at] * width + line), counts[at])
    chosen: Any = -1
    chosen_row, best = 0, -np.inf
    for each in range(found):
        feature = np.uint64(tried.columns[each])
        own_code: Any = 0
        own_row, own = 0, -np.inf
        for at in range(len(members)):
            code, n_left = np.int64(codes[members[at], feature]), np.int64(counts[at, 0, feature])
            # Where all go left the gain is not a number, which is not greater.
            gain = improvement(np.int64(counts[at, 1, feature]), n_left, np.int64(counts[at, 2, feature]), n - n_left)[
                0
            ]
            if (gain > own) | ((gain == own) & (code < own_code)):
                own_row, own_code, own = at, code, gain
        if own > best:
            chosen, chosen_row, best = np.int64(feature), own_row, own
            if best >= 0:
                break
    if chosen < 0:
        return Choice(-1, 0, 0, 0, 0)
    return _choice(np.uint64(chosen), codes[members[chosen_row], chosen], counts[chosen_row])


@inlined
def best_drawn_of_few(sample: Coded, members: Any, tried: Tried, found: int, smallest: int, few: Few) -> Any:
    """Search the columns that were drawn up to their codes, of rows that weigh one each; of bytes up to `FEW`."""
    n, counts = len(members), few.counts[0]
    codes = sample.codes
    for line in range(np.uint64(0), np.uint64(codes.shape[1]), np.uint64(LINE // codes.itemsize)):
        _count_up_to(sample, members, line, load(tried.tops, line), counts)
    chosen, best = -1, -np.inf
    for each in range(found):
        feature = np.uint64(tried.columns[each])
        n_left = np.int64(counts[0, feature])
        gain = improvement(np.int64(counts[1, feature]), n_left, np.int64(counts[2, feature]), n - n_left)[0]
        better = (gain > best) & (min(n_left, n - n_left) >= smallest)
        chosen, best = each if better else chosen, gain if better else best
    if chosen < 0:
        return Choice(-1, 0, 0, 0, 0)
    return _choice(np.uint64(tried.columns[chosen]), tried.draws[chosen], counts)


@inlined
def _choice(feature: Any, code: Any, counts: Any) -> Choice:
    n_left = np.int64(counts[0, feature])
    return Choice(np.int64(feature), np.int64(code), n_left, np.int64(counts[1, feature]), np.int64(counts[2, feature]))
