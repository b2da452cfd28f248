"""Columns, other than the compared ones, within whose groups errors occur together, such as the rows of a patient."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.messages import shown
from .._common.note import Note
from .._common.validation import FloatArray, IntArray

#: A column of fewer values is a category.
_FEWEST_VALUES = 10
#: Of more rows the first groups with so many are looked at.
_MOST_ROWS = 2**13
#: So many columns are named.
_MOST_NAMED = 3
#: The chance that any column is named although rows are independent of all of them.
_LEVEL = 0.01


def clusters(
    values: FloatArray, columns: Mapping[str, IntArray], *, classes: int, seed: int, pvalue: Callable[[IntArray], str]
) -> Iterator[Note]:
    """A note on each of up to three columns within whose groups the values of rows are alike.

    Columns are examined if they have two or more rows per value on average, at least ten values, and more than twice as
    many as there are classes; of each the first groups, up to 8,192 rows. Null hypothesis: all orders of the values of
    the rows are equally likely, whatever the columns are. Then no column is named with a probability of at least 99%,
    since the sum of squares of the sums of groups must exceed those of 100 random orders per column, minus one.

    `values`: the difference of the models in each row; array of shape (n,). `columns`: codes from 0. `pvalue`: the
    p-value with the groups of such codes, in words.
    """
    least = max(_FEWEST_VALUES, 2 * classes + 1)
    tried = {name: codes for name, codes in columns.items() if least <= int(codes.max()) + 1 <= len(codes) / 2}
    count, rng = 0, np.random.default_rng(seed)
    for name, codes in tried.items():
        ratio = _inflation(values, codes, round(len(tried) / _LEVEL) - 1, rng) if count < _MOST_NAMED else None
        if ratio is not None:
            count += 1
            many = f"{int(codes.max()) + 1:,} values"
            told = f"sums over its {many} vary {ratio:.1f} times as much as of independent rows"
            again = f"--group {name} (groups) takes them as groups: {pvalue(codes)}"
            yield Note("clustered-errors", f"rows with equal {shown(name)} differ alike: {told}; {again}")


def _inflation(values: FloatArray, codes: IntArray, draws: int, rng: np.random.Generator) -> float | None:
    """Ratio of the variance of the sums of groups to that under random orders; None if one order has more."""
    rows = np.argsort(codes, kind="stable")[:_MOST_ROWS]
    values, codes = values[rows], codes[rows]
    sizes = np.bincount(codes)
    n, mean, groups = len(values), values.mean(), len(sizes)
    moved = np.sort(values[values != 0])  # the others add nothing to a sum

    def squares(sums: NDArray[Any]) -> float:
        return float(((sums - sizes * mean) ** 2).sum())

    observed = squares(np.bincount(codes, values, groups))
    expected = float(values.var() * (sizes * (n - sizes)).sum() / (n - 1))
    if observed <= expected:
        return None
    for _ in range(draws):
        places = rng.choice(n, len(moved), replace=False)
        if squares(np.bincount(codes[places], moved, groups)) >= observed * (1 - 1e-12):
            return None
    return observed / expected
