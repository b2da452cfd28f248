import contextlib
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from sigstats.learners import READY, build
from sigstats.learners.base import require_harmless
from sigstats.learners.gaussian_estimators import MixedNB
from sigstats.learners.neighbours.nearest_neighbours import NearestNeighbours

from ...examples import examples

NAMES = [
    "1-nn", "k-nn", "naive-bayes", "decision-tree", "linear-svm", "svm", "lda", "qda", "logistic-regression", "ridge",
]  # fmt: skip
COMPILED = pytest.param("c4.5", marks=pytest.mark.long)  # half a minute, once


def mixed_data(seed=0, n=90):
    """Numeric and nominal features with missing values, three classes that differ in both."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 5)) + y[:, None]
    X[:, 1] = rng.integers(0, 3, n)
    X[:, 3] = (y + (rng.random(n) < 0.3)) % 3
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, np.array([False, True, False, True, False])


def test_the_ready_learners_are_found():
    assert {*NAMES, "c4.5"} <= set(READY)


@pytest.mark.parametrize("name", [*NAMES, COMPILED, "sklearn.ensemble.ExtraTreesClassifier", "sklearn.svm.NuSVC"])
def test_each_learns_from_mixed_features_with_missing_values(name):
    X, y, nominal = mixed_data()
    fitted = build(name, nominal=nominal).fit(X[:60], y[:60])
    # By chance 20 of 30 are wrong; at most 14 has probability 0.02 then, and features here separate well.
    assert (fitted.predict(X[60:]) != y[60:]).sum() <= 14


@pytest.mark.parametrize("name", [*NAMES, COMPILED])
def test_lean_without_missing_and_nominal_features(name):
    estimator = build(name, missing=False)
    steps = [type(step).__name__ for _, step in estimator.steps] if isinstance(estimator, Pipeline) else []
    assert len(steps) <= 2
    assert "SimpleImputer" not in steps
    X, y = load_wine(return_X_y=True)
    assert (build(name, missing=False, nominal=np.zeros(13, bool)).fit(X, y).predict(X) == y).mean() > 0.9


@pytest.mark.parametrize("name", ["decision-tree", "linear-svm", "svm", "logistic-regression", "ridge"])
def test_a_random_state_is_fixed_unless_given(name):
    final = build(name, params={"random_state": 5})
    assert (final.steps[-1][1] if isinstance(final, Pipeline) else final).random_state == 5
    final = build(name)
    assert (final.steps[-1][1] if isinstance(final, Pipeline) else final).random_state == 0


def test_transforms_are_learned_where_fit_is_called():
    X = np.array([[0.0], [1.0], [2.0], [1000.0]])
    scaled = build("1-nn").fit(X[:3], [0, 1, 0])
    assert scaled.steps[0][1].data_max_.tolist() == [2.0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("naive-baies", "did you mean 'naive-bayes'"),
        ("ldaa", "did you mean 'lda'"),
        ("os.system", "an import path into sklearn"),
        ("subprocess.Popen", "an import path into sklearn"),
        ("sklearn.os.system", "sklearn.os.system"),
        ("sklearn.utils._testing.assert_allclose", "public names"),
        ("sklearn.base.clone", "classifier class"),
        ("sklearn.svm.SVR", "the import path of a classifier class"),
        ("sklearn.ensemble.RandomForestClasifier", "did you mean 'RandomForestClassifier'"),
        ("sklearn.nowhere.Classifier", "can be imported"),
        ("sklearn..SVC", "public names"),
        ("sklearn.tests.test_base.NaNTag", "classifier class"),
        ("sklearn.ensemble.tests.test_forest.RandomForestClassifier", "classifier class"),
        ("sklearn.utils.estimator_checks.SVC", "classifier class"),
        ("sklearn.conftest.SVC", "classifier class"),
        ("", "one of"),
        (None, "the name"),
    ],
)
def test_other_names_are_refused(name, message):
    before = set(sys.modules)
    with pytest.raises(ValueError, match=message) as caught:
        build(name)
    assert "\n" not in str(caught.value)
    assert not any(module.startswith("subprocess.") for module in set(sys.modules) - before)


def test_the_allow_list_can_be_widened_to_other_packages():
    name = "sigstats.learners.gaussian_estimators.MixedNB"
    with pytest.raises(ValueError):
        build(name)
    assert isinstance(build(name, missing=False, allowed=("sklearn", "sigstats")), MixedNB)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("k-nn", {"neighbors": 3}, "did you mean 'n_neighbors'"),
        ("1-nn", {"n_neighbors": 3}, "use k-nn"),
        ("sklearn.svm.SVC", {"kernl": "rbf"}, "did you mean 'kernel'"),
        ("lda", ["solver"], "a mapping"),
        ("lda", {1: 2}, "a mapping"),
    ],
)
def test_unknown_parameters_are_refused(name, params, message):
    with pytest.raises(ValueError, match=message):
        build(name, params=params)


@pytest.mark.parametrize("nominal", [[0, 1], "yes", [[True]], [None]])
def test_a_nominal_mask_is_one_bool_a_feature(nominal):
    with pytest.raises(ValueError, match="nominal"):
        build("lda", nominal=nominal)


# --- naive Bayes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_naive_bayes_on_numbers_is_gaussian(load):
    X, y = load(return_X_y=True)
    ours, theirs = MixedNB().fit(X[::2], y[::2]), GaussianNB().fit(X[::2], y[::2])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_naive_bayes_on_categories_is_categorical():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 4, (200, 6)), rng.integers(0, 3, 200)
    ours = MixedNB(nominal=[True] * 6, alpha=0.5).fit(X, y)
    theirs = CategoricalNB(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_naive_bayes_from_its_definition_with_missing_values():
    # By hand: feature 0 numeric (a missing value in class 0), feature 1 nominal (a missing value in class 1).
    X = np.array([[1, 0], [3, 0], [np.nan, 1], [6, 1], [8, np.nan], [10, 1]], float)
    y = [0, 0, 0, 1, 1, 1]
    fitted = MixedNB(nominal=[False, True], var_smoothing=0).fit(X, y)

    def normal(x, mean, variance):
        return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)

    for x, code in [(4, 0), (5, 1), (2, None), (None, 1), (5, 7)]:
        joint = []
        moments = [(2, 1), (8, Fraction(8, 3))]
        category = [{0: Fraction(3, 5), 1: Fraction(2, 5)}, {0: Fraction(1, 4), 1: Fraction(3, 4)}]
        for mean_variance, shares in zip(moments, category, strict=True):
            value = 0.5 if x is None else 0.5 * normal(x, *map(float, mean_variance))
            joint.append(value * float(shares.get(code, 1)))
        row = [[np.nan if x is None else x, np.nan if code is None else code]]
        assert fitted.predict_proba(row)[0, 1] == pytest.approx(joint[1] / sum(joint), rel=1e-12)


def test_naive_bayes_of_constant_features_predicts_the_larger_class():
    fitted = MixedNB().fit(np.ones((5, 2)), [0, 0, 1, 1, 1])
    assert fitted.predict([[1.0, 1.0]]) == [1]


# --- nearest neighbours ------------------------------------------------------------------------------------------


def by_definition(X, y, x, k, nominal, ties, order):
    """The prediction for `x`: distances in rational arithmetic, ties by rule."""
    distances = []
    for row in X:
        total = Fraction(0)
        for a, b, category in zip(row, x, nominal, strict=True):
            if math.isnan(a) or math.isnan(b):
                total += 1
            elif category:
                total += a != b
            else:
                total += (Fraction(a) - Fraction(b)) ** 2
        distances.append(total)
    kth = sorted(distances)[k - 1]
    if ties == "vote":
        chosen = [i for i, value in enumerate(distances) if value <= kth]
    else:
        chosen = sorted(range(len(X)), key=lambda i: (distances[i], order[i]))[:k]
    votes = [sum(y[i] == code for i in chosen) for code in range(3)]
    return votes.index(max(votes))


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("ties", ["random", "first", "vote"])
def test_neighbours_from_their_definition(k, ties):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers(0, 5, (40, 2)) / 4, rng.integers(0, 3, (40, 2))])
    X[rng.random(X.shape) < 0.15] = np.nan
    y, nominal = rng.integers(0, 3, 40), [False, False, True, True]
    fitted = NearestNeighbours(n_neighbors=k, ties=ties, nominal=nominal, random_state=7).fit(X[:25], y[:25])
    order = np.random.RandomState(7).permutation(25) if ties == "random" else np.arange(25)
    expected = [by_definition(X[:25], y[:25], x, k, nominal, ties, order) for x in X[25:]]
    assert fitted.predict(X[25:]).tolist() == expected


@pytest.mark.parametrize("k", [1, 7])
def test_neighbours_of_continuous_data_are_those_of_scikit_learn(k):
    X, y = np.random.default_rng(1).normal(size=(200, 4)), np.arange(200) % 3
    ours = NearestNeighbours(n_neighbors=k).fit(X[:150], y[:150]).predict(X[150:])
    theirs = KNeighborsClassifier(n_neighbors=k).fit(X[:150], y[:150]).predict(X[150:])
    assert (ours == theirs).all()


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=examples(300))
@given(
    st.sampled_from([NearestNeighbours, MixedNB]),
    st.dictionaries(
        st.sampled_from(["n_neighbors", "ties", "alpha", "var_smoothing", "nominal"]),
        st.one_of(st.none(), st.integers(-2, 99), st.floats(), st.text(max_size=3), st.just([True])),
        max_size=2,
    ),
    st.lists(st.lists(st.floats(), min_size=1, max_size=3), min_size=1, max_size=4),
)
def test_only_value_errors_escape_from_our_estimators(cls, params, X):
    known = {key: value for key, value in params.items() if key in cls().get_params()}
    with contextlib.suppress(ValueError):
        cls(**known).fit(X, [0, 1, 0, 1][: len(X)]).predict(X)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 1e9}),
        ("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 10**9}),
        ("sklearn.ensemble.RandomForestClassifier", {"n_estimators": float("nan")}),
        ("sklearn.neighbors.KNeighborsClassifier", {"n_jobs": 100_000}),
        ("sklearn.neighbors.KNeighborsClassifier", {"n_jobs": -100_000}),
        ("sklearn.neural_network.MLPClassifier", {"hidden_layer_sizes": [10, 10**7]}),
    ],
)
def test_sizes_that_no_machine_has_are_refused_before_anything_is_fitted(name, params):
    (parameter,) = params
    with pytest.raises(ValueError, match=rf"^params: {parameter}: .* is not valid; expected at most [\d,]+: "):
        build(name, params=params)


@pytest.mark.long
def test_every_classifier_of_scikit_learn_has_a_path_that_is_taken():
    from sklearn.utils import all_estimators

    from sigstats.learners import _classifier_class

    for name, found in all_estimators("classifier"):
        public = found.__module__.split(".")[1]
        assert _classifier_class(f"sklearn.{public}.{name}") is found


def test_a_module_of_tests_is_not_even_imported():
    with pytest.raises(ValueError, match="classifier class"):
        build("sklearn.svm.tests.test_svm.SVC")
    assert "sklearn.svm.tests.test_svm" not in sys.modules


def test_a_classifier_of_another_package_is_asked_for_by_its_path():
    with pytest.raises(ValueError, match=r"or an import path, as in 'xgboost:XGBClassifier'$"):
        build("xgboost")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory", "folder"),
        ("union__pipeline__memory", "folder"),
        ("options", {"memory": "folder"}),
        ("layers", [{"inner": {"pipeline__memory": "folder"}}]),
    ],
)
def test_a_folder_of_pickles_is_refused_at_any_depth(name, value):
    with pytest.raises(ValueError, match=r"memory: 'folder' is not valid; expected None, since joblib would load"):
        require_harmless(name, value)


def test_a_size_within_a_table_is_held_to_its_limit():
    with pytest.raises(ValueError, match="inner__n_jobs: 1000 is not valid; expected at most 256"):
        require_harmless("inner", {"n_jobs": 1000, "memory": None})
