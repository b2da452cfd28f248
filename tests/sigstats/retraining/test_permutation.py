import os
import threading
import warnings
from itertools import permutations, product
from pathlib import Path
from typing import ClassVar

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom, chi2
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import IsolationForest
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    cross_val_predict,
    permutation_test_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from sigstats.learners import build
from sigstats.retraining import retrainer
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer, permutation_test

# Ojala and Garriga's data sets D1 and D2: twelve rows, the first six of class +.
D1 = "oxxxxxxx xxoxxxxo xxxxooxx xxxxxxxo xxxxxxxo xxxxoxxo oooxxooo oooooooo xoxooooo xoxooxoo ooooooxo oooxoooo"
D2 = "xxxoxxxx xxxxxxxx xoxxxxxx ooooooox oooooxoo oooooooo xxxxooox xxoxoooo xxxxoooo ooooxxxx oxooxxxo oooxxxxx"
SIGNS = np.repeat([1, 0], 6)


@pytest.fixture(autouse=True)
def _one_thread():
    with threadpool_limits(1):
        yield


def rows_of(text):
    return np.array([[value == "x" for value in row] for row in text.split()], dtype=float)


@pytest.mark.long
@pytest.mark.parametrize(("data", "dependent"), [(D1, False), (D2, True)])
@pytest.mark.parametrize("ties", ["random", "vote"])
def test_the_papers_two_data_sets(data, dependent, ties):
    """Both have class structure, only D2 uses features jointly (the paper's 0.001, 0.001 and 0.358, 0.001).

    Its 10 folds cannot be had from classes of six rows, so there are six here, and the p-values are not the same.
    """
    learner = build("1-nn", nominal=np.ones(8, bool), params={"ties": ties})
    labels, features = (
        permutation_test(learner, rows_of(data), SIGNS, null=null, cv=6, rng=2) for null in ("labels", "features")
    )
    assert labels.pvalue < 0.02
    assert features.pvalue < 0.01 if dependent else features.pvalue > 0.2


# --- against a plain loop through scikit-learn ---------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize("classifier", [GaussianNB(), LogisticRegression(max_iter=2000), "1-nn"], ids=str)
def test_the_test_is_the_plain_loop(classifier, null):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], np.array(["c", "a", "b"])[y[::3]]
    folds = stratified_folds(y, 5, 9)
    estimator = build(classifier) if isinstance(classifier, str) else classifier
    result = permutation_test(classifier, X, y, null=null, cv=folds, n_resamples=12, rng=4)
    draws = Retrainer(estimator, X, y, folds, null=null).draw(np.random.default_rng(4), 12)
    split = PredefinedSplit(folds)

    def wrong(rows):
        return int((cross_val_predict(estimator, rows, y, cv=split) != y).sum())

    expected = []
    for draw in draws:
        if null == "labels":
            rows = np.empty_like(X)
            rows[draw] = X
        else:
            rows = np.column_stack([X[draw[j], j] for j in range(4)])
        expected.append(wrong(rows))
    assert result.wrong == wrong(X)
    assert result.null_wrong == tuple(expected)
    assert result.statistic == result.wrong / 50
    assert result.null_distribution == tuple(count / 50 for count in expected)
    exceedances = sum(count <= result.wrong for count in expected)
    assert (result.exceedances, result.pvalue) == (exceedances, (exceedances + 1) / 13)


@pytest.mark.long
def test_it_stands_in_for_permutation_test_score():
    # Weak structure, so that p is in the middle. scikit-learn draws other permutations and folds: two Monte-Carlo
    # estimates from 300 replicates each differ by more than 6 standard errors (0.245) once in 5e8.
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 0.2 * y[:, None]
    score, scores, p = permutation_test_score(GaussianNB(), X, y, cv=KFold(5), n_permutations=300, random_state=1)
    ours = permutation_test(GaussianNB(), X, y, cv=KFold(5), n_resamples=300, rng=1)
    assert ours.statistic == pytest.approx(1 - score)
    assert abs(ours.pvalue - p) < 0.245
    assert abs(np.mean(ours.null_distribution) - (1 - scores.mean())) < 6 * np.sqrt(2 / 300) * scores.std()


# --- what is drawn ---------------------------------------------------------------------------------------------------


def test_every_order_of_rows_is_drawn_equally_often():
    retrainer = Retrainer(GaussianNB(), np.arange(4.0)[:, None], [0, 0, 1, 1], [0, 1, 0, 1], null="labels")
    draws = retrainer.draw(np.random.default_rng(1), 24_000)
    counts = [int((draws == order).all(axis=1).sum()) for order in permutations(range(4))]
    assert sum(counts) == 24_000
    assert chi2.sf(sum((count - 1000) ** 2 / 1000 for count in counts), 23) > 1e-6


