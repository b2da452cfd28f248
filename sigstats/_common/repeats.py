"""Rows that are copies of others, and columns or rows that summarise others, recognised by their values.

Copies are equal in all columns, though not by chance. Equal predictions do not make rows copies, since easy rows have
the same ones. Equal content does, such as features or a text, if it is so fine that nearly all rows that differ in any
column also differ in their content.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .validation import FloatArray, IntArray, shown


def joint_codes(columns: Sequence[IntArray]) -> IntArray:
    """Number the distinct combinations of codes, from 0, and return the number of each row's."""
    joint = np.zeros(len(columns[0]), np.int64)
    for codes in columns:
        joint = np.unique(joint * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return joint


#: Content of fewer different rows than this, or than a share of all, is a category.
_FEWEST, _LEAST_SHARE = 10, 0.02
#: The largest ratio of the numbers of rows that differ in all columns and in their content.
_FINE = 1.1
#: A column is no evidence of copies if a larger share of the pairs of rows are equal in it.
_ALIKE = 0.7


def copied_rows(content: IntArray, other_columns: Sequence[IntArray]) -> NDArray[np.bool_] | None:
    """Return a mask of rows that equal an earlier row in their content and other columns; None if no row does."""
    contents = int(content.max()) + 1
    if contents < max(_FEWEST, _LEAST_SHARE * len(content)):
        return None
    joint = joint_codes([content, *other_columns])
    first = np.unique(joint, return_index=True)[1]
    if len(first) == len(joint) or len(first) > _FINE * contents:
        return None
    copies = np.ones(len(joint), dtype=bool)
    copies[first] = False
    return copies


#: With fewer votes, all may occur twice by chance.
_FEWEST_TWICE = 20
#: Content that more votes share on average, such as that of three judges, does not identify a vote.
_MOST_OF_ONE = 8


def check_sides(votes: IntArray, content: IntArray | None = None) -> None:
    """Raise ValueError if all votes (two models, sign) occur twice, with the sides exchanged.

    In turn or in halves; or in any order, if the rest of their `content`, as codes, distinguishes most votes.
    """
    n, exchanged = len(votes), votes[:, [1, 0, 2]] * [1, 1, -1]
    if n % 2 or n < _FEWEST_TWICE:
        return
    in_turn, in_halves = (slice(None, None, 2), slice(1, None, 2)), (slice(n // 2), slice(n // 2, None))
    mirrored = any(np.array_equal(votes[one], exchanged[other]) for one, other in (in_turn, in_halves))
    if content is not None and int(content.max()) + 1 >= n / _MOST_OF_ONE:
        first, second = (np.column_stack([content, side]) for side in (votes, exchanged))
        mirrored |= np.array_equal(first[np.lexsort(first.T)], second[np.lexsort(second.T)])
    if mirrored:
        cure = "leave out one of each pair, or give the question of each vote (items, --item)"
        raise ValueError(f"votes: all {n:,} occur twice with the sides exchanged; {cure}")


def equal_by_chance(content: IntArray, columns: Sequence[IntArray]) -> bool:
    """Return True if equal rows are no more frequent than expected from categorical columns.

    Copies are equal in all columns. If a column is independent of the others, rows that are equal in all other columns
    are equal in it as often as any rows.
    """
    n, pairs = len(content), len(content) * (len(content) - 1) / 2
    if n < 2 or len(columns) < 2 or max(int(codes.max()) + 1 for codes in columns) > n / 2:
        return False
    equal, *of_columns = map(_equal_pairs, (content, *columns))
    if equal <= _at_most_by_chance(math.prod(number / pairs for number in of_columns) * pairs):
        return True
    for place in range(len(columns)):
        share = of_columns[place] / pairs
        if share <= _ALIKE:
            rest = _equal_pairs(joint_codes([*columns[:place], *columns[place + 1 :]]))
            if equal <= _at_most_by_chance(rest * share):
                return True
    return False


def _equal_pairs(codes: IntArray) -> float:
    rows = np.bincount(codes)
    return float(rows @ (rows - 1) / 2)


def _at_most_by_chance(expected: float) -> float:
    return 1.05 * expected + 3 * math.sqrt(expected) + 1


#: Values that equal a summary of others are refused if they do so by chance less often than this; at an end of the
#: table, where summaries usually are, than the second number.
_BY_CHANCE, _AT_AN_END = 1e-6, 1e-4
#: In a table of more rows, one more row changes little.
_MOST_ROWS = 5_000


def refuse_summaries(columns: Sequence[NDArray[Any]], names: Sequence[str], argument: str) -> None:
    """Refuse a column of numbers that numbers the rows, or is a mean or a standard deviation of other columns."""
    if not all(column.dtype.kind in "biuf" for column in columns):
        return
    scores, last = np.column_stack(columns).astype(np.float64), len(columns) - 1
    rows = np.unique(scores[:1_000][~np.isnan(scores[:1_000]).any(axis=1)], axis=0)
    if not len(rows) or len(names) < 2:
        return
    for place, model in enumerate(names):
        before, (column,), after = (part.T for part in np.split(rows, [place, place + 1], axis=1))
        parts, most = {"the other columns": np.vstack([before, after])}, _AT_AN_END
        if 0 < place < last:
            parts |= {"the columns before it": before, "the columns after it": after}
            most = _BY_CHANCE
        problem = ""
        for who, part in parts.items():
            if not problem and len(part) > 1 and (summary := next(_summaries_of(column, part, most), "")):
                problem = f"is {summary} of {who}"
        if not problem and _numbers_rows(scores[:, place], np.delete(scores, place, axis=1)):
            problem = "numbers the rows"
        if problem:
            raise ValueError(f"{argument}: {shown(model)} {problem}; drop it, or list the models (models)")


def check_end_rows(columns: Sequence[NDArray[Any]], argument: str) -> None:
    """Refuse a first or last row of numbers that is a mean, a sum or a standard deviation of the others."""
    if not all(column.dtype.kind in "biuf" and 3 < len(column) <= _MOST_ROWS for column in columns):
        return
    scores = np.column_stack(columns).astype(np.float64)
    if not np.isfinite(scores).all():
        return
    for end, place in (("first", 0), ("last", -1)):
        others = np.delete(scores, place, axis=0)
        if summary := next(_summaries_of(scores[place], others, _AT_AN_END), None):
            raise ValueError(f"{argument}: the {end} row is {summary} of the others; remove it")


def _numbers_rows(column: FloatArray, others: FloatArray) -> bool:
    """Return True for row numbers from 0 or 1 (repeated, in blocks or shuffled) outside the range of others."""
    n, least, most = len(column), column.min(), column.max()
    if least not in (0, 1) or not 2 <= most - least < n:
        return False
    beyond = most < np.nanmin(others) or (most > np.nanmax(others) and (others % 1 > 0).any())
    values, codes = np.unique(column, return_inverse=True)
    in_blocks, repeated = (np.diff(codes) >= 0).all(), np.array_equal(codes, np.arange(n) % len(values))
    return bool(beyond and (len(values) == n or in_blocks or repeated) and (np.diff(values) == 1).all())


def _summaries_of(column: FloatArray, part: FloatArray, most: float) -> Iterator[str]:
    """Yield the statistic of rows of `part` that a column equals up to rounding, by chance at most this often.

    `part` has a row for each other model and a column for each data set, or the reverse. The values of a row share a
    level, such as the skill of a model, so that only their deviations from it are taken as independent, except one, as
    they sum to 0. Medians are not compared: they are values of the rows, which few distinct values often equal.
    """
    rounded, tiny = 0.5 * 0.1 ** np.array([_decimals(column), _decimals(part)]), 1e-9 * np.abs(part).max()
    statistics = {"the mean": part.mean(axis=0), "the sum": part.sum(axis=0)}
    statistics |= {f"the standard deviation (ddof={ddof})": part.std(axis=0, ddof=ddof) for ddof in (0, 1)}
    for name, values in statistics.items():
        off = np.abs(column - values).max()
        if off <= rounded.sum() + tiny:
            chances = _chances(values, part, 2 * max(off, rounded[0], tiny))
            if np.log(chances).sum() < np.log(most):
                yield name


def _chances(values: FloatArray, part: FloatArray, width: float) -> FloatArray:
    """Return the chances that a row with the level and deviations of one of `part` is within half a `width` of values.

    One chance is of the level; that of the deviation that varies most is left out. Each is at least the share of rows
    that are so near. A deviation is off by up to 2 (1 - 1 / m) times as much as the m values of the row.
    """
    level, m = part.mean(axis=1, keepdims=True), part.shape[1]
    sides = np.column_stack([part - level, level])
    spread, place = np.ptp(sides, axis=0), np.append(values - values.mean(), values.mean())
    near = (np.abs(sides - place) <= width / 2 * (1 + 1e-9)).mean(axis=0)
    factor = np.append(np.full(m, max(1.0, 2 - 2 / m)), 1.0)
    return np.delete(np.clip(width * factor / np.maximum(spread, 1e-300), near, 1.0), spread[:m].argmax())


def _decimals(values: FloatArray) -> int:
    """Return the number of decimals of rounded values, 99 for values that are not rounded."""
    return next((d for d in range(7) if np.allclose(values.round(d), values, 1e-9, 1e-12)), 99)
