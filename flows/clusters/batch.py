"""Workers as jobs of a batch system, which dask-jobqueue submits.

Other settings of a site, such as modules that are loaded before a worker starts, belong in dask-jobqueue's own
configuration: a cluster file contains no shell commands, so it cannot be used to inject any.
"""

import asyncio
import importlib
import re
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Annotated, Any, Literal

from pydantic import Field

from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.plan import Needs

from ..config.model import Memory, bytes_of
from ..errors import BadInput
from ._engine import environment, quietly, settings, shared_certificates
from ._workers import ClusterFile, Workers, expected, opened_for, refuse_need, restart_dead_workers, start

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@:,-]*$")]
Folder = Annotated[str, Field(pattern=r"^[A-Za-z0-9_./~-]+$")]


@dataclass(frozen=True)
class BatchSystem:
    """The differences between batch systems."""

    #: Its class in dask-jobqueue.
    cluster: str
    #: The argument of that class for the account to charge.
    account: str
    #: The command that prints the state of a job; the job's number is appended.
    ask: tuple[str, ...]


SYSTEMS = {
    "slurm": BatchSystem("SLURMCluster", "account", ("squeue", "--noheader", "--format=%T", "--jobs")),
    "pbs": BatchSystem("PBSCluster", "account", ("qstat",)),
    "sge": BatchSystem("SGECluster", "project", ("qstat", "-j")),
    "lsf": BatchSystem("LSFCluster", "project", ("bjobs", "-noheader", "-o", "stat")),
}

#: The text by which a system reports that a job has ended: on standard error, or as the job's state.
_GONE = re.compile(r"invalid job id|unknown job|has finished|do(es)? not exist|is not found", re.IGNORECASE)
_ENDED = ("", "DONE", "EXIT")


class Cluster(ClusterFile):
    """A batch system: its jobs run the workers, the scheduler runs in this process, and TLS lies between them."""

    kind: Literal["slurm", "pbs", "sge", "lsf"]
    workers: Workers = Field(description="Worker processes of one thread")
    processes: int = Field(1, ge=1, le=1024, description="Worker processes in one job")
    memory: Memory = Field("2 GiB", description='Memory of each worker, as in "2 GiB"')
    queue: Word | None = Field(None, description="Queue or partition; the system's own by default")
    account: Word | None = Field(None, description="Account or project to charge")
    walltime: str = Field(
        "01:00:00",
        pattern=r"^[0-9:-]+$",
        description="Time limit of a job, as the system writes it; ended jobs are replaced",
    )
    directives: list[Annotated[str, Field(pattern=r"^-[A-Za-z0-9_.,:=/ -]+$")]] = Field(
        default_factory=list, description='More options of the submit command, as in ["--constraint=avx512"]'
    )
    interface: Word | None = Field(
        None, description='Network interface between the machines, as in "ib0"; the main one by default'
    )
    shared_folder: Folder = Field(
        ".", description="Folder that all machines see; holds the certificates of the run while it lasts"
    )
    log_folder: Folder | None = Field(
        None, description="Folder for the jobs' own output; where the system puts it by default"
    )
    local_folder: Folder | None = Field(None, description="Scratch folder on the workers' machines")
    gpu_directive: str | None = Field(
        None,
        pattern=r"^-[A-Za-z0-9_.,:=/ {}-]+$",
        description="How GPUs are asked for, {gpu} being their number, where a classifier needs them",
    )
    tls: bool = Field(True, description="Whether scheduler and workers prove who they are and encrypt")


#: The options for GPUs of systems on which all sites use the same.
_GPU_DIRECTIVES = {"slurm": "--gres=gpu:{gpu}", "lsf": "-gpu num={gpu}"}


def fitted(cluster: Cluster, needs: Needs) -> Cluster:
    """The cluster file of jobs with one worker, which has what a block needs besides its own memory."""
    directives = list(cluster.directives)
    if needs.gpu:
        asked = cluster.gpu_directive or _GPU_DIRECTIVES.get(cluster.kind)
        if asked is None:
            raise refuse_need(needs, "gpu", f"0, since the cluster file has no gpu_directive for {cluster.kind}")
        directives.append(asked.replace("{gpu}", str(needs.gpu)))
    memory = f"{bytes_of(cluster.memory) + needs.memory} B"
    return cluster.model_copy(update={"processes": 1, "memory": memory, "directives": directives})


