"""A Dask cluster of processes on this machine: nothing to start beforehand, nothing left behind."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

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
    ):
        logging.getLogger(name).setLevel(
            logging.CRITICAL
        )  # a lost worker is replaced; a lost block is our news to tell

    with (
        # A worker gets its next block when it is done with one, so that its death is laid to the block it worked on.
        dask.config.set({"distributed.scheduler.worker-saturation": 1.0}),
        LocalCluster(
            n_workers=cluster.workers or processors(),
            threads_per_worker=1,
            memory_limit=cluster.memory_limit,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as started,
        Client(started) as client,
    ):
        yield DaskPool(client)
