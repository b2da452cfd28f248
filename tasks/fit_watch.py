"""What surrounds each call of code that is not ours, a fit or a test, in the process of its own that it has."""

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
def fit(seed: int = 0) -> Iterator[None]:
    """The time of one fit and its predictions, or of one call of a test.

    The global generators of NumPy and of `random` are seeded before it: code that draws from them gives equal results
    however replicates are cut into blocks. Should it fork and both processes return, the second one ends.
    """
    if _tell is None:
        yield
        return
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    process = os.getpid()
    _tell(True)
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        _tell(False)
