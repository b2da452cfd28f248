"""A Dask scheduler that runs already, at an address."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import Field

from tasks.execute import DaskPool, Pool

from ..config import Strict
from ..errors import BadInput


class Cluster(Strict):
    """``kind = "address"``. The workers need this package and access to the output; nothing else."""

    kind: Literal["address"] = "address"
    address: Annotated[str, Field(pattern=r"^(tcp|tls|ws|wss)://.+", description='As in "tcp://10.0.0.1:8786"')]
    timeout: Annotated[float, Field(gt=0, description="Seconds to wait for the scheduler and a first worker")] = 30.0


@contextmanager
def open_pool(cluster: Cluster) -> Iterator[Pool]:
    """Connect, and leave the cluster as it was."""
    from distributed import Client

    try:
        client = Client(cluster.address, timeout=cluster.timeout, set_as_default=False)
    except (OSError, TimeoutError):
        raise BadInput(f"cluster: no Dask scheduler answers at {cluster.address}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=cluster.timeout)
        except TimeoutError:
            raise BadInput(f"cluster: the scheduler at {cluster.address} has no worker") from None
        yield DaskPool(client)
