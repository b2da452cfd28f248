"""Columns of a table of models that are computed from the others, recognised by their values."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .validation import FloatArray, shown

#: Values that equal a summary of others are refused if they do so by chance less often than this.
_BY_CHANCE = 1e-6


def refuse_summaries(columns: Sequence[NDArray[Any]], names: Sequence[str], argument: str) -> None:
    """Refuse a column of numbers that numbers the rows, or is a mean or a standard deviation of other columns."""
    if not all(column.dtype.kind in "biuf" for column in columns):
        return
    scores = np.column_stack(columns).astype(np.float64)
    rows = np.unique(scores[:1_000][~np.isnan(scores[:1_000]).any(axis=1)], axis=0)
    for place, model in enumerate(names) if len(rows) and len(names) > 1 else ():
        before, (column,), after = (part.T for part in np.split(rows, [place, place + 1], axis=1))
        earlier, later = {"the columns before it": before}, {"the columns after it": after}
        parts = {"the other columns": np.vstack([before, after]), **earlier, **later}
        problems = [
            f"is {of} of {who}" for who, part in parts.items() if len(part) > 1 for of in summaries_of(column, part)
        ]
        if problems or _numbers_rows(scores[:, place], np.delete(scores, place, axis=1)):
            problems.append("numbers the rows")
            raise ValueError(f"{argument}: {shown(model)} {problems[0]}; drop it, or list the models (models)")


def _numbers_rows(column: FloatArray, others: FloatArray) -> bool:
    """True for row numbers 0, 1, ... or 1, 2, ... (repeated, in blocks or shuffled) outside the range of others."""
    if column.min() not in (0, 1) or not 2 <= (most := column.max()) - column.min() < (n := len(column)):
        return False
    beyond = most < np.nanmin(others) or (most > np.nanmax(others) and (others % 1 > 0).any())
    values, codes = np.unique(column, return_inverse=True)
    listed = len(values) == n or (np.diff(codes) >= 0).all() or np.array_equal(codes, np.arange(n) % len(values))
    return bool(beyond and listed and (np.diff(values) == 1).all())


def summaries_of(column: FloatArray, part: FloatArray) -> Iterator[str]:
    """Yield the statistic of rows of `part` that a column equals up to rounding, and hardly by chance.

    If all of `part` are 0 or 1 and the column is not, by chance once in a thousand. The values of a row share a level,
    such as the difficulty of a data set, so that only their deviations from it are taken as independent, except one, as
    they sum to 0. Medians are not compared: they are values of the rows, which few distinct values often equal.
    """
    marks = part.size >= 20 and np.isin(part, (0, 1)).all() and not np.isin(column, (0, 1)).all()
    rounded, tiny = 0.5 * 0.1 ** np.array([_decimals(column), _decimals(part)]), 1e-9 * np.abs(part).max()
    spread, of_few = _spreads(part), _chances_of_few_values(column, part)
    rounded = np.minimum(rounded, 0.05) if marks else rounded  # a sum of zeros and ones is exact
    deviations = {f"the standard deviation (ddof={ddof})": part.std(axis=0, ddof=ddof) for ddof in (0, 1)}
    for name, values in {"the mean": part.mean(axis=0), "the sum": part.sum(axis=0), **deviations}.items():
        off = np.abs(column - values).max()
        chances = np.clip(2 * max(off, rounded[0], tiny) / np.maximum(spread, 1e-300), of_few, 1.0)
        if off <= rounded.sum() + tiny and np.log(chances).sum() < np.log(1e-3 if marks else _BY_CHANCE):
            yield name


def _spreads(part: FloatArray) -> FloatArray:
    """The ranges of the means of rows, and of all deviations from these but the one that varies most.

    A deviation is off by up to 2 (1 - 1 / m) times as much as the m values of the row.
    """
    level, m = part.mean(axis=1, keepdims=True), part.shape[1]
    deviations = np.sort(np.ptp(part - level, axis=0))[:-1]
    return np.append(deviations / max(1.0, 2 - 2 / m), np.ptp(level))


def _chances_of_few_values(column: FloatArray, part: FloatArray) -> FloatArray:
    """The least chances of agreement if values repeat, such as 50 or 2,500 each time; 0 elsewhere."""
    distinct = np.array([len(np.unique(values)) for values in part.T])
    repeated = (2 * distinct <= len(part)) & (part == column).any(axis=0)
    return np.where(repeated, 0.5 / distinct, 0.0)


def _decimals(values: FloatArray) -> int:
    """The number of decimals of rounded values, 99 for values that are not rounded."""
    return next((d for d in range(7) if np.allclose(values.round(d), values, 1e-9, 1e-12)), 99)