def test_every_order_of_each_feature_inside_each_class_is_drawn_equally_often():
    X, y = np.arange(10.0).reshape(5, 2), [1, 0, 1, 0, 0]
    retrainer = Retrainer(GaussianNB(), X, y, [0, 1, 1, 0, 1], null="features")
    draws = retrainer.draw(np.random.default_rng(1), 7200)
    assert draws.shape == (7200, 2, 5)
    orders = []
    for small, large in product(permutations([0, 2]), permutations([1, 3, 4])):
        orders.append([small[0], large[0], small[1], large[1], large[2]])
    counts = [int((draws == np.array(pair)).all(axis=(1, 2)).sum()) for pair in product(orders, orders)]
    assert sum(counts) == 7200  # nothing leaves its class
    assert chi2.sf(sum((count - 50) ** 2 / 50 for count in counts), 143) > 1e-6


@pytest.mark.parametrize("null", ["labels", "features"])
def test_fewer_replicates_are_the_first_of_more(null, monkeypatch):
    X, y = load_iris(return_X_y=True)
    retrainer = Retrainer(build("1-nn"), X, y, stratified_folds(y, 10, 1), null=null)
    whole = retrainer.wrong(7, 23)
    assert whole.dtype == np.int64
    assert (retrainer.wrong(7, 10) == whole[:10]).all()
    rng = np.random.default_rng(7)
    assert (np.concatenate([retrainer.wrong(rng, size) for size in (1, 0, 9, 13)]) == whole).all()
    monkeypatch.setattr("sigstats.retraining.retrainer.CHUNK_BYTES", 1)  # one replicate a chunk
    assert (retrainer.wrong(7, 23) == whole).all()


@pytest.mark.parametrize("null", ["labels", "features"])
def test_all_classifiers_see_the_same_permutations(null):
    X, y = load_wine(return_X_y=True)
    folds = stratified_folds(y, 3, 1)
    first, *others = (
        Retrainer(estimator, X, y, folds, null=null, transforms=transforms).draw(np.random.default_rng(1), 5)
        for estimator, transforms in [(build("1-nn"), "fold"), (build("svm"), "all"), (DummyClassifier(), "fold")]
    )
    assert all((first == other).all() for other in others)


# --- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(("null", "n", "sets", "seed"), [("labels", 20, 300, 11), ("features", 24, 200, 12)])
def test_valid_under_the_null_hypothesis(null, n, sets, seed):
    # Labels independent of rows, or features inside classes: P(p <= a) <= a for each a that 19 replicates can reach.
    rng, pvalues = np.random.default_rng(seed), []
    for _ in range(sets):
        X, y = rng.normal(size=(n, 2)), np.arange(n) % 2
        X, y = (X, rng.permutation(y)) if null == "labels" else (X + y[:, None], y)
        pvalues.append(permutation_test("naive-bayes", X, y, null=null, cv=4, n_resamples=19, rng=rng).pvalue)
    for a in (0.05, 0.1, 0.2, 0.5):
        assert binom.sf(sum(p <= a for p in pvalues) - 1, sets, a) > 1e-6


def test_exclusive_or_is_pure_dependency():
    rng = np.random.default_rng(13)
    X = rng.integers(0, 2, (80, 2)).astype(float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    tree = DecisionTreeClassifier(random_state=0)
    assert permutation_test(tree, X, y, null="features", n_resamples=99, rng=1).pvalue == 0.01
    assert permutation_test(tree, X, y, null="labels", n_resamples=99, rng=1).pvalue == 0.01


@pytest.mark.parametrize(
    ("classifier", "said"),
    [
        (LogisticRegression(), True),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
        (GaussianNB(), False),
        (DummyClassifier(), False),
    ],
)
def test_a_scaler_that_would_let_permutations_share_work_is_named(classifier, said):
    X, y = load_iris(return_X_y=True)
    found = permutation_test(classifier, X[::3], y[::3], n_resamples=1, rng=1, cv=2)
    assert ("StandardScaler" in found.reason) == said


@pytest.mark.parametrize(
    ("classifier", "fits"),
    [
        (KNeighborsClassifier(1), "shared"),
        (DecisionTreeClassifier(random_state=0), "compiled"),
        (DecisionTreeClassifier(criterion="entropy", random_state=0), "compiled"),
        (DecisionTreeClassifier(max_leaf_nodes=8, random_state=0), "refitted"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "shared"),
        (DummyClassifier(), "refitted"),
    ],
)
def test_a_result_says_whether_permutations_share_work(classifier, fits):
    X, y = load_iris(return_X_y=True)
    assert permutation_test(classifier, X, y, n_resamples=1, rng=1).fits == fits


def test_a_classifier_that_learns_nothing_has_a_p_value_of_one():
    X, y = load_iris(return_X_y=True)
    result = permutation_test(DummyClassifier(), X, y, cv=5, n_resamples=9, rng=1)
    assert (result.pvalue, result.exceedances, result.wrong) == (1.0, 9, 100)


def test_errors_equal_as_counts_are_ties():
    # Folds of 7, 7 and 6 rows: means of fold scores differ in their last bits where counts of wrong rows are equal.
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 1)), np.arange(20) % 2
    folds = np.arange(20) % 3
    result = permutation_test(GaussianNB(), X, y, cv=folds, n_resamples=200, rng=2)
    assert result.exceedances == sum(count <= result.wrong for count in result.null_wrong)
    assert all(isinstance(count, int) for count in result.null_wrong)
    assert result.wrong in result.null_wrong  # so that a tie was there to be missed


