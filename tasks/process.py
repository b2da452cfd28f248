"""The threads and the memory of a process.

Threads: limits for numerical libraries, work that only one thread may do at a time, and repeated actions.

Memory: work that does not fit under a limit on the address space (`ulimit -v`) is refused in one line, before a library
ends the process or hangs. If OpenBLAS gets no memory, it retries forever, ends the process with exit code 1 or, in one
of its threads, sends SIGINT to the process. The C library ends a process with exit code 127.

Dask starts workers with ``MALLOC_TRIM_THRESHOLD_=65536``. The C library then returns the arrays of each retrain to the
system, which must find and clear pages for the next retrain; this takes half of the time of a worker. A worker
therefore keeps up to 64 MiB of freed memory from its first block on.
"""

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: The thread that is in the context `alone` holds the lock, and has the attribute ``alone``.
_alone_lock = threading.Lock()
_this_thread = threading.local()


@contextmanager
def alone() -> Iterator[None]:
    """Let only one thread of this process be in this context at a time. That thread may enter it again.

    Blocks share the prepared data sets, to which learners write, and libraries compiled into scikit-learn have a single
    random generator for all threads.
    """
    if getattr(_this_thread, "alone", False):
        yield
        return
    with _alone_lock:
        _this_thread.alone = True
        try:
            yield
        finally:
            _this_thread.alone = False


#: The number of threads of this process in the context `threads`, and the number of threads of each BLAS library
#: before the first of them entered.
_limited = 0
_blas_before: dict[str, tuple[Any, int]] = {}
_limit_lock = threading.Lock()


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Restrict BLAS and OpenMP to this number of threads, even if other threads enter or leave the context.

    OpenMP has a limit for each thread that uses it. BLAS has a limit for the whole process: the first thread that
    enters sets the limit, and the last thread that leaves restores it.
    """
    from threadpoolctl import get_cached_controller  # a command that retrains nothing does not need it

    global _limited  # noqa: PLW0603
    with _limit_lock:
        libraries = get_cached_controller()
        openmp = libraries.select(user_api="openmp").limit(limits=number)
        for blas in libraries.select(user_api="blas").lib_controllers:
            _blas_before.setdefault(blas.filepath, (blas, blas.num_threads))
            _set_threads(blas, number)
        _limited += 1
    try:
        yield
    finally:
        with _limit_lock:
            openmp.restore_original_limits()
            _limited -= 1
            while not _limited and _blas_before:
                _set_threads(*_blas_before.popitem()[1])


def _set_threads(blas: Any, threads: int) -> None:
    # With threadpoolctl only the first thread can set the limit of OpenBLAS; calls of other threads are ignored.
    if release := getattr(blas, "clear_controlling_thread", None):
        release(force=True)
    blas.set_num_threads(threads)
    if release:
        release(force=True)


def begun_thread(name: str) -> ThreadPoolExecutor:
    """Return an executor with one thread that already runs, since a later start may fail under a memory limit."""
    executor = ThreadPoolExecutor(1, thread_name_prefix=name)
    executor.submit(int).result()
    return executor


@contextmanager
def periodic(action: Callable[[], None], seconds: float, *, name: str) -> Iterator[None]:
    """Call `action` every `seconds`, in the thread `name`, until the context ends. The action must not raise."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


#: Settings that save address space: each thread needs some, and Arrow's own allocator needs a gibibyte.
_SPARING = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "ARROW_IO_THREADS"), "1")
_SPARING |= {"ARROW_DEFAULT_MEMORY_POOL": "system"}
#: The option of GNU's `mallopt` that limits the number of arenas.
_ARENAS = -8
_MEBIBYTE = 2**20

#: Mebibytes of addresses that the libraries of a command need, and the libraries of a study, including Numba.
COMMAND, STUDY = 512, 1024


def require_addresses(mebibytes: int, what: str) -> None:
    """Raise MemoryError if the address space of this process is limited to less; its message states what needs more."""
    limit = _address_limit()
    if limit is not None and limit < mebibytes * _MEBIBYTE:
        raise MemoryError(
            f"this process is limited to {limit // _MEBIBYTE} MiB of addresses (ulimit -v); {what} needs at least "
            f"{mebibytes} MiB: raise the limit"
        )


def take_buffers() -> None:
    """If addresses are limited, let libraries start their threads and allocate lasting buffers while there is room."""
    if _address_limit() is None:
        return
    for name, value in _SPARING.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(ImportError, OSError, AttributeError):  # another C library than GNU's
        import ctypes

        ctypes.CDLL(None).mallopt(_ARENAS, 1)  # otherwise each thread takes 64 MiB of addresses
    import numpy as np
    from scipy.linalg.blas import dgemm

    large = np.ones((256, 256))  # a small product takes no buffer
    np.dot(large, large)
    dgemm(1.0, large, large)
    with contextlib.suppress(ImportError):
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = pa.BufferOutputStream()
        pq.write_table(pa.table({name: [0] for name in "ab"}), file)
        pq.read_table(pa.BufferReader(file.getvalue()))


def _address_limit() -> int | None:
    """Return the limit on the address space of this process in bytes, or None if there is no limit."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def peak() -> int:
    """Return the peak memory of this process in bytes, or 0 if the system does not report it."""
    with contextlib.suppress(OSError, IndexError):
        return 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
    return 0


#: The options of GNU's `mallopt` for the freed bytes to keep, and for the size of pieces that are always returned.
_TRIM, _MMAP = -1, -3


@functools.cache
def keep_freed_memory() -> None:
    """Let a Dask worker keep freed memory for the arrays of later blocks. Thresholds set by the user stay."""
    import ctypes

    with contextlib.suppress(OSError, TypeError, AttributeError):  # not Linux, or not GNU's C library
        started = dict(setting.partition(b"=")[::2] for setting in Path("/proc/self/environ").read_bytes().split(b"\0"))
        if started.get(b"MALLOC_TRIM_THRESHOLD_") == b"65536" and b"MALLOC_MMAP_THRESHOLD_" not in started:
            library = ctypes.CDLL(None)
            library.mallopt(_TRIM, 64 << 20)
            library.mallopt(_MMAP, 32 << 20)
