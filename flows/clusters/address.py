"""Dask clusters that already run: at an address, or as the caller's client or cluster."""

import contextlib
import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from sigstats._common.messages import one_line, shown
from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.dask_staff import version
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.plan import Needs

from ..config.model import Strict
from ..errors import BadInput
from ._dask import ClusterFile, quietly, unmet_need

#: A name, an IPv4 address or a bracketed IPv6 address, and a port. The URL of a web socket needs no port.
_GATEWAY = re.compile(r"(gateway://(?:\[[^\[\]\s]+\]|[^:/\[\]\s]+)(?::\d{1,5})?)/([^/\s]+)")
_HOST_PORT = re.compile(r"(?:tcp|tls)://(?:\[[^\[\]\s]+\]|[^:/\[\]\s]+):(\d{1,5})")


class Tls(Strict):
    """Certificates. Paths are relative to the working folder."""

    ca_file: str = Field(description="PEM file of the certificate authority")
    cert: str = Field(description="PEM file of the client's certificate")
    key: str = Field(description="PEM file of the client's key")


class Cluster(ClusterFile):
    """``kind = "address"``. The workers only need this package and access to the output."""

    kind: Literal["address"] = "address"
    address: str = Field(pattern=r"^(tcp|tls|ws|wss|gateway)://.+", description='As in "tcp://10.0.0.1:8786"')
    timeout: float = Field(30.0, gt=0, description="Seconds to wait for the scheduler and the first worker")
    expected: int = Field(1, ge=1, le=100_000, description="Expected number of workers, if some join later")
    tls: Tls | None = Field(None, description="Certificates for a tls:// address; Dask's configuration by default")

    @field_validator("address")
    @classmethod
    def _with_a_port(cls, address: str) -> str:
        scheme = address.partition("://")[0]
        if scheme in ("tcp", "tls"):
            port = _HOST_PORT.fullmatch(address)
            if port is None or not 0 < int(port[1]) < 2**16:
                raise ValueError(f"{shown(address)} is not valid; expected {scheme}://HOST:PORT")
        if scheme == "gateway" and _GATEWAY.fullmatch(address) is None:
            raise ValueError(f"{shown(address)} is not valid; expected gateway://HOST:PORT/CLUSTER")
        return address

    @model_validator(mode="after")
    def _tls_for_tls(self) -> Self:
        if self.tls is not None and not self.address.startswith("tls://"):
            raise ValueError(f"tls: is not valid for {self.address}; expected a tls:// address")
        return self


