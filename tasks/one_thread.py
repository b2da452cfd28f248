"""Numerical libraries held to one thread each: the last bits of a sum depend on how it is split."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import get_cached_controller

_lock = threading.Lock()
_inside = 0
_before: dict[str, tuple[Any, int]] = {}


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS and OpenMP to one thread, whatever other threads of this process enter or leave meanwhile.

    OpenMP has a number of threads for each thread that uses it. BLAS has one for the whole process: the first one in
    sets it, and the last one out sets it back.
    """
    global _inside  # noqa: PLW0603
    with _lock:
        libraries = get_cached_controller()
        own = libraries.select(user_api="openmp").limit(limits=1)
        for blas in libraries.select(user_api="blas").lib_controllers:
            _before.setdefault(blas.filepath, (blas, blas.num_threads))
            _set(blas, 1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            own.restore_original_limits()
            _inside -= 1
            while not _inside and _before:
                _set(*_before.popitem()[1])


def _set(blas: Any, threads: int) -> None:
    # threadpoolctl lets the first thread alone set the number of OpenBLAS, and the others in vain and in silence.
    if release := getattr(blas, "clear_controlling_thread", None):
        release(force=True)
    blas.set_num_threads(threads)
    if release:
        release(force=True)
