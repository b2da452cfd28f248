"""Common code of the kinds of cluster: Dask's settings, log and certificates; fields of cluster files; and workers."""

import datetime
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
from typing import Annotated, Any, Self, TypeVar

from pydantic import Discriminator, Field, Tag, model_validator

from sigstats.tasks.engine.pools import Pool, RoutedPool
from sigstats.tasks.plan import Needs

from ..config.model import Strict
from ..errors import BadInput

#: The model of a kind of cluster file.
K = TypeVar("K")
#: A worker gets its next block only after it has finished one, so that a death is attributed to the right block.
ONE_BLOCK_EACH = {"distributed.scheduler.worker-saturation": 1.0}
#: For its dashboard, Dask samples each task a hundred times a second, and the delay of each loop fifty times. In an
#: idle cluster, this takes 2% of a worker's core and 3% of the scheduler's.
LESS_SAMPLING = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
}
#: By default, a worker at four fifths of its memory pauses until memory is freed, but only its next block frees memory.
#: A worker that reaches the limit is replaced by its nanny.
NEVER_PAUSED = {"distributed.worker.memory.pause": False}
#: Dask's loggers, and those of a worker that died while it started, and of a job that could not be submitted.
_LOGGERS = ("distributed", "distributed.client", "distributed.nanny", "distributed.scheduler", "distributed.worker")
_OTHER_LOGGERS = ("tornado.application", "asyncio")
#: The environment variable that silences workers, and its value.
_WORKER_LEVEL, _SILENT = "DASK_LOGGING__DISTRIBUTED", "critical"


def settings() -> dict[str, Any]:
    """Return the settings for `dask.config.set`. The user's configuration overrides all except `ONE_BLOCK_EACH`."""
    import dask
    import distributed  # noqa: F401  (sets its defaults)

    from_user, default = dask.config.collect(), dask.config.merge(*dask.config.defaults)

    def is_free(key: str, value: Any) -> bool:
        if dask.config.get(key, None, config=from_user) is not None:
            return False
        return dask.config.get(key, None) in (dask.config.get(key, None, config=default), value)

    wanted = LESS_SAMPLING | NEVER_PAUSED
    return ONE_BLOCK_EACH | {key: value for key, value in wanted.items() if is_free(key, value)}


def environment() -> dict[str, str]:
    """Return the `settings` as environment variables, for processes that are started elsewhere."""
    return {f"DASK_{key.upper().replace('.', '__').replace('-', '_')}": str(value) for key, value in settings().items()}


_LOCK = threading.Lock()
#: For each open pool, the function that restores the levels and variables from before the first. Guarded by `_LOCK`.
_restorers: list[Callable[[], None]] = []


def quietly(open_pool: Callable[[K, Sequence[Needs]], AbstractContextManager[Pool]]) -> Callable[..., Any]:
    """Let `open_pool` silence Dask's own log while a pool is open.

    A lost worker is replaced, and the run itself reports a lost block.
    """

    @contextmanager
    @wraps(open_pool)
    def opened(cluster: K, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
        with _LOCK:
            _restorers.append(_restorers[0] if _restorers else _silence())
        try:
            with open_pool(cluster, needs) as pool:
                yield pool
        finally:
            with _LOCK:
                restore = _restorers.pop()
                if not _restorers:
                    restore()

    return opened


def _silence() -> Callable[[], None]:
    """Silence Dask's log; return the function that restores it."""
    import dask
    import distributed  # noqa: F401  (sets the levels of its log)

    before = {logger: logger.level for logger in map(logging.getLogger, (*_LOGGERS, *_OTHER_LOGGERS))}
    # A nanny sets variables of its worker in this process: the configured variables and two others.
    set_by_nannies = dask.config.get("distributed.nanny.pre-spawn-environ") or ()
    names = (_WORKER_LEVEL, *set_by_nannies, "PYTHONHASHSEED", "__DASK_PARENT_PID")
    variables = {name: os.environ.get(name) for name in names}
    os.environ.setdefault(_WORKER_LEVEL, _SILENT)
    for logger in before:
        # If memory is short, Dask logs a message that it could not write as a critical error.
        logger.setLevel(logging.CRITICAL + 1)

    def restore() -> None:
        for variable, value in variables.items():
            os.environ.pop(variable, None)
            if value is not None:
                os.environ[variable] = value
        for logger, level in before.items():
            logger.setLevel(level)

    return restore


#: A certificate is for a single run, which deletes it. It never expires, so that the clocks of machines do not matter.
_FIRST = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_LAST = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)


