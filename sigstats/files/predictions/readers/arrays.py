"""Arrays: NumPy's ``.npy`` or a JSON list of values, whose rows are known by their position, and ``.npz``, a table.

The columns of an array of two dimensions are 0, 1, 2 ...
"""

import io
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...inputs.content import Content
from ...tables.table import Table
from .._columns import Columns

ORDER = 48
NAME = "arrays (.npy, .npz, a JSON list of values)"
TABLE = True

#: NumPy's magic bytes, a ZIP, or a list whose first value is not an object.
BEGINS = re.compile(rb'\x93NUMPY|PK\x03\x04|\s*\[\s*(-?\d|"|true|false)')
_MAGIC = b"\x93NUMPY"
_ZIP, _SUFFIX = b"PK\x03\x04", ".npy"


def reads(content: Content) -> bool:
    """Return True unless the file is a ZIP with other members than arrays."""
    if not content.start.startswith(_ZIP):
        return True
    with content.archive() as archive:
        return bool(archive.names) and all(name.endswith(_SUFFIX) for name in archive.names)


def read(content: Content, columns: Columns) -> Table:
    """Read the values as the predictions, or as the score that is named; of several arrays or columns, each by name."""
    if content.start.startswith(_ZIP):
        with content.archive() as archive:
            if len(set(archive.names)) < len(archive.names):
                raise ValueError(f"{content.where}: an array appears twice in the ZIP; write each array once")
            arrays = {name.removesuffix(_SUFFIX): _array(archive.read(name)) for name in archive.names}
        return _columns(content, {name: array for name, array in arrays.items() if array.ndim == 1})
    name = columns.prediction if columns.score is None else columns.score
    if not content.start.startswith(_MAGIC):
        return Table(content.where, pa.table({name: pa.array(content.json())}), has_ids=False)
    values = _array(content.whole())
    if values.ndim == 1 or values.shape[1:] == (1,):
        return Table(content.where, pa.table({name: _of_arrow(values.ravel())}), has_ids=False)
    if values.ndim != 2:
        raise ValueError(f"{content.where}: has the shape {values.shape}; expected one dimension, or rows and columns")
    return _columns(content, {str(number): value for number, value in enumerate(values.T)}, has_ids=False)


def _array(content: bytes) -> NDArray[Any]:
    values: NDArray[Any] = np.load(source := io.BytesIO(content), allow_pickle=False)
    if source.tell() < len(content):
        raise ValueError("has more than one array; write all rows as one")
    return values


def _of_arrow(values: NDArray[Any]) -> Any:
    return pa.array(values.tolist() if values.dtype.kind in "US" else values.astype(values.dtype.newbyteorder("=")))


def _columns(content: Content, arrays: Mapping[str, NDArray[Any]], *, has_ids: bool = True) -> Table:
    sizes = {name: len(array) for name, array in arrays.items()}
    if len(set(sizes.values())) != 1:
        raise ValueError(f"{content.where}: has arrays of {sizes or 'no rows'}; expected one value per row in each")
    table = pa.table({name: _of_arrow(array) for name, array in arrays.items()})
    return Table(content.where, table, has_ids=has_ids)
