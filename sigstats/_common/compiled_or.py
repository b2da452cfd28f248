"""Compiled code where Numba (the extra ``fast``) is there, something else where it is missing or off."""

import functools
import importlib.util
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Found = TypeVar("Found")


def fuses_products() -> bool:
    """True if compilers for this processor make one instruction of a product and a sum, which rounds once, not twice.

    Then sums equal but for rounding differ from those of a library that was compiled otherwise.
    """
    return platform.machine() not in ("x86_64", "AMD64")


def compiles_first(folder: Path) -> bool:
    """True if Numba has yet to compile the functions in a folder of this package: it keeps none of them there.

    Where the folder cannot be written to, Numba keeps them elsewhere, and the answer is False.
    """
    if importlib.util.find_spec("numba") is None or os.environ.get("NUMBA_CACHE_DIR") or not os.access(folder, os.W_OK):
        return False
    return next(folder.rglob("*.nbi"), None) is None


def compiled_or(otherwise: Any) -> Callable[[Callable[[], Found]], Callable[[], Found]]:
    """Decorate a function that imports compiled code: it is called once, and gives `otherwise` without Numba.

    `otherwise`: what stands for the compiled code: a function that does the same by NumPy, or None.

    >>> @compiled_or(sum)
    ... def total():
    ...     from a_module_that_is_missing import total
    ...     return total
    >>> total()([1, 2, 3])
    6
    """

    def decorate(imported: Callable[[], Found]) -> Callable[[], Found]:
        @functools.cache
        @functools.wraps(imported)
        def found() -> Any:
            try:
                return imported()
            except ImportError:
                return otherwise

        return found

    return decorate
