"""Common code of all kinds of cluster: numbers of workers, starts and restarts.

Dask replaces a process that died, but not one that died while it started, nor a batch job.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Annotated, Any, Self

import psutil
from pydantic import Discriminator, Field, Tag, model_validator

from sigstats.tasks.engine.pools import Pool, RoutedPool
from sigstats.tasks.plan import Needs

from ..config.model import Strict
from ..errors import BadInput

#: The name of a package that can be imported.
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
    """The number of workers once all have started."""
    return workers.maximum if isinstance(workers, Adaptive) else workers


def start(cluster: Any, workers: int | Adaptive) -> None:
    """Start the workers of a cluster of Dask, and wait for the members of a `distributed.SpecCluster`."""
    from distributed import SpecCluster

    cluster.scale(max(1, workers.minimum) if isinstance(workers, Adaptive) else workers)
    pace: dict[str, str] = {}
    if isinstance(cluster, SpecCluster):
        cluster.sync(_started, cluster)
        # Each cell waits with two blocks a worker, so a short target lets the number double until all are wanted.
        pace = {"interval": "1s", "target_duration": "500ms"}
    if isinstance(workers, Adaptive):
        cluster.adapt(minimum=workers.minimum, maximum=workers.maximum, **pace)


async def _started(cluster: Any) -> None:
    from distributed import Status

    await cluster
    try:
        for member in list(cluster.workers.values()):
            await member  # tries once more where one could not be started, which scale() only logs
    except Exception:
        for member in list(cluster.workers.values()):
            await member.close()
            member.status = Status.closed  # which closing the cluster asks of them
        raise


#: A job or process whose worker has been gone for this many seconds is given up and started again.
PATIENCE = 60.0


@contextmanager
def restart_dead_workers(cluster: Any, patience: float | None = None) -> Iterator[None]:
    """Start the dead workers of a `distributed.SpecCluster` again for as long as the context lasts.

    Its members are jobs or processes, and have one worker or several. `patience`: seconds after which a member that has
    had no worker yet is started again; by default it may wait in a queue for any time.
    """
    from distributed import SpecCluster, Status
    from tornado.ioloop import PeriodicCallback

    dead_at: dict[Any, float] = {}  # name of a member: when it will count as dead

    async def look() -> None:
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
            elif member.status in (Status.created, Status.closed, Status.failed) or now > dead_at.setdefault(
                name, now + (math.inf if patience is None else patience)
            ):
                dead_at.pop(name, None)
                del cluster.workers[name]
                await member.close()
        if set(cluster.worker_spec) - set(cluster.workers):
            await cluster

    if not isinstance(cluster, SpecCluster):
        yield
        return
    # Each look waits for the one before, and what cannot be started now is tried again.
    looks = PeriodicCallback(look, 1000)
    loop: Any = cluster.loop
    loop.add_callback(looks.start)
    try:
        yield
    finally:
        loop.add_callback(looks.stop)


@contextmanager
def pool_for(
    needs: Sequence[Needs], open_one: Callable[[Needs | None], AbstractContextManager[Pool]]
) -> Iterator[Pool]:
    """Open the pool of all workers; `open_one` also starts separate workers for blocks with special needs."""
    with ExitStack() as stack:
        common = stack.enter_context(open_one(None))
        by_needs = {need: stack.enter_context(open_one(need)) for need in needs}
        yield RoutedPool(common, by_needs) if by_needs else common


def unmet_need(needs: Needs, name: str, at_most: str) -> BadInput:
    """Return an error of one line about a resource that no worker will have."""
    asked = f"{needs.memory / 2**30:.3g} GiB" if name == "memory" else str(needs.amounts[name])
    return BadInput(f"{needs.who}: resources.{name}: {asked} is not valid here; expected at most {at_most}")


def blocks_at_once(needs: Needs, *, processors: int, gpus: int) -> int:
    """Return how many blocks with these needs this machine can run at the same time."""
    memory = int(psutil.virtual_memory().total)
    has = {
        "threads": (processors, f"{processors}, the processors of this machine"),
        "memory": (memory, f"{memory / 2**30:.3g} GiB, the memory of this machine"),
        "gpu": (gpus, f"{gpus}, the gpus of the cluster file"),
    }
    for name, amount in needs.amounts.items():
        if amount > has[name][0]:
            raise unmet_need(needs, name, has[name][1])
    return min(has[name][0] // amount for name, amount in needs.amounts.items())


def roles(needs: Sequence[Needs], room: Mapping[Needs, int], *, gpus: int) -> list[dict[str, Any]]:
    """The resources that the workers of a machine declare to Dask, as options of a `distributed.Nanny` for each.

    The first workers satisfy each need, as many as there is room for. GPUs are divided among them.
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


def with_roles(cluster: type[Any], options: Sequence[dict[str, Any]]) -> type[Any]:
    """Return a `distributed.SpecCluster` whose first workers have additional options.

    A worker that replaces another one takes over its options.
    """

    class WithRoles(cluster):  # type: ignore[misc]
        """Gives each new worker the first free role."""

        def __init__(self, *arguments: Any, **given: Any) -> None:
            self._held: dict[Any, int] = {}
            super().__init__(*arguments, **given)

        def new_worker_spec(self) -> dict[Any, dict[str, Any]]:
            made: dict[Any, dict[str, Any]] = super().new_worker_spec()
            for name, spec in made.items():
                taken = {role for holder, role in self._held.items() if holder in self.worker_spec}
                role = next((role for role in range(len(options)) if role not in taken), None)
                if role is not None:
                    self._held[name] = role
                    made[name] = {**spec, "options": {**spec["options"], **options[role]}}
            return made

    return WithRoles
