"""Services of docker/compose.yaml, and pods, started by their own commands on this machine."""

import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import psutil
import pytest
import yaml

from ..flows.conftest import environment
from ..flows.prefect_server import free_port

DOCKER = Path(__file__).parents[2] / "docker"
STACK = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES = STACK["services"]
#: Modules that the image of a service lacks are not importable here either.
LACKING = Path(__file__).with_name("serving")


def dask_places(certificates, spill):
    """What stands for the places of the scheduler and the workers."""
    port = str(free_port())
    return {
        "/certificates": str(certificates),
        "tls://scheduler:8786": f"tls://127.0.0.1:{port}",
        "tls://0.0.0.0": "tls://0.0.0.0",
        "8786": port,
        "8790": str(free_port()),
        "8787": str(free_port()),
        "8788": str(free_port()),
        "/spill": str(spill),
    }


def prefect_places(connection, folder):
    """What stands for the places of Prefect's server, which is connected to a PostgreSQL, and of its clients."""
    port = str(free_port())
    return {
        "database": "127.0.0.1",
        "5432": str(urllib.parse.urlsplit(connection).port),
        "0.0.0.0": "127.0.0.1",
        "http://prefect:4200": f"http://127.0.0.1:{port}",
        "4200": port,
        "8080": str(free_port()),
        "/tmp/prefect": str(folder / "prefect"),
    }


def here(text, places):
    """A text of the stack with the hosts and paths of this machine."""
    return re.sub("|".join(map(re.escape, places)), lambda found: places[found[0]], text)


def cluster_file(places):
    """The cluster file of the stack, for this machine."""
    return here((DOCKER / "cluster.toml").read_text(), places)


class Native:
    """A service of the stack, started by its own command with the hosts and paths of this machine.

    Parameters
    ----------
    service : dict
        The service, as a compose file describes it.
    places : mapping of str to str
        What stands for a host or path of the stack on this machine.
    """

    def __init__(self, service, places):
        self.service, self.places = service, {"sigstats-start": str(DOCKER / "start.sh"), **places}
        self.start()

    def here(self, text):
        return here(str(text), self.places)

    @property
    def environment(self):
        given = self.service.get("environment", {})  # what has no value is that of the caller, if there is one
        own = {name: self.here(value) for name, value in given.items() if value is not None}
        # the programs of this environment, as those of the image are first there
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        if self.service["build"]["target"] == "serving":
            own["PYTHONPATH"] = str(LACKING)
        return {**environment(), "PATH": path, **own}

    def start(self):
        self.process = subprocess.Popen(
            [self.here(word) for word in ("sigstats-start", *self.service["command"])],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def healthy(self):
        check = [self.here(word) for word in self.service["healthcheck"]["test"][1:]]
        return subprocess.run(check, env=self.environment, capture_output=True, check=False).returncode == 0

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)

    def listening(self):
        """The addresses at which the processes of the service listen."""
        above = psutil.Process(self.process.pid)
        own = [one for process in (above, *above.children(recursive=True)) for one in process.net_connections("inet")]
        return {(one.laddr.ip, one.laddr.port) for one in own if one.status == psutil.CONN_LISTEN}


def refuses_without_certificate(port, certificates):
    """Fail unless a port answers neither plain text nor a client of TLS that has no certificate."""
    anonymous = ssl.create_default_context(cafile=certificates / "ca.pem")
    anonymous.check_hostname = False  # the certificate is that of every service
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=20)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        channel = anonymous.wrap_socket(plain)
        with pytest.raises(ssl.SSLError, match=r"(?i)certificate.required"):
            channel.recv(1)
        channel.close()