def batch_cluster(cluster: Cluster, security: Any, threads: int = 1) -> Any:
    """The cluster of dask-jobqueue, with its scheduler running and no job yet.

    `threads`: processors of a worker, for the numerical libraries of its one block.
    """
    try:
        dask_jobqueue = _dask_jobqueue()
    except ImportError:
        raise BadInput(
            f"cluster: kind: {cluster.kind!r} is not valid; expected dask-jobqueue: pip install 'sigstats[jobqueue]'"
        ) from None
    made = getattr(dask_jobqueue, SYSTEMS[cluster.kind].cluster)
    command = made.job_cls.submit_command.split()[0]
    if shutil.which(command) is None:
        raise BadInput(f"cluster: {command} is not on the PATH; expected a machine from which jobs can be submitted")
    return made(security=security, **job_options(cluster, threads))


def _dask_jobqueue() -> ModuleType:
    """Import the package without its handler of SIGINT: only the main thread can set one, and ours must stay."""
    set_handler = signal.signal
    signal.signal = lambda *_: None
    try:
        return importlib.import_module("dask_jobqueue")
    finally:
        signal.signal = set_handler


def job_options(cluster: Cluster, threads: int = 1) -> dict[str, Any]:
    """The options for dask-jobqueue: a job has `processes` workers of one thread, with `threads` processors each."""
    import dask

    from sigstats.tasks.engine.nodes import Scheduler

    # The site's own lines in dask-jobqueue's configuration; keys have hyphens in files, underscores in the environment.
    before, arguments = (
        dask.config.get(f"jobqueue.{cluster.kind}.{key}", None) or []
        for key in ("job-script-prologue", "worker-extra-args")
    )
    one_block = ["--nthreads", "1"] if threads > 1 else []

    options = {
        "cores": cluster.processes * threads,
        "processes": cluster.processes,
        "memory": f"{bytes_of(cluster.memory) * cluster.processes} B",
        "walltime": cluster.walltime,
        "queue": cluster.queue,
        SYSTEMS[cluster.kind].account: cluster.account,
        "interface": cluster.interface,
        "local_directory": cluster.local_folder,
        "log_directory": cluster.log_folder,
        "job_extra_directives": list(cluster.directives),
        "job_script_prologue": [*before, *(f'export {k}="${{{k}:-{value}}}"' for k, value in environment().items())],
        # A worker has one block at a time, however many processors: the last --nthreads counts.
        "worker_extra_args": [*arguments, *one_block, "--worker-class", "sigstats.tasks.engine.nodes.Worker"],
        "scheduler_cls": Scheduler,
        "scheduler_options": {"dashboard": False},
        "job_name": "sigstats",
        "death_timeout": 60,  # a job that finds no scheduler for a minute ends itself
    }
    return {name: value for name, value in options.items() if value is not None}


async def _has_ended(kind: str, job: Any) -> bool:
    """Whether the batch system reports that a job has ended; False if it does not answer."""
    if job.job_id is None:
        return False
    pipe = asyncio.subprocess.PIPE
    try:
        asked = await asyncio.create_subprocess_exec(*SYSTEMS[kind].ask, str(job.job_id), stdout=pipe, stderr=pipe)
    except OSError:
        return False
    out, err = ((text or b"").decode(errors="replace").strip() for text in await asked.communicate())
    return out in _ENDED if asked.returncode == 0 else bool(_GONE.search(err))


@quietly
def open_pool(cluster: Cluster, needs: Sequence[Needs] = ()) -> AbstractContextManager[Pool]:
    """Submit the jobs, and cancel them when the context ends; blocks with needs of their own get jobs of their own."""
    made: dict[Needs | None, Cluster] = {None: cluster, **{each: fitted(cluster, each) for each in needs}}
    return opened_for(needs, lambda each: _open_jobs(made[each], each))


@contextmanager
def _open_jobs(cluster: Cluster, needs: Needs | None) -> Iterator[Pool]:
    """Submit the jobs of one kind, and cancel them when the context ends."""
    import dask
    from distributed import Client

    with (
        dask.config.set(settings()),
        shared_certificates(cluster.shared_folder) if cluster.tls else nullcontext() as security,
        batch_cluster(cluster, security, 1 if needs is None else needs.threads) as started,
        Client(started) as client,
    ):
        try:
            start(started, cluster.workers)
        except RuntimeError as error:
            said = str(error).rpartition("stderr:")[2].split("\n")
            reason = next((line.strip() for line in said if line.strip()), "no reason given")
            job = "no job" if needs is None else f"no job with {needs}, which {needs.who} needs"
            raise BadInput(f"cluster: the batch system takes {job}: {reason}") from None
        with restart_dead_workers(started, has_ended=partial(_has_ended, cluster.kind)):
            yield DaskPool(client, expected=expected(cluster.workers))
