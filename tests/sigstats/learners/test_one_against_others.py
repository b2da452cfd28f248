"""Classifiers of all categories say what scikit-learn's say one by one, to the last bit of what they learned."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sigstats.learners import build, one_against_others
from sigstats.learners.one_against_others import OneAgainstOthers, predict


@pytest.fixture(scope="module")
def words():
    """Rows of few words, as of texts, the entries of some in no order; categories of one, of a few and of many rows."""
    rng = np.random.default_rng(3)
    dense = rng.random((300, 80)) * (rng.random((300, 80)) < 0.08)
    dense /= np.maximum(np.linalg.norm(dense, axis=1), 1e-300)[:, None]
    dense[7] = 0
    truth = np.column_stack([dense[:, :4].sum(axis=1) > 0.3, dense[:, 5] > 0.2, dense[:, 9:40].sum(axis=1) > 1])
    rows = csr_matrix(dense)
    for first, last in zip(rows.indptr[:100], rows.indptr[1:101], strict=True):
        order = rng.permutation(last - first) + first
        rows.indices[first:last], rows.data[first:last] = rows.indices[order], rows.data[order]
    rows.has_sorted_indices = False
    assert set(truth[:200].sum(axis=0) > 1) == {True}
    return rows, truth


def one_by_one(classifier, X, truth, tested):
    return np.column_stack([type(classifier)(**classifier.get_params()).fit(X, own).predict(tested) for own in truth.T])


def fits(monkeypatch):
    """The machines that are fitted from now on."""
    fitted, own = [], SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda self, X, y, **other: (fitted.append(self), own(self, X, y, **other))[1])
    return fitted


@pytest.mark.long
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3, 3.0])
@pytest.mark.parametrize(
    "params", [{"C": 0.1}, {"C": 100.0}, {"class_weight": "balanced"}, {"shrinking": False}], ids=str
)
def test_machines_of_one_kernel_matrix_have_the_coefficients_of_libsvm(words, monkeypatch, gamma, params):
    X, truth = words
    fitted = fits(monkeypatch)
    machines = OneAgainstOthers(SVC(gamma=gamma, **params), X[:200], truth[:200])
    assert [machine.kernel for machine in fitted] == ["precomputed"] * 3
    for machine, own in zip(list(fitted), truth[:200].T, strict=True):
        alone = SVC(gamma=gamma, **params).fit(X[:200], own)
        assert np.array_equal(machine.support_, alone.support_)
        assert np.array_equal(machine.dual_coef_, alone.dual_coef_.toarray())
        assert machine.intercept_ == alone.intercept_
    assert (machines.predict(X) == one_by_one(SVC(gamma=gamma, **params), X[:200], truth[:200], X)).all()


def test_a_kernel_that_could_be_rounded_otherwise_is_the_system_s(words, monkeypatch):
    X, truth = words
    alone = SVC(gamma=1.0).fit(X[:200], truth[:200, 0])
    fitted = fits(monkeypatch)
    own = np.exp
    # An exponential that is a bit off everywhere, of which all entries are taken to be in doubt.
    monkeypatch.setattr(one_against_others, "_EXPONENTIAL", 1e-6)
    monkeypatch.setattr(one_against_others.np, "exp", lambda x, **other: own(x, **other) * (1 + 1e-7))
    OneAgainstOthers(SVC(gamma=1.0), X[:200], truth[:200, :1])
    assert np.array_equal(fitted[0].dual_coef_, alone.dual_coef_.toarray())


def test_a_row_on_the_boundary_is_left_to_libsvm(monkeypatch):
    X = csr_matrix(np.tile(np.eye(2), (10, 1)))
    truth = np.tile([[True], [False]], (10, 1))
    between = csr_matrix(np.outer(np.linspace(0, 2, 20), [1.0, 1.0]))
    fitted = fits(monkeypatch)
    said = OneAgainstOthers(SVC(gamma=1.0), X, truth).predict(between)
    assert [machine.kernel for machine in fitted] == ["precomputed", "rbf"]
    assert (said[:, 0] == SVC(gamma=1.0).fit(X, truth[:, 0]).predict(between)).all()


def test_a_category_of_all_rows_or_of_none_is_that_answer(words):
    X, truth = words
    given = np.column_stack([np.ones(200, bool), truth[:200, 0], np.zeros(200, bool)])
    for classifier in (SVC(), LinearSVC(random_state=0)):
        said = OneAgainstOthers(classifier, X[:200], given).predict(X)
        assert said[:, 0].all()
        assert not said[:, 2].any()
        assert (said[:, [1]] == one_by_one(classifier, X[:200], given[:, [1]], X)).all()
    assert not OneAgainstOthers(SVC(), X, np.zeros((300, 2), bool)).predict(X).any()


@pytest.mark.parametrize(
    "classifier", [SVC(kernel="poly"), LinearSVC(random_state=0), SVC(gamma=np.float32(0.5)), SVC()], ids=str
)
def test_dense_rows_and_other_classifiers_say_the_same(words, monkeypatch, classifier):
    X, truth = words
    expected = one_by_one(classifier, X[:200], truth[:200], X)
    assert (OneAgainstOthers(classifier, X[:200], truth[:200]).predict(X) == expected).all()
    dense = X.toarray()
    expected = one_by_one(classifier, dense[:200], truth[:200], dense)
    assert (OneAgainstOthers(classifier, dense[:200], truth[:200]).predict(dense) == expected).all()
    monkeypatch.setattr(one_against_others, "_MOST_BYTES", 1000)
    assert (OneAgainstOthers(classifier, dense[:200], truth[:200]).predict(dense) == expected).all()


def test_what_scikit_learn_refuses_is_refused_in_its_words(words):
    X, truth = words
    for gamma in (-1.0, "wide", np.nan):
        with pytest.raises(ValueError) as alone:
            SVC(gamma=gamma).fit(X, truth[:, 0])
        with pytest.raises(ValueError) as shared:
            OneAgainstOthers(SVC(gamma=gamma), X, truth)
        assert str(shared.value) == str(alone.value)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3, 20.0])
@pytest.mark.parametrize("cost", [0.01, 1.0, 1e4])
def test_every_prediction_is_that_of_scikit_learn(gamma, cost, monkeypatch):
    monkeypatch.setattr(one_against_others, "_SCRATCH", 400_000)  # a few hundred rows at a time
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


def test_a_dense_row_on_the_boundary_is_left_to_libsvm(monkeypatch):
    X = np.array([[-1.0, 0.0], [1.0, 0.0]] * 20)
    y = np.array([0, 1] * 20)
    machine = SVC(gamma=1.0).fit(X, y)
    between = np.column_stack([np.zeros(50), np.linspace(-3, 3, 50)])
    asked = []
    own = SVC.predict
    monkeypatch.setattr(SVC, "predict", lambda self, rows: (asked.append(len(rows)), own(self, rows))[1])
    assert (predict(machine, between) == own(machine, between)).all()
    assert sum(asked) == 50


@pytest.mark.parametrize("classifier", [SVC(kernel="poly"), LinearSVC(), SVC(break_ties=True)], ids=str)
def test_what_it_does_not_stand_for_goes_to_scikit_learn(classifier):
    X, y = load_wine(return_X_y=True)
    fitted = make_pipeline(StandardScaler(), classifier).fit(X, y)
    assert (predict(fitted, X) == fitted.predict(X)).all()
    three = SVC().fit(X, y)
    assert (predict(three, X) == three.predict(X)).all()
