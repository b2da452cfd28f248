"""A client or a cluster of Dask that the caller has: it is used, and left as it was."""

import contextlib
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from sigstats._common.messages import shown
from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.needs import Needs
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.engine.version import version

from ..config.model import Strict
from ..errors import BadInput
from .address import declared, require_version, thread_given_back

#: Seconds to wait for a first worker where a block needs something of its own.
_FIRST_WORKER = 30.0

#: Workers that an adaptive cluster without a maximum is taken to have.
_UNBOUNDED = 100


class Given(Strict):
    """A `distributed.Client`, or a cluster to which one connects."""

    kind: Literal["given"] = "given"
    value: Any


def given(value: Any) -> Given | None:
    """The client or the cluster that an argument is; None if it is neither."""
    distributed = sys.modules.get("distributed")
    of_client = distributed is not None and isinstance(value, distributed.Client)
    # The clusters of dask-gateway share no base class with those of Dask itself.
    if not of_client and not (hasattr(value, "scheduler_address") and hasattr(value, "get_client")):
        return None
    if getattr(value, "asynchronous", False):
        raise BadInput(f"cluster: {shown(value)} is not valid; expected one that is not asynchronous")
    status = getattr(value.status, "name", value.status)
    if status in ("closed", "closing", "failed", "stopped", "stopping"):
        raise BadInput(f"cluster: {shown(value)} is not valid; it is {status}, expected one that runs")
    return Given(value=value)


@contextlib.contextmanager
def open_pool(cluster: Given, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
    """Use the client, or a client of the cluster that is closed with the context."""
    from distributed import Client

    with contextlib.ExitStack() as stack:
        client = cluster.value
        if not isinstance(client, Client):
            client = stack.enter_context(Client(client, set_as_default=False))
        stack.enter_context(thread_given_back(client))
        if needs:
            try:
                client.wait_for_workers(1, timeout=_FIRST_WORKER)
            except TimeoutError:
                raise BadInput(f"cluster: {shown(cluster.value)} has no worker") from None
        require_version(client, version())
        asks = declared(client, needs)
        pool = DaskPool(client, expected=_expected(client.cluster), asks=asks, dashboard=True)
        yield stack.enter_context(contextlib.closing(pool))


def _expected(cluster: Any) -> int:
    """The workers that a cluster will have, as far as it says so."""
    adaptive = getattr(cluster, "_adaptive", None)
    most = getattr(adaptive, "maximum", 1)
    return max(1, len(getattr(cluster, "plan", ())), _UNBOUNDED if math.isinf(most) else int(most))
