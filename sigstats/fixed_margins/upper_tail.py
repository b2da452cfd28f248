"""Margins of a square table, and the law of its number correct: the exact upper tail, and random draws.

The tail of `upper_tail` is faster to compute than the whole distribution (`sigstats.fixed_margins.distribution`).

Nyssen's Monte-Carlo test shuffles the objects; a shuffle costs N steps, a random table k * k draws. The number correct
needs neither (`batches`): the classes are split in two halves, one draw gives the number of objects of the first half
that were named within it, and each half is a smaller problem of the same kind. About ``2 k log2(k)`` draws make a
replicate, however many objects there are. If that is faster, few objects are shuffled, and tables of few classes of
moderate size are drawn by SciPy.

When not to use random draws: for more than a billion objects, or if the exact distribution is feasible.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.data_frames import same_classes
from .._common.extreme import ROUNDING, error_bound
from .._common.random_streams import MAX_RESAMPLES, RNG, as_generator
from .._common.validation import IntArray, as_count, as_counts, refuse
from . import rook_polynomial, saddle_point, two_dominant_classes
from .rook_factor import DIGITS
from .rook_polynomial import Classes, LogTail, most_correct
from .two_dominant_classes import hypergeometric_tail

#: Up to here whole numbers take hundredths of a second, and give all of the distribution to full precision.
SMALL = 1_000
#: Up to here whole numbers take a second.
_MEDIUM = 5_000
#: Up to here they take up to a minute; the last resort where nothing quicker applies.
FEASIBLE = 20_000
#: Numbers of coefficients of the rook polynomial that take milliseconds, tenths of a second, and seconds.
FEW, SOME, MANY = 40, 500, 2_500
LOG_10 = DIGITS.ln(Decimal(10))


def as_margins(row_totals: Any, column_totals: Any) -> tuple[IntArray, IntArray, int]:
    """Return both margins of a square table and their total, or raise ValueError."""
    rows = as_counts(row_totals, "row_totals", ndim=1)
    columns = as_counts(column_totals, "column_totals", ndim=1)
    same_classes(row_totals=row_totals, column_totals=column_totals)
    if len(rows) != len(columns):
        raise refuse("column_totals", len(columns), f"as many as row_totals, {len(rows)}", quantity="length")
    total = int(rows.sum())
    if int(columns.sum()) != total:
        raise refuse("column_totals", int(columns.sum()), f"the total of row_totals, {total}", quantity="total")
    if total == 0:
        raise refuse("row_totals", 0, "at least one object", quantity="total")
    return rows, columns, total


def correct_range(rows: IntArray, columns: IntArray) -> tuple[int, int]:
    """Return the smallest and the largest number correct that the margins allow."""
    return max(0, int((rows + columns).max() - rows.sum())), int(np.minimum(rows, columns).sum())


def classes_of(rows: IntArray, columns: IntArray) -> Classes:
    """Count the classes with each pair of totals, leaving out classes that cannot be right."""
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return Counter(pair for pair in pairs if min(pair) > 0)


def decided_by_one_cell(total: int, classes: Classes) -> bool:
    """Return True if one cell determines the number correct: one class can be right, or there are two."""
    pairs = list(Counter(dict(classes)).elements()) if sum(classes.values()) <= 2 else []
    return len(pairs) == 1 or (len(pairs) == 2 and all(a + b == total for a, b in zip(*pairs, strict=True)))


class UpperTail(NamedTuple):
    """The tail ``P(T >= t)`` of the number correct T, its decimal logarithm, and ``P(T > t) + P(T = t) / 2`` (mid-p).

    `error_bound` is that of the first, as in `sigstats.results.TestResult`; it is not proved if `estimated`.
    """

    pvalue: float
    log10_pvalue: float
    mid_pvalue: float
    error_bound: float
    estimated: bool


def upper_tail(row_totals: Any, column_totals: Any, correct: int) -> UpperTail:
    """Return the probability of `correct` or more objects in their own class, given the margins, or raise ValueError.

    Relative error about 1e-13 up to N = 10,000; the result bounds it. The method is a closed form for two classes;
    Riordan's rook polynomial in whole numbers for up to 1000 objects and at either end of the range; a sum over the
    other objects if two classes contain nearly all; and otherwise a contour integral through its saddle point, in
    milliseconds for any N. With more than 20,000 objects, rare tables that no method handles are refused (none was
    among thousands of random ones up to three million objects).

    >>> round(upper_tail([1000] * 10, [1000] * 10, 1050).pvalue, 12)  # Nyssen's 10,000 patterns, 10.5% of them right
    0.050246370198
    """
    rows, columns, total = as_margins(row_totals, column_totals)
    correct = as_count(correct, "correct", maximum=total)
    least, most = correct_range(rows, columns)
    if not least <= correct <= most:
        raise refuse("correct", correct, f"a number that these margins allow, {least} to {most}")
    with localcontext(DIGITS):
        upper, point, error, estimated = _log_tail(total, classes_of(rows, columns), least, correct)
        mid = Decimal("-Infinity") if upper.is_infinite() else (upper.exp() - point.exp() / 2)
        p = min(float(upper.exp()), 1.0)
        return UpperTail(p, min(float(upper / LOG_10), 0.0), float(mid), error_bound(p, error + ROUNDING), estimated)


def _log_tail(total: int, classes: Classes, least: int, correct: int) -> LogTail:
    """Return both probabilities, by the fastest applicable method."""
    most = most_correct(classes)
    if least == most:
        return LogTail(Decimal(0), Decimal(0))
    if decided_by_one_cell(total, classes):
        return _closed_form(total, classes, correct)
    if total <= SMALL:
        return rook_polynomial.tail(total, classes, correct)
    if most - correct <= FEW:
        return rook_polynomial.tail_from_above(total, classes, correct)
    by_integral = saddle_point.tail(total, classes, correct)
    if by_integral is not None:
        return by_integral
    # Bonferroni's sums settle well beyond the mean; if not, `tail_from_below` returns None.
    mean, _ = saddle_point.moments(total, saddle_point.factors_of(classes))
    last = correct + math.ceil(3 * mean) + 100
    for longest in (SOME, MANY):
        if last <= longest:
            from_below = rook_polynomial.tail_from_below(total, classes, correct, min(last, most))
            if from_below is not None:
                return from_below
        if most - correct <= longest:
            return rook_polynomial.tail_from_above(total, classes, correct)
        if longest == SOME and total > _MEDIUM:
            by_rest = two_dominant_classes.tail(total, classes, correct)
            if by_rest is not None:
                return by_rest
    if total <= FEASIBLE:
        return rook_polynomial.tail(total, classes, correct)
    raise refuse("total of the table", total, f"at most {FEASIBLE} for the exact test of such margins, or Monte-Carlo")


def _closed_form(total: int, classes: Classes, correct: int) -> LogTail:
    (rows, columns), *others = Counter(dict(classes)).elements()
    if not others:
        return hypergeometric_tail(total, rows, columns, correct)
    # T = n11 + n22 and n22 = N - r1 - c1 + n11.
    twice = correct + rows + columns - total
    tail = hypergeometric_tail(total, rows, columns, -(-twice // 2))
    return tail._replace(point=Decimal("-Infinity")) if twice % 2 else tail


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
