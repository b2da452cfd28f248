"""Clusters that a class of Dask starts with the arguments in the cluster file: dask-jobqueue, dask-gateway and others.

Arguments such as ``job_script_prologue`` are shell commands, so anyone who can write a cluster file can run commands.
"""

import importlib
import inspect
import json
import re
import shutil
import signal
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from sigstats._common.extras import EXTRAS
from sigstats._common.messages import did_you_mean, one_line, shown
from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.plan import Needs

from ..config.model import Options
from ..errors import BadInput
from ._dask import (
    ClusterFile,
    Workers,
    certificates,
    environment,
    expected,
    pool_for,
    quietly,
    restart_dead_workers,
    settings,
    start,
)

#: The packages from which a cluster file may name classes. ``--allow`` adds others.
PACKAGES = ("dask_cloudprovider", "dask_gateway", "dask_jobqueue", "dask_kubernetes", "distributed")


class Cluster(ClusterFile):
    """A class of Dask. All other keys of the file are arguments of the class."""

    model_config = ConfigDict(extra="allow")

    kind: Literal["dask"] = "dask"
    class_: str = Field(
        alias="class",
        pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$",
        description='Import path of the class, as in "dask_jobqueue.SLURMCluster"',
    )
    workers: Workers = Field(description="Number of worker processes")
    needs: dict[Literal["gpu", "memory", "threads"], Options] = Field(
        default_factory=dict, description="Further arguments for workers with this resource; {amount} is the amount"
    )
    tls: bool = Field(True, description="Whether connections are encrypted and authenticated")
    resubmit_after: float | None = Field(
        None, gt=0, description="Seconds until a job without a worker is submitted again; never by default"
    )

    @field_validator("class_")
    @classmethod
    def _require_allowed_package(cls, path: str, about: ValidationInfo) -> str:
        """Return the path of a class in an allowed package; raise ValueError otherwise."""
        package = path.partition(".")[0]
        if package not in (*PACKAGES, *(about.context or ())):
            wanted = f"a class from {', '.join(PACKAGES)}, or --allow {package}"
            raise ValueError(f"{shown(path)} is not valid; expected {wanted}")
        return path


def class_of(path: str) -> Any:
    """Return the class with this import path; raise BadInput if it cannot be imported or is not a class of clusters."""
    module, _, name = path.rpartition(".")
    package = module.partition(".")[0]
    where = f"cluster: class: {shown(path)} is not valid"
    # Importing dask_jobqueue sets a handler for SIGINT. Only the main thread can set a handler, and ours must stay.
    set_handler, signal.signal = signal.signal, lambda *_: None
    try:
        members = importlib.import_module(module)
    except ImportError as error:
        wanted = f"'sigstats[{EXTRAS[package]}]'" if package in EXTRAS else package.replace("_", "-")
        reason = f"run pip install {wanted}" if error.name == package else one_line(error)[:200]
        raise BadInput(f"{where}; {reason}") from None
    finally:
        signal.signal = set_handler
    cluster_class = getattr(members, name, None)
    if not (isinstance(cluster_class, type) and hasattr(cluster_class, "scale")):
        hint = did_you_mean(name, [member for member in dir(members) if member.endswith("Cluster")])
        raise BadInput(f"{where}; expected a class of clusters{hint}")
    return cluster_class


def with_needs(cluster: Cluster, needs: Needs) -> dict[str, Any]:
    """Return the arguments for workers with the resources of a block. Lists extend the lists of other workers."""
    arguments = dict(cluster.model_extra or {})
    for name, amount in needs.amounts.items():
        if name not in cluster.needs:
            raise BadInput(f"{needs.who}: resources: no worker has {needs}; add [needs.{name}] to the cluster file")
        # A worker needs 2 GiB in addition to the memory of its block.
        number = str(amount + (2 << 30) if name == "memory" else amount)
        text = json.dumps(cluster.needs[name]).replace('"{amount}"', number).replace("{amount}", number)
        for key, value in json.loads(text).items():
            arguments[key] = [*arguments.get(key, ()), *value] if isinstance(value, list) else value
    return arguments


