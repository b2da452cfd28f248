"""How good each classifier is, against scikit-learn's own numbers."""

from pathlib import Path

import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score

from sigstats.flows.benchmark.report.accuracies import performances
from sigstats.flows.benchmark.report.page import accuracy_panels, performance
from sigstats.flows.report.evidence import Evidence
from sigstats.tasks.results import Results

from ..synthetic_study import make_study


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    return Evidence(Results(make_study(tmp_path, lost=())))


def test_accuracies_chance_and_the_largest_class_are_those_of_the_predictions(evidence: Evidence) -> None:
    found = {(one.dataset, one.classifier): one for one in performances(evidence)}
    cells = evidence.results.cells("crossval")
    assert len(found) == len(cells) == 16
    for cell in cells:
        table = evidence.results.table(cell)
        assert table is not None
        label, prediction = (table.column(name).to_pylist() for name in ("label", "prediction"))
        one = found[cell.subject["dataset"], cell.subject["classifier"]]
        assert one.accuracy == pytest.approx(accuracy_score(label, prediction))
        kappa = (one.accuracy - one.chance) / (1 - one.chance)
        assert kappa == pytest.approx(cohen_kappa_score(label, prediction))
        assert one.largest == pytest.approx(max(label.count(name) for name in set(label)) / len(label))
        assert one.interval.low < one.accuracy < one.interval.high


def test_the_best_comes_first_and_doubt_is_named(evidence: Evidence) -> None:
    said = performance(performances(evidence), evidence)
    assert said is not None
    found = performances(evidence)
    for sentence in said.details:
        dataset = sentence.split(":")[0]
        group = sorted((one for one in found if one.dataset == dataset), key=lambda one: -one.accuracy)
        places = [sentence.index(f"{one.classifier} ") for one in group]
        assert places == sorted(places)
        doubted = [one.classifier for one in group if one.interval.low <= one.largest]
        assert ("Not shown to be above the largest class" in sentence) == bool(doubted)


def test_one_data_set_has_the_best_in_the_headline(tmp_path: Path) -> None:
    store = make_study(tmp_path, datasets=["iris"], classifiers=["1-nn"], lost=())
    evidence = Evidence(Results(store))
    said = performance(performances(evidence), evidence)
    assert said is not None
    assert said.headline.startswith("1-nn is right on ")
    assert said.to_do == "On iris take 1-nn."


def test_classifiers_that_are_not_told_apart_may_each_be_taken(tmp_path: Path) -> None:
    evidence = Evidence(Results(make_study(tmp_path, datasets=["iris"], lost=())))
    pairs = [row for row in evidence.rows_of("mcnemar") if row.decision != "reject"]
    said = performance(found := performances(evidence), evidence)
    best = max(found, key=lambda one: one.accuracy).classifier
    tied = {name for row in pairs for name in (row.a, row.b) if best in (row.a, row.b)} - {best}
    assert said is not None
    assert {one.classifier for one in found if one.classifier in said.to_do} == {best, *tied}


def test_each_data_set_is_drawn_with_what_naming_the_largest_class_gets_right(evidence: Evidence) -> None:
    found = performances(evidence)
    drawn = str(accuracy_panels(found))
    assert drawn.count("<svg") == len({one.dataset for one in found})
    assert drawn.count('class="interval"') == len(found)
    assert drawn.count('class="level"') == drawn.count('class="margin"') == drawn.count("<svg")
    best = max(found, key=lambda one: one.accuracy)
    assert f"<title>{best.classifier}: {100 * best.accuracy:.1f}%" in drawn
    assert str(accuracy_panels([])) == ""
