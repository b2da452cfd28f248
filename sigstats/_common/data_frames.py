"""Data frames of any library, opened by narwhals."""

from typing import Any

import numpy as np


def opened(table: Any) -> Any | None:
    """A table as a narwhals data frame, or None of what is no data frame.

    Parameters
    ----------
    table : data frame of any library that narwhals reads, or anything
        Lazy frames are none.

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
