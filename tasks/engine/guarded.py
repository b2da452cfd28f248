"""Blocks that run code from other packages, in a separate process for each thread that computes.

A classifier that hangs, takes too much memory or ends its process harms only that process. Its cell fails with a
message that names the classifier, and the run and its workers continue. `sigstats.tasks.engine.dask_staff` identifies
code that also kills its worker.

`run_guarded` is the entry. `_Child` is the separate process as its starter sees it. The process itself runs `main` of
this module. It ends together with its starter, and also ends all processes that the code has started. The output of
the code is discarded.
"""

import atexit
import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from socket import SO_RCVTIMEO, SOL_SOCKET, socketpair
from typing import Any

import psutil

from ..fan_out import own_code
from ..own_code import watch
from ..plan import Block, Needs, who_of
from ..process import take_buffers
from ..storage.store import Store
from .blocks import Failure, Receipt, failure, run_block

#: The messages that mark the beginning and the end of a fit. Every other message is the outcome of a block.
BEGIN, END = b"+", b"-"

#: Seconds between two checks of the duration of a fit and of its memory.
_LOOK = 0.2

#: The maximum size of a message in bytes (a failure with its traceback), and the seconds within which the rest of a
#: message must arrive.
_LONGEST, _PATIENCE = 2**20, 30

#: The environment variables that set the number of threads of numerical libraries.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class TimeLimit(Exception):
    """A fit took longer than the time limit of its classifier."""


class MemoryLimit(Exception):
    """A process took more memory than the limit of its classifier."""


class ProcessEnded(Exception):
    """A process ended unexpectedly. `code` is the `returncode` of `subprocess.Popen`."""

    def __init__(self, code: int) -> None:
        words = f"it ended its process with exit code {code}"
        if code < 0:
            with contextlib.suppress(ValueError):
                words = f"its process was ended by {signal.Signals(-code).name}"
        super().__init__(words)
        self.code = code


class ConnectionSpoilt(Exception):
    """Code wrote to the connection between its process and the run, or closed it."""

    def __init__(self) -> None:
        super().__init__("it wrote to, or closed, the connection between its process and the run")


class Killed(OSError):
    """A process was killed from outside, perhaps together with its worker. The block is computed again elsewhere."""


def run_guarded(block: Block, store: Store, apart: bool = False, *, engine: str = "serial") -> Receipt | Failure:
    """Compute a block and store it like `run_block`, but in a separate process if it runs code from other packages.

    `apart`: use a separate process in any case. If workers died while they computed the block, this shows whether the
    block was the cause. Raises OSError if the store fails, or if the process is killed from outside; the engine may
    repeat the block.
    """
    code = own_code(block.cell)
    if code is None and not apart:
        return run_block(block, store, engine=engine)
    code = code or {"learner": ""}  # a block of this package, in a separate process by `apart`
    child = _take_child(code, Needs.of(block.cell).threads)
    try:
        outcome = child.compute(block, store, engine, code)
    except (TimeLimit, MemoryLimit, ProcessEnded, ConnectionSpoilt) as error:
        child.end()
        who = who_of(block.cell)
        message = f"{who}: {error}" if who else str(error)
        if engine == "dask" and isinstance(error, ProcessEnded) and -error.code in (signal.SIGTERM, signal.SIGKILL):
            raise Killed(message) from None
        return replace(failure(block, error), message=message)
    except BaseException:
        child.end()
        raise
    if child.resident > (memory_limit() or float("inf")) / 2:  # leaked memory would count against the next block
        child.end()
    else:
        with _lock:
            _idle.append(child)
    return outcome


#: The processes that wait for blocks. Guarded by `_lock`.
_idle: list["_Child"] = []
_lock = threading.Lock()


def _take_child(code: Mapping[str, str], threads: int) -> "_Child":
    """Return an idle process that may run this code, or a new process; end the idle processes that may not."""
    with _lock:
        stale = [child for child in _idle if not child.may_run(code, threads)]
        usable = [child for child in _idle if child not in stale]
        _idle[:] = usable[1:]
    for child in stale:
        child.end()
    return usable[0] if usable else _Child(threads)


@atexit.register
def end_idle() -> None:
    """End the processes that wait for blocks."""
    with _lock:
        ended, _idle[:] = list(_idle), []
    for child in ended:
        child.end()


