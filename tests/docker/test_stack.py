"""The stack of docker/: what its files say, and its Dask services started by their own commands on loopback."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.flows.conftest import environment, results, run, study_file, wait_until

DOCKER = Path(__file__).parents[2] / "docker"
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]


def test_every_service_restarts_and_says_whether_it_is_well():
    for name, service in SERVICES.items():
        if name == "run":
            assert service["restart"] == "no"
            continue
        assert service["restart"] == "unless-stopped", name
        assert service["healthcheck"]["test"][0] == "CMD", name
    for name in ("prefect", "scheduler", "worker", "run"):
        service = SERVICES[name]
        assert (service["user"], service["read_only"], service["cap_drop"]) == ("sigstats", True, ["ALL"])


def test_secrets_come_from_the_environment_and_ports_stay_on_loopback():
    text = (DOCKER / "compose.yaml").read_text()
    for name in ("PASSWORD", "AUTH_STRING"):
        for value in re.findall(rf"^ +\w*{name}: (.+)$", text, flags=re.MULTILINE):
            assert re.match(r"\$\{\w+:\?", value), value
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_image_is_built_in_stages_from_the_lock_and_runs_without_root():
    lines = (DOCKER / "Dockerfile").read_text()
    assert lines.count("\nFROM ") == 2
    assert "--require-hashes -r requirements.lock" in lines
    assert re.search(r"^USER sigstats$", lines, flags=re.MULTILINE)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", lines, flags=re.MULTILINE)
    allowed = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    for name in " ".join(copied).split():
        assert (DOCKER.parent / name).exists()
        assert f"!{name}" in allowed


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Native:
    """A service of the stack, started by its own command with the hosts and paths of this machine."""

    def __init__(self, name, places):
        self.service, self.places = SERVICES[name], places
        self.start()

    def here(self, words):
        for stack, native in self.places.items():
            words = [word.replace(stack, native) for word in words]
        program = {"dask": [sys.executable, "-m", "dask"], "python": [sys.executable]}
        return [*program[words[0]], *words[1:]]

    def start(self):
        more = {key: str(value) for key, value in self.service.get("environment", {}).items()}
        self.process = subprocess.Popen(
            self.here(self.service["command"]),
            env={**environment(), **more},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def healthy(self):
        check = self.here(self.service["healthcheck"]["test"][1:])
        return subprocess.run(check, capture_output=True, check=False).returncode == 0

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)


STUDY = """\
kind = "benchmark"
datasets = ["iris", "wine"]
classifiers = ["1-nn", "decision-tree"]
permutation = { resamples = 59 }
"""


@pytest.mark.processes
@pytest.mark.skipif(shutil.which("openssl") is None, reason="the certificates of the stack need openssl")
def test_the_dask_services_run_a_study_over_tls_and_outlive_a_killed_worker(tmp_path):
    certificates = tmp_path / "certificates"
    subprocess.run([DOCKER / "make-certificates.sh", certificates], check=True)
    scheduler_port, worker_port = str(free_port()), str(free_port())
    places = {
        "/certificates": str(certificates),
        "tls://scheduler:8786": f"tls://127.0.0.1:{scheduler_port}",
        "tls://0.0.0.0": "tls://127.0.0.1",
        "8786": scheduler_port,
        "8790": worker_port,
        "socket.gethostname()": "'127.0.0.1'",
    }
    study = study_file(tmp_path, STUDY)
    cluster = (DOCKER / "cluster.toml").read_text()
    cluster = cluster.replace("/certificates", str(certificates)).replace(
        "scheduler:8786", f"127.0.0.1:{scheduler_port}"
    )
    scheduler = Native("scheduler", places)
    worker = None
    try:
        wait_until(scheduler.healthy, seconds=60)
        worker = Native("worker", places)
        wait_until(worker.healthy, seconds=60)
        where = study_file(tmp_path, cluster, "cluster.toml")
        first = run("run", study, "--output", tmp_path / "first", "--cluster", where)
        assert first.returncode == 0, first.stderr
        worker.kill()
        worker.start()  # as a restart policy does
        wait_until(worker.healthy, seconds=60)
        second = run("run", study, "--output", tmp_path / "second", "--cluster", where)
        assert second.returncode == 0, second.stderr
        plain = run("run", study, "--output", tmp_path / "plain", "--cluster", "serial")
        assert plain.returncode == 0, plain.stderr
        assert results(tmp_path / "first") == results(tmp_path / "second") == results(tmp_path / "plain")
    finally:
        for service in (worker, scheduler):
            if service is not None and service.process.poll() is None:
                service.kill()
