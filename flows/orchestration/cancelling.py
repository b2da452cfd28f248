"""A flow run that is cancelled on its server stops.

Prefect itself stops only the runs of its runners and workers. Import this module only after
`sigstats.flows.orchestration.environment`.
"""

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from prefect.states import Cancelled

from sigstats.tasks.periodic import periodic

#: Seconds between two requests, and those that the server has to answer one.
_EVERY, _PATIENCE = 2.0, 5.0


@contextmanager
def cancel_stops(stop: threading.Event) -> Iterator[None]:
    """Set `stop` within seconds after the flow run around this context was cancelled on its server.

    The run is Cancelled from then on, however its process ends. A server that does not answer is asked again.
    """
    context = FlowRunContext.get()
    assert context is not None
    assert context.flow_run is not None
    identity = context.flow_run.id

    def look() -> None:
        if stop.is_set():
            return
        with (
            contextlib.suppress(Exception),
            temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}),
            get_client(sync_client=True, httpx_settings={"timeout": _PATIENCE}) as client,
        ):
            state = client.read_flow_run(identity).state
            if state is None or not (state.is_cancelling() or state.is_cancelled()):
                return
            stop.set()
            if state.is_cancelling():
                client.set_flow_run_state(identity, Cancelled(message="the run was asked to stop"))

    with periodic(look, _EVERY, name="cancelling"):
        yield
