"""Clusters on this machine: a Dask cluster of processes, or a plain loop. Both start and end with the run."""

import contextlib
import logging
import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import current_process, resource_tracker
from pathlib import Path
from typing import Any, Literal, TypeVar

import psutil
from pydantic import Field

from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.pools import Pool, Serial
from sigstats.tasks.plan import Needs

from ..config.model import MemoryOrAuto
from ..errors import BadInput
from ._dask import (
    Adaptive,
    ClusterFile,
    Gpus,
    Workers,
    certificates,
    expected,
    quietly,
    restart_dead_workers,
    settings,
    start,
    unmet_need,
)

T = TypeVar("T")


class Cluster(ClusterFile):
    """Worker processes on this machine."""

    kind: Literal["local"] = "local"
    workers: Workers | None = Field(None, description="Worker processes of one thread; one per processor by default")
    memory_limit: MemoryOrAuto = Field("auto", description='Memory of each worker, as in "2 GiB"')
    gpus: Gpus = 0


class SerialCluster(ClusterFile):
    """A plain loop in this process."""

    kind: Literal["serial"] = "serial"
    gpus: Gpus = 0


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def may_start_processes() -> bool:
    """Return False in a worker process of Dask or of a pool, in which Python cannot start processes."""
    return not current_process().daemon


def room_for(needs: Sequence[Needs], *, gpus: int = 0) -> dict[Needs, int]:
    """Return, for each of the needs, the number of such blocks that this machine can run at the same time.

    Raises BadInput if a block needs more than this machine has.
    """
    threads, memory = processors(), int(psutil.virtual_memory().total)
    has = {
        "threads": (threads, f"{threads}, the processors of this machine"),
        "memory": (memory, f"{memory / 2**30:.3g} GiB, the memory of this machine"),
        "gpu": (gpus, f"{gpus}, the gpus of the cluster file"),
    }
    for need in needs:
        for name, amount in need.amounts.items():
            if amount > has[name][0]:
                raise unmet_need(need, name, has[name][1])
    return {need: min(has[name][0] // amount for name, amount in need.amounts.items()) for need in needs}


def worker_options(needs: Sequence[Needs], room: Mapping[Needs, int], *, gpus: int) -> list[dict[str, Any]]:
    """Return the `distributed.Nanny` options of each worker on one machine, with the resources declared to Dask.

    For each need, the first ``room[need]`` workers declare its resources. The GPUs are divided among the workers.
    """
    made: list[dict[str, Any]] = []
    device = 0
    for number in range(max(room.values(), default=0)):
        amounts: dict[str, int] = {}
        for need in needs:
            if number < room[need]:
                amounts |= {name: max(amount, amounts.get(name, 0)) for name, amount in need.amounts.items()}
        share = min(amounts.pop("gpu", 0), gpus - device)
        devices = ",".join(str(device + one) for one in range(share))
        device += share
        entries: dict[str, Any] = {"resources": amounts | ({"gpu": share} if share else {})}
        made.append(entries | ({"env": {"CUDA_VISIBLE_DEVICES": devices}} if share else {}))
    return made


def with_worker_options(cluster: type[Any], options: Sequence[dict[str, Any]]) -> type[Any]:
    """Return a `distributed.SpecCluster` in which the first workers, or their replacements, have additional options."""

    class WithOptions(cluster):  # type: ignore[misc]
        """A cluster that gives each new worker the first options that no other worker has."""

        def new_worker_spec(self) -> dict[Any, dict[str, Any]]:
            ((name, spec),) = super().new_worker_spec().items()
            taken = {other.get("role") for other in self.worker_spec.values()}
            role = next((role for role in range(len(options)) if role not in taken), None)
            return {name: spec if role is None else spec | {"role": role, "options": spec["options"] | options[role]}}

    return WithOptions


#: The number of files and connections that this process has open before it starts workers, and per worker.
_FILES, _FILES_PER_WORKER = 80, 12


def _require_files(workers: int) -> None:
    """Raise the limit on open files if necessary; raise BadInput if it cannot be raised enough for the workers."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    wanted, unlimited = _FILES + _FILES_PER_WORKER * workers, resource.RLIM_INFINITY
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == unlimited or soft >= wanted:
        return
    if hard != unlimited and hard < wanted:
        problem = f"{workers} workers need {wanted} open files, but this process may have only {hard}"
        raise BadInput(f"cluster: {problem}; raise the limit (ulimit -n), use fewer workers or the cluster serial")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _unreached_by_ctrl_c(make: Callable[[], T]) -> T:
    """Call `make` with SIGINT blocked for the threads and processes that it starts, and for their children.

    A terminal or notebook sends Ctrl-C to all processes of the group, but only this process may end the others.
    """
    if not hasattr(signal, "pthread_sigmask"):
        return make()
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return make()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def open_serial(cluster: SerialCluster, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
    """Open a plain loop in this process. It is the reference with which all other clusters must agree."""
    room_for(needs, gpus=cluster.gpus)  # raises BadInput if a block needs more than this machine has
    yield Serial()


@quietly
@contextmanager
def open_pool(cluster: Cluster, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
    """Start processes that accept connections only from this run, and end them when the context ends."""
    if not may_start_processes():
        raise BadInput(
            "cluster: local cannot be used in a worker process of Dask or of a pool, which cannot start processes; "
            "use serial, or cluster=get_client() for the workers of this task"
        )
    special = worker_options(needs, room_for(needs, gpus=cluster.gpus), gpus=cluster.gpus)
    import dask
    from distributed import Client, Nanny, SpecCluster

    from sigstats.tasks.engine.nodes import Scheduler, Worker

    workers = cluster.workers or processors()
    _require_files(max(1, workers.minimum) if isinstance(workers, Adaptive) else workers)
    security = certificates()
    listening = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
    worker = {
        "nthreads": 1,
        "memory_limit": cluster.memory_limit,
        "local_directory": scratch_folder(),
        "worker_class": Worker,
        "silence_logs": logging.CRITICAL,  # the log of nannies in the processes of their workers
        **listening,
    }
    with (
        dask.config.set(settings()),
        _unreached_by_ctrl_c(
            lambda: with_worker_options(SpecCluster, special)(
                scheduler={"cls": Scheduler, "options": {**listening, "port": 0, "dashboard": False}},
                worker={"cls": Nanny, "options": worker},
                security=security,
                silence_logs=logging.CRITICAL,
            )
        ) as started,
        Client(started) as client,
    ):
        start(started, workers)
        with restart_dead_workers(started):
            yield DaskPool(
                client, expected=expected(workers), asks=frozenset(name for need in needs for name in need.amounts)
            )


def scratch_folder() -> str:
    """Return the scratch folder in Dask's configuration or, by default, a private folder of this user.

    Dask's default is a single folder for all users of a machine, which belongs to the user who made it. The owner of a
    folder can replace its content, and a worker imports modules from its scratch folder.
    """
    import dask

    named = dask.config.get("temporary-directory", None)
    if named or not hasattr(os, "getuid"):
        return str(named or tempfile.gettempdir())
    folder = Path(tempfile.gettempdir(), f"sigstats-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.lstat()  # does not follow links, which may lead to a folder of another user
    ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077
    return str(folder) if ours else tempfile.mkdtemp(prefix=f"sigstats-{os.getuid()}-")
