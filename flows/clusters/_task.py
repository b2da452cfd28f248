"""A study that a task of Dask runs, on the cluster that the task is of."""

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def thread_given_back(client: Any) -> Iterator[None]:
    """Give the thread of this task back to its worker for as long as the context lasts.

    Otherwise tasks that each wait for the blocks of a study would hold all threads that could compute these.

    `client`: if this thread runs no task of its workers, nothing is done.
    """
    from distributed import get_worker, rejoin, secede

    try:
        worker = get_worker()
        inside = worker.address in client.nthreads()
        if inside:
            secede()
    except (AttributeError, KeyError, ValueError):  # no task runs here, or its thread was given back already
        inside = False
    try:
        yield
    finally:
        if inside:
            rejoin()
