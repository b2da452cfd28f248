"""Threads: limits of numerical libraries, work that only one thread does at a time, and a repeated action."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from threadpoolctl import get_cached_controller

_lock = threading.Lock()
_inside = 0
_before: dict[str, tuple[Any, int]] = {}

_computing = threading.Lock()
_mine = threading.local()


@contextmanager
def alone() -> Iterator[None]:
    """Exclude other threads of this process from this context while it lasts; a thread inside may enter again.

    Later blocks reuse the preparation of a data set, learners write to it, and libraries compiled into scikit-learn
    have one random generator for all threads.
    """
    if getattr(_mine, "inside", False):
        yield
        return
    with _computing:
        _mine.inside = True
        try:
            yield
        finally:
            _mine.inside = False


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Restrict BLAS and OpenMP to some threads, also if other threads of this process enter or leave the context.

    OpenMP has a limit for each thread that uses it. BLAS has one for the whole process: the first thread that enters
    sets it, and the last one that leaves restores it.
    """
    global _inside  # noqa: PLW0603
    with _lock:
        libraries = get_cached_controller()
        openmp = libraries.select(user_api="openmp").limit(limits=number)
        for blas in libraries.select(user_api="blas").lib_controllers:
            _before.setdefault(blas.filepath, (blas, blas.num_threads))
            _set(blas, number)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            openmp.restore_original_limits()
            _inside -= 1
            while not _inside and _before:
                _set(*_before.popitem()[1])


def _set(blas: Any, threads: int) -> None:
    # With threadpoolctl only the first thread can set the limit of OpenBLAS; calls of other threads are ignored.
    if release := getattr(blas, "clear_controlling_thread", None):
        release(force=True)
    blas.set_num_threads(threads)
    if release:
        release(force=True)


def begun_thread(name: str) -> ThreadPoolExecutor:
    """An executor whose single thread is already running, since a later start may fail under a limit of memory."""
    executor = ThreadPoolExecutor(1, thread_name_prefix=name)
    executor.submit(int).result()
    return executor


@contextmanager
def periodic(action: Callable[[], None], seconds: float, *, name: str) -> Iterator[None]:
    """Call `action` at intervals of this many seconds, in the thread `name`, until the end; it must not raise."""
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
