"""Linear discriminants, batched and where LAPACK's divide and conquer fails, against scikit-learn's own fits."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sigstats.learners import build
from sigstats.learners.discriminant import _exact_sums
from sigstats.learners.gaussian_estimators import LinearDiscriminant
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from ...examples import thorough
from .test_batched import check_same

BARE = LinearDiscriminantAnalysis()
ESTIMATORS = [BARE, make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())]


def same_counts(estimator, X, y, null="labels", replicates=5):
    """Whether or not there is a batched form."""
    folds = stratified_folds(y, 5, 1, rare_classes="allow")
    draws = Retrainer(estimator, X, y, folds, null=null).draw(np.random.default_rng(4), replicates)
    fast, slow = (Retrainer(estimator, X, y, folds, null=null, batched=batched) for batched in (True, False))
    return (fast.predict(draws) == slow.predict(draws)).all()


@pytest.mark.long
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["bare", "scaled"])
@pytest.mark.parametrize("null", ["labels", "features"])
def test_columns_that_are_zero_in_whole_training_folds(estimator, null):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 9, (150, 8)).astype(float), np.arange(150) % 4
    X[:, 6:] = 0
    X[17, 6], X[90:92, 7] = 4, (1, 2)
    check_same(estimator, X, y, null=null, replicates=5)
    check_same(estimator, X + 2.0**20, y, null=null, replicates=2)


@pytest.mark.long
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["bare", "scaled"])
@pytest.mark.parametrize("classes", [2, 4])
def test_collinear_columns(estimator, classes):
    rng = np.random.default_rng(2)
    y = np.arange(90) % classes
    X = rng.normal(size=(90, 6)) + 0.3 * y[:, None]
    X = np.column_stack([X, X @ rng.normal(size=(6, 3)), X[:, 0] - X[:, 1], X[:, 2]])
    check_same(estimator, X, y, null="labels", replicates=5)
    check_same(estimator, X * 10.0 ** np.arange(-5, 6) + 3, y, null="labels", replicates=5)


@pytest.mark.long
def test_the_columns_of_categories_which_sum_to_one():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (150, 5)).astype(float), np.arange(150) % 3
    X[:, :2] += rng.normal(size=(150, 2))
    estimator = build("lda", nominal=np.arange(5) >= 2, missing=False)
    check_same(estimator, X, y, null="labels", replicates=5)
    X[7, 3] = 9  # a category that is not in the fold that is trained without this row
    check_same(estimator, X, y, null="labels", replicates=5, undecided=0.3)


@pytest.mark.long
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["bare", "scaled"])
@pytest.mark.parametrize("usual", [0.0, 0.1, 7.0, 1e6 / 3])
def test_a_column_with_few_other_values(estimator, usual):
    """scikit-learn scales up what rounding leaves of the variance of a constant such as 0.1."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 60)
    for distinct in (0, 2):
        rare = np.full(60, usual)
        rare[:distinct] += 1 + np.arange(distinct)
        whole = rng.integers(0, 3, (60, 2)).astype(float)
        for X in (np.column_stack([whole, rare]), np.column_stack([whole, rare, whole.sum(axis=1), rare])):
            assert same_counts(estimator, X, y)
            assert same_counts(estimator, X, y, "features", 2)


@pytest.mark.long
def test_tiny_classes_and_ties():
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1, 2, 3], [50, 4, 2, 6])
    for levels in (2, 3, 50):
        X = rng.integers(0, levels, (62, 5)).astype(float)
        assert same_counts(BARE, X, y, replicates=20)


def test_sums_that_are_not_rounded():
    assert _exact_sums(np.array([0.0, 7.0, -0.375, 2.0**40, 0.1, 1 / 3]), 1000).tolist() == [True] * 4 + [False] * 2


FITTED = ("coef_", "intercept_", "means_", "xbar_", "priors_", "classes_", "explained_variance_ratio_")


@pytest.fixture
def failing_once(monkeypatch):
    """LAPACK's ``gesdd`` fails the first time, as it does on some matrices; returns the drivers that were called."""
    called, honest = [], scipy.linalg.svd

    def svd(*args, lapack_driver="gesdd", **kwargs):
        called.append(lapack_driver)
        if called == ["gesdd"]:
            raise np.linalg.LinAlgError("SVD did not converge")
        return honest(*args, lapack_driver=lapack_driver, **kwargs)

    monkeypatch.setattr(scipy.linalg, "svd", svd)
    return called


