"""Floats of half and of single precision as the decimals that they print."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_decimals(array: NDArray[Any]) -> NDArray[Any]:
    """Floats of half and of single precision as the float64 of the shortest decimals that stand for them; others alike.

    Of single precision 0.1 is 0.100000001490116, and the differences 0.3 - 0.2 and 0.2 - 0.1 are no longer tied.
    Numbers so large that a type holds whole ones alone are kept as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats._common.decimals import as_decimals
    >>> as_decimals(np.array([0.1, 123456790528.0], dtype=np.float32)).tolist()
    [0.1, 123456790528.0]
    """
    if array.dtype not in (np.float16, np.float32):
        return array
    values, where = np.unique(array, return_inverse=True)
    small = np.abs(values) < 2.0 ** (np.finfo(array.dtype).nmant + 1)
    found = values.astype(np.float64)
    found[small] = values[small].astype("U32").astype(np.float64)
    return found[where].reshape(array.shape)