# --- what is accepted ----------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("null", ["labels", "features"])
def test_frames_with_columns_of_several_types(null):
    rng = np.random.default_rng(6)
    y = np.arange(60) % 2
    frame = pd.DataFrame(
        {"a": rng.normal(size=60) + y, "b": pd.Categorical(np.where(rng.random(60) < 0.3, "u", "v"))},
        index=rng.permutation(60) + 100,
    )
    from sklearn.compose import make_column_transformer

    columns = make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough")
    by_name = permutation_test(
        make_pipeline(columns, LogisticRegression()), frame, y, null=null, cv=3, n_resamples=8, rng=1
    )
    codes = np.column_stack([frame["b"].cat.codes == 0, frame["b"].cat.codes == 1, frame["a"]]).astype(float)
    if null == "labels":
        assert (
            by_name.null_wrong
            == permutation_test(LogisticRegression(), codes, y, cv=3, n_resamples=8, rng=1).null_wrong
        )
    assert frame["a"].dtype == float
    assert frame["b"].dtype == "category"


@pytest.mark.long
def test_sparse_rows():
    X, y = load_iris(return_X_y=True)
    dense = permutation_test(LogisticRegression(max_iter=500), X, y, cv=3, n_resamples=3, rng=1)
    sparse = permutation_test(LogisticRegression(max_iter=500), csr_array(X), y, cv=3, n_resamples=3, rng=1)
    assert dense.null_wrong == sparse.null_wrong
    with pytest.raises(ValueError, match="dense"):
        permutation_test(GaussianNB(), csr_array(X), y, null="features")


def test_labels_reach_the_classifier_as_they_are():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    weighted = LogisticRegression(class_weight={"setosa": 1, "versicolor": 50, "virginica": 1}, max_iter=500)
    retrainer = Retrainer(weighted, X, names, stratified_folds(y, 3, 1), null="labels")
    observed = retrainer.observed()
    assert set(observed) <= set(names)
    assert (observed == "versicolor").sum() > 50


