"""Which rows are answers to the same item."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def taken(column: Any, rows: Any) -> Any:
    """Some rows of a column; where these are all of them in order the column itself, of which no copy is made.

    `column` and `rows`: rows are positions in the column, each there once or not at all.
    """
    if len(rows) == len(column) and isinstance(rows, pa.Array) and not rows.null_count:
        positions = np.from_dlpack(rows)
        if bool((positions[1:] > positions[:-1]).all()):
            return column
    return column.take(rows)


def item_codes(ids: Any) -> Ints:
    """The number of the item of each row, by first appearance."""
    codes = pc.index_in(ids, value_set=pc.unique(ids))
    flat = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    found: Ints = np.from_dlpack(flat).astype(np.int64)
    return found


def first_rows(codes: Ints) -> Ints:
    """The first row of each item."""
    found = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    found[codes[::-1]] = np.arange(len(codes))[::-1]
    return found


def occurrences(ids: Any) -> Any | None:
    """For each row which of the rows with its id it is, from 1, as text; None if every id is there once."""
    codes = item_codes(ids)
    if len(codes) == 0 or int(codes.max()) + 1 == len(codes):
        return None
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    found = np.empty(len(codes), dtype=np.int64)
    found[order] = np.arange(len(codes)) - starts[codes[order]] + 1
    return pc.cast(pa.array(found), pa.string())
