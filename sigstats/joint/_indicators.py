"""Tables of 0 and 1, dense or sparse: one row per observation, one column per category."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.data_frames import require_same_index
from .._common.validation import as_array, as_counts, refuse, refuse_where

LabelSet: TypeAlias = tuple[int, ...]
#: The number of cells of the tables that are counted at a time.
_CELLS = 2**24


def same_indicators(**values: Any) -> list[Any]:
    """Return the tables, dense or in SciPy's compressed rows, or raise ValueError if their shapes differ.

    Raises ValueError if one is not a table of 0 and 1, or has not the shape of the first, or a data frame its labels.
    """
    require_same_index(**values)
    require_same_index(axis="classes", **values)
    arrays = [_as_indicators(value, name) for name, value in values.items()]
    first, *others = values
    for array, name in zip(arrays[1:], others, strict=True):
        if array.shape != arrays[0].shape:
            raise refuse(name, array.shape, f"{arrays[0].shape}, the shape of {first}", quantity="shape")
    return arrays


def count_rows(arrays: Sequence[Any]) -> dict[tuple[LabelSet, ...], int]:
    """Return the count of each distinct row of the tables side by side, by the positions of its ones in each table."""
    n, width = arrays[0].shape
    seen: Counter[bytes] = Counter()
    step = max(1, _CELLS // width)
    for start in range(0, n, step):
        rows = [_dense(array[start : start + step]) for array in arrays]
        packed = np.packbits(np.concatenate(rows, axis=1), axis=1)
        keys, counts = np.unique(packed.view(f"V{packed.shape[1]}"), return_counts=True)
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
            seen[key] += count
    return {_unpack(key, len(arrays), width): count for key, count in seen.items()}


def _as_indicators(value: Any, name: str) -> Any:
    wanted = "a table of 0 and 1, one row an observation and one column a category"
    if hasattr(value, "tocsr"):
        array = value.tocsr(copy=True)
        good = array.ndim == 2 and 0 not in array.shape and np.isin(array.data, (0, 1)).all()
        if good:
            array = array.astype(np.int64)
            array.sum_duplicates()
        if not good or (array.data > 1).any():
            raise refuse(name, f"<{type(value).__name__} of shape {value.shape}>", wanted)
        return array
    array = as_array(value, name, wanted)
    array = as_counts(array.view(np.uint8) if array.dtype == np.bool_ else value, name, ndim=2)
    refuse_where(array > 1, array, name, wanted)
    return array


def _dense(array: Any) -> NDArray[np.uint8]:
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array, dtype=np.uint8)


def _unpack(key: bytes, tables: int, width: int) -> tuple[LabelSet, ...]:
    bits = np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=tables * width).reshape(tables, width)
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in bits)


@lru_cache(maxsize=16)  # slices of one table have the same events
def memberships(events: tuple[Any, ...], n_categories: int) -> Any:
    """Sparse indicators of (category, event): true, called by A, called by B, rightly called by A and by B."""
    from scipy.sparse import csr_array

    rows: list[list[int]] = [[] for _ in range(5 * n_categories)]
    for number, (true, a, b) in enumerate(events):
        right = [[value for value in called if value in true] for called in (a, b)]
        for first, positions in enumerate((true, a, b, *right)):
            for position in positions:
                rows[first * n_categories + position].append(number)
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=ends[-1])
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(rows), len(events)))
