"""The memory of a process: its limit of addresses (`ulimit -v`), and the freed memory that it keeps.

Work that does not fit under a limit of addresses is refused in one line, before a library ends the process or hangs. If
OpenBLAS gets no memory, it retries forever, ends the process with exit code 1, or, in one of its threads, sends SIGINT
to it. The C library ends a process with exit code 127.

Dask starts workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that the C library returns the arrays of each retrain to
the system, which must find and clear pages for the next: that took half of the time of a worker. So a worker keeps up
to 64 MiB of freed memory from its first block on.
"""

import contextlib
import functools
import os
from pathlib import Path

#: Each thread takes addresses, and Arrow's own allocator a gibibyte of them.
_SPARING = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "ARROW_IO_THREADS"), "1")
_SPARING |= {"ARROW_DEFAULT_MEMORY_POOL": "system"}
#: The number of the option of GNU's `mallopt` that limits the number of arenas.
_ARENAS = -8
_MEBIBYTE = 2**20

#: Mebibytes that the libraries of a command take, and those of a study, Numba's among them.
COMMAND, STUDY = 512, 1024


def require_addresses(mebibytes: int, what: str) -> None:
    """Raise MemoryError, one line, if this process is limited to fewer addresses; `what` needs them."""
    limit = _limit()
    if limit is not None and limit < mebibytes * _MEBIBYTE:
        raise MemoryError(
            f"this process is limited to {limit // _MEBIBYTE} MiB of addresses (ulimit -v); expected {mebibytes} MiB "
            f"or more for {what}"
        )


def take_buffers() -> None:
    """Let libraries start their threads and take the memory that they keep while there is room, if there is a limit."""
    if _limit() is None:
        return
    for name, value in _SPARING.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(ImportError, OSError, AttributeError):  # another C library than GNU's
        import ctypes

        ctypes.CDLL(None).mallopt(_ARENAS, 1)  # otherwise 64 MiB of addresses for each thread
    import numpy as np
    from scipy.linalg.blas import dgemm

    large = np.ones((256, 256))  # a small product takes no buffer
    np.dot(large, large)
    dgemm(1.0, large, large)
    with contextlib.suppress(ImportError):
        import pyarrow as pa
        import pyarrow.parquet as pq

        held = pa.BufferOutputStream()
        pq.write_table(pa.table({name: [0] for name in "ab"}), held)
        pq.read_table(pa.BufferReader(held.getvalue()))


def _limit() -> int | None:
    """The most bytes of addresses that this process may have, if there is such a limit."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def peak() -> int:
    """The most bytes of memory that this process has had at once; 0 if the system does not say."""
    with contextlib.suppress(OSError, IndexError):
        return 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
    return 0


#: The options of GNU's `mallopt` for bytes of freed memory that are kept, and of pieces that are too large for that.
_TRIM, _MMAP = -1, -3


@functools.cache
def keep_freed_memory() -> None:
    """Let a worker of Dask keep freed memory for the arrays of later blocks; thresholds set by the user stay."""
    import ctypes

    with contextlib.suppress(OSError, TypeError, AttributeError):  # another system than Linux, or C library than GNU's
        started = dict(setting.partition(b"=")[::2] for setting in Path("/proc/self/environ").read_bytes().split(b"\0"))
        if started.get(b"MALLOC_TRIM_THRESHOLD_") == b"65536" and b"MALLOC_MMAP_THRESHOLD_" not in started:
            library = ctypes.CDLL(None)
            library.mallopt(_TRIM, 64 << 20)
            library.mallopt(_MMAP, 32 << 20)