class Marking(DummyClassifier):
    """It leaves a file with the number of its process in a folder."""

    def __init__(self, folder="."):
        super().__init__()
        self.folder = folder

    def fit(self, X, y):
        Path(self.folder, str(os.getpid())).touch()
        return super().fit(X, y)


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.skipif(joblib.cpu_count() == 1, reason="one processor, one process")
@pytest.mark.parametrize("sent", [True, False])
def test_without_n_jobs_long_work_is_spread_over_all_processors(sent, tmp_path, monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(retrainer, "_LONG", 0.0)
    marking = Marking(str(tmp_path))
    marking.lock = None if sent else threading.Lock()  # which cannot be pickled
    options = {"cv": 2, "n_resamples": 40, "rng": 1}
    here = permutation_test(marking, X, y, n_jobs=1, **options)
    assert permutation_test(marking, X, y, **options) == here
    assert bool({each.name for each in tmp_path.iterdir()} - {str(os.getpid())}) == sent


@pytest.mark.long
@pytest.mark.processes
def test_without_n_jobs_the_configuration_of_joblib_counts(tmp_path):
    X, y = load_iris(return_X_y=True)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        permutation_test(Marking(str(tmp_path)), X, y, cv=2, n_resamples=20, rng=1)
    assert {each.name for each in tmp_path.iterdir()} - {str(os.getpid())}
    with pytest.raises(ValueError, match=r"^n_jobs: 0 is not valid; expected None, a number of processes, or -1"):
        permutation_test("lda", X, y, n_jobs=0)


class Spy(TransformerMixin, BaseEstimator):
    seen: ClassVar[list[int]] = []

    def fit(self, X, y=None):
        self.seen.append(len(X))
        return self

    def transform(self, X):
        return np.asarray(X) * 2


@pytest.mark.long
@pytest.mark.parametrize("null", ["labels", "features"])
def test_transforms_are_learned_on_the_training_fold_or_once_on_all_rows(null):
    X, y = load_iris(return_X_y=True)
    folds = stratified_folds(y, 3, 1)
    estimator = make_pipeline(Spy(), LogisticRegression(max_iter=500))
    Spy.seen.clear()
    by_fold = Retrainer(estimator, X, y, folds, null=null).wrong(1, 2)
    assert Spy.seen == [100] * 6
    Spy.seen.clear()
    on_all = Retrainer(estimator, X, y, folds, null=null, transforms="all").wrong(1, 2)
    assert Spy.seen == ([150] if null == "labels" else [150] * 2)
    assert (by_fold == on_all).all()  # doubling learns nothing, so where it is learned is no matter


def test_learning_a_transform_once_equals_learning_it_on_each_permuted_set():
    X, y = load_wine(return_X_y=True)
    folds = stratified_folds(y, 3, 1)
    retrainer = Retrainer(
        make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
        X,
        y,
        folds,
        null="labels",
        transforms="all",
        batched=False,
    )
    draws = retrainer.draw(np.random.default_rng(3), 4)
    for place, wrong in zip(draws, retrainer.count_wrong(draws), strict=True):
        rows = np.empty_like(X)
        rows[place] = X
        rows = StandardScaler().fit_transform(rows)
        predicted = cross_val_predict(KNeighborsClassifier(3), rows, y, cv=PredefinedSplit(folds))
        assert (predicted != y).sum() == wrong


def test_a_transform_that_needs_labels_is_refused_on_all_rows():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="never see labels"):
        permutation_test(make_pipeline(SelectKBest(k=2), GaussianNB()), X, y, transforms="all", n_resamples=1)


class Failing(ClassifierMixin, BaseEstimator):
    def __init__(self, error):
        self.error = error

    def fit(self, X, y):
        raise self.error

    def predict(self, X):
        return X


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("no luck\nat all"), "RuntimeError: no luck at all"),
        (KeyError("p"), "KeyError: 'p'"),
        (AssertionError(), "AssertionError"),
    ],
)
def test_a_classifier_that_fails_is_named_with_its_error(error, said):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=f"classifier: Failing failed in fold 0: {said}$"):
        permutation_test(Failing(error), X, y)


class Answering(ClassifierMixin, BaseEstimator):
    def __init__(self, answer):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.answer(len(X), self.classes_)


@pytest.mark.parametrize(
    ("answer", "shape"),
    [(lambda n, classes: [[]] * n, r"\(15, 0\)"), (lambda n, classes: [classes[0]] * (n - 1), r"\(14,\)")],
)
def test_predictions_of_another_shape_are_refused(answer, shape):
    wanted = f"Answering's predictions in fold 0.*{shape}; expected a class for each of 15 rows"
    with pytest.raises(ValueError, match=wanted):
        permutation_test(Answering(answer), *load_iris(return_X_y=True), cv=10, n_resamples=1)


def test_predictions_in_a_column_are_read_as_scikit_learn_reads_them():
    X, y = load_iris(return_X_y=True)
    column = Answering(lambda n, classes: np.full((n, 1), classes[0]))
    assert permutation_test(column, X, y, n_resamples=1).statistic == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(),
        Ridge(),
        KMeans(2, n_init=1),
        IsolationForest(n_estimators=3),
        GaussianMixture(2),
        make_pipeline(StandardScaler(), Ridge()),
        GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_what_is_no_classifier_is_refused(estimator):
    X, y, folds = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"^classifier: .* is not valid; expected .* classifier$") as caught:
        permutation_test(estimator, X, y, cv=folds, n_resamples=9, rng=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["alone", "wrapped", "step"])
