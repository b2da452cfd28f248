"""Cells whose replicates an earlier state computed otherwise are new cells, and all others are as they were."""

import pytest

from sigstats.tasks.fan_out import cell_of, fanout, work_type
from sigstats.tasks.record import record


def version(name, work):
    made = cell_of(name, subject={}, work=record(work_type(name), work), seed=1, replicates=1)
    return made.version - fanout(name).version


def run_of(learner, **null):
    dataset, folds = {"name": "iris", "digest": "0" * 64}, {"folds": 10, "seed": 1}
    return {"dataset": dataset, "classifier": {"learner": learner, "params": {}}, "cross_validation": folds, **null}


def retrained(learner):
    return run_of(learner, null="labels")


def scored(measure, population="scores", *, swapped=False):
    values = {population: {"name": "p", "digest": "0" * 64}, "swapped": swapped}
    return {"population": values, "n": 50, "test": {"test": "scores", "measure": measure}}


@pytest.mark.parametrize(
    ("name", "work", "revision"),
    [
        ("retrain", retrained("sklearn.neighbors.KNeighborsClassifier"), 1),
        ("crossval", run_of("sklearn.naive_bayes.GaussianNB"), 1),
        ("retrain", retrained("sklearn.discriminant_analysis.LinearDiscriminantAnalysis"), 1),
        ("retrain", retrained("lda"), 0),
        ("retrain", retrained("1-nn"), 0),
        ("crossval", run_of("sklearn.tree.DecisionTreeClassifier"), 0),
        ("subsample", scored("auc"), 1),
        ("subsample", scored("neg-brier"), 0),
        ("subsample", {**scored("f1", "events"), "test": {"test": "bootstrap", "measure": "f1"}}, 0),
        ("interval", scored("f1", "events"), 0),
        ("interval", scored("f1", "events", swapped=True), 1),
        ("evaluate", {"test": "goodness-of-fit", "data": {"ordering": "chi2"}, "method": "exact"}, 1),
        ("evaluate", {"test": "goodness-of-fit", "data": {"ordering": "chi2"}, "method": "chi2"}, 0),
        ("evaluate", {"test": "mcnemar", "data": {"only_a": 1, "only_b": 2}, "method": "exact"}, 1),
    ],
)
def test_what_changed_is_a_new_cell(name, work, revision):
    assert version(name, work) == revision
