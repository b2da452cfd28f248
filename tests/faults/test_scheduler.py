"""The Dask scheduler dies."""

import contextlib
import json
import random
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest

from ..flows.conftest import environment, wait_until
from .conftest import PROGRAM, Folder, alive, results, run, start, stored, times

pytestmark = pytest.mark.processes


class Cluster:
    """A scheduler and two workers, as a person starts them."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.file.unlink(missing_ok=True)
        local = ["--host", "127.0.0.1"]
        self.scheduler = self._start("scheduler", *local, "--port", "0", "--no-dashboard")
        wait_until(self.file.exists, self.scheduler)
        work = ["--nthreads", "1", "--no-dashboard", "--preload", PROGRAM, "--local-directory", folder]
        self.workers = [self._start("worker", *local, *work) for _ in range(2)]

    def _start(self, kind, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "dask", kind, "--scheduler-file", self.file, *arguments],
            env={**environment(), "SIGSTATS_FAULT": '{"pause": 0.1}'},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def address(self):
        return json.loads(self.file.read_text())["address"]

    def end(self):
        for process in (*self.workers, self.scheduler):
            process.terminate()
            process.wait(60)


@pytest.fixture
def cluster(tmp_path):
    started = []

    def start_cluster():
        started.append(Cluster(tmp_path))
        return started[-1]

    yield start_cluster
    for one in started:
        one.end()


class Wire:
    """A way to the scheduler that can be cut for a moment."""

    def __init__(self, address):
        self.target = urlsplit(address)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.ends = []
        self.threads = []
        self._begin(self._accept)

    def _begin(self, target, *arguments):
        self.threads.append(threading.Thread(target=target, args=arguments, daemon=True))
        self.threads[-1].start()

    def _accept(self):
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                here, _ = self.listener.accept()
                there = socket.create_connection((self.target.hostname, self.target.port))
                self.ends += [here, there]
                for pair in ((here, there), (there, here)):
                    self._begin(self._carry, *pair)

    def _carry(self, source, sink):
        with contextlib.suppress(OSError):
            while content := source.recv(1 << 16):
                sink.sendall(content)
        _shut(source, sink)

    def cut(self):
        """Break every connection; new ones can be made."""
        _shut(*self.ends)

    def close(self):
        """Break every connection for good."""
        _shut(self.listener, *self.ends)
        for thread in list(self.threads):
            thread.join(10)
        for end in (self.listener, *self.ends):
            end.close()


def _shut(*ends):
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def test_a_connection_that_is_lost_for_a_moment_costs_no_cell(many, tmp_path, cluster, record):
    """The scheduler forgets what a client asked of it, and the client comes back."""
    path, reference = many
    place = Folder(tmp_path / "out")
    wire = Wire(cluster().address)
    process = start("run", path, "--cluster", wire.address, place=place)
    wait_until(lambda: stored(place) >= 50, process)
    wire.cut()
    _, err = process.communicate(timeout=300)
    wire.close()
    assert process.returncode == 0, err
    assert results(place) == reference
    record("the connection to the scheduler breaks", count=1, seen="blocks sent again; the same bytes")


def test_a_scheduler_that_dies_ends_the_run_which_goes_on_with_another(many, tmp_path, cluster, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    moments = random.Random(17)
    count = times(2, 1)
    for _ in range(count):
        one = cluster()
        process = start("run", path, "--cluster", one.address, place=place)
        goal = stored(place) + moments.randint(10, 400)
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        one.scheduler.kill()
        _, err = process.communicate(timeout=300)
        assert process.returncode == 3, err
        assert "Traceback" not in err
        assert [line for line in err.splitlines() if line.startswith("sigstats: ")]
        wait_until(lambda process=process: not alive(process), seconds=30)
        one.end()
    done = run("run", path, "--cluster", cluster().address, place=place)
    assert done.returncode == 0, done.stderr
    assert results(place) == reference
    record("the scheduler is killed (kill -9)", count=count, seen="exit code 3; the same bytes with another scheduler")
