"""Retries and limits of Prefect act on the task runs in which cells are computed, on a real server."""

import pytest

from ..conftest import python

pytestmark = [pytest.mark.processes, pytest.mark.faults]

#: Each cell fails the first time, and two seconds are enough for others to begin beside it.
PROGRAM = """
import sys, threading, time
import prefect
import sigstats.flows.running.study as running
from sigstats.flows import study_flow
from sigstats.tasks.engine.execute import Outcome
from sigstats.tasks.engine.blocks import Failure

how = sys.argv[1]
compute, tried, under_way, most, lock = running.CellComputer.compute, set(), 0, 0, threading.Lock()

def cell_of(self, cell):
    global under_way, most
    if how != "tagged" and cell.name not in tried:
        tried.add(cell.name)
        return Outcome(cell, failures=[Failure(first=0, last=1, error="E", message="once", traceback="")])
    with lock:
        under_way += 1
        most = max(most, under_way)
    try:
        time.sleep(0.5)
        return compute(self, cell)
    finally:
        with lock:
            under_way -= 1

running.CellComputer.compute = cell_of
pair = {"a": "old", "b": "new", "counts_a": [3, 9]}
samples = [{**pair, "name": f"pair {n}", "counts_b": [7, n]} for n in range(4)]
run = study_flow.with_options(retries=1) if how == "flow" else study_flow
with prefect.tags(*(["one-at-a-time"] if how == "tagged" else [])):
    found = run(study={"kind": "significance", "name": how, "samples": samples}, output="out", cluster="local")
print(len(found.summary), most)
"""


def run(server, folder, how, **environment):
    """The numbers of rows and of cells that were computed at a time, and the flow run."""
    done = python("-c", PROGRAM, how, env={**server.environment, **environment}, cwd=folder)
    assert done.returncode == 0, done.stderr
    (mine,) = [found for found in server.runs() if found["name"] == how]
    assert mine["state_type"] == "COMPLETED"
    rows, most = map(int, done.stdout.split()[-2:])
    return rows, most, mine


def cells_of(server, run):
    found = server.tasks_of(run["id"], expected=4 + 1)
    return [each for each in found if not each["name"].startswith("results")]


def test_a_cell_that_failed_is_tried_again(server, tmp_path):
    rows, most, mine = run(server, tmp_path, "cells", PREFECT_TASKS_DEFAULT_RETRIES="1")
    assert (rows, most > 1, mine["run_count"]) == (4, True, 1)
    assert [found["run_count"] for found in cells_of(server, mine)] == [2] * 4


def test_a_study_that_failed_goes_on_with_the_cells_that_are_missing(server, tmp_path):
    rows, _, mine = run(server, tmp_path, "flow")
    assert (rows, mine["run_count"]) == (4, 2)


def test_the_limit_of_a_tag_bounds_the_cells_under_way(server, tmp_path):
    server.ask("concurrency_limits/", {"tag": "one-at-a-time", "concurrency_limit": 1})
    rows, most, mine = run(server, tmp_path, "tagged")
    assert (rows, most) == (4, 1)
    assert [found["tags"] for found in cells_of(server, mine)] == [["one-at-a-time"]] * 4
