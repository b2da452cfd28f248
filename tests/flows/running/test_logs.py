"""Logs for a program: an object a line, each with its study, and its cell where it is about one."""

import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from sigstats.flows.commands import main
from sigstats.flows.running.progress import Display
from sigstats.tasks.engine.blocks import Receipt
from sigstats.tasks.fan_out import cell_of
from sigstats.tasks.plan import Plan

from ...cells import retrained
from ..conftest import QUICK, study_file


def logged(tmp_path, capsys, *options):
    path = study_file(tmp_path, QUICK)
    code = main(["run", str(path), "--output", str(tmp_path / "out"), "--cluster", "serial", *options])
    return code, capsys.readouterr()


def test_every_line_is_an_event_and_they_add_up(tmp_path, capsys):
    code, said = logged(tmp_path, capsys, "--log-format", "json")
    assert (code, said.out) == (0, "")
    events = [json.loads(line) for line in said.err.splitlines()]
    assert {event["study"] for event in events} == {"study"}
    kinds = [event["event"] for event in events]
    assert (kinds.count("start"), kinds.count("end"), kinds.count("cell")) == (1, 1, 12)
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    cells = {event["cell"]: event for event in events if event["event"] == "cell"}
    blocks = [event for event in events if event["event"] == "block"]
    for name, ended in cells.items():
        assert sum(block["replicates"] for block in blocks if block["cell"] == name) == ended["replicates"]
        assert {"dataset", "classifier"} <= ended.keys()
    rows = pq.read_table(tmp_path / "out" / "summary.parquet").to_pylist()
    assert {name for row in rows for name in row["cell"].split()} <= cells.keys()
    assert events[-1]["hypotheses"] == len(rows)
    last = {block["cell"]: block.get("p_so_far") for block in blocks}
    for row in rows:
        if row["method"] == "permutation":
            (found,) = {last[name] for name in row["cell"].split() if last[name] is not None}
            assert found == pytest.approx(row["p_value"])
    assert events[-1]["replicates"] == sum(ended["replicates"] for ended in cells.values())


@pytest.mark.long
def test_a_run_that_finds_everything_done_says_so(tmp_path, capsys):
    logged(tmp_path, capsys)
    code, said = logged(tmp_path, capsys, "--log-format", "json")
    kinds = [json.loads(line)["event"] for line in said.err.splitlines()]
    assert (code, kinds.count("block"), kinds.count("cell")) == (0, 0, 12)


def run_of(cells, sizes=None):
    display = Display(quiet=True)
    plan = Plan(study="s", kind="benchmark", cells=tuple(cells), analyses=(), alpha=0.05, adjust="none")
    with display.start(plan, workers=lambda: 2, sizes=sizes or {}):
        return display


def block(first, last, seconds, **more):
    return Receipt(first=first, last=last, seconds=seconds, overhead=0, bytes=0, host="", **more)


def retrains(*names, classifier="1-nn"):
    return [
        cell_of(
            "retrain",
            subject={"dataset": name, "classifier": classifier},
            work=retrained(name, classifier),
            seed=0,
            replicates=100,
        )
        for name in names
    ]


def test_the_time_left_is_not_that_of_a_first_block_which_compiles():
    """Of 100 replicates that take 0.1 s the first took a minute: 8.9 s are left on two workers, not 50 minutes."""
    one, two = retrains("iris", "sonar")
    display = run_of([one, two])
    display.advance(one, 1, block(0, 1, 60.0))
    assert display._totals()["seconds_left"] is None
    display.advance(one, 10, block(1, 11, 1.0))
    assert display._totals()["seconds_left"] == pytest.approx((89 + 100) * 0.1 / 2, rel=0.01)


def test_no_time_left_is_named_while_a_classifier_of_unknown_cost_is_left():
    """One classifier takes microseconds, and the other has done its first lane, which is not taken for its cost."""
    (fast,), (slow,) = retrains("iris"), retrains("iris", classifier="svm")
    display = run_of([fast, slow])
    display.advance(fast, 10, block(0, 10, 1e-4))
    display.advance(fast, 90, block(10, 100, 9e-4))
    display.cell_done(fast)
    assert display._totals()["seconds_left"] is None
    display.advance(slow, 10, block(0, 10, 5.0))
    assert display._totals()["seconds_left"] is None
    display.advance(slow, 10, block(10, 20, 3.0))
    assert display._totals()["seconds_left"] == pytest.approx(80 * 0.3 / 2, rel=0.01)


def test_a_part_without_any_work_has_no_time_left():
    assert run_of([])._totals()["seconds_left"] == 0


def test_larger_data_are_expected_to_take_longer_and_what_is_measured_replaces_that():
    small, large = retrains("small", "large")
    display = run_of([small, large], {"small": (100, 4, 2), "large": (10_000, 4, 2)})
    display.advance(small, 10, block(0, 10, 1.0))
    display.advance(small, 90, block(10, 100, 9.0))
    display.cell_done(small)
    expected = display._totals()["seconds_left"]
    assert 100 * 0.1 / 2 < expected < 100 * 0.1 * 10_000 / 2
    display.advance(large, 1, block(0, 1, 9.0))
    display.advance(large, 1, block(1, 2, 3.0))
    assert display._totals()["seconds_left"] == pytest.approx(98 * 3.0 / 2, rel=0.01)


def test_the_time_left_knows_where_rules_stop():
    """Of two cells of a million replicates that one in two exceeds, the one half done, little is left."""
    rule = {"rule": "besag-clifford", "exceedances": 50}
    cells = []
    for name in ("one", "two"):
        every = cell_of("retrain", subject={"dataset": name}, work=retrained(name, "1-nn"), seed=0, replicates=10**6)
        cells.append(replace(every, stopping=rule))
    display = run_of(cells)
    display.advance(cells[0], 10, block(0, 10, 100.0, exceedances=5))
    display.advance(cells[0], 40, block(10, 50, 80.0, exceedances=20))
    # 100 replicates each are expected, 2 seconds each: 50 of the one are left and all of the other, on two workers.
    assert display._totals()["seconds_left"] == pytest.approx((50 + 100) * 2 / 2, rel=0.05)


def test_what_ends_a_run_is_the_last_object(tmp_path, capsys):
    code, said = logged(tmp_path, capsys, "--log-format", "json", "--set", "datasets=[]")
    (event,) = [json.loads(line) for line in said.err.splitlines()]
    assert (code, event["event"], event["code"]) == (2, "error", 2)
    assert "datasets" in event["text"]
    assert event["time"]


@pytest.mark.long
@pytest.mark.parametrize("form", ["text", "json"])
def test_quiet_is_quiet(tmp_path, capsys, form):
    code, said = logged(tmp_path, capsys, "--log-format", form, "--quiet")
    assert (code, said.out, said.err) == (0, "", "")
