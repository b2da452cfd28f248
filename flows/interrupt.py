"""Ctrl-C and SIGTERM: leave in good order, with what is done kept."""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

#: A second signal, or an end that takes longer than this many seconds, ends the process at once.
PATIENCE = 4.0


class Stopped(Exception):
    """The run left after a signal; `signal` is its number."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.signal = number


def run_interruptibly(work: Callable[[threading.Event], T], *, on_signal: Callable[[], None]) -> T:
    """Run `work` in a thread of its own while this, the main thread, waits for signals.

    Parameters
    ----------
    work : callable
        Gets an event that is set when it should leave.
    on_signal : callable
        Called once, when the first signal comes.

    Raises
    ------
    Stopped
        If a signal came, after `work` has left.
    """
    stop = threading.Event()
    received: list[int] = []
    outcome: list[Any] = []
    error: list[BaseException] = []

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        if received:
            os._exit(128 + number)
        received.append(number)
        stop.set()

    def target() -> None:
        try:
            outcome.append(work(stop))
        except BaseException as problem:  # handed to the main thread below
            error.append(problem)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    thread = threading.Thread(target=target, name="study", daemon=True)
    try:
        thread.start()
        while thread.is_alive() and not received:
            thread.join(0.1)
        if received:
            on_signal()
            thread.join(PATIENCE)
            if thread.is_alive():
                os._exit(128 + received[0])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        raise Stopped(received[0])
    if error:
        raise error[0]
    return outcome[0]  # type: ignore[no-any-return]
