"""The handling of Ctrl-C and SIGTERM: the run ends in order, and completed work stays stored."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing import resource_tracker
from typing import NoReturn, TypeVar

from sigstats.tasks.engine.execute import Interrupted

T = TypeVar("T")
#: Seconds within which a run must end after a signal. Then, and at a second signal, the process is ended at once. Files
#: in the store are not harmed, since they are written atomically.
PATIENCE = 3.0
#: The same for a run that is cancelled on a server, since it must report the end of each cell.
_PATIENCE_ON_A_SERVER = 6.0


_do_not_wait = threading.Event()


class Stopped(Exception):
    """A signal ended the run. If the run does not stop in time, `end_at_once` ends the process."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.signal = number


def end_at_once(code: int) -> NoReturn:
    """End this process and all processes that it started."""
    import psutil

    with contextlib.suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
    sys.stderr.flush()
    os._exit(code)


def leave_the_rest() -> None:
    """Let `leave` end the process without waiting for threads that still work."""
    _do_not_wait.set()


def leave(code: int) -> int:
    """Return the exit code of a command or, after `leave_the_rest`, end the process with this exit code."""
    if _do_not_wait.is_set():
        sys.stdout.flush()
        end_at_once(code)
    return code


def run_interruptibly(work: Callable[[threading.Event], T]) -> T:
    """Run `work` in a separate thread while the main thread waits for signals; return its result.

    Raises Stopped if a signal comes or the event is set, as soon as `work` has ended or has not ended in time.
    """
    resource_tracker.ensure_running()  # starting it later would unblock the signal that is blocked below
    _do_not_wait.clear()
    stop = threading.Event()
    received: list[int] = []
    outcome: Future[T] = Future()

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        if received:
            end_at_once(128 + number)
        received.append(number)
        stop.set()

    def number_of() -> int:
        return received[0] if received else signal.SIGINT

    def target() -> None:
        # A terminal sends Ctrl-C to all processes of the group. Children inherit the mask of this thread, so that only
        # this process ends workers and servers, in order.
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            outcome.set_result(work(stop))
        except BaseException as problem:  # handed to the main thread below
            outcome.set_exception(problem)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    thread = threading.Thread(target=target, name="study", daemon=True)
    try:
        thread.start()
        while thread.is_alive() and not stop.is_set():
            thread.join(0.1)
        if stop.is_set():
            thread.join(PATIENCE if received else _PATIENCE_ON_A_SERVER)
            if thread.is_alive():
                raise Stopped(number_of())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received or (stop.is_set() and isinstance(outcome.exception(), Interrupted)):  # else `work` set it
        raise Stopped(number_of())
    return outcome.result()
