"""A limit of addresses (`ulimit -v`): what has no room under it is refused in one line, before a library ends or hangs.

Where OpenBLAS finds no room it asks again without end, ends the process with exit code 1, or sends it SIGINT where that
befalls one of its threads. The C library ends a process with exit code 127.
"""

import contextlib
import os

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