def certificates() -> Any:
    """Return new certificates for scheduler, workers and client (`distributed.Security`), only in memory.

    The certificates of Dask's `Security.temporary` are not valid yet on a machine with a slow clock.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID
    from distributed.security import Security

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a run of sigstats")])
    number = x509.random_serial_number()
    unsigned = x509.CertificateBuilder(name, name, key.public_key(), number, _FIRST, _LAST)  # its own authority
    pem, encryption = serialization.Encoding.PEM, serialization.NoEncryption()
    certificate = unsigned.sign(key, hashes.SHA256()).public_bytes(pem).decode()
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, encryption).decode()
    roles = ("scheduler", "worker", "client")
    files = {f"tls_{role}_{part}": text for role in roles for part, text in (("cert", certificate), ("key", secret))}
    return Security(require_encryption=True, tls_ca_file=certificate, **files)


#: The name of an importable package.
Package = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]

Gpus = Annotated[int, Field(ge=0, le=64, description="Number of GPUs that classifiers may use, from the first")]


class ClusterFile(Strict):
    """The fields that the files of all kinds of cluster share."""

    allow: list[Package] = Field(
        default_factory=list, description="Packages whose classifiers a study may use; their code is run"
    )


class Adaptive(Strict):
    """Bounds of an adaptive number of workers."""

    minimum: int = Field(1, ge=0, le=100_000, description="Fewest workers")
    maximum: int = Field(ge=1, le=100_000, description="Most workers")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError(f"minimum: {self.minimum} is not valid; expected at most maximum, {self.maximum}")
        return self


Workers = Annotated[
    Annotated[int, Field(ge=1, le=100_000), Tag("int")] | Annotated[Adaptive, Tag("Adaptive")],
    Discriminator(lambda value: "Adaptive" if isinstance(value, dict | Adaptive) else "int"),
]


def expected(workers: int | Adaptive) -> int:
    """Return the number of workers after all have started."""
    return workers.maximum if isinstance(workers, Adaptive) else workers


def start(cluster: Any, workers: int | Adaptive) -> None:
    """Start the workers of a Dask cluster, and wait for the members of a `distributed.SpecCluster`."""
    from distributed import SpecCluster

    cluster.scale(max(1, workers.minimum) if isinstance(workers, Adaptive) else workers)
    pace: dict[str, str] = {}
    if isinstance(cluster, SpecCluster):
        cluster.sync(_started, cluster)
        # Each cell has two blocks per worker waiting, so a short target doubles the number until all are requested.
        pace = {"interval": "1s", "target_duration": "500ms"}
    if isinstance(workers, Adaptive):
        cluster.adapt(minimum=workers.minimum, maximum=workers.maximum, **pace)


async def _started(cluster: Any) -> None:
    from distributed import Status

    await cluster
    try:
        for member in list(cluster.workers.values()):
            await member  # tries a failed start once more; scale() only logs the failure
    except Exception:
        for member in list(cluster.workers.values()):
            await member.close()
            member.status = Status.closed  # closing the cluster requires this status
        raise


#: Seconds after which a job or process without its worker is given up and started again.
PATIENCE = 60.0


@contextmanager
def restart_dead_workers(cluster: Any, patience: float | None = None) -> Iterator[None]:
    """Restart the dead workers of a `distributed.SpecCluster` while the context lasts.

    Dask itself replaces a process that dies, but neither a process that dies while it starts, nor a batch job. The
    members of the cluster are jobs or processes with one or more workers. `patience`: seconds after which a member that
    has had no worker yet is started again; by default, it may wait in a queue indefinitely.
    """
    from distributed import SpecCluster, Status
    from tornado.ioloop import PeriodicCallback

    if not isinstance(cluster, SpecCluster):
        yield
        return
    dead_at: dict[Any, float] = {}  # name of a member: time at which it will count as dead

    async def restart() -> None:
        if cluster.status is not Status.running:
            return
        present = {worker["name"] for worker in cluster.scheduler_info["workers"].values()}
        now = time.monotonic()
        for name, spec in list(cluster.worker_spec.items()):
            member = cluster.workers.get(name)
            workers = {f"{name}{suffix}" for suffix in spec["group"]} if "group" in spec else {name}
            if workers & present:
                dead_at[name] = now + PATIENCE
            elif member is None:
                dead_at.pop(name, None)
            else:
                overdue = now > dead_at.setdefault(name, now + (math.inf if patience is None else patience))
                if overdue or member.status in (Status.created, Status.closed, Status.failed):
                    dead_at.pop(name, None)
                    del cluster.workers[name]
                    await member.close()
        if set(cluster.worker_spec) - set(cluster.workers):
            await cluster  # starts the missing members

    # Each call waits for the one before it, and a member that cannot be started is tried again.
    calls = PeriodicCallback(restart, 1000)
    loop: Any = cluster.loop
    loop.add_callback(calls.start)
    try:
        yield
    finally:
        loop.add_callback(calls.stop)


@contextmanager
def pool_for(
    needs: Sequence[Needs], open_one: Callable[[Needs | None], AbstractContextManager[Pool]]
) -> Iterator[Pool]:
    """Open the pool of all workers. `open_one` also starts separate workers for blocks with special needs."""
    with ExitStack() as stack:
        common = stack.enter_context(open_one(None))
        by_needs = {need: stack.enter_context(open_one(need)) for need in needs}
        yield RoutedPool(common, by_needs) if by_needs else common


def unmet_need(needs: Needs, name: str, at_most: str) -> BadInput:
    """Return the error about a resource that no worker will have."""
    asked = f"{needs.memory / 2**30:.3g} GiB" if name == "memory" else str(needs.amounts[name])
    return BadInput(f"{needs.who}: resources.{name}: {asked} is not valid here; expected at most {at_most}")
