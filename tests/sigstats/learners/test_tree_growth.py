"""Trees grown here, from sorted columns or counts by level, are scikit-learn's own, and the same without Numba."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sigstats.learners import build
from sigstats.learners import forest as batched_forest
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer, permutation_test

from ...examples import examples

pytest.importorskip("numba", reason="Numba is an extra")

KINDS = [DecisionTreeClassifier, RandomForestClassifier]

needs_growth = pytest.mark.usefixtures("growth")


@pytest.fixture(scope="module")
def growth():
    if not all(map(batched_forest._grows, KINDS)):
        pytest.skip("trees grow in scikit-learn on this processor")


def predictions(estimator, X, y, folds, null, draws, *, batched=True):
    return Retrainer(estimator, X, y, folds, null=null, batched=batched).predict(draws)


@pytest.mark.long
@needs_growth
@settings(max_examples=examples(80), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(18, 90) | st.integers(91, 400),  # nodes of up to 48 rows are sorted, where levels are few
    d=st.integers(1, 7) | st.integers(8, 40),  # from 8 on by level where these are few
    distinct=st.integers(1, 40),
    near=st.booleans(),
    classes=st.integers(2, 6),  # up to four are counted in one number
    nominal=st.integers(0, 3),
    null=st.sampled_from(["labels", "features"]),
    max_depth=st.none() | st.integers(1, 6),
    min_samples_split=st.integers(2, 9),
    min_samples_leaf=st.integers(1, 5),
    random_state=st.integers(0, 2**31 - 1),
)
def test_trees_are_those_of_scikit_learn(seed, n, d, distinct, near, classes, nominal, null, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, distinct, (n, d)).astype(float)  # few values: many splits are equally good
    is_nominal = rng.permutation(d) < nominal
    numbers = np.flatnonzero(~is_nominal)
    if near and len(numbers):
        X[:, rng.choice(numbers)] += rng.choice([0.0, 5e-8], n)  # no farther apart than scikit-learn tells apart
    y = rng.permutation(np.arange(n) % classes)
    folds = stratified_folds(y, 3, seed % 1000)
    tree = build("decision-tree", nominal=is_nominal, missing=False, params=parameters)
    draws = Retrainer(tree, X, y, folds, null=null).draw(rng, 3)
    expected = predictions(tree, X, y, folds, null, draws, batched=False)
    assert (predictions(tree, X, y, folds, null, draws) == expected).all()


@pytest.mark.long
@needs_growth
@pytest.mark.parametrize("null", ["labels", "features"])
def test_trees_of_many_classes_and_rows(null):
    X, y = load_digits(return_X_y=True)
    folds = stratified_folds(y, 10, 1)
    tree = DecisionTreeClassifier(random_state=3)
    draws = Retrainer(tree, X, y, folds, null=null).draw(np.random.default_rng(2), 1)
    expected = predictions(tree, X, y, folds, null, draws, batched=False)
    retrainer = Retrainer(tree, X, y, folds, null=null)
    assert (retrainer.predict(draws) == expected).all()
    # the same without levels, from sorted columns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batched_forest, "_MOST_LEVELS", 0)
        assert (predictions(tree, X, y, folds, null, draws) == expected).all()


@pytest.mark.long
@needs_growth
@pytest.mark.parametrize(
    ("rows", "columns", "levels", "classes", "settings"),
    [
        (1_500, 700, 128, 4, {}),  # the counts of few nodes have a place
        (1_500, 70, 16, 30, {"min_samples_leaf": 4}),
        (40_000, 8, 9, 3, {"max_depth": 7}),  # more rows than 16 bits count
        (30_000, 8, 9, 3, {"max_depth": 7, "min_samples_split": 60}),
        (40_000, 2, 10**6, 3, {"max_depth": 4}),
    ],
)
def test_large_nodes_that_look_at_all_columns(rows, columns, levels, classes, settings):
    rng = np.random.default_rng(rows + columns)
    X = rng.integers(0, levels, (rows, columns)).astype(float)
    y, folds = rng.permutation(np.arange(rows) % classes), (np.arange(rows) < rows // 5).astype(int)
    tree = DecisionTreeClassifier(random_state=5, **settings)
    draws = Retrainer(tree, X, y, folds, null="labels").draw(rng, 1)
    expected = predictions(tree, X, y, folds, "labels", draws, batched=False)
    assert (predictions(tree, X, y, folds, "labels", draws) == expected).all()


@needs_growth
@pytest.mark.parametrize(
    "learner", [DecisionTreeClassifier(random_state=0), RandomForestClassifier(n_estimators=5, random_state=0)]
)
def test_nothing_that_is_compiled_is_sent_to_other_processes(learner):
    """Numba would compile it anew in each of them, which takes a quarter of a minute."""
    X, y = load_iris(return_X_y=True)
    retrainer = Retrainer(learner, X, y, stratified_folds(y, 3, 1), null="labels")
    draws = retrainer.draw(np.random.default_rng(1), 1)
    expected = retrainer.predict(draws)
    sent = pickle.dumps(retrainer)
    assert b"numba" not in sent
    assert (pickle.loads(sent).predict(draws) == expected).all()


@pytest.mark.long
def test_numba_is_loaded_by_trees_alone_and_may_be_missing():
    program = """
import sys
import sigstats.learners
assert "numba" not in sys.modules
sys.modules["numba"] = None  # importing it fails
from sklearn.datasets import load_iris
from sigstats import permutation_test
X, y = load_iris(return_X_y=True)
print(permutation_test("decision-tree", X, y, n_resamples=3, rng=1).wrong)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    X, y = load_iris(return_X_y=True)
    assert int(done.stdout) == permutation_test("decision-tree", X, y, n_resamples=3, rng=1).wrong


@needs_growth
def test_another_way_to_break_ties_in_scikit_learn_is_noticed(monkeypatch):
    monkeypatch.setattr(batched_forest, "_seed", lambda random_state: random_state + 1)
    assert not any(map(batched_forest._grows.__wrapped__, KINDS))


@pytest.mark.parametrize(
    "parameters",
    [{"max_depth": 0}, {"min_samples_split": 1}, {"min_samples_leaf": 0}, {"random_state": -1}],
    ids=lambda parameters: next(iter(parameters)),
)
def test_what_scikit_learn_refuses_is_refused(parameters):
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(**{"random_state": 0, **parameters})
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Retrainer(tree, X, y, stratified_folds(y, 5, 1), null="labels").observed()
