"""Tests of a benchmark that stop together: where each ends, whatever the run was like, and what is refused."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import sigstats
from sigstats.flows.benchmark.plan import KIND
from sigstats.flows.errors import BadInput
from sigstats.flows.running.kind import parse_study
from sigstats.multiplicity import adjust_pvalues
from sigstats.sequential import joint_rule
from sigstats.sequential.joint_rule import JointRule
from sigstats.tasks.engine.stopping import exceeds
from sigstats.tasks.fan_out import observed_cell
from sigstats.tasks.results import Results, read_plan, write_plan
from sigstats.tasks.storage.store import Store

from ..conftest import results, run_on, study_file

STUDY = """\
kind = "benchmark"
seed = 5
alpha = 0.1
adjust = "benjamini-hochberg"
tests = ["permutation"]
classifiers = ["1-nn", "naive-bayes"]
datasets = ["iris", { name = "noise", source = "csv", path = "noise.csv", target = "class" },
  { name = "hint", source = "csv", path = "hint.csv", target = "class" }]

[cross_validation]
folds = 3

[permutation]
resamples = 299
stopping = "joint"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("joint")
    rng, y = np.random.default_rng(4), np.arange(40) % 2
    for name, shift in (("noise", 0.0), ("hint", 0.55)):
        x = rng.standard_normal((40, 3)) + shift * y[:, None]
        rows = (",".join([*(f"{value:.6f}" for value in row), str(label)]) for row, label in zip(x, y, strict=True))
        (folder / f"{name}.csv").write_text("a,b,c,class\n" + "\n".join(rows) + "\n")
    return study_file(folder, STUDY)


@pytest.fixture(scope="module")
def finished(study, tmp_path_factory):
    """The output of the study by the plain loop."""
    output = tmp_path_factory.mktemp("finished") / "output"
    run_on(study, output, "serial")
    return output


def rows_of(output):
    return pq.read_table(output / "summary.parquet").to_pylist()


@pytest.mark.long
def test_each_test_ends_where_all_replicates_of_all_say(program, study, finished, tmp_path):
    whole = study_file(study.parent, STUDY.replace('stopping = "joint"', ""), "whole.toml")
    run_on(whole, tmp_path / "whole", "serial")
    assert ": 0 to do, " in program("plan", study, "--output", tmp_path / "whole", "--no-timing").stdout
    full = Results(Store(str(tmp_path / "whole")))
    ended = {(row["cell"], row["test"]): row for row in rows_of(finished)}
    for null in ("labels", "features"):
        cells = full.cells("retrain", null=null)
        flags = [exceeds(cell, full.table(cell), full.table(observed_cell(cell))) for cell in cells]
        rule = JointRule(maximum=299, alpha=0.1)
        rows = [ended[cell.name, f"permutation-{null}"] for cell in cells]
        assert [row["replicates"] for row in rows] == [stop.replicates for stop in rule.stops(flags)]
        adjusted = adjust_pvalues([row["p_value"] for row in rows], method="benjamini-hochberg")
        assert [row["decision"] for row in rows] == ["reject" if p <= 0.1 else "keep" for p in adjusted]
        for row, cell in zip(rows, cells, strict=True):
            (file,) = (finished / "replicates" / cell.name).iterdir()
            assert file.name == f"000000000-{min(299, -(-row['replicates'] // 10) * 10):09d}.parquet"
    notes = {re.sub(r"\d+", "N", row["note"]) for row in ended.values()}
    assert {"stopped after N of N replicates: rejected", "stopped after N of N replicates: N as extreme"} <= notes
    assert len({row["replicates"] for row in ended.values()}) > 4


@pytest.mark.long
def test_the_report_tells_how_tests_ended(finished):
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert "more permutations as extreme as observed than tests at the level of rejection were likely to have" in page
    assert "adjusted by Benjamini and Hochberg" in page


def test_a_study_that_is_done_has_nothing_left(program, study, finished):
    before = results(finished)
    assert re.search(r": 0 to do, [0-9,]+ done", program("plan", study, "--output", finished, "--no-timing").stdout)
    done = program("run", study, "--output", finished)
    assert done.returncode == 0
    assert results(finished) == before


def test_an_output_whose_rule_had_other_settings_is_read_once_it_is_run_again(program, study, finished, tmp_path):
    output = Path(shutil.copytree(finished, tmp_path / "earlier"))
    store = Store(str(output))
    plan = read_plan(store)
    cells = [one if one.stopping is None else replace(one, stopping={**one.stopping, "most": 9}) for one in plan.cells]
    write_plan(store, replace(plan, cells=tuple(cells)))
    read = sigstats.open_results(output)
    assert len(read.summary) == len(rows_of(finished))
    with pytest.raises(ValueError, match="has a stopping rule from another version; to read it, run the study again"):
        _ = read.cells
    refused = program("report", output)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert "run the study again with this output" in refused.stderr
    run_on(study, output, "serial")
    assert program("report", output).returncode == 0
    assert results(output) == results(finished)


def test_tests_that_an_earlier_rule_ended_are_read_as_unfinished(finished, monkeypatch):
    monkeypatch.setattr(joint_rule, "UNLIKELY", 0.0)
    read = Results(Store(str(finished)))
    assert any(read.table(cell) is None for cell in read.cells("retrain"))


@pytest.mark.long
def test_parts_compute_what_no_other_can_spare_and_the_last_run_the_rest(program, study, finished, tmp_path):
    for _ in range(2):
        for part in ("1/3", "2/3", "3/3"):
            said = program("run", study, "--output", tmp_path / "parts", "--part", part)
            assert said.returncode == 0
    assert "start the parts again" in said.stderr
    run_on(study, tmp_path / "parts", "serial")
    assert results(tmp_path / "parts") == results(finished)


@pytest.mark.long
@pytest.mark.processes
def test_the_bytes_are_the_same_on_workers(study, finished, tmp_path):
    run_on(study, tmp_path / "two", "local", 2)
    assert results(tmp_path / "two") == results(finished)


@pytest.mark.parametrize(
    ("kind", "change", "complaint"),
    [
        ("benchmark", {"classifiers": [{"name": "a", "learner": "1-nn", "stopping": "gandy"}]}, "classifiers: a: stop"),
        ("significance", {"stopping": "joint"}, "stopping: 'joint' is not valid"),
    ],
)
def test_what_cannot_stop_together_is_refused_in_a_line(kind, change, complaint):
    values = {"kind": kind, "name": "s"}
    if kind == "benchmark":
        values |= {"datasets": ["iris"], "permutation": {"stopping": "joint"}}
    else:
        values |= {"tables": [{"name": "a", "counts": [[3, 1], [1, 3]]}]}
    study = parse_study({**values, **change}, source="s.toml")
    from sigstats.flows.significance.plan import KIND as TABLES

    with pytest.raises((BadInput, ValueError), match=complaint) as refused:
        (KIND if kind == "benchmark" else TABLES).prepare(study, Path())
    assert "\n" not in str(refused.value)
