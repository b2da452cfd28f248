"""Dead workers are started again.

Dask replaces a process that died, but not one that died while it started, nor a batch job.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sigstats.tasks.threads import periodic

#: A job or process that has had no worker for this many seconds is given up and started again.
PATIENCE = 60.0


async def _never_ended(_: Any) -> bool:
    return False


@contextmanager
def restart_dead_workers(cluster: Any, *, has_ended: Callable[[Any], Awaitable[bool]] = _never_ended) -> Iterator[None]:
    """Start the dead workers of a cluster again for as long as the context lasts.

    `has_ended`: called with a member of the cluster that has had no worker yet: whether it has ended. It may be in a
    queue for hours.
    """
    restarter = _Restarter(cluster, has_ended)
    with periodic(restarter.start_round, 1.0, name="workers"):
        yield


class _Restarter:
    """Looks for members of a cluster that have died, and starts them again.

    A member is a job or a process, and has one worker or several.
    """

    def __init__(self, cluster: Any, has_ended: Callable[[Any], Awaitable[bool]]) -> None:
        self._cluster = cluster
        self._has_ended = has_ended
        self._seen: dict[Any, float] = {}  # name of a member: when a worker of it was last there
        self._awaited: dict[Any, float] = {}  # member without workers: when it was last asked after
        self._rounds: set[asyncio.Task[None]] = set()

    def start_round(self) -> None:
        """Check the members once, unless the last round is still under way; called from a thread of its own."""
        if not self._rounds:
            self._cluster.loop.add_callback(self._start_task)

    def _start_task(self) -> None:
        task = asyncio.ensure_future(self._round())
        self._rounds.add(task)
        task.add_done_callback(self._end_task)

    def _end_task(self, task: "asyncio.Task[None]") -> None:
        self._rounds.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio logs it: what cannot be started now is tried again

    async def _round(self) -> None:
        from distributed import Status

        cluster = self._cluster
        if cluster.status is not Status.running:
            return
        present = {worker["name"] for worker in cluster.scheduler_info["workers"].values()}
        now = time.monotonic()
        for name, spec in list(cluster.worker_spec.items()):
            member = cluster.workers.get(name)
            workers = {f"{name}{suffix}" for suffix in spec["group"]} if "group" in spec else {name}
            if workers & present:
                self._seen[name] = now
            elif member is None:
                self._seen.pop(name, None)
            elif await self._is_dead(name, member, now):
                self._seen.pop(name, None)
                self._awaited.pop(member, None)
                del cluster.workers[name]
                await member.close()
        if set(cluster.worker_spec) - set(cluster.workers):
            await cluster

    async def _is_dead(self, name: Any, member: Any, now: float) -> bool:
        """Whether a member without workers must be started again."""
        from distributed import Status

        if member.status in (Status.created, Status.closed, Status.failed):
            return True
        if name in self._seen:
            return now - self._seen[name] > PATIENCE
        if now - self._awaited.setdefault(member, now) < PATIENCE:
            return False
        self._awaited[member] = now
        return await self._has_ended(member)
