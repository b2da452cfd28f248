"""Random numbers correct under fixed margins, without making a table.

Nyssen's Monte-Carlo test shuffles the objects; a shuffle costs N steps, a random table k * k draws. The number correct
needs neither: the classes are split in two halves, one draw gives the number of objects of the first half that were
named within it, and each half is a smaller problem of the same kind. About ``2 k log2(k)`` draws make a replicate,
however many objects there are. If that is faster, few objects are shuffled, and tables of few classes of moderate size
are drawn by SciPy.

When not to use: for more than a billion objects, or if the exact distribution (`sigstats.fixed_margins.distribution`)
is feasible.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.random_streams import MAX_RESAMPLES, RNG, as_generator
from .._common.validation import IntArray, as_count, refuse
from .upper_tail import as_margins

#: The number of replicates drawn at a time; it is fixed, so that fewer replicates are the first of many.
BATCH = 1_000
_MOST_OBJECTS = 10**9
#: Measured costs in units of a shuffled object: a hypergeometric draw, and a cell of a table for each unit of log N.
_DRAW, _CELL = 14, 1.65
#: The number of tables that SciPy makes in one call.
_TABLES = 16 * BATCH
#: Up to this many objects of at most five classes, SciPy shuffles faster than NumPy sorts.
_FEW = 20

_Draws: TypeAlias = NDArray[np.int64] | int
_Draw: TypeAlias = Callable[[np.random.Generator, int], IntArray]


def random_number_correct(row_totals: Any, column_totals: Any, *, size: int, rng: RNG = None) -> IntArray:
    """Return numbers correct of `size` independent random tables with the given margins, (size,), or raise ValueError.

    The null distribution is Nyssen's: all assignments of the names to the objects are equally likely. From generators
    in the same state, fewer replicates are the first of more. A generator is left after the batch of 1000 that the last
    replicate belongs to.
    """
    size = as_count(size, "size", maximum=MAX_RESAMPLES)
    return np.concatenate([np.empty(0, dtype=np.int64), *batches(row_totals, column_totals, size=size, rng=rng)])


def batches(row_totals: Any, column_totals: Any, *, size: int, rng: RNG = None) -> Iterator[IntArray]:
    """Yield batches of some thousand replicates of `random_number_correct`, for callers that only count them."""
    rows, columns, total = as_margins(row_totals, column_totals)
    if total > _MOST_OBJECTS:
        raise refuse("row_totals", total, f"at most {_MOST_OBJECTS} objects for random tables", quantity="total")
    generator = as_generator(rng)
    counting = (rows > 0) & (columns > 0)
    row_parts, column_parts = rows[counting].tolist(), columns[counting].tolist()
    # Classes that cannot be right are joined to one, the last, which is not counted.
    rest_rows, rest_columns = (int(margin[~counting].sum()) for margin in (rows, columns))
    if rest_rows or rest_columns:
        row_parts.append(rest_rows)
        column_parts.append(rest_columns)
    draw, step = _fastest(total, row_parts, column_parts, int(counting.sum()))
    for done in range(0, size, step):
        wanted = min(step, size - done)
        yield draw(generator, -(-wanted // BATCH) * BATCH)[:wanted]


def _fastest(total: int, rows: list[int], columns: list[int], counting: int) -> tuple[_Draw, int]:
    """Return the fastest way to draw replicates of these margins, and the largest batch."""
    halving, table = _DRAW * _draws(len(rows)), _CELL * math.log(total) * (len(rows) - 1) ** 2
    if min(total, table) <= halving and ((total < _FEW and len(rows) <= 5) or table < total):
        return _tables(total, rows, columns, counting)
    if total <= halving:
        return lambda rng, size: _shuffled(rng, rows, columns, counting), BATCH

    def halves(rng: np.random.Generator, size: int) -> IntArray:
        matched = _matched(rng, [*rows], [*columns], total, counting)
        return np.broadcast_to(np.asarray(matched, dtype=np.int64), size)

    return halves, BATCH


def _tables(total: int, rows: list[int], columns: list[int], counting: int) -> tuple[_Draw, int]:
    """Draw SciPy's random tables by shuffling few objects or by Patefield's method; small samples begin larger ones."""
    from scipy.stats import random_table

    distribution = random_table(rows, columns)
    method: Literal["boyett", "patefield"] = "boyett" if total < _FEW else "patefield"

    def traces(rng: np.random.Generator, size: int) -> IntArray:
        tables = np.asarray(distribution.rvs(size, method=method, random_state=rng), dtype=np.int64)
        counts = np.zeros(size, dtype=np.int64)
        for i in range(counting):
            counts += tables[:, i, i]
        return counts

    return traces, _TABLES


def _draws(k: int) -> int:
    """Return the number of hypergeometric draws that `_matched` makes for k classes."""
    if k == 1:
        return 0
    half = k // 2
    return 1 + 2 * (k - 2) + _draws(half) + _draws(k - half)


def _shuffled(rng: np.random.Generator, rows: list[int], columns: list[int], counting: int) -> IntArray:
    # Names are assigned in the order of random keys whose low bits hold the name: sorting is quicker than shuffling.
    bits = max(1, (len(rows) - 1).bit_length())
    truth, names = (np.repeat(np.arange(len(rows), dtype=np.uint64), margin) for margin in (rows, columns))
    keys = rng.integers(0, 1 << (64 - bits), size=(BATCH, len(names)), dtype=np.uint64)
    keys <<= np.uint64(bits)
    keys |= names
    keys.sort(axis=1)
    keys &= np.uint64((1 << bits) - 1)
    right = (keys == truth)[:, : sum(rows[:counting])]
    return np.asarray(np.count_nonzero(right, axis=1), dtype=np.int64)


def _matched(
    rng: np.random.Generator, rows: list[_Draws], columns: list[_Draws], total: _Draws, counting: int
) -> _Draws:
    """Return the number correct in the first `counting` classes if `rows` and `columns` are matched."""
    if counting <= 0:
        return 0
    if len(rows) == 1:
        return total
    half = len(rows) // 2
    row_sum, column_sum = sum(rows[:half]), sum(columns[:half])
    within = rng.hypergeometric(column_sum, total - column_sum, row_sum, size=BATCH)
    beyond = total - row_sum - column_sum + within
    rows_first = _chosen(rng, rows[:half], row_sum, within)
    columns_first = _chosen(rng, columns[:half], column_sum, within)
    first = _matched(rng, rows_first, columns_first, within, counting)
    if counting <= half:
        return first
    rows_left = _chosen(rng, rows[half:], total - row_sum, beyond)
    columns_left = _chosen(rng, columns[half:], total - column_sum, beyond)
    return first + _matched(rng, rows_left, columns_left, beyond, counting - half)


def _chosen(rng: np.random.Generator, parts: list[_Draws], total: _Draws, sample: _Draws) -> list[_Draws]:
    """Return the numbers of each part among `sample` of all `total`: a multivariate hypergeometric draw."""
    chosen: list[_Draws] = []
    for part in parts[:-1]:
        chosen.append(rng.hypergeometric(part, total - part, sample, size=BATCH))
        total, sample = total - part, sample - chosen[-1]
    return [*chosen, sample]
