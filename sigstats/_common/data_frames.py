"""Data frames of any library, opened by narwhals."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .messages import refuse


def opened(table: Any) -> Any | None:
    """A table as a narwhals data frame, or None of what is no data frame, as lazy frames are none."""
    if isinstance(table, (np.ndarray, list, tuple)):
        return None
    import narwhals

    try:
        return narwhals.from_native(table, eager_only=True)
    except Exception:  # an object that is no frame may raise anything
        return None


def require_same_index(*, axis: Literal["rows", "classes"] = "rows", **values: Any) -> None:
    """Refuse pandas objects whose rows bear other names, or stand in another order: they are compared by position.

    What has no index goes with any. With ``axis="classes"`` the columns of data frames are compared, and the indices of
    Series with them.
    """
    named: tuple[str, Any] | None = None
    for name, value in values.items():
        index: Any = getattr(value, "index", None)
        frame = opened(value) if axis == "classes" else None
        if frame is not None:
            index = frame.columns
        if frame is None and not hasattr(index, "equals"):  # a list has a method of this name
            continue
        if named is None:
            named = name, index
        elif not (index.equals(named[1]) if axis == "rows" else [*index] == [*named[1]]):
            wanted = f"the {'index' if axis == 'rows' else 'classes'} of {named[0]}, in its order"
            where = "index" if frame is None else "columns"
            raise refuse(f"{name} ({where})", index, f"{wanted} (reindex aligns them; an array is taken as it is)")


def as_decimals(array: NDArray[Any]) -> NDArray[Any]:
    """Floats of half and of single precision as the float64 of the shortest decimals that stand for them; others alike.

    Of single precision 0.1 is 0.100000001490116, and the differences 0.3 - 0.2 and 0.2 - 0.1 are no longer tied.
    Numbers so large that a type holds whole ones alone are kept as they are.
    """
    if array.dtype not in (np.float16, np.float32):
        return array
    values, where = np.unique(array, return_inverse=True)
    small = np.abs(values) < 2.0 ** (np.finfo(array.dtype).nmant + 1)
    found = values.astype(np.float64)
    found[small] = values[small].astype("U32").astype(np.float64)
    return found[where].reshape(array.shape)


def is_missing(value: Any) -> bool:
    """True if there is no value: None, NaN, or what pandas has for it."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))
