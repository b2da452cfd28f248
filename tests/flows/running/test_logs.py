"""Logs for a program: an object a line, each with its study, and its cell where it is about one."""

import json
import math
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from sigstats.flows.cli import main
from sigstats.flows.running.progress import Display
from sigstats.flows.running.time_left import Costs
from sigstats.tasks.engine.run_block import Receipt
from sigstats.tasks.plan import Plan
from sigstats.tasks.record import Folds, Learner, Named
from sigstats.tasks.replicates import cell
from sigstats.tasks.work import Retrained

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


def test_a_run_that_finds_everything_done_says_so(tmp_path, capsys):
    logged(tmp_path, capsys)
    code, said = logged(tmp_path, capsys, "--log-format", "json")
    kinds = [json.loads(line)["event"] for line in said.err.splitlines()]
    assert (code, kinds.count("block"), kinds.count("cell")) == (0, 0, 12)


def retrained(name, classifier):
    return Retrained(
        dataset=Named(name=name, digest=name),
        classifier=Learner(learner=classifier, params={}),
        cross_validation=Folds(folds=10, seed=1),
        null="labels",
    )


def test_the_time_left_follows_what_a_cells_parts_have_cost():
    """Costs that are products of one factor for the data and one for the classifier are guessed exactly."""
    data, classifiers = {"iris": 0.01, "mushroom": 2.0, "sonar": 0.1}, {"1-nn": 1.0, "tree": 30.0}
    cells = {
        (name, classifier): cell(
            "retrain",
            subject={"dataset": name, "classifier": classifier},
            work=retrained(name, classifier),
            seed=0,
            replicates=10,
        )
        for name in data
        for classifier in classifiers
    }
    assert Costs([]).guess(cells["iris", "tree"]) == math.inf
    seen = [("iris", "1-nn"), ("iris", "tree"), ("mushroom", "1-nn"), ("sonar", "tree")]  # not every pair, nor evenly
    costs = Costs([(cells[name, classifier], data[name] * classifiers[classifier]) for name, classifier in seen])
    for (name, classifier), one in cells.items():
        assert costs.guess(one) == pytest.approx(data[name] * classifiers[classifier], rel=0.05)


def test_data_that_were_cross_validated_alone_are_no_surprise_to_the_time_left():
    """A retrain of each costs twice its cross-validation; of the largest no retrain was seen."""
    data = {"iris": 0.01, "sonar": 0.1, "digits": 40.0}
    of = {
        fanout: {
            name: cell(fanout, subject={"dataset": name}, work=retrained(name, "1-nn"), seed=0, replicates=10)
            for name in data
        }
        for fanout in ("crossval", "retrain")
    }
    observed = [(of["crossval"][name], cost) for name, cost in data.items()]
    costs = Costs([*observed, *((of["retrain"][name], 2 * data[name]) for name in ("iris", "sonar"))])
    assert costs.guess(of["retrain"]["digits"]) == pytest.approx(80.0, rel=0.01)


def test_the_time_left_knows_where_rules_stop():
    """Of two cells of a million replicates that one in two exceeds, the one half done, little is left."""
    rule = {"rule": "besag-clifford", "exceedances": 50}
    cells = []
    for name in ("one", "two"):
        every = cell("retrain", subject={"dataset": name}, work=retrained(name, "1-nn"), seed=0, replicates=10**6)
        cells.append(replace(every, stopping=rule))
    display = Display(quiet=True)
    plan = Plan(study="s", kind="benchmark", cells=tuple(cells), analyses=(), alpha=0.05, adjust="none")
    display.start(plan, workers=lambda: 2)
    receipt = Receipt(first=0, last=50, seconds=100.0, overhead=0, bytes=0, host="", exceedances=25)
    display.advance(cells[0], 50, receipt)
    # 100 replicates each are expected, 2 seconds each: 50 of the one are left and all of the other, on two workers.
    assert display._totals()["seconds_left"] == pytest.approx((50 + 100) * 2 / 2, rel=0.05)


@pytest.mark.parametrize("form", ["text", "json"])
def test_quiet_is_quiet(tmp_path, capsys, form):
    code, said = logged(tmp_path, capsys, "--log-format", form, "--quiet")
    assert (code, said.out, said.err) == (0, "", "")
