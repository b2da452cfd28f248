"""Classifiers whose classes are weighted, fitted with shared work, against scikit-learn's own fits."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sigstats.learners import build
from sigstats.learners.base import steps_of
from sigstats.learners.own import number_classes
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import check_same

LINEAR = {
    "ridge": RidgeClassifier(),
    "linear-svm": LinearSVC(dual=False, tol=1e-6, random_state=0),
    "logistic-regression": LogisticRegression(max_iter=1000),
}


def nulls(name):
    return ["labels"] if name == "logistic-regression" else ["labels", "features"]


@pytest.mark.long
@pytest.mark.parametrize("weights", ["balanced", "by label"])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize("name", LINEAR)
def test_real_data_of_uneven_classes(name, load, weights):
    X, y = load(return_X_y=True)
    kept = np.flatnonzero(np.random.default_rng(1).random(len(y)) < np.where(y == 1, 0.9, 0.15))
    X, labels = X[kept], np.array([f"class {9 - code}" for code in y[kept]])  # their order is not that of codes
    by_label = {label: 1 + int(label[-1]) / 3 for label in np.unique(labels).tolist()[1:]}  # the first one counts 1
    classifier = clone(LINEAR[name]).set_params(class_weight=by_label if weights == "by label" else weights)
    folds = stratified_folds(labels, 3, 1)
    for null in nulls(name):
        estimator = make_pipeline(StandardScaler(), classifier)
        check_same(estimator, X, labels, null=null, replicates=2, folds=folds, undecided=1)


@pytest.mark.parametrize("name", ["ridge", "linear-svm"])
def test_categories(name):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (90, 4)).astype(float), rng.permutation(np.arange(90) % 5 % 2)
    nominal = [True, True, False, False]
    estimator = build(name, params={"class_weight": {0: 1, 1: 2.5}}, nominal=nominal, missing=False)
    for null in nulls(name):
        check_same(estimator, X, y, null=null, replicates=2, folds=stratified_folds(y, 3, 1), undecided=1)


@pytest.mark.parametrize("weights", [{0: 0.0}, {0: -1.0}, {0: np.inf}, {7: 2.0}, {0: "many"}, "heavy"], ids=str)
@pytest.mark.parametrize("name", LINEAR)
def test_weights_that_are_no_positive_numbers_go_to_scikit_learn(name, weights):
    X, y = load_iris(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), clone(LINEAR[name]).set_params(class_weight=weights))
    assert not Retrainer(estimator, X, y, stratified_folds(y, 3, 1), null="labels").batched


@pytest.mark.parametrize("name", LINEAR)
def test_a_fold_that_trains_without_a_class_goes_to_scikit_learn(name):
    X, y = load_iris(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), clone(LINEAR[name]).set_params(class_weight="balanced"))
    assert not Retrainer(estimator, X, y, np.where(y == 2, 0, np.arange(150) % 3), null="labels").batched


@pytest.mark.parametrize(
    ("classes", "weights"),
    [
        ([1, 2], {1: 20}),
        ([1, 2], {2: 20, 1: 0.5}),
        ([-1, 1], {-1: 20}),
        ([9, 10, 11], {10: 20.0, 11: 0.1}),
        (["ham", "spam"], {"ham": 20}),
    ],
)
@pytest.mark.parametrize("as_text", [False, True])  # the keys of a TOML table are text
def test_weights_are_of_the_classes_that_they_name(classes, weights, as_text):
    rng = np.random.default_rng(len(str(weights)))
    X = rng.normal(size=(120, 3))
    codes = rng.integers(len(classes), size=120)
    X[:, 0] += codes
    expected = DecisionTreeClassifier(max_depth=2, class_weight=weights, random_state=0)
    expected.fit(X, np.array(classes)[codes])
    given = {str(name): weight for name, weight in weights.items()} if as_text else weights
    params = {"class_weight": given, "max_depth": 2}
    ours = build("sklearn.tree.DecisionTreeClassifier", params=params, classes=[*map(str, classes)]).fit(X, codes)
    np.testing.assert_array_equal(np.array(classes)[ours.predict(X)], expected.predict(X))


def test_numbers_weight_classes_whose_names_are_text():
    path = "sklearn.tree.DecisionTreeClassifier"
    for classes, weights in ((("no", "yes"), {1: 4}), (("no", "yes"), {"yes": 4}), (("0", "1"), {1: 4})):
        made = build(path, params={"class_weight": weights}, classes=classes)
        assert steps_of(made)[-1].class_weight == {1: 4}
    for classes, key in ((("1", "2"), 0), (("no", "yes"), "maybe"), (("no", "yes"), 2)):
        with pytest.raises(ValueError, match=f"class_weight: '{key}' .* weights of the classes {classes[0]}"):
            build(path, params={"class_weight": {key: 4}}, classes=classes)


def test_weights_that_a_search_tries_are_of_the_classes_that_they_name():
    grid = {"logisticregression__class_weight": [{1: 4}, "balanced", None], "logisticregression__C": [1.0]}
    numbered = {**grid, "logisticregression__class_weight": [{0: 4}, "balanced", None]}
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    for given, expected in ((grid, numbered), ([grid, {}], [numbered, {}])):
        assert number_classes(GridSearchCV(pipeline, given), ("1", "2")).param_grid == expected


@pytest.mark.parametrize("estimator", [GaussianNB, LinearDiscriminantAnalysis])
def test_priors_are_taken_as_an_array(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    folds = stratified_folds(y, 3, 1)
    of_list, of_array = (estimator(priors=kind([0.9, 0.1])) for kind in (list, np.array))
    predictions = [Retrainer(made, X[:, :4], y, folds, null="labels").observed() for made in (of_list, of_array)]
    np.testing.assert_array_equal(*predictions)


@pytest.mark.parametrize(
    "scoring", ["recall", "f1", "average_precision", ["accuracy", "precision"], {"r": make_scorer(recall_score)}]
)
def test_a_search_for_one_class_is_refused_if_1_is_not_that_class(scoring):
    for classes in (("0", "1"), ("-1", "1"), ("No", "Yes"), ("a", "b", "c")):
        number_classes(search(scoring), classes)
    for classes in (("1", "2"), ("ham", "spam")):
        with pytest.raises(ValueError, match=f"scoring: .*the classes of the data are {' and '.join(classes)}"):
            number_classes(search(scoring), classes)


@pytest.mark.parametrize("scoring", [None, "accuracy", "recall_macro", "roc_auc", "neg_log_loss", "neg_brier_score"])
def test_a_search_for_both_classes_is_taken(scoring):
    number_classes(search(scoring), ("1", "2"))


def search(scoring):
    return GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {}, scoring=scoring, refit=False)
