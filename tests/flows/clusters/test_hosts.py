"""Three hosts with links between them: a scheduler, a worker that is slow, and one whose link is cut and healed."""

import json
import os
import signal
import subprocess
import sys

import pytest

from ...faults.conftest import PROGRAM, Folder, results, start, stored
from ..conftest import environment, wait_until
from .hosts import hosts

pytestmark = [pytest.mark.processes, pytest.mark.faults]

#: How long the engine waits for a host that does not answer; thirty seconds by default.
TIMEOUTS = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}


@pytest.fixture
def net():
    with hosts(3) as made:
        yield made


@pytest.fixture
def engine(net, tmp_path):
    """Starts the engine's processes on hosts, and ends them."""
    started = []

    def start_on(number, kind, *arguments, fault="{}"):
        # A worker that has lost its scheduler ends itself; what watches over services starts it again.
        watched = ["sh", "-c", 'while :; do "$0" "$@"; sleep 1; done']
        process = subprocess.Popen(
            [*net.on(number), *watched, sys.executable, "-m", "dask", kind, *arguments],
            env={**environment(), **TIMEOUTS, "SIGSTATS_FAULT": fault},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start_on
    for process in reversed(started):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)


def workers(net, engine, tmp_path, pauses):
    """A scheduler on the hub, and a worker on each other host that takes so many seconds more for each lane."""
    port = "8786"
    engine(0, "scheduler", "--port", port, "--no-dashboard")
    for number, pause in pauses.items():
        options = ["--nthreads", "1", "--no-dashboard", "--preload", str(PROGRAM), "--name", f"host-{number}"]
        scratch = tmp_path / f"scratch-{number}"
        at = f"tcp://{net.hub_address(number)}:{port}"
        engine(number, "worker", at, *options, "--local-directory", str(scratch), fault=f'{{"pause": {pause}}}')
    return f"tcp://127.0.0.1:{port}"


def computed_by(output):
    """Which hosts computed blocks, by the receipts."""
    receipts = (json.loads(path.read_text()) for path in (output / "receipts").glob("*.*.json"))  # of cells
    return {block["host"] for receipt in receipts for block in receipt["blocks"]}


def test_a_link_is_cut_and_healed_and_a_host_is_slow(many, tmp_path, net, engine, record):
    path, reference = many
    address = workers(net, engine, tmp_path, {1: 0.1, 2: 0.5})
    place = Folder(tmp_path / "out")
    process = start("run", path, "--cluster", address, place=place, before=net.on(0), **TIMEOUTS)
    for number, goal in ((1, 100), (2, 500)):
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        net.cut(number)
        # The other goes on without it, which the second time shows that the first is back.
        wait_until(lambda goal=goal: stored(place) >= goal + 150, process)
        net.heal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "failed:" not in err
    assert results(place) == reference
    assert computed_by(tmp_path / "out") == {"host-1", "host-2"}
    record("a link between two hosts is cut and healed, one host is five times as slow", count=2, seen="the same bytes")
