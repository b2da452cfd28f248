"""Trees and forests, from sorted columns or counts by level, are scikit-learn's own, and go to it without Numba."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sigstats.learners import build
from sigstats.learners import forest as batched_forest
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer, permutation_test

from ...examples import examples

pytest.importorskip("numba", reason="Numba is an extra")

FORESTS = [RandomForestClassifier, ExtraTreesClassifier]
KINDS = [DecisionTreeClassifier, *FORESTS]

needs_growth = pytest.mark.usefixtures("growth")


@pytest.fixture(scope="module")
def growth():
    if not all(batched_forest._agrees_with_scikit_learn(kind, "gini", False) for kind in KINDS):
        pytest.skip("trees grow in scikit-learn on this processor")


def check_same(forest, X, y, folds, null, replicates, rng):
    fast, slow = (Retrainer(forest, X, y, folds, null=null, batched=batched) for batched in (True, False))
    assert fast.batched
    draws = fast.draw(rng, replicates)
    assert (fast.predict(draws) == slow.predict(draws)).all()


@needs_growth
@settings(max_examples=examples(20), deadline=None)
@given(
    levels=st.lists(st.floats(-(2.0**99), 2.0**99, width=32), min_size=9, max_size=256, unique=True).map(sorted),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_threshold_is_found_among_levels_at_any_distances(levels, seed):
    rng, values = np.random.default_rng(seed), np.array(levels, dtype=np.float32)
    X = rng.choice(values, (80, 9)).astype(float)
    y = np.arange(80) % 3
    check_same(ExtraTreesClassifier(4, max_features=None, random_state=3), X, y, rng.permutation(y), "labels", 1, rng)


@pytest.mark.long
@needs_growth
@settings(max_examples=examples(40), deadline=None)
@given(
    cls=st.sampled_from(FORESTS),
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 120),
    d=st.integers(1, 12),
    distinct=st.integers(1, 40),
    classes=st.integers(2, 4),
    null=st.sampled_from(["labels", "features"]),
    n_estimators=st.integers(1, 8),
    bootstrap=st.booleans(),
    max_features=st.sampled_from(["sqrt", "log2", None, 1, 2]),
    max_depth=st.none() | st.integers(1, 6),
    min_samples_split=st.integers(2, 9),
    min_samples_leaf=st.integers(1, 5),
    random_state=st.integers(0, 2**31 - 1),
    criterion=st.sampled_from(["gini", "entropy", "log_loss"]),
)
def test_forests_vote_as_those_of_scikit_learn(cls, seed, n, d, distinct, classes, null, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, distinct, (n, d)).astype(float)  # few values: splits and votes are tied
    X[:, rng.integers(d)] += rng.choice([0.0, 5e-8], n)  # no farther apart than scikit-learn tells apart
    y = rng.permutation(np.r_[np.arange(n) % classes, classes])  # one class has one row
    X = np.vstack([X, X[:1]])
    folds = stratified_folds(y, 3, seed % 1000, rare_classes="allow")
    if isinstance(parameters["max_features"], int):
        parameters["max_features"] = min(parameters["max_features"], d)
    check_same(cls(**parameters), X, y, folds, null, 2, rng)


@pytest.mark.long
@needs_growth
@pytest.mark.parametrize("cls", FORESTS)
@pytest.mark.parametrize("null", ["labels", "features"])
def test_deep_trees_of_many_different_values(cls, null):
    rng = np.random.default_rng(8)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 9)) * 10.0 ** rng.integers(-3, 4, 9)
    X[:, 7] = rng.choice([-3e30, -1e-40, -0.0, 0.0, 1e-40, 2e30], 300)
    X[:, 8] = 1.0
    check_same(cls(10, random_state=2), X, y, stratified_folds(y, 4, 1), null, 2, rng)
    uneven = np.minimum(rng.geometric(0.4, 300), 4) - 1
    check_same(cls(5, random_state=2), X, y, uneven, null, 2, rng)


@needs_growth
def test_more_rows_of_a_class_than_a_byte_counts():
    rng = np.random.default_rng(4)
    y = rng.permutation(np.arange(1500) % 2)
    X = rng.integers(0, 9, (1500, 3)).astype(float)
    check_same(ExtraTreesClassifier(3, random_state=3), X, y, np.arange(1500) % 2, "labels", 1, rng)


@needs_growth
@pytest.mark.parametrize("cls", FORESTS)
@pytest.mark.parametrize(
    ("rows", "levels"),
    [(5_000, 10**6), (60_000, 9), (70_000, 9), pytest.param(70_000, 10**6, marks=pytest.mark.faults)],
)
def test_nodes_of_more_rows_than_squares_and_codes_of_few_bits_hold(cls, rows, levels):
    rng = np.random.default_rng(rows)
    X = rng.integers(0, levels, (rows, 3)) / 4.0
    y = (rng.random(rows) < 0.1).astype(int)  # of one class are more than the root of 2**31
    folds = (np.arange(rows) < 200).astype(int)
    check_same(cls(2, max_depth=4, random_state=3), X, y, folds, "labels", 1, rng)


@needs_growth
def test_levels_that_scikit_learn_does_not_tell_apart_are_no_levels():
    rng = np.random.default_rng(5)
    y = rng.permutation(np.arange(80) % 2)
    X = rng.integers(0, 3, (80, 9)) * 6e-8  # first and last differ, neighbours do not
    forest = RandomForestClassifier(6, random_state=3)
    check_same(forest, X, y, stratified_folds(y, 4, 1), "labels", 2, rng)


@pytest.mark.long
@needs_growth
@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize("cls", KINDS)
def test_entropy_of_real_data(cls, load, null):
    X, y = load(return_X_y=True)
    forest = cls(random_state=1, criterion="entropy")
    if cls is not DecisionTreeClassifier:
        forest.set_params(n_estimators=3, criterion="log_loss")
    check_same(forest, X, y, stratified_folds(y, 3, 1), null, 2, np.random.default_rng(2))


@pytest.mark.long
@needs_growth
@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize("cls", FORESTS)
def test_rows_drawn_by_weights_of_classes(cls, load, null):
    if not batched_forest._agrees_with_scikit_learn(cls, "gini", True):
        pytest.skip("the installed scikit-learn draws rows in another way")
    X, y = load(return_X_y=True)
    folds = np.random.default_rng(3).permutation(stratified_folds(y, 4, 1) * (np.arange(len(y)) % 3 > 0))
    for weights, criterion in (("balanced", "gini"), ({label: 1 + label for label in range(y.max() + 1)}, "entropy")):
        forest = cls(3, random_state=1, bootstrap=True, class_weight=weights, criterion=criterion)
        check_same(forest, X, y, folds, null, 2, np.random.default_rng(2))


@needs_growth
def test_entropy_of_categories():
    rng = np.random.default_rng(7)
    X, y = rng.integers(0, 4, (200, 6)).astype(float), rng.permutation(np.arange(200) % 3)
    tree = build("decision-tree", nominal=[True] * 4 + [False] * 2, missing=False, params={"criterion": "entropy"})
    check_same(tree, X, y, stratified_folds(y, 5, 1), "labels", 4, rng)
    check_same(tree, X, y, stratified_folds(y, 5, 1), "features", 4, rng)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(),
        RandomForestClassifier(random_state=0, class_weight="balanced_subsample"),
        RandomForestClassifier(random_state=0, class_weight="balanced", bootstrap=False),
        ExtraTreesClassifier(random_state=0, class_weight="balanced"),
        DecisionTreeClassifier(random_state=0, class_weight="balanced"),
        RandomForestClassifier(random_state=0, max_samples=0.5),
        RandomForestClassifier(random_state=0, criterion="unknown"),
        DecisionTreeClassifier(),
        RandomForestClassifier(random_state=0, max_features=0.5),
        ExtraTreesClassifier(random_state=0, ccp_alpha=0.1),
        ExtraTreesClassifier(random_state=0, n_estimators=0),
        build("sklearn.ensemble.RandomForestClassifier", nominal=[True, False, False, False]),
    ],
    ids=str,
)
def test_other_forests_go_to_scikit_learn(forest):
    X, y = load_iris(return_X_y=True)
    assert not Retrainer(forest, X, y, stratified_folds(y, 5, 1), null="labels").batched


@pytest.mark.parametrize("forest", [RandomForestClassifier(3, random_state=0), DecisionTreeClassifier(random_state=0)])
def test_missing_values_go_to_scikit_learn(forest):
    X, y = load_iris(return_X_y=True)
    X[3, 2] = np.nan
    assert not Retrainer(forest, X, y, stratified_folds(y, 5, 1), null="labels").batched


@needs_growth
@pytest.mark.parametrize("name", ["_column_seed", "_draws"])
def test_other_draws_in_scikit_learn_are_noticed(name, monkeypatch):
    original = getattr(batched_forest, name)
    other = {"_column_seed": lambda state: state + 1, "_draws": lambda seeds, n, *_: original(seeds, n, False, None)}
    monkeypatch.setattr(batched_forest, name, other[name])
    agrees = batched_forest._agrees_with_scikit_learn.__wrapped__
    assert not any(agrees(kind, "gini", False) for kind in (KINDS if name == "_column_seed" else KINDS[1:2]))


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
    check_same(tree, X, y, folds, null, 3, rng)


@pytest.mark.long
@needs_growth
@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize("levels", [0, 256])
def test_trees_of_many_classes_and_rows(null, levels, monkeypatch):
    monkeypatch.setattr(batched_forest, "_MOST_LEVELS", levels)  # without levels, from sorted columns
    X, y = load_digits(return_X_y=True)
    tree, folds = DecisionTreeClassifier(random_state=3), stratified_folds(y, 10, 1)
    check_same(tree, X, y, folds, null, 1, np.random.default_rng(2))


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
    check_same(tree, X, y, folds, "labels", 1, rng)


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
