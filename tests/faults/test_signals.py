"""Ctrl-C and SIGTERM at random moments: one line, nothing left running, and the same command continues."""

import os
import random
import signal
import time

import pytest

from ..flows.conftest import wait_until
from .conftest import Folder, alive, complete, kill, results, run, start, stored, times

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("cluster", [("--cluster", "serial"), ("--workers", "2")], ids=["serial", "workers"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_ends_a_run_in_good_order(many, tmp_path, cluster, number, code, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    moments, count = random.Random(code), times(5 if "serial" in cluster else 2, 1)
    longest = 0.0
    for _ in range(count):
        process = start("run", path, *cluster, place=place, fault={"pause": 0.1})
        goal = stored(place) + moments.randint(1, 150)
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        sent = time.monotonic()
        os.killpg(process.pid, number)  # as a terminal does: to every process of the job
        wait_until(lambda process=process: not alive(process), seconds=60)
        longest = max(longest, time.monotonic() - sent)
        _, err = process.communicate(timeout=60)
        assert process.returncode == code, err
        said = [line for line in err.splitlines()[1:] if not line.startswith("  ") and not line.startswith("note: ")]
        assert said == [f"sigstats: interrupted; run the same command to continue from {place.url}"]
    assert run("run", path, "--cluster", "serial", place=place).returncode == 0
    assert results(place) == reference
    name = {130: "Ctrl-C", 143: "SIGTERM"}[code]
    where = "a plain loop" if "serial" in cluster else "local workers"
    record(
        f"{name}, with {where}", count=count, seen=f"nothing left running after {longest:.1f} s at most; the same bytes"
    )


def test_a_killed_run_leaves_no_process(many, tmp_path, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    count = times(2, 1)
    for _ in range(count):
        process = start("run", path, "--workers", "2", place=place, fault={"pause": 0.1})
        before = stored(place)
        wait_until(lambda before=before: stored(place) > before + 50, process)
        kill(process)  # waits until nothing that it started is left
    complete(path, "--cluster", "serial", place=place, reference=reference)
    record("a run with local workers is killed (kill -9)", count=count, seen="no process left; the same bytes")


@pytest.mark.parametrize("before", [("sh", "-c", 'exec "$@" >&-', "sh"), ()], ids=["closed", "unread"])
def test_an_output_that_is_closed_harms_no_run_with_workers(many, tmp_path, before):
    path, reference = many
    place = Folder(tmp_path / "out")
    process = start("run", path, "--workers", "2", place=place, before=before)
    process.stdout.close()  # as `| head` does
    with process.stderr:
        err = process.stderr.read()
    assert process.wait(60) == 0, err
    wait_until(lambda: not alive(process), seconds=60)
    assert "Traceback" not in err
    assert results(place) == reference
