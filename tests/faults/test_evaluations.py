"""Regression studies that are killed, by themselves and on a schedule; a schedule of many runs."""

import contextlib
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pandas as pd
import psutil
import pytest

from ..flows.conftest import PROGRAM, environment, run, start, study_file, wait_until
from ..flows.predictions import STUDY, write
from ..flows.prefect_server import started
from ..programs import needs
from .conftest import times

pytestmark = pytest.mark.processes


@pytest.fixture
def folder(tmp_path):
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    return tmp_path


@pytest.fixture(scope="module")
def server():
    with started("sqlite") as found:
        yield found


def candidate(folder, number):
    write(folder / f"predictions/candidate-{number}.csv", wrong=0.1, seed=number, at=2000 + number)


def killed(pid):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def whole(folder):
    """The number of evaluations of a history, each of which is whole, has a look of its own, and a page."""
    found = pd.read_parquet(folder / "out/history")
    assert (found.groupby("evaluation").size() == 8).all()
    looks = found.drop_duplicates("evaluation")["look"]
    assert sorted(looks) == list(range(1, len(looks) + 1))
    for name in re.findall(r'href="(comparisons/.*?)"', (folder / "out/report.html").read_text()):
        assert (folder / "out" / name).read_text().endswith("</html>\n")
    return len(looks)


def test_a_killed_evaluation_leaves_all_or_nothing(folder, record):
    moments, count, kills, took = random.Random(7), times(50, 5), 0, 0.0
    for number in itertools.count():
        candidate(folder, number)
        if number % 10 == 0:  # the machine's other work comes and goes
            began = time.monotonic()
            run("run", folder / "nightly.toml", "--output", folder / "out")
            took = time.monotonic() - began
            continue
        process = start("run", folder / "nightly.toml", "--output", folder / "out")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=moments.uniform(0.5, 1.1) * took)
        killed(process.pid)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        if kills == count:
            break
    done = run("run", folder / "nightly.toml", "--output", folder / "out")
    assert done.returncode == 0
    assert all(line.startswith("note: caught up: ") for line in done.stderr.splitlines())
    seen = f"each evaluation is whole or missing, {whole(folder)} in the history"
    record("a regression study is killed (kill -9)", count=count, seen=seen)


@needs(shutil.which("faketime"), "faketime")
def test_evaluations_of_a_clock_that_jumps_have_a_look_each(folder, record):
    jumps = ["+0d", "-400d", "+400d", "-2s", "+1h", "-1h"]
    for number, jump in enumerate(jumps):
        candidate(folder, number)
        words = ["run", folder / "nightly.toml", "--output", folder / "out"]
        subprocess.run(["faketime", "-f", jump, *PROGRAM, *map(str, words)], env=environment(), check=True)
    assert whole(folder) == len(jumps)
    record("the clock jumps by up to 400 days between evaluations", count=len(jumps), seen="each has a look of its own")


#: Ends the process of a run well, in the place of its work, while there is a file "idle".
IDLE = """
import json, os, sys, urllib.request
from pathlib import Path
if "prefect.engine" in sys.orig_argv and Path({idle!r}).exists():
    run = f"{{os.environ['PREFECT_API_URL']}}/flow_runs/{{os.environ['PREFECT__FLOW_RUN_ID']}}/set_state"
    for state in ("RUNNING", "COMPLETED"):
        content = json.dumps({{"state": {{"type": state}}, "force": True}}).encode()
        urllib.request.urlopen(urllib.request.Request(run, content, {{"Content-Type": "application/json"}})).read()
    os._exit(0)
"""


@contextlib.contextmanager
def deployed(server, folder, **more):
    """``sigstats deploy`` as it stays and runs what falls due."""
    process, _ = server.deploy(folder, folder.name, **more)
    try:
        yield process
    finally:
        killed(process.pid)
        process.wait(30)


def test_a_runner_killed_at_random_moments_blocks_no_later_run(server, folder, record):
    moments, count, ended = random.Random(8), times(50, 2), []
    for number in range(count):
        candidate(folder, number)
        with deployed(server, folder) as process:
            deployment = server.deployment(folder.name)
            if ended:
                ended[-1] = server.ended(ended[-1])["state_type"]
                assert server.ended(server.run_now(deployment))["state_type"] == "COMPLETED"
            ended.append(server.run_now(deployment))
            place = wait_until(lambda: server.run_of(ended[-1])["infrastructure_pid"], seconds=120)
            time.sleep(moments.uniform(0, 4))  # the moment, not a wait for anything
            killed(process.pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(place.rpartition(":")[2]), signal.SIGKILL)
    with deployed(server, folder):
        ended[-1] = server.ended(ended[-1])["state_type"]
        assert server.ended(server.run_now(server.deployment(folder.name)))["state_type"] == "COMPLETED"
    assert set(ended) <= {"CRASHED", "COMPLETED"}
    assert "Traceback" not in (folder / "deploy.log").read_text()
    seen = (
        f"{ended.count('CRASHED')} runs crashed, the others done; each next run completed, {whole(folder)} evaluations"
    )
    record("a schedule's runner and its run are killed (kill -9)", count=count, seen=seen)


def test_a_schedule_takes_no_more_memory_or_files_from_run_to_run(server, folder, record):
    count, measured, idle = times(200, 5), [], folder / "idle"
    (folder / "first").mkdir()
    (folder / "first/sitecustomize.py").write_text(IDLE.format(idle=str(idle)))
    path = os.pathsep.join([str(folder / "first"), *filter(None, [os.environ.get("PYTHONPATH")])])
    with deployed(server, folder, PYTHONPATH=path) as process:
        deployment, itself = server.deployment(folder.name), psutil.Process(process.pid)
        for number in range(count):
            if number % 40 == 0:
                candidate(folder, number)
                idle.unlink(missing_ok=True)
            else:
                idle.touch()
            ended = server.ended(server.run_now(deployment), seconds=times(3600, 240))  # beside much other work
            assert ended["state_type"] == "COMPLETED"
            wait_until(lambda: not itself.children())
            measured.append((itself.memory_info().rss >> 20, itself.num_fds(), itself.num_threads()))
    (memory, files, threads), middle, (memory_then, files_then, threads_then) = (
        measured[2],
        measured[count // 2],
        measured[-1],
    )
    assert memory_then <= memory + 20
    assert files_then <= files + 2
    assert threads_then <= threads + 2
    seen = f"the runner: {memory}, {middle[0]}, {memory_then} MB, {files}, {middle[1]}, {files_then} open files"
    assert whole(folder) == -(-count // 40)
    seen += " at its start, middle and end; every fortieth run evaluates a new candidate, the others end at once"
    record("runs of one schedule, one after another", count=count, seen=seen)
