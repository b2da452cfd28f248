"""The Dask scheduler dies."""

import json
import random
import subprocess
import sys

import pytest

from ..flows.conftest import environment, wait_until
from .conftest import PROGRAM, Folder, alive, results, run, start, stored

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


def test_a_scheduler_that_dies_ends_the_run_which_goes_on_with_another(many, tmp_path, cluster, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    moments = random.Random(17)
    for _ in range(2):
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
    record("the scheduler is killed (kill -9)", count=2, seen="exit code 3; the same bytes with another scheduler")