def memory_limit() -> int | None:
    """Return the memory limit of this Dask worker in bytes, None if it has none; elsewhere, this machine's memory."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        with contextlib.suppress(ValueError, AttributeError):
            return int(distributed.get_worker().memory_manager.memory_limit or 0) or None
    return int(psutil.virtual_memory().total)


class _Child:
    """A process for code from other packages.

    It finds modules along the import path that this process had when it was started, and imports each module once.
    `may_run` therefore tells whether the path or the code has changed since then.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._path = _import_path()
        #: The identities of the code that the process has imported, by learner.
        self._codes: dict[str, Mapping[str, str]] = {}
        mine, its = socketpair()
        mine.setsockopt(SOL_SOCKET, SO_RCVTIMEO, struct.pack("ll", _PATIENCE, 0))
        # Sets of strings have the same order in every process, and so have the results that depend on it.
        fixed = {"PYTHONPATH": self._path, "PYTHONHASHSEED": "0"} | dict.fromkeys(_THREADS, str(threads))
        with its:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sigstats.tasks.engine.guarded", str(its.fileno())],
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
        """Return True if the process runs with this number of threads and finds this version of the code."""
        same = self._codes.get(code["learner"], code) == code and self._path == _import_path()
        return same and self._threads == threads and self.process.poll() is None

    @property
    def resident(self) -> int:
        """The resident memory of the process in bytes, or 0 if the process has ended."""
        try:
            return int(self._memory.memory_info().rss)
        except psutil.Error:
            return 0

    def compute(self, block: Block, store: Store, engine: str, code: Mapping[str, str]) -> Receipt | Failure:
        """Compute a block in the process.

        Raises TimeLimit, MemoryLimit, ProcessEnded or ConnectionSpoilt if the code does not stay within its limits.
        Raises OSError if the store fails.
        """
        self._codes[code["learner"]] = code
        self.connection.send((block, store, engine))
        limits = block.cell.limits or {}
        most_seconds, most_bytes = limits.get("time_limit"), limits.get("memory") or memory_limit()
        began = None  # the time at which the present fit began
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
        """Return the next message of the process, or None if none arrives within `_LOOK` seconds."""
        try:
            if self.connection.poll(_LOOK):
                return self.connection.recv_bytes(_LONGEST)
        except (EOFError, ConnectionError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise ProcessEnded(self.process.wait(_PATIENCE)) from None
            raise ConnectionSpoilt from None
        except OSError:  # the message is too long, or its rest does not arrive
            raise ConnectionSpoilt from None
        # A child of the process may keep the other end of the connection open.
        if self.process.poll() is not None and not self.connection.poll():
            raise ProcessEnded(self.process.returncode)
        return None

    def end(self) -> None:
        """End the process and its children."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.connection.close()
        self.process.wait()


def _import_path() -> str:
    """Return the import path of this process as the value of PYTHONPATH."""
    return os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)


def _outcome(message: bytes) -> Receipt | Failure:
    """Return the outcome of a block in a message. Raise it if it is an OSError of the store."""
    try:
        outcome = pickle.loads(message)  # noqa: S301 (the code that this process was told to run)
    except Exception:  # invalid bytes may raise anything
        raise ConnectionSpoilt from None
    if isinstance(outcome, OSError):
        raise outcome
    if not isinstance(outcome, (Receipt, Failure)):
        raise ConnectionSpoilt
    return outcome


def main(descriptor: int) -> None:
    """Run in the separate process: compute the blocks that arrive through a socket until it is closed."""
    take_buffers()
    os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a batch system ends the job: the worker returns the block
    connection = Connection(descriptor)
    os.register_at_fork(after_in_child=connection.close)
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, arrived), daemon=True).start()
    while True:
        block, store, engine = arrived.get()
        timed = "time_limit" in (block.cell.limits or {})
        watch((lambda begins: connection.send_bytes(BEGIN if begins else END)) if timed else (lambda begins: None))
        try:
            outcome: Any = run_block(block, store, engine=engine)
        except OSError as error:  # the store failed
            outcome = error
        except BaseException as error:  # such as SystemExit
            raised = f"{type(error).__name__}: {error}".removesuffix(": ")
            outcome = failure(block, RuntimeError(f"its code raised {raised}"))
        connection.send_bytes(ForkingPickler.dumps(outcome))


def _receive(connection: Connection, arrived: "queue.SimpleQueue[Any]") -> None:
    """Put arriving messages into the queue; end this process and its group when the connection closes."""
    try:
        while True:
            arrived.put(connection.recv())
    except BaseException:  # the connection is closed, or a message cannot be read
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
