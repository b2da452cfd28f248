"""``sigstats run`` is cancelled in the pages of a real Prefect server."""

import fcntl
import os
import signal
import subprocess
import sys

import pytest

from ..conftest import PROGRAM, QUICK, blocks, study_file, wait_until
from ..predictions import STUDY, write

pytestmark = [pytest.mark.processes, pytest.mark.faults]


def begun(server, words, output, ready=None):
    """A process whose study has stored a block, or is `ready`, and its flow run."""
    process = subprocess.Popen(
        words, env=server.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip

    def under_way():
        running = [run for run in server.runs(types=["RUNNING"]) if run["parameters"].get("output") == str(output)]
        return running if (ready or (lambda: blocks(output) > 0))() else None

    (run,) = wait_until(under_way, process, interval=0.2)
    return process, run


def cancelled(server, study, *more, ready=None):
    """The flow run of a study that is cancelled once it has begun, after its end."""
    output = study.parent / "out"
    process, run = begun(server, [*PROGRAM, "run", study, "--output", output, *more], output, ready)
    server.ask(f"flow_runs/{run['id']}/set_state", {"state": {"type": "CANCELLING", "name": "Cancelling"}})
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert f"interrupted; run the same command to continue from {output}" in said
    assert "Traceback" not in said
    assert server.run_of(run["id"])["state_type"] == "CANCELLED"
    return run


def test_a_study_in_cells_stops_and_keeps_what_it_has_computed(server, tmp_path):
    long = study_file(tmp_path, QUICK.replace("59", "999999"))
    run = cancelled(server, long, "--cluster", "local")
    assert blocks(tmp_path / "out") > 0
    asked = {"flow_runs": {"id": {"any_": [run["id"]]}}}
    assert {task["state_type"] for task in server.ask("task_runs/filter", asked)} <= {"CANCELLED", "COMPLETED"}


def test_a_study_that_waits_for_its_history_stops(server, tmp_path):
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    write(tmp_path / "predictions/candidate-1.csv", wrong=0.08, seed=1, at=1001)
    (tmp_path / "out").mkdir()
    with (tmp_path / "out/.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        cancelled(server, study_file(tmp_path, STUDY), ready=lambda: True)
    assert not (tmp_path / "out/history").exists()


def test_a_killed_run_is_crashed_once_the_next_takes_over_its_output(server, tmp_path):
    words = [*PROGRAM, "run", str(study_file(tmp_path, QUICK.replace("59", "2999"))), "--output", str(tmp_path / "out")]
    process, run = begun(server, [*words, "--cluster", "local"], tmp_path / "out")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert server.run_of(run["id"])["state_type"] == "RUNNING"
    assert (tmp_path / "out/flow_run.json").exists()
    subprocess.run([*words, "--cluster", "serial"], env=server.environment, check=True, capture_output=True)
    killed = server.run_of(run["id"])
    assert killed["state_type"] == "CRASHED"
    assert "its process is gone" in killed["state"]["message"]
    assert server.runs()[-1]["state_type"] == "COMPLETED"
    assert not (tmp_path / "out/flow_run.json").exists()


def test_a_pause_is_refused_and_the_study_goes_on(server, tmp_path):
    study, output = study_file(tmp_path, QUICK.replace("59", "999999")), tmp_path / "out"
    process, run = begun(server, [*PROGRAM, "run", study, "--output", output, "--cluster", "local"], output)
    paused = {"state": {"type": "PAUSED", "name": "Paused"}, "force": True}
    server.ask(f"flow_runs/{run['id']}/set_state", paused)
    state = wait_until(lambda: (now := server.run_of(run["id"])["state"])["type"] == "RUNNING" and now, process)
    assert "cannot be paused" in state["message"]
    server.ask(f"flow_runs/{run['id']}/set_state", {"state": {"type": "CANCELLING"}})
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.count("cannot be paused")) == (130, 1)


SCRIPT = """\
import sys
from prefect import flow
from sigstats.flows import study_flow

@flow
def release(study, place):
    study_flow(study=study, output=place, cluster="serial")

if __name__ == "__main__":
    release(*sys.argv[1:])
"""


def test_cancelling_the_flow_around_a_study_ends_it(server, tmp_path):
    """A script that a person started has no runner of Prefect that would end its process."""
    (tmp_path / "release.py").write_text(SCRIPT)
    study = study_file(tmp_path, QUICK.replace("59", "999999"))
    words = [sys.executable, tmp_path / "release.py", study, tmp_path / "out"]
    process, run = begun(server, words, tmp_path / "out")
    (outer,) = [one for one in server.runs(types=["RUNNING"]) if one["parameters"].get("place")]
    server.ask(f"flow_runs/{outer['id']}/set_state", {"state": {"type": "CANCELLING", "name": "Cancelling"}})
    process.communicate(timeout=120)
    assert server.run_of(run["id"])["state_type"] == "CANCELLED"
    assert server.ended(outer["id"])["state_type"] in ("CANCELLED", "FAILED", "CRASHED")