def nominal_rows(classes, seed=0):
    """Columns of categories, of which each feature's sum to one, so that no cross product has full rank."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 5, 200)
    values = (hidden[:, None] + rng.integers(0, 3, (200, 6))) % 5
    y = (hidden + (rng.random(200) < 0.3)) % classes
    return OneHotEncoder(sparse_output=False).fit_transform(values), y


@pytest.mark.parametrize("params", [{}, {"store_covariance": True}, {"priors": [0.5, 0.3, 0.2]}, {"n_components": 1}])
@pytest.mark.parametrize("rows", ["numbers", "nominal"])
def test_where_it_goes_on_it_finds_what_scikit_learn_does(failing_once, params, rows):
    X, y = load_iris(return_X_y=True) if rows == "numbers" else nominal_rows(3)
    recovered = LinearDiscriminant(**params).fit(X, y)
    assert len(failing_once) > 1  # it failed, and went on
    truth = LinearDiscriminantAnalysis(**params).fit(X, y)
    for name in (*FITTED, *(["covariance_"] if "store_covariance" in params else [])):
        assert getattr(recovered, name) == pytest.approx(getattr(truth, name), rel=1e-8, abs=1e-10), name
    assert recovered.decision_function(X) == pytest.approx(truth.decision_function(X), rel=1e-8, abs=1e-9)
    assert (recovered.predict(X) == truth.predict(X)).all()
    projected, wanted = recovered.transform(X), truth.transform(X)
    signs = np.sign((projected * wanted).sum(axis=0))  # of a singular vector either sign will do
    assert projected * signs == pytest.approx(wanted, rel=1e-7, abs=1e-8)
    assert recovered.n_features_in_ == truth.n_features_in_


def test_two_classes(failing_once):
    X, y = nominal_rows(2)
    recovered = LinearDiscriminant().fit(X, y)
    truth = LinearDiscriminantAnalysis().fit(X, y)
    assert failing_once[0] == "gesdd"
    assert recovered.coef_.shape == truth.coef_.shape
    assert recovered.predict_proba(X) == pytest.approx(truth.predict_proba(X), rel=1e-9, abs=1e-12)


def test_the_ready_learner_goes_on_in_a_fold(failing_once):
    X, y = nominal_rows(3, seed=1)
    folds = stratified_folds(y, 5, 1)
    predicted = Retrainer(build("lda"), X, y, folds, null="labels", batched=False).observed()
    assert len(failing_once) > 1
    own = Retrainer(LinearDiscriminantAnalysis(), X, y, folds, null="labels", batched=False)
    assert (predicted == own.observed()).all()


def test_where_scikit_learn_works_nothing_else_is_called(monkeypatch):
    monkeypatch.delattr(LinearDiscriminant, "_fit_whitened")
    X, y = load_iris(return_X_y=True)
    recovered, truth = LinearDiscriminant().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    assert (recovered.coef_ == truth.coef_).all()
    assert (recovered.intercept_ == truth.intercept_).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_scikit_learn_refuses_is_refused(value):
    X, y = load_iris(return_X_y=True)
    X[3, 1] = value
    with pytest.raises(ValueError, match="Input X contains"):
        LinearDiscriminant().fit(X, y)


def test_another_solver_fails_as_it_did():
    X, y = nominal_rows(3)  # of deficient rank, which `eigen` cannot take
    with pytest.raises(np.linalg.LinAlgError):
        LinearDiscriminant(solver="eigen").fit(X, y)


@pytest.mark.long
def test_the_folds_of_a_data_set_on_which_scikit_learn_fails(shared_data):
    pd = pytest.importorskip("pandas")
    table = pd.read_parquet(shared_data / "mushroom.parquet")
    y = table.pop("class").astype(str).to_numpy()
    X = OneHotEncoder(sparse_output=False).fit_transform(table.astype(str))
    folds = stratified_folds(y, 10, 180566775519077)  # those of the study sixty-sets
    right = []
    for fold in range(10 if thorough() else 2):
        fitted = LinearDiscriminant().fit(X[folds != fold], y[folds != fold])
        right.append((fitted.predict(X[folds == fold]) == y[folds == fold]).mean())
    assert min(right) > 0.99
