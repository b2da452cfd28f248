"""Which rows are answers to the same item, and what a file holds on each row, by which copies are known."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ._predictions import Predictions

Ints = NDArray[np.int64]

#: So many values are looked at; larger files would take longer to read.
MOST_VALUES = 2**20
#: Of larger files of text only what is compared is read.
SMALL_FILE = 2**23


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
    return pc.cast(pa.array(places(codes, np.argsort(codes, kind="stable")) + 1), pa.string())


def places(codes: Ints, order: Ints) -> Ints:
    """For each row which of those of its item it is, from 0; `order`: all rows, by item."""
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    found = np.empty(len(codes), dtype=np.int64)
    found[order] = np.arange(len(codes)) - starts[codes[order]]
    return found


def content_of(columns: Iterable[Any], rows: int) -> Any:
    """A whole number for each row, equal where all of these Arrow columns are; None where there are none to compare."""
    found: list[Ints] = []
    for column in columns:
        try:
            whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            encoded: Any = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
            indices: Any = encoded.indices.cast(pa.int64())
        except (pa.ArrowException, NotImplementedError):  # lists and objects
            return None
        found.append(np.asarray(np.from_dlpack(pc.fill_null(indices, -1)) + 1, dtype=np.int64))
        if (len(found) + 1) * rows > MOST_VALUES:
            return None
    if not found or not rows:
        return None
    from sigstats._common.data_frames import joint_codes

    return pa.array(joint_codes(found))


def content_codes(first: Predictions, other: Predictions, rows: Any = None, partners: Any = None) -> Ints | None:
    """What either file holds on the rows that both have, as codes from 0; None where neither says."""
    for side, chosen in ((first, rows), (other, partners)):
        found = side.content
        if found is None and side.epoch is None:  # of a log the question, but not its answer
            found = content_of((v for n, v in side.identity.items() if not n.startswith("target")), len(side.ids))
        if found is not None and len(found) == len(side.ids):
            kept: Any = found if chosen is None else found.take(chosen)
            codes: Ints = np.unique(np.from_dlpack(kept), return_inverse=True)[1].astype(np.int64)
            return codes
    return None
