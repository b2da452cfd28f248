"""Sequential stopping through whole studies: what the plan says, equal bytes everywhere, the saving in the report."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from sigstats.flows.benchmark.plan import KIND
from sigstats.flows.errors import BadInput
from sigstats.flows.report import sections
from sigstats.flows.report.evidence import Evidence
from sigstats.flows.running.estimate import count, render
from sigstats.flows.running.kind import parse_study
from sigstats.flows.running.timing import estimate
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.precision_rules import PrecisePRule
from sigstats.sequential.rules import BesagCliffordRule
from sigstats.tasks.fan_out import fanout
from sigstats.tasks.results import Results, read_plan, write_plan
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary import summarize

from ..synthetic_study import make_study


def prepared(adjust="none", **permutation):
    values = {
        "kind": "benchmark",
        "name": "s",
        "adjust": adjust,
        "datasets": ["iris", "wine"],
        "classifiers": ["1-nn", "naive-bayes", {"name": "tree", "learner": "decision-tree", "stopping": "none"}],
        "permutation": permutation,
    }
    return KIND.prepare(parse_study(values, source="s.toml"), Path())


@pytest.mark.parametrize(
    # Of the smallest of 6 p-values Holm and Benjamini-Hochberg make 6 times as much, Benjamini-Yekutieli
    # 6 (1 + 1/2 + ... + 1/6) = 14.7 times.
    ("adjust", "factor"),
    [("none", 1), ("holm", 6), ("benjamini-hochberg", 6), ("benjamini-yekutieli", 14.7)],
)
def test_a_rejection_is_certain_only_if_it_survives_the_adjustment(adjust, factor):
    plan = prepared(adjust, stopping="gandy", risk=0.01).plan
    rules = [cell.rule for cell in plan.cells if cell.stopping is not None]
    assert len(rules) == 8
    for rule in rules:
        assert isinstance(rule, GandyRule)
        assert (rule.maximum, rule.alpha, rule.risk) == (999, 0.05, 0.01)
        assert rule.reject_at == pytest.approx(0.05 / factor, rel=1e-12)


def test_or_of_p_itself_and_says_so_where_the_other_is_out_of_reach():
    method = "benjamini-yekutieli"
    assert not prepared("holm", stopping="gandy").notes
    (note,) = prepared(method, stopping="gandy").notes
    assert note.startswith("gandy can never reject a test: rejection is certain only at p <= 0.0034")
    less = prepared(method, stopping="gandy", certain="unadjusted")
    assert {cell.rule.rejection_level for cell in less.plan.cells if cell.stopping is not None} == {0.05}
    assert not less.notes


def test_besag_and_clifford_stop_where_p_is_above_alpha():
    plan = prepared(stopping="besag-clifford").plan
    rules = {cell.rule for cell in plan.cells if cell.stopping is not None}
    assert rules == {BesagCliffordRule(maximum=999, exceedances=50)}


def test_precision_stops_where_p_is_known():
    plan = prepared(stopping="precision", precision=0.02).plan
    rules = {cell.rule for cell in plan.cells if cell.stopping is not None}
    assert rules == {PrecisePRule(maximum=999, error=0.02)}


def test_a_rule_changes_no_replicate():
    plain, ruled = prepared().plan, prepared(stopping="gandy").plan
    assert [cell.name for cell in plain.cells] == [cell.name for cell in ruled.cells]
    assert all(cell.stopping is None for cell in plain.cells)


def test_retrains_are_compared_with_a_cell_of_the_plan():
    plan = prepared(stopping="gandy").plan
    names = {cell.name: cell for cell in plan.cells}
    for cell in plan.cells:
        if cell.fanout == "retrain":
            observed = fanout("retrain").observed(cell)
            assert names[observed.name] == observed


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"stopping": "gandi"}, "permutation.stopping: 'gandi' is not valid"),
        ({"risk": 0.0}, "permutation.risk: 0.0 is not valid"),
        ({"risk": 0.3}, "permutation.risk: 0.3 is not valid"),
        ({"precision": 0.0}, "permutation.precision: 0.0 is not valid"),
    ],
)
def test_bad_settings_are_one_line(change, complaint):
    with pytest.raises(BadInput, match=re.escape(complaint)):
        prepared(**change)


def test_a_level_that_no_number_of_replicates_reaches_is_one_line():
    values = {"kind": "benchmark", "name": "s", "datasets": ["iris"], "classifiers": ["1-nn"], "alpha": 1e-320}
    with pytest.raises(BadInput, match="resamples: 999 is not valid; expected at least 10000"):
        parse_study(values, source="s.toml")


def test_what_a_study_gives_and_no_test_of_it_uses_is_noted():
    unused = "permutation.precision and permutation.risk are not used: no test of the study stops by this rule"
    assert prepared(stopping="besag-clifford", risk=0.01, precision=0.1).notes == (unused,)
    assert prepared(stopping="gandy", certain="unadjusted", risk=0.01).notes == ()
    no_test = "permutation.resamples is not used: no permutation test is among the tests of the study"
    values = {"kind": "benchmark", "name": "s", "datasets": ["iris"], "classifiers": ["1-nn"], "tests": ["mcnemar"]}
    study = parse_study({**values, "permutation": {"resamples": 99}}, source="s.toml")
    assert KIND.prepare(study, Path()).notes == (no_test,)


def test_a_number_of_folds_beside_data_that_name_them_is_noted(tmp_path):
    rows = (f"{row * 7 % 11},{row % 4},{row // 4 % 2}\n" for row in range(40))
    (tmp_path / "own.csv").write_text("x,fold,class\n" + "".join(rows))
    own = {"name": "own", "source": "csv", "path": "own.csv", "target": "class", "folds": "fold"}
    unused = ("cross_validation.folds is not used: each data set names the fold of each row",)
    for datasets, settings, notes in (
        ([own], {"folds": 7}, unused),
        ([own], {"rare_classes": "allow"}, ()),
        ([own, "iris"], {"folds": 7}, ()),
    ):
        values = {"kind": "benchmark", "name": "s", "classifiers": ["1-nn"], "tests": ["mcnemar"]}
        study = parse_study({**values, "datasets": datasets, "cross_validation": settings}, source="s.toml")
        prepared = KIND.prepare(study, tmp_path)
        assert prepared.notes == notes
        folds = {cell.subject["dataset"]: cell.work.cross_validation.folds for cell in prepared.plan.cells}
        assert folds["own"] != 7
        assert folds.get("iris", 7) == 7


@pytest.fixture
def stopped(tmp_path):
    """The synthetic study with the rule of Gandy on labels and of Besag and Clifford on features."""
    store = make_study(tmp_path, lost=())
    plan = read_plan(store)
    rules = {
        "labels": {"rule": "gandy", "alpha": 0.05, "reject_at": 0.05 / 16, "risk": 0.001},
        "features": {"rule": "besag-clifford", "exceedances": 50},
    }
    ruled = tuple(replace(cell, stopping=rules.get(cell.subject.get("null", ""))) for cell in plan.cells)
    before = {(row["cell"], row["test"]): row for row in Results(store).summary.to_pylist()}
    write_plan(store, replace(plan, cells=ruled))
    summarize(store, KIND.analyses)
    return store, before


def test_the_summary_rests_on_the_replicates_up_to_the_stop_alone(stopped):
    store, before = stopped
    results_ = Results(store)
    early = 0
    for row in results_.summary.to_pylist():
        whole = before[row["cell"], row["test"]]
        if row["replicates"] is None:
            assert row == whole
            continue
        assert row["decision"] == whole["decision"]
        if row["replicates"] == 999:
            assert (row["p_value"], row["note"]) == (whole["p_value"], "")
            continue
        early += 1
        assert row["note"] == f"stopped after {row['replicates']} of 999 replicates"
        (cell,) = (cell for cell in results_.plan.cells if cell.name == row["cell"])
        wrong = results_.table(cell).column("wrong").to_numpy()
        assert len(wrong) == row["replicates"]
        assert row["exceedances"] == (wrong <= round(row["estimate"] * row["n"])).sum()
        assert row["p_low"] <= row["p_value"] <= row["p_high"]
    assert early


def test_the_report_tells_the_saving_and_what_it_costs(stopped):
    store, _ = stopped
    evidence = Evidence(Results(store))
    for section in sections.of_study(evidence):
        if section.test.startswith("permutation"):
            rows = evidence.rows_of(section.test)
            run_, early = sum(row.replicates for row in rows), sum(row.replicates < 999 for row in rows)
            (saving,) = (s for s in section.verdict(rows, evidence).details if "Sequential" in s)
            assert saving.startswith(
                f"Sequential stopping ended {early} of 16 tests early: of 15,984 permutations, {run_:,} were needed"
            )
            promise = (
                "its decision is certain: with probability at most 0.001"
                if section.test.endswith("labels")
                else "every decision is the"
            )
            assert any(promise in sentence for sentence in section.verdict(rows, evidence).details)


@pytest.mark.long
def test_a_plan_says_at_most_until_the_rule_has_stopped(tmp_path):
    study = prepared(stopping="gandy", resamples=199)
    found = count(study.plan, str(tmp_path / "output"))
    assert {item.left for item in found} == {1, 199}
    text = render(study.plan, estimate(study, found, scratch=Store(str(tmp_path / "scratch"))), workers=1)
    assert "at most" in text
