"""A Dask cluster of processes on this machine: nothing to start beforehand, nothing left behind."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import Field

from sigstats.tasks.engine.pools import DaskPool, Pool

from ._certificates import certificates
from ._engine import quiet, settings
from ._file import ClusterFile
from ._restarting import restart_dead_workers
from ._scaling import SIZE, Workers, expected, start
from ._scratch import scratch_folder


class Cluster(ClusterFile):
    """``kind = "local"``."""

    kind: Literal["local"] = "local"
    workers: Annotated[
        Workers | None,
        Field(description="Worker processes of one thread; one for each processor by default"),
    ] = None
    memory_limit: Annotated[
        str, Field(pattern=f"^(auto|{SIZE})$", description='Memory of each worker, as in "2 GiB"')
    ] = "auto"


def processors() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def open_pool(cluster: Cluster) -> Iterator[Pool]:
    """Start the processes, which take connections of this run alone, and end them."""
    quiet()
    import dask
    from distributed import Client, Nanny, SpecCluster

    from sigstats.tasks.engine.nodes import Scheduler, Worker

    workers = cluster.workers or processors()
    security = certificates()
    listening = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
    worker = {
        "nthreads": 1,
        "memory_limit": cluster.memory_limit,
        "local_directory": scratch_folder(),
        "worker_class": Worker,
        "silence_logs": logging.CRITICAL,  # that of the nannies in the processes of their workers
        **listening,
    }
    with (
        dask.config.set(settings()),
        SpecCluster(
            scheduler={"cls": Scheduler, "options": {**listening, "port": 0, "dashboard": False}},
            worker={"cls": Nanny, "options": worker},
            security=security,
            silence_logs=logging.CRITICAL,
        ) as started,
        Client(started) as client,
    ):
        start(started, workers)
        with restart_dead_workers(started):
            yield DaskPool(client, expected=expected(workers))
