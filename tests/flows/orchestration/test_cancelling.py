"""``sigstats run`` is cancelled in the pages of a real Prefect server."""

import fcntl
import subprocess

import pytest

from ..conftest import PROGRAM, QUICK, blocks, study_file, wait_until
from ..predictions import STUDY, write
from ..prefect_server import started

pytestmark = [pytest.mark.processes, pytest.mark.faults]


@pytest.fixture(scope="module")
def server():
    with started("sqlite") as found:
        yield found


def cancelled(server, study, *more, ready):
    """A run that is cancelled once `ready` is true, after its end: what it said, and its flow run."""
    before = {run["id"] for run in server.runs()}
    process = subprocess.Popen(
        [*PROGRAM, "run", str(study), "--output", str(study.parent / "out"), *more],
        env=server.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )

    def under_way():
        mine = [run for run in server.runs(types=["RUNNING"]) if run["id"] not in before]
        return mine if ready() else None

    (run,) = wait_until(under_way, process, interval=0.2)
    asked = {"state": {"type": "CANCELLING", "name": "Cancelling"}}
    server.ask(f"flow_runs/{run['id']}/set_state", asked)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert f"interrupted; the same command goes on from {study.parent / 'out'}" in said
    assert "Traceback" not in said
    assert server.run_of(run["id"])["state_type"] == "CANCELLED"
    return run


def test_a_study_in_cells_stops_and_keeps_what_it_has_computed(server, tmp_path):
    long = study_file(tmp_path, QUICK.replace("59", "999999"))
    run = cancelled(server, long, "--cluster", "local", ready=lambda: blocks(tmp_path / "out") > 0)
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
