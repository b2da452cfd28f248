"""What surrounds each call of code that is not ours, a fit or a test, in the process of its own that it has."""

import contextlib
import os
import random
import sys
import warnings
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
    however replicates are cut into blocks. What it changes of the process (`_surroundings`) is as before after it, so
    that it spoils no later code. Should it fork and both processes return, the second one ends.
    """
    if _tell is None:
        yield
        return
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    process = os.getpid()
    _tell(True)
    try:
        with _surroundings():
            yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        _tell(False)


@contextlib.contextmanager
def _surroundings() -> Iterator[None]:
    """Keep the working folder, the environment, the import path, and how NumPy and `warnings` warn."""
    environment, path, folder = dict(os.environ), list(sys.path), ""
    with contextlib.suppress(OSError):  # it may be gone
        folder = os.getcwd()  # noqa: PTH109
    try:
        with np.errstate(), warnings.catch_warnings():
            yield
    finally:
        sys.path[:] = path
        if environment != dict(os.environ):
            os.environ.clear()
            os.environ.update(environment)
        with contextlib.suppress(OSError):
            os.chdir(folder)
