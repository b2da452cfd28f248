"""A study on a cluster of a real dask-gateway: by the cluster, by a client of it, and by its address."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sigstats

from ...lazily import lazily
from ..conftest import environment, wait_until
from ..prefect_server import free_port
from .test_given import STUDY, reference, stored  # noqa: F401 (a fixture)

dask_gateway = lazily("dask_gateway")
pytest.importorskip("dask_gateway_server")

pytestmark = [pytest.mark.processes, pytest.mark.faults]

CONFIGURATION = """\
c.DaskGateway.address = "127.0.0.1:{private}"
c.DaskGateway.backend_class = "dask_gateway_server.backends.local.UnsafeLocalBackend"
c.Proxy.address = "127.0.0.1:{public}"
c.Proxy.tcp_address = "127.0.0.1:{tcp}"
c.UnsafeLocalBackend.clusters_directory = "{folder}/clusters"
c.ClusterConfig.scheduler_cmd = ["{python}", "-m", "dask", "scheduler"]
c.ClusterConfig.worker_cmd = ["{python}", "-m", "dask", "worker"]
c.ClusterConfig.worker_memory = "1 G"
c.ClusterConfig.environment = {{"PATH": "{path}"}}
"""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """A gateway of this machine, whose clusters are processes, and the address of its proxy."""
    # It raises where its event loop has ended first, in whatever test is under way when it is collected.
    dask_gateway.Gateway.__del__ = lambda gateway: None
    folder = tmp_path_factory.mktemp("gateway")
    ports = {name: free_port() for name in ("private", "public", "tcp")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    text = CONFIGURATION.format(**ports, folder=folder, python=sys.executable, path=path)
    (folder / "configuration.py").write_text(text)
    words = [sys.executable, "-m", "dask_gateway_server", "-f", str(folder / "configuration.py")]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(words, env=environment(), cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: "200 GET /api/v1/routes" in (folder / "log").read_text(), seconds=60, interval=0.2)
        proxy = f"gateway://127.0.0.1:{ports['tcp']}"
        with dask_gateway.Gateway(f"http://127.0.0.1:{ports['public']}", proxy_address=proxy) as found:
            yield found, proxy
    finally:
        server.terminate()
        server.wait(60)


def test_a_cluster_of_a_gateway_is_used_and_left_running(gateway, reference, tmp_path, monkeypatch):  # noqa: F811
    found, proxy = gateway
    monkeypatch.setattr(dask_gateway.client.dask.config, "config", {**dask_gateway.client.dask.config.config})
    dask_gateway.client.dask.config.set({"gateway.address": found.address})
    with found.new_cluster(shutdown_on_close=True) as cluster:
        cluster.scale(1)
        with cluster.get_client(set_as_default=False) as client:
            for how, where in {"cluster": cluster, "client": client, "address": f"{proxy}/{cluster.name}"}.items():
                sigstats.run_study(STUDY, output=tmp_path / how, cluster=where)
                assert stored(tmp_path / how) == reference
                assert [report.name for report in found.list_clusters()] == [cluster.name]
                assert client.submit(sum, [1, 2]).result() == 3
    with pytest.raises(ValueError, match=r"the gateway cannot connect to it"):
        sigstats.run_study(STUDY, output=tmp_path / "none", cluster=f"{proxy}/none")


@pytest.mark.parametrize("workers", ["1", "{ minimum = 1, maximum = 2 }"])
def test_a_cluster_file_starts_a_cluster_of_a_gateway_and_ends_it(gateway, reference, tmp_path, workers):  # noqa: F811
    found, proxy = gateway
    (tmp_path / "cluster.toml").write_text(
        f'class = "dask_gateway.GatewayCluster"\nworkers = {workers}\naddress = "{found.address}"\n'
        f'proxy_address = "{proxy}"\n'
    )
    sigstats.run_study(STUDY, output=tmp_path / "out", cluster=str(tmp_path / "cluster.toml"))
    assert stored(tmp_path / "out") == reference
    wait_until(lambda: not found.list_clusters(), seconds=60)
