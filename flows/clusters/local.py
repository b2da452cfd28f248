"""A Dask cluster of processes on this machine: nothing to start beforehand, nothing left behind."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import Field

from tasks.execute import DaskPool, Pool

from ..config import Strict


class Cluster(Strict):
    """``kind = "local"``."""

    kind: Literal["local"] = "local"
    workers: Annotated[
        int | None,
        Field(ge=1, le=4096, description="Worker processes of one thread; one for each processor by default"),
    ] = None
    memory_limit: Annotated[
        str, Field(pattern=r"^(auto|[0-9.]+ ?[KMGT]?i?B)$", description='Memory of each worker, as in "2 GiB"')
    ] = "auto"


def processors() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def open_pool(cluster: Cluster) -> Iterator[Pool]:
    """Start the processes on loopback, and end them."""
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")  # read by the workers
    import dask
    from distributed import Client, LocalCluster

    for name in (
        "distributed",
        "distributed.client",
        "distributed.nanny",
        "distributed.scheduler",
        "distributed.worker",
        "tornado.application",  # a worker that died while it started
    ):
        logging.getLogger(name).setLevel(
            logging.CRITICAL
        )  # a lost worker is replaced; a lost block is our news to tell

    workers = cluster.workers or processors()
    with (
        # A worker gets its next block when it is done with one, so that its death is laid to the block it worked on.
        dask.config.set({"distributed.scheduler.worker-saturation": 1.0}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=cluster.memory_limit,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as started,
        Client(started) as client,
        _kept(started, workers),
    ):
        yield DaskPool(client)


@contextmanager
def _kept(cluster: Any, workers: int) -> Iterator[None]:
    """Keep up the number of workers: Dask starts a worker again that died, but not one that died while it started."""
    from distributed import Status

    def mend() -> None:
        if cluster.status is not Status.running:
            return
        for name, nanny in list(cluster.workers.items()):
            if nanny.status in (Status.closed, Status.failed):
                del cluster.workers[name]
        if len(cluster.workers) < workers:
            cluster.scale(workers)

    def watch() -> None:
        while not ended.wait(1.0):
            cluster.loop.add_callback(mend)

    ended = threading.Event()
    thread = threading.Thread(target=watch, name="workers", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
