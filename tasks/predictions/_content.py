"""What a file holds on each row beside what is compared, by which copies of rows are known."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.copies import joint_codes
from sigstats._common.validation import IntArray

from ._predictions import Predictions

#: So many values are looked at; larger files would take longer to read.
MOST_VALUES = 2**20
#: Of larger files of text only what is compared is read.
SMALL_FILE = 2**23


def content_of(columns: Iterable[Any], rows: int) -> Any:
    """A whole number for each row, equal where all of these Arrow columns are; None where there are none to compare."""
    found: list[IntArray] = []
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
    return pa.array(joint_codes(found)) if found and rows else None


def content_codes(first: Predictions, other: Predictions, rows: Any = None, partners: Any = None) -> IntArray | None:
    """What either file holds on the rows that both have, as codes from 0; None where neither says."""
    for side, chosen in ((first, rows), (other, partners)):
        found = side.content
        if found is None and side.epoch is None:  # of a log the question, but not its answer
            found = content_of((v for n, v in side.identity.items() if not n.startswith("target")), len(side.ids))
        if found is not None and len(found) == len(side.ids):
            kept: Any = found if chosen is None else found.take(chosen)
            codes: IntArray = np.unique(np.from_dlpack(kept), return_inverse=True)[1].astype(np.int64)
            return codes
    return None
