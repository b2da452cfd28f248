"""Batched learners against scikit-learn's own fits, replicate by replicate, on the same folds."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import LeaveOneOut
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from sigstats.learners import build
from sigstats.learners.base import UNDECIDED
from sigstats.retraining.folds import as_folds, stratified_folds
from sigstats.retraining.permutation import Retrainer

from ...examples import retrained


@pytest.fixture(autouse=True)
def _one_thread():
    """Small matrices: threads of the linear algebra library would only wait for each other."""
    with threadpool_limits(1):
        yield


DATA = Path(__file__).parents[3].parent / "shared" / "data"
NULLS = ("labels", "features")


def mixed_data(seed=0, n=120, missing=0.06):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, 5)) + y[:, None]
    X[:, 1] = rng.integers(0, 3, n)
    X[:, 3] = (y + (rng.random(n) < 0.5)) % 3
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, np.array([False, True, False, True, False])


def both(estimator, X, y, *, null, replicates, folds=None, seed=5, transforms="fold"):
    """Predictions of the batched learner as they are, filled in by the retrainer, and of scikit-learn alone."""
    folds = stratified_folds(y, 10, 3) if folds is None else folds
    fast = Retrainer(estimator, X, y, folds, null=null, transforms=transforms)
    slow = Retrainer(estimator, X, y, folds, null=null, transforms=transforms, batched=False)
    assert fast.batched, "the estimator was not recognised"
    assert not slow.batched
    draws = fast.draw(np.random.default_rng(seed), replicates)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw = fast._learner.predict_labels(draws) if null == "labels" else fast._learner.predict_features(draws)
        assert (fast.observed() == slow.observed()).all()
        return raw, fast.predict(draws), slow.predict(draws)


def check_same(estimator, X, y, *, replicates=5, undecided=0.02, **options):
    raw, filled, expected = both(estimator, X, y, replicates=retrained(replicates), **options)
    settled = raw != UNDECIDED
    assert (raw[settled] == expected[settled]).all()
    assert (filled == expected).all()
    assert (~settled).mean() <= undecided  # else it would be right, but not fast


READY_BATCHED = ["1-nn", "k-nn", "naive-bayes", "decision-tree", "linear-svm", "lda", "ridge"]


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("name", READY_BATCHED)
def test_ready_learners_on_real_numbers(name, load, null):
    X, y = load(return_X_y=True)
    check_same(build(name, missing=False), X, y, null=null, replicates=1 if name == "decision-tree" else 3)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("name", ["1-nn", "k-nn", "naive-bayes", "linear-svm", "ridge", "decision-tree"])
def test_ready_learners_on_mixed_features(name, null):
    missing = 0.06 if name in ("1-nn", "k-nn", "naive-bayes") else 0.0
    X, y, nominal = mixed_data(missing=missing)
    check_same(build(name, nominal=nominal), X, y, null=null)
    X[:, 1] = np.where(np.arange(len(X)) % 17 == 0, np.nan, X[:, 1])  # a missing category is one for encoders
    check_same(build(name, nominal=nominal), X, y, null=null)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(var_smoothing=1e-3),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
        RidgeClassifier(alpha=0.01),
        make_pipeline(StandardScaler(), RidgeClassifier(alpha=30)),
        make_pipeline(StandardScaler(), LinearSVC(dual=False, C=0.1)),
        make_pipeline(StandardScaler(), LinearSVC()),
        DecisionTreeClassifier(max_depth=3, min_samples_leaf=2, random_state=4),
    ],
    ids=str,
)
def test_estimators_of_scikit_learn(estimator, null):
    X, y = load_wine(return_X_y=True)
    # LinearSVC stops at its default tolerance of 1e-4, so more rows are too near the boundary to tell.
    check_same(estimator, X, y, null=null, replicates=5, undecided=0.1)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("transforms", [[], [MinMaxScaler()]])
@pytest.mark.parametrize("k", [1, 4, 15])
def test_scikit_learns_neighbours_of_continuous_data(k, transforms, null):
    y = np.arange(150) % 3
    X = np.random.default_rng(8).normal(size=(150, 4)) ** 3 + y[:, None]  # far values: scales differ between folds
    check_same(make_pipeline(*transforms, KNeighborsClassifier(k)), X, y, null=null)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("transforms", [[], [MinMaxScaler()]])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_scikit_learns_neighbours_of_data_full_of_ties(k, algorithm, transforms, null):
    # Trees keep 30 rows a leaf, so that which of the nearest come first is no order of the rows.
    for seed, (n, levels, offset) in enumerate([(60, 3, 0), (150, 2, 0), (150, 9, 1e6)]):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, levels, (n, 3)).astype(float) + offset, rng.permutation(np.arange(n) % 3)
        estimator = make_pipeline(*transforms, KNeighborsClassifier(k, algorithm=algorithm))
        check_same(estimator, X, y, null=null, replicates=3, folds=stratified_folds(y, 5, 1), undecided=1)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("smoothing", [0.0, 1e-9])
@pytest.mark.parametrize("value", [0.0, 0.1, 7.0, 1e6])
def test_gaussian_naive_bayes_of_features_that_are_constant(value, smoothing, null):
    y = np.random.default_rng(1).permutation(np.arange(40) % 3)
    constant = np.full((40, 2), value)
    in_one_fold = constant.copy()
    in_one_fold[stratified_folds(y, 5, 1) == 2, 0] += 1  # what the others are trained on varies
    half = constant.copy()
    half[:, 1] = np.arange(40) % 4
    for X in (constant, in_one_fold, half):
        check_same(GaussianNB(var_smoothing=smoothing), X, y, null=null, folds=stratified_folds(y, 5, 1), undecided=1)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("ties", ["random", "first", "vote"])
@pytest.mark.parametrize("name", ["1-nn", "k-nn"])
def test_neighbours_where_nearly_all_distances_are_tied(name, ties, null):
    rng = np.random.default_rng(3)
    X, y = (rng.random((130, 7)) < 0.12).astype(float), rng.permutation(np.arange(130) % 2)
    X[:, 6] = 0
    X[7, 6] = 1  # constant in the folds that do not train on this row
    for nominal in (None, np.ones(7, bool), np.arange(7) < 3):
        check_same(build(name, nominal=nominal, params={"ties": ties}), X, y, null=null)


@pytest.mark.long
@pytest.mark.parametrize("name", ["1-nn", "k-nn"])
@pytest.mark.parametrize("largest", [10**5, 2 * 10**5, 10**6])
def test_neighbours_of_whole_numbers_with_a_round_range(name, largest):
    rng = np.random.default_rng(5)
    X = np.stack([rng.integers(0, 8, 80) + largest // 2 * rng.integers(0, 2, 80), rng.integers(0, 2, 80)], axis=1)
    X[:10, 0] = np.arange(10) % 2 * largest
    check_same(build(name), X.astype(float), rng.integers(0, 2, 80), null="labels")


def test_neighbours_beyond_every_list():
    # 400 equal rows: no list of the nearest ends a tie, so all go to all distances.
    X, y = np.zeros((400, 2)), np.arange(400) % 2
    X[::40, 0] = 1
    check_same(build("1-nn"), X, y, null="labels", replicates=3)


@pytest.mark.parametrize("null", NULLS)
def test_neighbours_of_outliers_whose_fold_changes_every_scale(null):
    rng = np.random.default_rng(4)
    X, y = rng.standard_cauchy((120, 6)), rng.permutation(np.arange(120) % 3)
    check_same(build("1-nn"), X, y, null=null)
    check_same(build("k-nn"), X, y, null=null, folds=stratified_folds(y, 2, 1))


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("name", READY_BATCHED)
def test_uneven_folds(name, null):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    folds = np.minimum(np.random.default_rng(3).geometric(0.3, len(y)), 6)
    check_same(build(name), X, y, null=null, folds=as_folds(folds, X, y), replicates=3)


@pytest.mark.long
@pytest.mark.parametrize("name", READY_BATCHED)
def test_leave_one_out(name):
    X, y = load_iris(return_X_y=True)
    X, y = X[::5], y[::5]
    check_same(build(name), X, y, null="labels", folds=as_folds(LeaveOneOut(), X, y), replicates=2)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("name", READY_BATCHED)
def test_a_class_that_no_other_fold_has(name, null):
    X, y = load_iris(return_X_y=True)
    X, y, folds = X[::4], y[::4], np.arange(38) % 4
    folds[y == 2] = 1
    check_same(build(name), X, y, null=null, folds=folds, replicates=2, undecided=1)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("name", READY_BATCHED)
def test_constant_and_repeated_columns(name, null):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.full(150, 7.0), X[:, 0], np.arange(150) == 3])
    folds = stratified_folds(y, 5, 1)
    fast = Retrainer(build(name), X, y, folds, null=null)
    slow = Retrainer(build(name), X, y, folds, null=null, batched=False)
    assert (fast.wrong(1, 3) == slow.wrong(1, 3)).all()


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("name", ["naive-bayes", "lda", "ridge"])
def test_exact_ties_are_left_to_scikit_learn(name, null):
    # Two mirrored classes and a row in the middle: which class wins there is rounding.
    X = np.array([[-3.0, 1], [-2, -1], [-1, 1], [-1, -1], [3, 1], [2, -1], [1, 1], [1, -1], [0, 0], [0, 0]])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 1])
    folds = np.array([0, 1, 0, 1, 0, 1, 0, 1, 2, 2])
    raw, filled, expected = both(build(name, missing=False), X, y, null=null, folds=folds, replicates=30)
    assert (raw == UNDECIDED).any()
    assert (filled == expected).all()


@pytest.mark.parametrize("name", ["1-nn", "linear-svm", "ridge"])
def test_transforms_learned_on_all_rows(name):
    X, y = load_wine(return_X_y=True)
    check_same(build(name), X, y, null="labels", transforms="all", replicates=3)


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(priors=[0.2, 0.3, 0.5]),
        KNeighborsClassifier(3, weights=np.sqrt),
        KNeighborsClassifier(3, metric="manhattan"),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
        RidgeClassifier(class_weight={0: 0, 1: 1, 2: 1}),
        LinearSVC(dual=False, class_weight={0: 2, 1: -1}),
        RidgeClassifier(solver="lsqr"),
        LinearSVC(dual=False, penalty="l1"),
        make_pipeline(MinMaxScaler(feature_range=(0, 2)), KNeighborsClassifier(1)),
        make_pipeline(MinMaxScaler(), StandardScaler(), RidgeClassifier()),
        make_pipeline(ColumnTransformer([("one", OneHotEncoder(drop="first"), [0])]), RidgeClassifier()),
        DecisionTreeClassifier(random_state=None),
        type("Other", (GaussianNB,), {})(),
    ],
    ids=str,
)
def test_configurations_that_no_batched_learner_stands_for_go_to_scikit_learn(estimator):
    X, y = load_wine(return_X_y=True)
    assert not Retrainer(estimator, X, y, stratified_folds(y, 5, 1), null="labels").batched


@pytest.mark.long
@pytest.mark.parametrize("steps", [[Normalizer()], [Normalizer("max"), Binarizer(threshold=0.3)]], ids=str)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_steps_that_transform_each_row_by_itself_are_applied_once(load, steps):
    X, y = load(return_X_y=True)
    X, y = X[:300], y[:300]
    for classifier in ([KNeighborsClassifier(3)], [StandardScaler(), RidgeClassifier()]):
        check_same(make_pipeline(*steps, *classifier), X, y, null="labels", replicates=2, undecided=1)


def test_steps_that_transform_each_row_by_itself_are_left_where_features_are_permuted_or_fail():
    X, y = load_iris(return_X_y=True)
    estimator, folds = make_pipeline(Normalizer(), GaussianNB()), stratified_folds(y, 5, 1)
    assert not Retrainer(estimator, X, y, folds, null="features").batched
    X[3, 2] = np.nan
    retrainer = Retrainer(estimator, X, y, folds, null="labels")
    with pytest.raises(ValueError, match="GaussianNB failed in fold"):
        retrainer.observed()


def test_a_machine_of_more_columns_than_training_rows_is_solved_in_the_dual():
    X, y = np.random.default_rng(1).normal(size=(30, 24)), np.arange(30) % 2
    folds = stratified_folds(y, 5, 1)
    assert Retrainer(LinearSVC(), X, y, folds, null="labels").batched
    assert not Retrainer(LinearSVC(), np.column_stack([X, X[:, 0]]), y, folds, null="labels").batched


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
def test_a_wide_set_with_columns_that_are_nearly_always_zero(null):
    X, y = load_digits(return_X_y=True)
    X, y = X[::4], y[::4]
    for name in ("naive-bayes", "1-nn", "ridge"):
        check_same(build(name), X, y, null=null, replicates=2)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("name", ["1-nn", "naive-bayes", "linear-svm", "decision-tree"])
def test_primary_tumor(name, null):
    """Real nominal data with missing values and 17 ties for each row."""
    path = DATA / "primary_tumor.parquet"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    import pandas as pd

    table = pd.read_parquet(path)
    table = table[table["class"].map(table["class"].value_counts()) >= 10]
    X = np.column_stack([pd.Categorical(table[c]).codes for c in table.columns[:-1]]).astype(float)
    X[X < 0] = np.nan
    y = pd.Categorical(table["class"]).codes.astype(np.int64)
    check_same(build(name, nominal=np.ones(X.shape[1], bool)), X, y, null=null, replicates=1, undecided=0.05)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
def test_categories_of_one_row_are_no_columns_where_it_is_tested(null):
    """Trees break ties by the number of columns, so a column of zeros would give other trees."""
    X, y, nominal = mixed_data(missing=0.0)
    X[::10, 1] = 10 + np.arange(len(X) // 10)
    X[:, 3] = np.arange(len(X)) % 7
    check_same(build("decision-tree", nominal=nominal), X, y, null=null, replicates=20)
