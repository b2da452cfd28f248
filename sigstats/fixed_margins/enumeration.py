"""The number of tables that Nyssen's equation (4) would have to sum, were they listed one by one.

The exact test lists none (`sigstats.fixed_margins.distribution`). This is the number in his Figure 2, by which he held
the exact test to be out of reach beyond small tables.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from .._common.validation import as_count, as_counts, refuse

#: Rows that are laid out, over all states of the columns, before a problem is refused: seconds.
_MOST_STEPS = 2_000_000


def number_of_tables(row_totals: Any, column_totals: Any, least_correct: int = 0) -> int:
    """The number of square tables of counts with given margins and at least so many on the diagonal.

    Tables are counted row by row: columns whose diagonal cell is passed are alike, so that only what is left in them
    matters, in no order.

    `least_correct`: the smallest sum of the diagonal. Raises ValueError if the margins do not fit together, or there
    are too many tables to count.

    Nyssen, Figure 2, k = 3 and n = 2; and what it says of five classes of five with 10 of 25 right:

    >>> number_of_tables([6, 6, 6], [6, 6, 6], 6), number_of_tables([5] * 5, [5] * 5, 10)
    (204, 1254250)
    """
    rows = as_counts(row_totals, "row_totals", ndim=1).tolist()
    columns = as_counts(column_totals, "column_totals", ndim=1).tolist()
    least_correct = as_count(least_correct, "least_correct")
    if len(rows) != len(columns) or sum(rows) != sum(columns):
        raise refuse("column_totals", columns, f"as many as row_totals has, {len(rows)}, and the same sum, {sum(rows)}")
    steps = 0

    @cache
    def by_correct(past: tuple[int, ...], future: tuple[int, ...]) -> tuple[int, ...]:
        # How many ways to fill the rows that are left, by how many of them are on the diagonal.
        nonlocal steps
        if not future:
            return (1,)
        ways = [0] * (sum(future) + 1)
        for row in _rows(rows[len(rows) - len(future)], past + future):
            steps += 1
            if steps > _MOST_STEPS:
                raise refuse("row_totals", rows, f"a problem of at most {_MOST_STEPS:,} steps")
            left = [total - count for total, count in zip(past + future, row, strict=True)]
            here = row[len(past)]
            rest = by_correct(tuple(sorted(left[: len(past) + 1])), tuple(left[len(past) + 1 :]))
            for correct, number in enumerate(rest):
                if number:  # what is left on later diagonals fits
                    ways[correct + here] += number
        return tuple(ways)

    return sum(by_correct((), tuple(columns))[least_correct:])


def _rows(total: int, most: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every row of counts with a sum, none of them above what its column has left."""
    if len(most) == 1:
        if total <= most[0]:
            yield (total,)
        return
    rest = sum(most[1:])
    for first in range(max(0, total - rest), min(total, most[0]) + 1):
        for others in _rows(total - first, most[1:]):
            yield (first, *others)


def number_of_terms(table: Any) -> int:
    """The number of terms of Nyssen's equation (4) for a table: as many right or more, with its margins.

    >>> number_of_terms([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    30
    """
    counts = np.asarray(table)
    return number_of_tables(counts.sum(axis=1), counts.sum(axis=0), int(np.trace(counts)))
