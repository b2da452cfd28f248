"""One array without names: NumPy's ``.npy``, or a JSON list of values. Its rows are known by their position."""

import io
import re

import numpy as np
import pyarrow as pa

from ...input_files.content import Content
from .._from_table import from_values
from .._predictions import Columns, Predictions

ORDER = 48
NAME = "an array (.npy, a JSON list of values)"
LOG = False

_MAGIC = b"\x93NUMPY"
_LIST = re.compile(rb'\s*\[\s*(-?\d|"|true|false)')


def reads(content: Content) -> bool:
    """NumPy's magic bytes, or a list whose first value is no object."""
    return content.start.startswith(_MAGIC) or _LIST.match(content.start) is not None


def read(content: Content, columns: Columns) -> Predictions:
    """Read the values as the predictions, or as the score that is named."""
    if content.start.startswith(_MAGIC):
        values = np.load(io.BytesIO(content.whole()), allow_pickle=False)
        shape: tuple[int, ...] = values.shape
        values = values.tolist() if values.dtype.kind in "US" else values
    else:
        values = content.json()
        shape = (len(values),)
    if len(shape) != 1:
        raise ValueError(f"{content.where}: has the shape {shape}; expected a class or a score a row, in one dimension")
    return from_values(content.where, pa.array(values), columns)
