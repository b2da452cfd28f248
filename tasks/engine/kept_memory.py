"""Freed memory that a process keeps for the next arrays of a block, where Dask has its workers return it at once.

Dask starts workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that the C library gives the arrays of each retrain back
to the system, which finds and clears other pages for the next: that took half of the time of a worker.
"""

import contextlib
import ctypes
import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The options of GNU's `mallopt` for bytes of freed memory that are kept, and of pieces that are too large for that.
_TRIM, _MMAP = -1, -3
#: Dask's threshold and the C library's own, and those while blocks are computed.
_USUAL = {_TRIM: 64 << 10, _MMAP: 128 << 10}
_COMPUTING = {_TRIM: 64 << 20, _MMAP: 32 << 20}

_lock = threading.Lock()
_inside = 0


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep freed memory while a thread is in this context; where a person has set the thresholds, they stay."""
    global _inside  # noqa: PLW0603
    if not _as_dask_starts_it():
        yield
        return
    with _lock:
        _inside += 1
        _set(_COMPUTING)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _set(_USUAL)


def _set(thresholds: dict[int, int]) -> None:
    for option, size in thresholds.items():
        ctypes.CDLL(None).mallopt(option, size)


@functools.cache
def _as_dask_starts_it() -> bool:
    """True if this process was started with Dask's threshold alone, and the C library is GNU's."""
    with contextlib.suppress(OSError, TypeError):  # another system than Linux
        started = dict(each.partition(b"=")[::2] for each in Path("/proc/self/environ").read_bytes().split(b"\0"))
        usual = started.get(b"MALLOC_TRIM_THRESHOLD_") == b"%d" % _USUAL[_TRIM]
        return usual and b"MALLOC_MMAP_THRESHOLD_" not in started and hasattr(ctypes.CDLL(None), "mallopt")
    return False
