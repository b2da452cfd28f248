"""Functions compiled by Numba (the extra ``fast``), which may be missing: whoever imports this has another way too."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile for NumPy's rules of division, without Python's lock.

    The result is kept beside the source or in the user's cache, where either can be written to.
    """
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # nowhere to keep it
        return njit(nogil=True, error_model="numpy")(function)
