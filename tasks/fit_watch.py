"""What surrounds each fit of a classifier whose code is not ours, in the process of its own that it has."""

import contextlib
import os
import random
from collections.abc import Callable, Iterator

import numpy as np

#: Told when a fit begins (True) and ends (False); None outside such a process.
_tell: Callable[[bool], None] | None = None


def watch(tell: Callable[[bool], None]) -> None:
    """Tell of every fit of this process from now on."""
    global _tell  # noqa: PLW0603
    _tell = tell


@contextlib.contextmanager
def fit() -> Iterator[None]:
    """The time of one fit and its predictions.

    The global generators of NumPy and of `random` are seeded before it: a classifier that draws from them gives equal
    predictions however replicates are cut into blocks. Should it fork and both processes return, the second one ends.
    """
    if _tell is None:
        yield
        return
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    process = os.getpid()
    _tell(True)
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        _tell(False)
