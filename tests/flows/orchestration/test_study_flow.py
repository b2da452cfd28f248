"""`sigstats.flows.study_flow` in a flow of a person's own, on a real Prefect server."""

import pytest

from ..conftest import python, study_file
from ..predictions import STUDY, write

pytestmark = [pytest.mark.processes, pytest.mark.faults]

RELEASE = """
import prefect
from sigstats.flows import StudyFailed, study_flow

@prefect.flow
def release():
    found = study_flow(study="nightly.toml", output="out")
    print(found.verdict, found.output, found.report, len(found.summary))

try:
    release()
except StudyFailed as error:
    print("StudyFailed", error)
"""

#: Each wrong value is refused by itself; Prefect's pages show the types all the same.
WRONG = {
    "study": 5,
    "output": 5,
    "settings": "seed=7",
    "cluster": 5,
    "workers": "many",
    "base": 5,
    "allow": "netpackage",
    "priority": "high",
    "pages": "nowhere",
}
REFUSED = f"""
from sigstats.flows import study_flow

for name, value in {WRONG}.items():
    try:
        study_flow(**{{"study": "many.toml", "output": "out", name: value}})
    except ValueError as error:
        print(error)
print(study_flow.parameters.properties["workers"]["anyOf"][0])
"""

#: Cells that wait until the run is stopped: as many as there are threads begin, the others do not.
TIMED_OUT = """
import threading
import prefect
import sigstats.flows.running.study as running
from sigstats.flows import study_flow
from sigstats.tasks.engine.execute import Interrupted

def compute(self, cell):
    self._stop.wait()
    raise Interrupted

running.CellComputer.compute = compute

@prefect.flow(timeout_seconds=8)
def release():
    study_flow(study="many.toml", output="out", cluster="local")

try:
    release()
except BaseException as error:
    print(type(error).__name__)
"""

MANY = """
kind = "significance"
name = "many"
""" + "".join(
    f"""
[[samples]]
name = "pair {number}"
a = "old"
b = "new"
counts_a = [3, {number}]
counts_b = [7, 5]
"""
    for number in range(8)
)


#: The states of runs that a time-out ended.
ENDED = {"FAILED", "CANCELLED", "CRASHED"}


def run(server, folder, program):
    """What a program prints; it ends by itself."""
    done = python("-c", program, env=server.environment, cwd=folder, check=True)
    return done.stdout


def test_a_gate_returns_its_results_and_fails_each_time(server, tmp_path):
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    write(tmp_path / "predictions/candidate-1.csv", wrong=0.08, seed=1, at=1001)
    said = run(server, tmp_path, RELEASE).splitlines()[-1].split()
    assert said[0] in ("pass", "inconclusive")
    assert said[1:3] == ["out", str(tmp_path / "out/report.html")]
    assert int(said[3]) > 1
    write(tmp_path / "predictions/candidate-2.csv", wrong=0.08, on_west=0.40, seed=2, at=1002)
    assert "StudyFailed FAIL: accuracy on region = west fell by " in run(server, tmp_path, RELEASE)
    assert "StudyFailed still failing since " in run(server, tmp_path, RELEASE)


def test_a_wrong_value_is_one_line_and_nothing_is_written(server, tmp_path):
    (tmp_path / "many.toml").write_text(MANY)
    *said, schema = run(server, tmp_path, REFUSED).splitlines()
    for line, (name, value) in zip(said, WRONG.items(), strict=True):
        assert f"{name}: {value!r} is not valid; expected " in line
    assert schema == "{'type': 'integer'}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.toml"]
    assert {found["state_type"] for found in server.runs()[-len(WRONG) :]} == {"FAILED"}


def test_a_time_out_while_cells_have_not_begun_ends_the_process_and_every_run(server, tmp_path):
    (tmp_path / "many.toml").write_text(MANY)
    before = {found["id"] for found in server.runs()}
    assert run(server, tmp_path, TIMED_OUT).splitlines()[-1] == "FlowRunTimeoutError"
    mine = [found for found in server.runs() if found["id"] not in before]
    assert len(mine) == 2
    assert {found["state_type"] for found in mine} <= ENDED
    asked = {"flow_runs": {"id": {"any_": [found["id"] for found in mine]}}}
    assert {found["state_type"] for found in server.ask("task_runs/filter", asked)} <= ENDED
