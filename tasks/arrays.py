"""Arrays of NumPy as Arrow's, and back.

Arrow's own ways import pandas, a quarter of a second, to ask whether an array is one of its objects.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def from_numpy(values: Any, kind: pa.DataType) -> Any:
    """An array of numbers as Arrow has it; anything else as it is."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf" or values.ndim != 1:
        return values
    held = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    found = pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(held.data)])
    return found.cast(kind)


def to_numpy(column: "pa.ChunkedArray[Any]") -> NDArray[Any]:
    """A column of whole numbers, or of yes and no, in which no value is missing."""
    flags = pa.types.is_boolean(column.type)
    values: NDArray[Any] = np.from_dlpack((column.cast(pa.uint8()) if flags else column).combine_chunks())
    return values.view(np.bool_) if flags else values
