"""Blocks that run code of other packages: each thread that computes has a process beside it, which may come to any end.

A classifier that hangs, takes too much memory or ends its process spoils that process alone. It is named, its cell has
failed, and the run and its workers go on. Code that kills its worker too is found by `sigstats.tasks.engine.suspects`.
"""

import atexit
import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from socket import SO_RCVTIMEO, SOL_SOCKET, socketpair

import psutil

from ..plan import Block
from ..replicates import own_code
from ..storage.store import Store
from .guarded_child import BEGIN, END
from .needs import Needs, tried
from .run_block import Failure, Receipt, failure, run_block

#: Seconds between two looks at how long a fit takes and how much memory it has taken.
_LOOK = 0.2

#: The longest message, a failure with its traceback, and the seconds in which all of one that has begun is there.
_LONGEST, _PATIENCE = 2**20, 30

#: What tells numerical libraries how many threads they have.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class TimeLimit(Exception):
    """A fit took longer than its classifier may."""


class MemoryLimit(Exception):
    """A process took more memory than its classifier may."""


class ProcessEnded(Exception):
    """A process ended by itself; the code is that of `subprocess.Popen.returncode`."""

    def __init__(self, code: int) -> None:
        super().__init__(_words(code))
        self.code = code


class ConnectionSpoilt(Exception):
    """Code wrote to the connection of its process to the run, or closed it."""

    def __init__(self) -> None:
        super().__init__("it wrote to a connection that is not its own, or closed it")


class Killed(OSError):
    """Somebody ended a process, who may have ended its worker as well: the block is computed once more elsewhere."""


class _Child:
    """A process for code of other packages; it cannot import a module that has changed once more."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._codes: dict[str, Mapping[str, str]] = {}
        mine, its = socketpair()
        mine.setsockopt(SOL_SOCKET, SO_RCVTIMEO, struct.pack("ll", _PATIENCE, 0))
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        # Sets of strings have one order in every process, so that what is computed from them is the same.
        fixed = {"PYTHONPATH": path, "PYTHONHASHSEED": "0"} | dict.fromkeys(_THREADS, str(threads))
        with its:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sigstats.tasks.engine.guarded_child", str(its.fileno())],
                pass_fds=[its.fileno()],
                env={**os.environ, **fixed},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.connection = Connection(mine.detach())
        self._memory = psutil.Process(self.process.pid)

    def may_run(self, code: Mapping[str, str], threads: int) -> bool:
        """Whether it has these threads, and has not imported this learner from other files."""
        same = self._codes.get(code["learner"], code) == code
        return same and self._threads == threads and self.process.poll() is None

    @property
    def resident(self) -> int:
        """The bytes that the process has in memory; 0 where it is gone."""
        try:
            return int(self._memory.memory_info().rss)
        except psutil.Error:
            return 0

    def compute(self, block: Block, store: Store, engine: str, code: Mapping[str, str]) -> Receipt | Failure:
        """Compute a block there.

        Raises
        ------
        TimeLimit, MemoryLimit, ProcessEnded, ConnectionSpoilt
            If the classifier did not stay within its limits.
        OSError
            Of the store.
        """
        self._codes[code["learner"]] = code
        self.connection.send((block, store, engine))
        limits, began = block.cell.limits or {}, None
        most_seconds, most_bytes = limits.get("time_limit"), limits.get("memory") or memory_limit()
        while True:
            message = self._message()
            if message == BEGIN:
                began = time.monotonic()
            elif message == END:
                began = None
            elif message is not None:
                return _outcome(message)
            if most_seconds is not None and began is not None and time.monotonic() - began > most_seconds:
                what = "a fit" if "classifier" in block.cell.subject else "a call"
                raise TimeLimit(f"{what} took longer than {most_seconds:g} s, its time_limit")
            if message is None and most_bytes and self.resident > most_bytes:
                raise MemoryLimit(f"its process took more than {most_bytes / 2**30:.3g} GiB of memory")

    def _message(self) -> bytes | None:
        """What the process sends; None where it says nothing for a while."""
        try:
            if self.connection.poll(_LOOK):
                return self.connection.recv_bytes(_LONGEST)
        except (EOFError, ConnectionError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise ProcessEnded(self.process.wait(_PATIENCE)) from None
            raise ConnectionSpoilt from None
        except OSError:  # a message that is too long, or of which the rest does not come
            raise ConnectionSpoilt from None
        # A process that it has forked may keep the other end of the connection open.
        if self.process.poll() is not None and not self.connection.poll():
            raise ProcessEnded(self.process.returncode)
        return None

    def end(self) -> None:
        """End the process, and whatever it has forked."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.connection.close()
        self.process.wait()


def _outcome(message: bytes) -> Receipt | Failure:
    """What a process says of a block; OSError of the store is raised."""
    try:
        outcome = pickle.loads(message)  # noqa: S301 (the code that this process was told to run)
    except Exception:  # what is no message of ours may raise anything
        raise ConnectionSpoilt from None
    if isinstance(outcome, OSError):
        raise outcome
    if not isinstance(outcome, (Receipt, Failure)):
        raise ConnectionSpoilt
    return outcome


def _words(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(-code).name}"
    return f"it ended its process with exit code {code}"


def memory_limit() -> int | None:
    """The memory limit of this worker, or else what this machine has; None where neither is known."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        with contextlib.suppress(ValueError, AttributeError):
            return int(distributed.get_worker().memory_manager.memory_limit or 0) or None
    return int(psutil.virtual_memory().total)


_idle: list[_Child] = []
_lock = threading.Lock()


def _taken(code: Mapping[str, str], threads: int) -> _Child:
    """An idle process that may run this code, or a new one; those that may not are ended."""
    with _lock:
        useless = [child for child in _idle if not child.may_run(code, threads)]
        useful = [child for child in _idle if child not in useless]
        _idle[:] = useful[1:]
    for child in useless:
        child.end()
    return useful[0] if useful else _Child(threads)


@atexit.register
def end_idle() -> None:
    """End the processes that wait for blocks."""
    with _lock:
        ended, _idle[:] = list(_idle), []
    for child in ended:
        child.end()


def run_guarded(block: Block, store: Store, apart: bool = False, *, engine: str = "serial") -> Receipt | Failure:
    """Compute a block and store it, as `run_block` does; in a process of its own if code of other packages runs.

    Parameters
    ----------
    block : Block
    store : Store
    apart : bool
        Whether it is to be computed there in any case: workers have died that computed it, and its own process will
        tell whether it was to blame.
    engine : {"serial", "dask"}

    Raises
    ------
    OSError
        Of the store, or if a worker's process was killed: the engine may repeat the block.
    """
    code = own_code(block.cell)
    if code is None and not apart:
        return run_block(block, store, engine=engine)
    code = code or {"learner": ""}
    child = _taken(code, Needs.of(block.cell).threads)
    try:
        outcome = child.compute(block, store, engine, code)
    except (TimeLimit, MemoryLimit, ProcessEnded, ConnectionSpoilt) as error:
        child.end()
        who = tried(block.cell)
        said = f"{who}: {error}" if who else str(error)
        if engine == "dask" and isinstance(error, ProcessEnded) and -error.code in (signal.SIGTERM, signal.SIGKILL):
            raise Killed(said) from None
        return replace(failure(block, error), message=said)
    except BaseException:
        child.end()
        raise
    if child.resident > (memory_limit() or float("inf")) / 2:  # what it leaks would be the next block's fault
        child.end()
    else:
        with _lock:
            _idle.append(child)
    return outcome