def test_parts_that_no_fold_fits_are_refused(kind):
    """A selector or classifier that was fitted on all rows has seen the labels of each fold."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 8)), np.arange(40) % 2
    fitted = FrozenEstimator(LogisticRegression().fit(X, y))
    estimator = {
        "alone": fitted,
        "wrapped": CalibratedClassifierCV(fitted, ensemble=False),
        "step": make_pipeline(FrozenEstimator(SelectKBest(k=2).fit(X, y)), GaussianNB()),
    }[kind]
    with pytest.raises(ValueError, match=r"^classifier: FrozenEstimator\(.*expected parts that each fold fits"):
        permutation_test(estimator, X, y, cv=4, n_resamples=9, rng=0)


def test_folds_drawn_without_a_seed_are_warned_of():
    y = np.arange(24) % 2
    for seed, said in ((None, "warning: cv has no random_state"), (0, "")):
        found = permutation_test(
            GaussianNB(), y[:, None] + 0.0, y, cv=KFold(3, shuffle=True, random_state=seed), n_resamples=9
        )
        assert found.reason.startswith(said)
        assert bool(found.reason) == bool(said)


class Saying:
    """An estimator of no library, which says the same of every row."""

    def __init__(self, said=None, columns=0):
        self.said, self.columns = said, columns

    def get_params(self, deep=False):
        return {"said": self.said, "columns": self.columns}

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full((len(X), self.columns) if self.columns else len(X), self.said)


@pytest.mark.long
@pytest.mark.parametrize("names", [[0, 1], [-1, 7], [2.0, 3.0], ["a", "b"], [False, True]])
@pytest.mark.parametrize(
    "said", [0.5, -2, 10, np.nan, "b0", "", "z", None, pytest.param((0, 1), id="columns")]
)  # between, below and beyond the classes, and none
def test_predictions_that_are_no_classes_are_refused(names, said):
    y = np.array(names)[[0, 1] * 4]
    for name in names:  # an estimator without tags may be used
        wrong = Retrainer(Saying(name), np.zeros((8, 1)), y, [0, 0, 0, 0, 1, 1, 1, 1], null="labels").wrong(1, 3)
        assert wrong.tolist() == [4, 4, 4]
    estimator = Saying(names[0], 2) if isinstance(said, tuple) else Saying(said)
    with pytest.raises(ValueError, match=r"^classifier \(Saying's predictions in fold 0\)") as caught:
        permutation_test(estimator, np.zeros((8, 1)), y, cv=[0, 0, 0, 0, 1, 1, 1, 1], n_resamples=3)
    assert "\n" not in str(caught.value)


def test_warnings_of_permuted_fits_are_not_repeated():
    X, y = load_iris(return_X_y=True)
    retrainer = Retrainer(LogisticRegression(max_iter=1), X, y, stratified_folds(y, 3, 1), null="labels")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        retrainer.wrong(1, 3)
    assert not caught


@pytest.mark.parametrize("classifier", ["1-nn", "k-nn"])
def test_a_feature_without_a_value_is_taken_in_silence(classifier):
    X = np.random.default_rng(0).normal(size=(30, 2))
    without = np.column_stack([X, np.full(30, np.nan)])  # any warning is an error here
    found = [permutation_test(classifier, rows, np.arange(30) % 2, cv=3, n_resamples=3, rng=0) for rows in (X, without)]
    assert found[0].pvalue == found[1].pvalue


GOOD = {"classifier": "naive-bayes", "X": [[1.0], [2.0], [1.5], [4.0]], "y": [0, 1, 0, 1], "cv": 2, "n_resamples": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cv": 3}, "at most 2, the number of rows of class 0"),
        ({"cv": [0, 0, 0, 0]}, "two folds or more"),
        ({"cv": [0, 1]}, "each of the 4 rows"),
        ({"cv": [0, 1, -1, 0]}, "PredefinedSplit never tests rows of fold -1"),
        ({"classifier": "naive-bays"}, "did you mean 'naive-bayes'"),
        ({"classifier": GaussianNB}, "instance of a scikit-learn classifier"),
        ({"X": [[1.0], [2.0]]}, "X"),
        ({"X": [1.0, 2.0, 3.0, 4.0]}, "rectangular"),
        ({"X": [[1.0], [2.0, 3.0], [1.0], [1.0]]}, "rectangular"),
        ({"X": np.empty((4, 0))}, "one feature or more"),
        ({"X": [[1.0], [2.0], [np.inf], [4.0]]}, "classifier"),
        ({"y": [0, 0, 0, 0]}, "the number of classes is 1"),
        ({"y": [0.5, 0, 1, 1]}, "whole numbers or names"),
        ({"y": [0, 1, 0, 1, 0]}, "X"),
        ({"y": [0, 1, None, 1]}, "y"),
        ({"cv": LeaveOneOut, "X": [[1.0]] * 4}, "cv"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message) as caught:
        permutation_test(**{**GOOD, **change})
    assert "\n" not in str(caught.value)
