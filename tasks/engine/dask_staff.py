"""The workers of a Dask client: their code versions (`DaskStaff`), and the blocks that they died with (`Suspects`).

Workers disappear for many reasons, such as preemption, a walltime or a lost node. Code in this package does not kill
workers, so even a hundred deaths prove nothing about a block. Code from another package may kill its worker: it has a
separate process, but runs as the same user. A block whose workers died repeatedly is computed while no other block with
such code is active. A worker that dies at that time was killed by this block, or disappeared for another reason.
"""

import contextlib
import hashlib
import importlib.metadata
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import sigstats

from ..fan_out import own_code
from ..plan import Block, who_of
from ..storage.store import Store
from .blocks import Failure, Receipt
from .guarded import run_guarded

#: Seconds that a worker with different code waits before it returns a block, so that other workers take the blocks.
_GIVEN_BACK = 1.0

#: Folders of the package that contain no code for computing blocks.
_NOT_COMPUTING = {"flows", "ready_studies", "__pycache__"}


@cache
def version() -> str:
    """Return the version of this package and a digest of the code that computes blocks: "0.1.0, code 5ad5a8"."""
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
    """A block reached a worker whose code differs from the code of the run."""


def run_with(code: str, block: Block, store: Store, apart: bool, *, engine: str) -> Receipt | Failure:
    """Call `run_guarded` if the `version` of this worker is `code`, or else return the block by raising OtherCode."""
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
        """The number of threads of the cluster, at least 1. The scheduler is queried at most once a second."""
        now = time.monotonic()
        if now - self._counted_at > 1.0:
            self._counted_at = now
            with contextlib.suppress(Exception):  # the scheduler is gone; the next block reports it
                self._threads = max(1, sum(int(threads) for threads in self.client.nthreads().values()))
        return self._threads

    def await_connection(self) -> None:
        """Wait until the client has reconnected; raise ConnectionError if it has given up."""
        while self.client.status == "connecting":
            time.sleep(0.05)
        if self.client.status != "running":
            raise ConnectionError("the scheduler is gone")

    @property
    def staff(self) -> frozenset[str] | None:
        """The addresses of the workers that have this process's code, or None if the scheduler does not answer.

        New workers are asked for their version.
        """
        if self.client.status != "running":
            return None
        try:
            workers = frozenset(self.client.nthreads())
            if new := sorted(workers - self._versions.keys()):
                value = self.client.run(version, workers=new, on_error="return")
                self._versions.update({worker: text for worker, text in value.items() if isinstance(text, str)})
        except Exception:  # the scheduler is gone; the next block reports it
            return None
        return workers - self.strangers.keys()

    @property
    def strangers(self) -> dict[str, str]:
        """The versions of the workers whose code differs from this process. They compute no blocks."""
        return {worker: known for worker, known in self._versions.items() if known != version()}

    @property
    def only(self) -> list[str] | None:
        """The workers that may be sent blocks, or None if no worker has different code."""
        strangers = self.strangers
        return sorted(self._versions.keys() - strangers.keys()) if strangers else None


def opened_span(study: str) -> Any:
    """Return a Dask span with the name of a study, inside the span of the caller."""
    from dask.base import get_annotations
    from distributed import span

    with span(study):
        return get_annotations()["span"]


@contextlib.contextmanager
def modules_sent(client: Any, modules: Sequence[Path]) -> Iterator[None]:
    """Let present and future workers import these files until the context ends."""
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


#: Dask gives up a block if too many of its workers die, and it also counts workers that were told to end. A block
#: without code from other packages is then sent again, up to this many times, and computed in a separate process
#: (`sigstats.tasks.engine.guarded`).
MOST_TRIALS = 100

#: The number of times that a block with code from other packages is tried by itself. Dask gives it four workers each
#: time, and four before that: if a third of all workers is lost while they compute one block, two blocks in a million
#: are blamed wrongly. Further blocks of a classifier that was already blamed are tried once.
MOST_ALONE = 2


class WorkersKilled(Exception):
    """The workers that computed a block died, one after another."""


@dataclass(eq=False)
class Submission:
    """A block that was sent to the scheduler or waits to be sent. Blocks with `turn` 0 go first."""

    block: Block
    store: Store
    done: Callable[[Receipt | Failure], None]
    turn: int = 0
    #: The number of workers that died while they had the block, and how many times Dask gave it up for this reason.
    deaths: int = 0
    trials: int = 0
    #: The number of these trials in which no other block with code from other packages was active.
    alone: int = 0
    #: How many times the scheduler lost the block.
    losses: int = 0
    future: Any = None
    #: True if the block has ended or was cancelled.
    unwanted: bool = False

    @cached_property
    def imported(self) -> bool:
        """True if the block runs code from another package."""
        return own_code(self.block.cell) is not None

    @property
    def who(self) -> str:
        """The name of the classifier or the test in the study; the cell's name if it has neither."""
        return who_of(self.block.cell) or self.block.cell.name


class Suspects:
    """Holds back blocks with code from other packages while one of them is tried by itself."""

    def __init__(self) -> None:
        #: The blocks with code from other packages that wait, and those that were sent.
        self._waiting: list[Submission] = []
        self._under_way: set[Submission] = set()
        #: The classifiers and tests that have killed workers.
        self._guilty: set[str] = set()
        #: The block that was last tried by itself.
        self._tried: Submission | None = None
        #: True if workers died with a block of this package; all blocks are then computed in separate processes.
        self.deadly = False

    def admit(self, new: Iterable[Submission]) -> list[Submission]:
        """Return the new and waiting blocks that may be sent. Only one thread may call this at a time."""
        self._waiting = [submission for submission in self._waiting if not submission.unwanted]
        admitted: list[Submission] = []
        for submission in new:
            (self._waiting if submission.imported else admitted).append(submission)
        suspects = [submission for submission in self._waiting if submission.trials or submission.who in self._guilty]
        if self._under_way and (suspects or self._tried in self._under_way):
            return admitted
        self._tried = suspects[0] if suspects else None
        if self._tried is not None:
            sent = [self._tried]
            self._waiting.remove(self._tried)
        else:
            sent, self._waiting = self._waiting, []
        self._under_way.update(sent)
        return admitted + sent

    def ended(self, submission: Submission) -> None:
        """Record that a block is not active any more."""
        self._under_way.discard(submission)

    def killed(self, submission: Submission, workers: int) -> WorkersKilled | None:
        """Count workers that died while they had a block; return an error if the block must be the cause."""
        submission.deaths += workers
        submission.trials += 1
        submission.alone += submission is self._tried
        if submission.imported:
            if submission.alone < (1 if submission.who in self._guilty else MOST_ALONE):
                return None
            self._guilty.add(submission.who)
        else:
            self.deadly = True
            if submission.trials <= MOST_TRIALS:
                return None
        return WorkersKilled(f"{submission.who}: it killed its worker {submission.deaths} times")
