"""How many workers: a number that is kept up whatever dies, or as many as the work asks for between two bounds."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from sigstats.tasks.periodic import periodic

from ..config.model import Strict

#: A job or process whose workers have all been gone for so long is given up and started again, in seconds.
PATIENCE = 60.0


class Adaptive(Strict):
    """Bounds between which Dask starts and ends workers as there is work for them."""

    minimum: Annotated[int, Field(ge=0, le=100_000, description="Workers to keep when there is no work")] = 1
    maximum: Annotated[int, Field(ge=1, le=100_000, description="Workers never to exceed")]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError(f"minimum: {self.minimum} is not valid; expected at most maximum, {self.maximum}")
        return self


def _which(value: Any) -> str:
    return "Adaptive" if isinstance(value, dict | Adaptive) else "int"


#: An amount of memory as Dask reads it.
SIZE = r"[0-9.]+ ?[KMGT]?i?B"

#: What a cluster file says of its workers.
Workers = Annotated[
    Annotated[int, Field(ge=1, le=100_000), Tag("int")] | Annotated[Adaptive, Tag("Adaptive")], Discriminator(_which)
]


def expected(workers: int | Adaptive) -> int:
    """How many workers there will be when all are there."""
    return workers.maximum if isinstance(workers, Adaptive) else workers


def start(cluster: Any, workers: int | Adaptive) -> None:
    """Start the workers of a `distributed.SpecCluster`.

    Raises
    ------
    RuntimeError
        If the first of them cannot be started, with what the batch system said.
    """
    cluster.scale(max(1, workers.minimum) if isinstance(workers, Adaptive) else workers)
    cluster.sync(_started, cluster)
    if isinstance(workers, Adaptive):
        # Each cell waits with two blocks a worker, so a short target lets the number double until all are wanted.
        cluster.adapt(minimum=workers.minimum, maximum=workers.maximum, interval="1s", target_duration="500ms")


async def _started(cluster: Any) -> None:
    from distributed import Status

    await cluster
    try:
        for member in list(cluster.workers.values()):
            await member  # tries once more where one could not be started, which scale() only logs
    except RuntimeError:
        for member in list(cluster.workers.values()):
            await member.close()
            member.status = Status.closed  # which closing the cluster asks of them
        raise


async def _not_asked(_: Any) -> bool:
    return False


@contextmanager
def kept(cluster: Any, *, ended: Callable[[Any], Awaitable[bool]] = _not_asked) -> Iterator[None]:
    """Start again what died: Dask replaces a process, but not one that died while it started, nor a batch job.

    Parameters
    ----------
    cluster : distributed.SpecCluster
    ended : callable
        Whether a member of the cluster has ended whose workers were never seen: it may wait in a queue for hours.
    """
    from distributed import Status

    seen: dict[Any, float] = {}
    awaited: dict[Any, float] = {}

    async def ended_unseen(name: Any, member: Any, now: float) -> bool:
        if name in seen or now - awaited.setdefault(member, now) < PATIENCE:
            return False
        awaited[member] = now
        return await ended(member)

    async def mend() -> None:
        if cluster.status is not Status.running:
            return
        present = {worker["name"] for worker in cluster.scheduler_info["workers"].values()}
        now = time.monotonic()
        for name, spec in list(cluster.worker_spec.items()):
            member = cluster.workers.get(name)
            names = {f"{name}{suffix}" for suffix in spec["group"]} if "group" in spec else {name}
            if names & present:
                seen[name] = now
            elif member is None:
                seen.pop(name, None)
            elif (
                member.status in (Status.created, Status.closed, Status.failed)
                or now - seen.get(name, now) > PATIENCE
                or await ended_unseen(name, member, now)
            ):
                seen.pop(name, None)
                awaited.pop(member, None)
                del cluster.workers[name]
                await member.close()
        if set(cluster.worker_spec) - set(cluster.workers):
            await cluster

    def begin_to_mend() -> None:
        task = asyncio.ensure_future(mend())
        under_way.add(task)
        task.add_done_callback(settled)

    def settled(task: "asyncio.Task[None]") -> None:
        under_way.discard(task)
        if not task.cancelled():
            task.exception()  # seen: what cannot be started now is tried again

    def look() -> None:
        if not under_way:
            cluster.loop.add_callback(begin_to_mend)

    under_way: set[asyncio.Task[None]] = set()
    with periodic(look, 1.0, name="workers"):
        yield