def _for_jobs(cluster_class: Any, arguments: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
    """Return the arguments of a class of dask-jobqueue. A job has one worker if `alone`, otherwise one per core.

    The site's configuration of dask-jobqueue remains in force.
    """
    import dask

    from sigstats.tasks.engine.nodes import Scheduler

    site = arguments.get("config_name") or cluster_class.job_cls.default_config_name()

    def of_user(key: str, form: type) -> Any:
        value = arguments.get(key) or dask.config.get(f"jobqueue.{site}.{key.replace('_', '-')}", None) or form()
        if not isinstance(value, form):
            raise TypeError(f"{key}: {shown(value)} is not valid; expected a {form.__name__}")
        return value

    exports = [f'export {name}="${{{name}:-{value}}}"' for name, value in environment().items()]
    worker = ["--nthreads", "1", "--worker-class", "sigstats.tasks.engine.nodes.Worker"]
    return {
        "job_name": "sigstats",
        "death_timeout": 60,  # a job ends itself if it finds no scheduler for a minute
        **({"processes": arguments["cores"]} if "cores" in arguments else {}),
        **arguments,
        **({"processes": 1} if alone else {}),
        "shared_temp_directory": of_user("shared_temp_directory", str),
        "job_script_prologue": [*of_user("job_script_prologue", list), *exports],
        # A worker computes one block at a time, whatever the number of cores: the last --nthreads counts.
        "worker_extra_args": [*of_user("worker_extra_args", list), *worker],
        "scheduler_cls": Scheduler,
        "scheduler_options": {"dashboard": False, **of_user("scheduler_options", dict)},
    }


#: Idle seconds after which Dask's operator deletes the pods, which a killed run cannot delete.
_IDLE_SECONDS = 600


def for_pods(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for dask-kubernetes, with a unique name, since clusters with equal names would be the same.

    The name replaces ``{name}`` in the file of ``custom_cluster_spec``.
    """
    name = f"sigstats-{uuid.uuid4().hex[:10]}"
    result: dict[str, Any] = {"name": name, "shutdown_on_close": True, "quiet": True, "idle_timeout": _IDLE_SECONDS}
    result |= {"env": environment(), **arguments}
    if isinstance(file := arguments.get("custom_cluster_spec"), str):
        import yaml

        resource = yaml.safe_load(Path(file).read_text(encoding="utf-8").replace("{name}", name))
        for part in ("scheduler", "worker"):
            for container in resource["spec"][part]["spec"]["containers"]:
                settings = [{"name": key, "value": value} for key, value in environment().items()]
                container["env"] = [*settings, *container.get("env", ())]
        result["custom_cluster_spec"] = resource
    return result


@contextmanager
def started_cluster(cluster: Cluster, arguments: Mapping[str, Any], *, alone: bool = False) -> Iterator[Any]:
    """Open the cluster of a class, with a running scheduler and no workers; close it when the context ends."""
    cluster_class = class_of(cluster.class_)
    jobs = getattr(cluster_class, "job_cls", None)
    if jobs is not None:
        command = jobs.submit_command.split()[0]
        if shutil.which(command) is None:
            raise BadInput(f"cluster: {command} is not on the PATH; run sigstats on a machine that can submit jobs")
    with ExitStack() as stack:
        with failures_of(cluster, "a scheduler"):
            if jobs is not None:
                arguments = _for_jobs(cluster_class, arguments, alone=alone)
            elif cluster_class.__module__.startswith("dask_kubernetes."):
                import kr8s

                # Without a server, this fails early; a KubeCluster would fail once more when it is cleaned up.
                kr8s.api(namespace=arguments.get("namespace")).version()
                arguments = for_pods(arguments)
            if cluster.tls and "security" in inspect.signature(cluster_class).parameters:
                security = certificates()
                if jobs is not None:
                    shared = Path(arguments["shared_temp_directory"]).expanduser().absolute()
                    keys = stack.enter_context(TemporaryDirectory(dir=shared, prefix=".sigstats-tls-"))
                    for part in ("tls_ca_file", "tls_worker_cert", "tls_worker_key"):
                        file = Path(keys, f"{part}.pem")
                        file.touch(mode=0o600)
                        file.write_text(getattr(security, part))
                        setattr(security, part, str(file))
                arguments = {"security": security, **arguments}
            started = stack.enter_context(cluster_class(**arguments))
        yield started


@contextmanager
def failures_of(cluster: Cluster, what: str) -> Iterator[None]:
    """Turn the errors of a class that cannot start `what` into BadInput with a message in one line."""
    try:
        yield
    except Exception as error:  # each package raises its own exceptions
        lines = str(error).rpartition("stderr:")[2].strip().split("\n")  # the output of a batch system
        reason = " ".join(lines[0].split())[:300] or type(error).__name__
        if wrong := re.search(r"unexpected keyword argument '(\w+)'", str(error)):
            reason = f"{wrong[1]} is not an argument of this class"
        raise BadInput(f"cluster: {cluster.class_} cannot start {what}: {reason}") from None


@quietly
def open_pool(cluster: Cluster, needs: Sequence[Needs] = ()) -> AbstractContextManager[Pool]:
    """Start the workers, and end them when the context ends. Blocks with special needs get separate workers."""
    arguments: dict[Needs | None, Any] = {kind: with_needs(cluster, kind) for kind in needs}
    arguments[None] = cluster.model_extra
    class_of(cluster.class_)  # fails before settings are combined with the defaults of its package
    return pool_for(needs, lambda kind: open_workers(cluster, arguments[kind], kind))


@contextmanager
def open_workers(cluster: Cluster, arguments: Mapping[str, Any], needs: Needs | None) -> Iterator[Pool]:
    """Start the workers of one kind, and end them when the context ends."""
    import dask
    from distributed import Client, SpecCluster

    with (
        dask.config.set(settings()),
        started_cluster(cluster, arguments, alone=needs is not None) as started,
        Client(started) as client,
        restart_dead_workers(started, patience=cluster.resubmit_after),
    ):
        with failures_of(cluster, "a worker" if needs is None else f"a worker with {needs}, which {needs.who} needs"):
            start(started, cluster.workers)
            if needs is not None and not isinstance(started, SpecCluster):
                client.wait_for_workers(1, timeout=300)  # such a service does not refuse unavailable resources
        yield DaskPool(client, expected=expected(cluster.workers))
