"""Data frames of any library, opened by narwhals."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def opened(table: Any) -> Any | None:
    """A table as a narwhals data frame, or None of what is no data frame.

    `table`: lazy frames are none.

    Examples
    --------
    >>> import pandas as pd
    >>> from sigstats._common.data_frames import opened
    >>> opened(pd.DataFrame({"a": [1, 2]})).columns, opened([[1, 2]])
    (['a'], None)
    """
    if isinstance(table, (np.ndarray, list, tuple)):
        return None
    import narwhals

    try:
        return narwhals.from_native(table, eager_only=True)
    except Exception:  # an object that is no frame may raise anything
        return None


def require_same_order(columns: Mapping[str, Any]) -> None:
    """Refuse pandas Series of the same rows in another order, which arrays of them would pair by position.

    `columns`: values by the names of arguments; those that are no Series are not looked at. Raises ValueError if the
    index of one has the labels of the index of the first, each once, in another order.

    Examples
    --------
    >>> import pandas as pd
    >>> from sigstats._common.data_frames import require_same_order
    >>> require_same_order({"y": pd.Series([1, 2], index=["a", "b"]), "b": pd.Series([1, 2], index=["b", "a"])})
    Traceback (most recent call last):
    ValueError: b: its index has the labels of that of y in another order; expected the same order, or arrays
    """
    indices = {name: value.index for name, value in columns.items() if _is_series(value)}
    for name, index in list(indices.items())[1:]:
        first_name, first = next(iter(indices.items()))
        if len(index) != len(first) or index.equals(first) or not (index.is_unique and first.is_unique):
            continue
        if first.isin(index).all():
            raise ValueError(
                f"{name}: its index has the labels of that of {first_name} in another order; expected the same order, "
                "or arrays"
            )


def _is_series(value: Any) -> bool:
    return type(value).__name__ == "Series" and type(value).__module__.partition(".")[0] == "pandas"
