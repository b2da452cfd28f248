"""The one door to what Numba compiles for learners (the extra ``fast``): the folder `compiled`.

Nothing outside that folder imports it. A room of it is asked for here, by name, and is None where Numba or the folder
is missing or off; then scikit-learn's own estimators are fitted, or NumPy does the same. A room's ``__init__`` names
what it offers: functions of arrays and named tuples, which give to the last bit what the installed scikit-learn gives.
Whoever uses one that retells a fit tries it on noise first.
"""

import functools
import importlib
from typing import Any, Literal

Room = Literal["boosting", "c45", "gaussian", "kernels", "linear", "neighbours", "trees"]


@functools.cache
def compiled(room: Room) -> Any:
    """The room, a module; None where nothing is compiled."""
    try:
        return importlib.import_module(f"{__package__}.compiled.{room}")
    except ImportError:
        return None
