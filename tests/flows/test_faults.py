"""Runs that are killed, interrupted and taken up again."""

import json
import os
import random
import signal

import pytest

from .conftest import blocks, results, run, session, start, wait_until

pytestmark = pytest.mark.processes


def workers(process):
    """The worker processes of a run's local cluster."""
    found = []
    for child in session(process.pid):
        if child.ppid() == process.pid and "spawn_main" in " ".join(child.cmdline()):
            found.append(child)
    return found


def test_a_run_killed_at_random_moments_is_taken_up_without_loss(long, tmp_path):
    path, reference = long
    output = tmp_path / "out"
    moments = random.Random(11)
    kills = 0
    for _ in range(6):
        process = start("run", path, "--output", output, "--cluster", "serial")
        goal = blocks(output) + moments.randint(1, 3)
        try:
            wait_until(lambda: blocks(output) >= goal, process)
        except AssertionError:
            process.communicate()
            break  # it came to its end before the moment came
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
    assert kills >= 2
    done = run("run", path, "--output", output, "--cluster", "serial")
    assert done.returncode == 0, done.stderr
    assert results(output) == reference


def test_what_ended_cells_took_is_kept_when_the_run_is_killed(long, tmp_path):
    output = tmp_path / "out"
    process = start("run", long[0], "--output", output, "--cluster", "serial")
    wait_until(lambda: list((output / "receipts").glob("*.json")), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    receipts = [json.loads(path.read_bytes()) for path in (output / "receipts").glob("*.json")]
    assert receipts
    for receipt in receipts:
        files = (output / "replicates" / receipt["cell"]).glob("*.parquet")
        assert max(block["last"] for block in receipt["blocks"]) == max(int(path.stem[-9:]) for path in files)


def test_killed_workers_are_replaced_and_nothing_is_counted_twice(long, tmp_path):
    path, reference = long
    output = tmp_path / "out"
    process = start("run", path, "--output", output, "--workers", "2")
    moments = random.Random(12)
    killed = set()
    for goal in (1, 4, 6):
        wait_until(lambda goal=goal: blocks(output) >= goal, process)
        living = [worker for worker in workers(process) if worker.pid not in killed]
        if living:
            victim = moments.choice(living)
            victim.kill()
            killed.add(victim.pid)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert killed
    assert out == ""
    assert not [line for line in err.splitlines() if "rror" in line or "arning" in line]
    assert results(output) == reference


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_one_line_leaves_nothing_running_and_goes_on(long, tmp_path, number, code):
    path, reference = long
    output = tmp_path / "out"
    process = start("run", path, "--output", output, "--workers", "2")
    wait_until(lambda: blocks(output) >= 2, process)
    os.killpg(process.pid, number)  # as a terminal does: to every process of the job
    _, err = process.communicate(timeout=20)
    assert process.returncode == code
    said = [line for line in err.splitlines()[1:] if not line.startswith("  ")]
    assert said == [f"sigstats: interrupted; the same command goes on from {output}"]
    wait_until(lambda: not session(process.pid), seconds=10)
    assert run("run", path, "--output", output, "--cluster", "serial").returncode == 0
    assert results(output) == reference


def test_a_killed_run_leaves_no_process(long, tmp_path):
    process = start("run", long[0], "--output", tmp_path / "out", "--workers", "2")
    wait_until(lambda: blocks(tmp_path / "out") >= 1, process)
    process.kill()
    process.communicate(timeout=30)
    wait_until(lambda: not session(process.pid), seconds=30)
