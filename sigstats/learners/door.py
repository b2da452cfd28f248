"""The only access to the code that Numba compiles for learners (the extra ``fast``): the folder `compiled`.

Nothing outside that folder imports it. Its modules are requested here, by name, and are None if Numba or the folder is
missing or disabled; then scikit-learn's own estimators are fitted, or NumPy does the same. The ``__init__`` of a
subfolder lists its functions of arrays and named tuples, which give the same results, to the last bit, as the installed
scikit-learn.
"""

import functools
import importlib
import platform
from typing import Any, Literal

Room = Literal["boosting", "c45", "neighbours", "trees"]


@functools.cache
def compiled(room: Room) -> Any:
    """Return a subfolder as a module; None if nothing is compiled."""
    try:
        return importlib.import_module(f"{__package__}.compiled.{room}")
    except ImportError:
        return None


def fuses_products() -> bool:
    """Return True if compilers for this processor fuse a product and a sum, so that they are rounded once.

    Sums then differ by rounding from those of a library that was compiled without such instructions.
    """
    return platform.machine() not in ("x86_64", "AMD64")
