"""Bins of columns for histogram boosting, compiled by Numba: scikit-learn's thresholds, from levels that are known.

The distinct values of each column are found once. The bins of a fold follow from how many training rows have each of
these levels, so that nothing is sorted when rows or columns are permuted.
"""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled


class Levels(NamedTuple):
    """The distinct values of columns."""

    #: Those of all columns, each in order.
    values: Any
    #: Where each column begins among them; array of int64, shape (columns + 1,).
    starts: Any
    #: Whether a value of the column is missing; its level is the number of values; array of bool, shape (columns,).
    gaps: Any
    #: Whether the column is that of a category, which is not there where no training row is of it; array of bool,
    #: shape (columns,).
    optional: Any


@compiled
def _cut(values: Any, counts: Any, most: int, shares: Any, cuts: Any) -> int:
    """Write the thresholds between bins to `cuts`; their number, or -1 where no training row has a value."""
    distinct, total = 0, 0
    for count in counts:
        distinct += count > 0
        total += count
    if distinct == 0:
        return -1
    filled, before = 0, -1
    if distinct <= most:  # halfway between neighbours
        for level in range(len(values)):
            if counts[level]:
                if before >= 0:
                    cut = (values[before] + values[level]) / 2
                    if filled == 0 or cut != cuts[filled - 1]:
                        cuts[filled] = cut
                        filled += 1
                before = level
        return filled
    level, passed = 0, counts[0]  # quantiles by the inverted distribution function, averaged at its steps
    for share in shares:
        place = total * share - 1
        low = int(np.floor(place))
        halfway = place == low
        low = min(max(low, 0), total - 1)
        high = min(max(int(np.floor(place)) + 1, 0), total - 1)
        while passed <= low:
            level += 1
            passed += counts[level]
        upper, reached = level, passed
        while reached <= high:
            upper += 1
            reached += counts[upper]
        cut = values[upper]
        if halfway:
            cut -= (values[upper] - values[level]) * 0.5
        if filled == 0 or cut != cuts[filled - 1]:
            cuts[filled] = cut
            filled += 1
    return filled


@compiled
def bin_rows(levels: Any, known: Levels, rows: Any, m: int, most: int, shares: Any, binned: Any, columns: Any) -> int:
    """Bin rows by the thresholds of the first `m` of them; the number of columns, or -1 where scikit-learn fails.

    `rows` says which of `levels` they are, `most` the largest number of bins of a column, and `shares`, (most - 1,),
    which quantiles are thresholds where a column has more values. Written are `binned`, (groups of columns, n, columns
    of a group), where a missing value has the number after the last bin; and `columns`, (columns, 3): the place of the
    first bin among those of all columns, the number of bins, and whether a training value is missing.
    """
    first, used, width = 0, 0, binned.shape[2]
    cuts = np.empty(most, dtype=np.float64)
    for column in range(len(levels)):
        values = known.values[known.starts[column] : known.starts[column + 1]]
        counts = np.zeros(len(values) + 1, dtype=np.int64)
        own = levels[column]
        for row in rows[:m]:
            counts[own[row]] += 1
        if known.optional[column] and counts[-2] == (m if values[-1] == 0 else 0):
            continue
        n_cuts = _cut(values, counts[:-1], most, shares, cuts)
        if n_cuts < 0:
            return -1
        bins = np.empty(len(values) + 1, dtype=np.uint8)
        at = 0
        for level in range(len(values)):
            while at < n_cuts and values[level] > cuts[at]:
                at += 1
            bins[level] = at
        bins[len(values)] = n_cuts + 1
        for place in range(len(rows)):
            binned[used // width, place, used % width] = bins[own[rows[place]]]
        columns[used, 0], columns[used, 1], columns[used, 2] = first, n_cuts + 1, counts[-1] > 0
        first += n_cuts + 1 + known.gaps[column]
        used += 1
    return used