@quietly
@contextmanager
def open_pool(cluster: Cluster, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
    """Connect to the cluster. It keeps running when the context ends."""
    from distributed import Client

    with contextlib.ExitStack() as stack:
        if match := _GATEWAY.fullmatch(cluster.address):
            scheduler, security = stack.enter_context(_connect_gateway(*match.groups())), None
        else:
            scheduler, security = cluster.address, _security(cluster)
        try:
            client = Client(scheduler, timeout=cluster.timeout, set_as_default=False, security=security)
        except (OSError, TimeoutError):
            raise BadInput(f"cluster: no Dask scheduler answers at {cluster.address}; start it first") from None
        stack.enter_context(client)
        try:
            client.wait_for_workers(1, timeout=cluster.timeout)
        except TimeoutError:
            raise BadInput(f"cluster: the scheduler at {cluster.address} has no worker; start one") from None
        yield stack.enter_context(_pool_of(client, needs, cluster.expected))


@contextmanager
def _pool_of(client: Any, needs: Sequence[Needs], expected: int) -> Iterator[Pool]:
    """Open the pool of a client's workers; raise BadInput unless they have this version and the needed resources."""
    require_version(client, version())
    with thread_given_back(client):
        asks = declared_resources(client, needs)
        yield DaskPool(client, expected=expected, asks=asks)


def _connect_gateway(proxy: str, name: str) -> Any:
    """Return the dask-gateway cluster with this name. The login is taken from Dask's configuration."""
    where = f"cluster: address: {shown(f'{proxy}/{name}')} is not valid"
    try:
        from dask_gateway import Gateway
    except ImportError:
        raise BadInput(f"{where} here; a package is missing: pip install dask-gateway") from None
    try:
        with Gateway(proxy_address=proxy) as gateway:
            return gateway.connect(name, shutdown_on_close=False)
    except Exception as error:  # the client raises its own errors and errors of HTTP
        raise BadInput(f"{where}; the gateway cannot connect to it ({one_line(error)[:200]})") from None


def require_version(client: Any, here: str) -> None:
    """Raise BadInput if a worker has another version of this package than `here`, the version of this process."""
    value = client.run(version, on_error="return")
    for worker, reply in sorted(value.items()):
        if reply != here:
            has = f"sigstats {reply}" if isinstance(reply, str) else f"no usable sigstats ({one_line(reply)[:120]})"
            raise BadInput(f"cluster: the worker at {worker} has {has}; install sigstats {here}, as in this process")


def declared_resources(client: Any, needs: Sequence[Needs]) -> frozenset[str]:
    """Return the resources that the workers declare to Dask, if some workers satisfy the needs of each block.

    If no worker declares its memory, the memory of a block is only the limit of its process.
    """
    workers = [worker["resources"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
    declared = frozenset(name for resources in workers for name in resources)
    for need in needs:
        asked = {name: amount for name, amount in need.amounts.items() if name != "memory" or name in declared}
        for name, amount in asked.items():
            if all(resources.get(name, 0) < amount for resources in workers):
                most = max((resources.get(name, 0) for resources in workers), default=0)
                how = f"dask worker --resources '{name}={amount}'"
                raise unmet_need(need, name, f"{most:g}, which a worker declares ({how})")
        if not any(all(resources.get(name, 0) >= amount for name, amount in asked.items()) for resources in workers):
            raise BadInput(f"{need.who}: resources: no single worker has {need}; start a worker that declares them all")
    return declared


def _security(cluster: Cluster) -> Any:
    """Return the client's certificates, from the cluster file or Dask's configuration, or None if it needs none."""
    import dask
    from distributed.security import Security

    where = f"cluster: address: {shown(cluster.address)} is not valid"
    if (tls := cluster.tls) is None:
        loader = dask.config.get("distributed.client.security-loader", None)
        if loader or not cluster.address.startswith(("tls://", "wss://")):
            return None
        security, source = Security(), "the certificates of Dask's own configuration"
    else:
        for name, path in tls.model_dump().items():
            if not Path(path).is_file():
                raise BadInput(f"cluster: tls.{name}: {shown(path)} is not valid; expected a PEM file")
        files = {"tls_ca_file": tls.ca_file, "tls_client_cert": tls.cert, "tls_client_key": tls.key}
        security, source = Security(require_encryption=True, **files), "the certificates of [tls]"
    try:
        context = security.get_connection_args("client")["ssl_context"]
    except OSError as error:  # ssl.SSLError is a subclass
        raise BadInput(f"{where}; {source} cannot be used ({error}); give valid PEM files") from None
    if context is None:
        raise BadInput(f"{where} without certificates; add [tls] to a cluster file, or configure TLS in Dask")
    return security


@contextlib.contextmanager
def thread_given_back(client: Any) -> Iterator[None]:
    """Return the thread of this task to its worker while the context lasts.

    Otherwise tasks that wait for the blocks of a study would occupy all threads that could compute these blocks.

    `client`: nothing is done if this thread does not run a task of the client's workers.
    """
    from distributed import get_worker, rejoin, secede

    try:
        worker = get_worker()
        inside = worker.address in client.nthreads()
        if inside:
            secede()
    except (AttributeError, KeyError, ValueError):  # no task runs here, or its thread was already given back
        inside = False
    try:
        yield
    finally:
        if inside:
            rejoin()


class Given(Strict):
    """A `distributed.Client`, or a cluster that a client can connect to."""

    kind: Literal["given"] = "given"
    value: Any


def as_given(value: Any) -> Given | None:
    """Return `value` if it is a client or a cluster, or None otherwise; raise BadInput if it cannot be used."""
    distributed = sys.modules.get("distributed")
    of_client = distributed is not None and isinstance(value, distributed.Client)
    # The clusters of dask-gateway and of Dask itself have no common base class.
    if not of_client and not (hasattr(value, "scheduler_address") and hasattr(value, "get_client")):
        return None
    if getattr(value, "asynchronous", False):
        raise BadInput(f"cluster: {shown(value)} is asynchronous; make it with asynchronous=False")
    status = getattr(value.status, "name", value.status)
    if status in ("closed", "closing", "failed", "stopped", "stopping"):
        raise BadInput(f"cluster: {shown(value)} is {status}; give a running client or cluster")
    return Given(value=value)


@contextlib.contextmanager
def open_given(cluster: Given, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
    """Use the given client, or connect a client to the given cluster and close it when the context ends."""
    from distributed import Client

    with contextlib.ExitStack() as stack:
        client = cluster.value
        if not isinstance(client, Client):
            client = stack.enter_context(Client(client, set_as_default=False))
        if needs:
            try:
                client.wait_for_workers(1, timeout=30.0)
            except TimeoutError:
                raise BadInput(f"cluster: {shown(cluster.value)} has no worker; start one") from None
        yield stack.enter_context(_pool_of(client, needs, _expected(client.cluster)))


def _expected(cluster: Any) -> int:
    """Return the number of workers that a cluster will have, or 1 if it is unknown."""
    adaptive = getattr(cluster, "_adaptive", None)
    most = getattr(adaptive, "maximum", 1)
    # An adaptive cluster without a maximum is assumed to have up to a hundred workers.
    return max(1, len(getattr(cluster, "plan", ())), 100 if math.isinf(most) else int(most))
