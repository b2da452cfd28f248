"""Predictions as matrix products are those of scikit-learn, for any rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sigstats.learners import build, one_against_others
from sigstats.learners.one_against_others import predict


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3, 20.0])
@pytest.mark.parametrize("cost", [0.01, 1.0, 1e4])
def test_every_prediction_is_that_of_scikit_learn(gamma, cost):
    X, y = load_breast_cancer(return_X_y=True)
    machine = make_pipeline(StandardScaler(), SVC(gamma=gamma, C=cost)).fit(X[::3], y[::3])
    assert (predict(machine, X) == machine.predict(X)).all()


def test_sparse_rows_and_labels_of_any_kind():
    rng = np.random.default_rng(1)
    dense = rng.random((400, 60)) * (rng.random((400, 60)) < 0.1)
    y = np.where(dense[:, :8].sum(axis=1) > 0.3, "high", "low")
    rows = csr_matrix(dense)
    machine = SVC(gamma=0.5, C=10).fit(rows[:150], y[:150])
    assert (predict(machine, rows) == machine.predict(rows)).all()
    texts = [" ".join(f"word{j}" for j in np.flatnonzero(row)) for row in dense]
    words = build("svm", params={"C": 10.0}, text=True).fit(texts[:150], y[:150])
    assert (predict(words, texts) == words.predict(texts)).all()


def test_a_row_on_the_boundary_is_left_to_libsvm(monkeypatch):
    X = np.array([[-1.0, 0.0], [1.0, 0.0]] * 20)
    y = np.array([0, 1] * 20)
    machine = SVC(gamma=1.0).fit(X, y)
    between = np.column_stack([np.zeros(50), np.linspace(-3, 3, 50)])
    asked = []
    own = SVC.predict
    monkeypatch.setattr(SVC, "predict", lambda self, rows: (asked.append(len(rows)), own(self, rows))[1])
    assert (predict(machine, between) == own(machine, between)).all()
    assert sum(asked) == 50


def test_large_sets_are_cut_to_the_scratch_memory(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    machine = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    monkeypatch.setattr(one_against_others, "_SCRATCH", 40_000)
    assert (predict(machine, X) == machine.predict(X)).all()


@pytest.mark.parametrize("classifier", [SVC(kernel="poly"), LinearSVC(), SVC(break_ties=True)], ids=str)
def test_what_it_does_not_stand_for_goes_to_scikit_learn(classifier):
    X, y = load_wine(return_X_y=True)
    fitted = make_pipeline(StandardScaler(), classifier).fit(X, y)
    assert (predict(fitted, X) == fitted.predict(X)).all()
    three = SVC().fit(X, y)
    assert (predict(three, X) == three.predict(X)).all()
