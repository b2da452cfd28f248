"""The workers that a Dask client reaches: how many there are, and which have the code of this process."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .version import version


class DaskStaff:
    """The workers of a `distributed.Client`."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._counted_at = -1.0
        self._threads = 1
        self._versions: dict[str, str] = {}

    @property
    def threads(self) -> int:
        """The number of threads of the cluster, at least 1; the scheduler is queried once a second."""
        now = time.monotonic()
        if now - self._counted_at > 1.0:
            self._counted_at = now
            with contextlib.suppress(Exception):  # the scheduler is gone, which the next block reports
                self._threads = max(1, sum(int(threads) for threads in self._client.nthreads().values()))
        return self._threads

    @property
    def memory_limit(self) -> int | None:
        """The smallest memory limit of a worker in bytes; None if there is none."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return min((int(worker["memory_limit"]) for worker in workers if worker["memory_limit"]), default=None)

    def look(self) -> frozenset[str] | None:
        """The addresses of the workers that have this process's code; None if the scheduler does not answer.

        Workers that have joined are asked for their version.
        """
        if self._client.status != "running":
            return None
        try:
            there = frozenset(self._client.nthreads())
            if new := sorted(there - self._versions.keys()):
                found = self._client.run(version, workers=new, on_error="return")
                self._versions.update({worker: said for worker, said in found.items() if isinstance(said, str)})
        except Exception:  # the scheduler is gone, which the next block reports
            return None
        return there - self.strangers.keys()

    @property
    def strangers(self) -> dict[str, str]:
        """The versions of the workers whose code is another than that of this process; they compute no block."""
        return {worker: there for worker, there in self._versions.items() if there != version()}

    @property
    def only(self) -> list[str] | None:
        """The workers to which blocks are sent where there are strangers; None for all."""
        strangers = self.strangers
        return sorted(self._versions.keys() - strangers.keys()) if strangers else None


@contextlib.contextmanager
def modules_sent(client: Any, modules: Sequence[Path]) -> Iterator[None]:
    """Let the workers, and those that join them, import these files until the context ends."""
    from distributed.diagnostics.plugin import UploadFile

    names = [f"sigstats {file.name}" for file in modules]
    for file, name in zip(modules, names, strict=True):
        client.register_plugin(UploadFile(str(file)), name=name)
    try:
        yield
    finally:
        for name in names:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.unregister_worker_plugin(name)
