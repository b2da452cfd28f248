"""A Prefect server that goes and comes back, while a deployment is served: a line for each.

Import this module only after `sigstats.flows.orchestration.environment`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prefect.settings import PREFECT_API_URL
from prefect.utilities.services import critical_service_loop

from sigstats.tasks.periodic import periodic

from .server import why_unusable

#: Seconds between two looks at the server.
_EVERY = 5.0
#: How often Prefect's own loops double their interval before they give up an outage: ten minutes at last.
_BACKOFF = 6


@contextmanager
def outages_told(say: Callable[[str], None]) -> Iterator[None]:
    """Tell, in a line each, that the configured server does not answer and that it answers again.

    Prefect's own loops print the tracebacks of their last requests, and one of them gives up: here they are silent and
    go on.
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
    """Says when a server stops to answer, and when it answers again.

    Parameters
    ----------
    ask : callable
        Why the server cannot be used; None if it can.
    say : callable
    address : str
        The server's, for the lines.
    """

    def __init__(self, ask: Callable[[], str | None], say: Callable[[str], None], *, address: str) -> None:
        self._ask = ask
        self._say = say
        self._address = address
        self._answers = True

    def look(self) -> None:
        """Ask once, and say what has changed."""
        reason = self._ask()
        if reason is not None and self._answers:
            self._say(f"note: no Prefect server answers at {self._address} ({reason}); what falls due waits for it")
        elif reason is None and not self._answers:
            self._say("note: the Prefect server answers again")
        self._answers = reason is None
