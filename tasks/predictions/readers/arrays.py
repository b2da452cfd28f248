"""Arrays: NumPy's ``.npy`` or a JSON list of values, whose rows are known by their position, and ``.npz``, a table."""

import io
import re

import numpy as np
import pyarrow as pa

from ...input_files.content import Content
from ...tables.arrow import ArrowTable
from .._from_table import from_table, from_values
from .._predictions import Columns, Predictions

ORDER = 48
NAME = "arrays (.npy, .npz, a JSON list of values)"
LOG = False

_MAGIC = b"\x93NUMPY"
_ZIP, _SUFFIX = b"PK\x03\x04", ".npy"
_LIST = re.compile(rb'\s*\[\s*(-?\d|"|true|false)')


def reads(content: Content) -> bool:
    """NumPy's magic bytes, a ZIP of arrays, or a list whose first value is no object."""
    if content.start.startswith(_ZIP):
        with content.archive() as archive:
            return bool(archive.names) and all(name.endswith(_SUFFIX) for name in archive.names)
    return content.start.startswith(_MAGIC) or _LIST.match(content.start) is not None


def read(content: Content, columns: Columns) -> Predictions:
    """Read the values as the predictions, or as the score that is named; of several arrays, each as a column."""
    if content.start.startswith(_ZIP):
        return _columns(content, columns)
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


def _columns(content: Content, columns: Columns) -> Predictions:
    """Read the arrays of one dimension as columns, each under its name."""
    with content.archive() as archive:
        arrays = {name.removesuffix(_SUFFIX): np.load(io.BytesIO(archive.read(name))) for name in archive.names}
    table = {
        name: each.tolist() if each.dtype.kind in "US" else each for name, each in arrays.items() if each.ndim == 1
    }
    sizes = {name: len(each) for name, each in table.items()}
    if len(set(sizes.values())) != 1:
        raise ValueError(f"{content.where}: has arrays of {sizes or 'no rows'}; expected one value a row in each")
    return from_table(ArrowTable(content.where, pa.table(table), fractions=True), columns)
