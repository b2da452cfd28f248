"""What a plan says of the cost: what was timed, what was guessed, and what would make the study cheaper."""

from dataclasses import replace
from pathlib import Path

import pytest

from sigstats.flows.running.estimate import Estimate, _in_turn, count, counts_in_words, estimate, render
from sigstats.flows.running.progress import duration
from sigstats.flows.studies import parse_study
from sigstats.flows.studies.benchmark import KIND
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.tasks.storage.store import Store

STUDY = {
    "kind": "benchmark",
    "name": "s",
    "adjust": "none",
    "datasets": ["iris", "wine", "digits"],
    "classifiers": ["1-nn", "naive-bayes"],
    "permutation": {"resamples": 999},
}


def prepared(**more):
    study = parse_study({**STUDY, **more}, source="study")
    return study, KIND.prepare(study, Path())


def test_cells_beyond_the_budget_are_guessed_and_said_to_be(tmp_path):
    _, ready = prepared()
    counted = count(ready.plan, str(tmp_path / "output"))
    assert counts_in_words(ready.plan, counted) == "s: 18 cells, 11,994 replicates: 11,994 to do, 0 done"
    said = []
    found = estimate(ready, counted, scratch=Store(str(tmp_path / "scratch")), say=said.append, budget=0)
    assert [one.timed for one in found] == [True] + [False] * 17
    observed = [one for one in found if one.cell.fanout == "crossval"]
    assert all(one.seconds and one.seconds > 0 for one in observed)
    # Of data sets that were not timed the larger costs more: in proportion to 178 x 13 and 1797 x 64 numbers.
    of = {one.cell.subject["dataset"]: one.seconds for one in observed if one.cell.subject["classifier"] == "1-nn"}
    assert of["digits"] / of["wine"] == pytest.approx(1797 * 64 / (178 * 13))
    text = render(ready.plan, found, workers=2)
    assert "5 of 18 cells (~) were not timed, but guessed from the others" in text


def test_every_part_is_timed_before_any_twice(tmp_path):
    _, ready = prepared(permutation={"nulls": []})
    found = estimate(ready, count(ready.plan, str(tmp_path / "output")), scratch=Store(str(tmp_path / "scratch")))
    assert all(one.timed for one in found)
    order = [tuple(cell.subject.values()) for cell in _in_turn(ready.plan.cells)]
    assert set(order[:4]) == {("iris", "1-nn"), ("iris", "naive-bayes"), ("wine", "1-nn"), ("digits", "1-nn")}


def test_savings_are_those_of_the_rules(tmp_path):
    study, ready = prepared()
    counted = count(ready.plan, str(tmp_path / "output"))
    # A second a replicate; every other permutation as extreme as observed
    found = [replace(one, each=1.0, timed=True, share=0.5) for one in counted]
    scratch = Store(str(tmp_path / "scratch"))
    for dataset in ready.datasets:
        scratch.write_data(dataset)
    lines = list(KIND.savings(study, found, scratch))
    retrains = [one for one in found if one.cell.fanout == "retrain"]
    rule = GandyRule(maximum=999, alpha=0.05, reject_at=0.05, risk=1e-3)
    saved = sum(999 - rule.stops_at(0.5) for _ in retrains)
    assert any(line.startswith("cheaper: permutation.stopping = 'gandy' would save") for line in lines)
    assert lines[0].endswith(f"about {duration(saved)}")
    # Without adjustment the smallest p of 19 is 0.05
    assert any(
        f"permutation.resamples = 19, the fewest that can reject would save about {duration(980 * 12)}" in line
        for line in lines
    )


def test_a_finished_study_has_nothing_to_save(tmp_path):
    study, ready = prepared()
    done = [replace(one, done=one.left, left=0) for one in count(ready.plan, str(tmp_path / "output"))]
    assert list(KIND.savings(study, done, Store(str(tmp_path / "scratch")))) == []
    assert "0 to do, 11,994 done" in counts_in_words(ready.plan, done)


def test_many_cells_are_not_all_listed():
    _, ready = prepared()
    (first, *_) = ready.plan.cells
    many = [
        Estimate(replace(first, subject={"dataset": f"d{number}", "classifier": "c"}), 0, 1, each=number, timed=True)
        for number in range(150)
    ]
    lines = render(ready.plan, many, workers=1).splitlines()
    assert len(lines) < 30
    assert "d149 / c" in lines[1]
    assert any("and 130 cells, each of which costs less" in line for line in lines)
