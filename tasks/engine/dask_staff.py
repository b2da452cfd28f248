"""The workers of a Dask client, and those among them with the code of this process."""

import contextlib
import hashlib
import importlib.metadata
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import sigstats

from ..plan import Block
from ..storage.store import Store
from .blocks import Failure, Receipt
from .guarded import run_guarded

#: Seconds for which a worker with other code keeps a block that it gives back: others take the blocks meanwhile.
_GIVEN_BACK = 1.0

#: Folders of the package whose code computes no block.
_NOT_COMPUTING = {"flows", "ready_studies", "__pycache__"}


@cache
def version() -> str:
    """The installed version of this package and a digest of the code that computes blocks: "0.1.0, code 5ad5a8"."""
    try:
        number = importlib.metadata.version("sigstats")
    except importlib.metadata.PackageNotFoundError:
        number = "without a version"
    return f"{number}, code {_digest_of_code()[:12]}"


def _digest_of_code() -> str:
    root, digest = Path(sigstats.__path__[0]), hashlib.sha256()
    for folder, folders, files in os.walk(root, followlinks=True):
        folders[:] = sorted(set(folders) - _NOT_COMPUTING)
        for name in sorted(file for file in files if file.endswith(".py")):
            path = Path(folder, name)
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()}:{len(content)}:".encode() + content)
    return digest.hexdigest()


class OtherCode(Exception):
    """A block reached a worker whose code differs from that of the run."""


def run_with(code: str, block: Block, store: Store, apart: bool, *, engine: str) -> Receipt | Failure:
    """Call `run_guarded` on a worker whose `version` is `code`; other workers return the block with `OtherCode`."""
    if code != version():
        time.sleep(_GIVEN_BACK)
        raise OtherCode(version())
    return run_guarded(block, store, apart, engine=engine)


@dataclass
class DaskStaff:
    """The workers of a `distributed.Client`."""

    client: Any
    _counted_at: float = field(default=-1.0, init=False, repr=False)
    _threads: int = field(default=1, init=False, repr=False)
    _versions: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    @property
    def workers(self) -> int:
        """The number of threads of the cluster, at least 1; the scheduler is queried once a second."""
        now = time.monotonic()
        if now - self._counted_at > 1.0:
            self._counted_at = now
            with contextlib.suppress(Exception):  # the scheduler is gone, which the next block reports
                self._threads = max(1, sum(int(threads) for threads in self.client.nthreads().values()))
        return self._threads

    @property
    def memory_limit(self) -> int | None:
        """The smallest memory limit of a worker in bytes; None if there is none."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return min((int(worker["memory_limit"]) for worker in workers if worker["memory_limit"]), default=None)

    def await_connection(self) -> None:
        """Wait until the client has reconnected; a client that has given up never answers."""
        while self.client.status == "connecting":
            time.sleep(0.05)
        if self.client.status != "running":
            raise ConnectionError("the scheduler is gone")

    @property
    def staff(self) -> frozenset[str] | None:
        """The addresses of the workers that have this process's code; None if the scheduler does not answer.

        Workers that have joined are asked for their version.
        """
        if self.client.status != "running":
            return None
        try:
            workers = frozenset(self.client.nthreads())
            if new := sorted(workers - self._versions.keys()):
                value = self.client.run(version, workers=new, on_error="return")
                self._versions.update({worker: text for worker, text in value.items() if isinstance(text, str)})
        except Exception:  # the scheduler is gone, which the next block reports
            return None
        return workers - self.strangers.keys()

    @property
    def strangers(self) -> dict[str, str]:
        """The versions of the workers with other code than this process; they compute no block."""
        return {worker: known for worker, known in self._versions.items() if known != version()}

    @property
    def only(self) -> list[str] | None:
        """The workers to which blocks are sent if there are workers with other code; None for all."""
        strangers = self.strangers
        return sorted(self._versions.keys() - strangers.keys()) if strangers else None


def opened_span(study: str) -> Any:
    """A span of Dask with the name of a study, within that of the caller."""
    from dask.base import get_annotations
    from distributed import span

    with span(study):
        return get_annotations()["span"]


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
