"""The compiler of this machine: how its sums are rounded, and whether Numba (the extra ``fast``) has yet to run."""

import importlib.util
import os
import platform
from pathlib import Path


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
