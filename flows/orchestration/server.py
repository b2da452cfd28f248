"""Whether the configured Prefect server answers.

Import this module only after `sigstats.flows.orchestration.environment`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings

#: Seconds that a server has for its first answer. Prefect's own client would wait for six minutes and a half.
PATIENCE = 10.0


@contextmanager
def impatient(seconds: float) -> Iterator[Callable[[Callable[[SyncPrefectClient], Any]], Any]]:
    """Call a function with a client that asks once, and waits so long for an answer, as often as the caller likes.

    Prefect takes 40 ms of a processor to change a setting and to make a client, and one to ask with it.
    """
    with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}):
        context = copy_context()
        client = get_client(sync_client=True, httpx_settings={"timeout": seconds})
    with client:
        yield lambda ask: context.copy().run(ask, client)


def why_unusable() -> str | None:
    """Why the configured server cannot be used, in a few words; None if it answers a request."""
    found: list[str | None] = []

    def ask() -> None:
        try:
            with impatient(PATIENCE) as asked:
                error = asked(lambda client: client.api_healthcheck())
                if error is None:  # a server may report that it is up and answer nothing else
                    asked(lambda client: client.read_flows(limit=1))
        except Exception as problem:  # of the settings, or of the client as it starts
            error = problem
        refused = error is not None and not isinstance(error, httpx.HTTPStatusError)
        found.append((str(error) or type(error).__name__) if refused else None)

    # Each byte that arrives renews the time-out of the client, and a name server has one of its own.
    thread = threading.Thread(target=ask, name="prefect server", daemon=True)
    thread.start()
    thread.join(PATIENCE)
    reason = found[0] if found else f"it did not answer for {PATIENCE:.0f} s"
    return None if reason is None else " ".join(reason.split())
