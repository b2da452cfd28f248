"""Outages of the Prefect server while a deployment is served: a line for the beginning and the end of each.

Import this module only after `sigstats.flows.orchestration.environment`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prefect.settings import PREFECT_API_URL
from prefect.utilities.services import critical_service_loop

from sigstats.tasks.periodic import periodic

from .server import why_unusable

#: Seconds between two requests to the server.
_EVERY = 5.0
#: How often Prefect's own loops double their interval during an outage: ten minutes at last.
_BACKOFF = 6


@contextmanager
def outages_told(say: Callable[[str], None]) -> Iterator[None]:
    """Report in one line that the configured server does not answer, and in another that it answers again.

    By default Prefect's loops print the tracebacks of their last requests, and one of them gives up; within this
    context they are silent and go on.
    """
    watch = OutageWatch(why_unusable, say, address=str(PREFECT_API_URL.value()))
    before = critical_service_loop.__defaults__ or ()
    patient = {print: _silent, 1: _BACKOFF}
    # The defaults are: memory, consecutive, backoff, printer, run_once, jitter_range.
    critical_service_loop.__defaults__ = tuple(
        patient.get(value, value) if value is print or type(value) is int else value for value in before
    )
    try:
        with periodic(watch.look, _EVERY, name="outages"):
            yield
    finally:
        critical_service_loop.__defaults__ = before


def _silent(*_: object) -> None:
    pass


class OutageWatch:
    """Reports when a server ceases to answer, and when it answers again.

    `ask`: returns why the server cannot be used, or None if it can.
    `say`: called with each line.
    `address`: the address of the server, for the lines.
    """

    def __init__(self, ask: Callable[[], str | None], say: Callable[[str], None], *, address: str) -> None:
        self._ask = ask
        self._say = say
        self._address = address
        self._answers = True

    def look(self) -> None:
        """Ask the server once, and report a change."""
        reason = self._ask()
        if reason is not None and self._answers:
            self._say(f"note: no Prefect server answers at {self._address} ({reason}); runs that fall due wait for it")
        elif reason is None and not self._answers:
            self._say("note: the Prefect server answers again")
        self._answers = reason is None
