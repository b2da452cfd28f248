"""C4.5 against Weka 3.6.14 (J48), Quinlan's printed figures, and its compiled form against itself."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm
from sklearn.utils.estimator_checks import parametrize_with_checks

from sigstats.learners import build, c45_classifier, c45_tree
from sigstats.learners.base import Problem
from sigstats.learners.c45_classifier import BatchedC45, C45Classifier, Levels
from sigstats.learners.c45_splits import nominal_split, numeric_split
from sigstats.tasks.datasets.readers import parquet

from ...examples import examples

DATA = Path(__file__).parents[4] / "shared" / "data"
NAN = math.nan

pytestmark = pytest.mark.long  # C4.5 is compiled for half a minute, once

# Quinlan (1993), table 2.1: outlook (sunny, overcast, rain), temperature, humidity, windy, and whether to play.
GOLF = np.array(
    [
        [0, 75, 70, 1, 1], [0, 80, 90, 1, 0], [0, 85, 85, 0, 0], [0, 72, 95, 0, 0], [0, 69, 70, 0, 1],
        [1, 72, 90, 1, 1], [1, 83, 78, 0, 1], [1, 64, 65, 1, 1], [1, 81, 75, 0, 1], [2, 71, 80, 1, 0],
        [2, 65, 70, 1, 0], [2, 75, 80, 0, 1], [2, 68, 80, 0, 1], [2, 70, 96, 0, 1],
    ],
    dtype=float,
)  # fmt: skip
GOLF_NOMINAL = (True, False, False, True)

#: For each seed of `made` what Weka prints of 160 rows: leaves, nodes, nodes without pruning; the classes of the next
#: 80; the sums of their class probabilities, which it prints in three decimals.
WEKA = {
    1: (14, 20, 79, "11211111121001010110112111011011011201111111121101100120221010011020212201001111",
        [23.48, 36.09, 20.43]),
    2: (17, 24, 84, "11011202122121111111111101221211110110111101211211101211000100212101121111001121",
        [21.14, 37.43, 21.44]),
    3: (33, 51, 90, "10110012201112111100112010022111120211201110111012111122101100111211112211021101",
        [22.89, 37.89, 19.23]),
    4: (20, 28, 90, "11110111111111111111112111001121011201112122111221011112111112111111110011011101",
        [23.14, 35.46, 21.36]),
}  # fmt: skip
#: Leaves, nodes and wrong training rows of trees of whole data sets, by Weka.
WEKA_SETS = {
    "labor": (3, 5, 7), "votes": (6, 11, 12), "breast_cancer_ljubljana": (4, 6, 69), "hepatitis": (11, 21, 12),
    "colic": (4, 6, 52), "autos": (49, 69, 10), "zoo": (9, 17, 1), "tic_tac_toe": (95, 142, 60),
    "promoters": (19, 25, 4), "primary_tumor": (47, 88, 131), "wine": (5, 9, 2), "iris": (5, 9, 3),
}  # fmt: skip
NOMINAL = (False,) * 4 + (True,) * 4


def made(seed, n=240):
    """Four numbers and four nominal features, of which some are missing, and three classes that depend on some."""
    state, rows = seed, []

    def draw(k):
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return (state >> 8) % k

    for _ in range(n):
        row = [draw(1000) / 8, draw(60) / 4, float(draw(40)), float(draw(9)), *(float(draw(k)) for k in (2, 3, 5, 7))]
        label = (int(row[0] > 60) + int(row[5] == 1) * (1 + int(row[2] > 20)) + int(row[6] > 2)) % 3
        label = draw(3) if draw(5) == 0 else label
        rows.append([*(NAN if draw(12) == 0 else value for value in row), label])
    data = np.array(rows)
    return data[:, :8], data[:, 8].astype(int)


def entropy(*counts):
    return -sum(count / sum(counts) * math.log2(count / sum(counts)) for count in counts if count)


@parametrize_with_checks([C45Classifier()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", WEKA)
def test_weka_on_numbers_categories_and_missing_values(seed):
    X, y = made(seed)
    leaves, nodes, without_pruning, classes, sums = WEKA[seed]
    tree = C45Classifier(nominal=NOMINAL).fit(X[:160], y[:160])
    assert (tree.n_leaves_, tree.n_nodes_) == (leaves, nodes)
    assert C45Classifier(nominal=NOMINAL, prune=False).fit(X[:160], y[:160]).n_nodes_ == without_pruning
    assert "".join(map(str, tree.predict(X[160:]))) == classes
    # Sums of 80 numbers with three decimals, here with two.
    assert tree.predict_proba(X[160:]).sum(axis=0) == pytest.approx(sums, abs=0.045)


@pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not here")
@pytest.mark.parametrize("name", WEKA_SETS)
def test_weka_on_data_sets(name):
    data = parquet.load({"name": name, "source": "parquet", "path": f"{name}.parquet", "target": "class"}, DATA)
    tree = C45Classifier(nominal=tuple(data.nominal)).fit(data.X, data.y)
    assert (tree.n_leaves_, tree.n_nodes_, int((tree.predict(data.X) != data.y).sum())) == WEKA_SETS[name]


def test_quinlan_s_tree():
    tree = C45Classifier(nominal=GOLF_NOMINAL).fit(GOLF[:, :4], GOLF[:, 4])
    assert (tree.n_leaves_, tree.n_nodes_, tree.score(GOLF[:, :4], GOLF[:, 4])) == (5, 8, 1.0)
    nodes, levels = tree.tree_, tree._levels
    first = nodes.first[0]
    assert (nodes.feature[0], nodes.feature[first : first + 3].tolist()) == (0, [2, -1, 3])
    assert (
        levels.values[levels.starts[2] + nodes.cut[first]] == 75
    )  # as figure 2.2 prints it: a value that occurs, not the middle, 77.5
    # An outlook that is not known goes down all branches: humidity 70 of sunny, the overcast leaf, rain with wind.
    assert tree.predict_proba([[NAN, 70, 70, 1]])[0] == pytest.approx([5 / 14, 9 / 14])
    # One that was never seen tells no more than the node's own classes.
    assert tree.predict_proba([[7, 70, 70, 1]])[0] == pytest.approx([5 / 14, 9 / 14])


def training(X, y, nominal):
    levels = Levels.of(X, np.array(nominal))
    return levels.training(levels.codes(X), y, np.arange(len(X)), 2, 2.0, 0.25)


def test_quinlan_s_gain_ratios():
    y, ones, rows = GOLF[:, 4].astype(int), np.ones(14), np.arange(14)
    data = training(GOLF[:, :4], y, GOLF_NOMINAL)
    outlook = nominal_split(data, 0, rows, ones, 14.0)
    # 9 of 14 play; of sunny 2 of 5, of overcast all 4, of rain 3 of 5 (section 2.2.3 prints 0.246 and 0.156)
    gain = entropy(9, 5) - 10 / 14 * entropy(2, 3)
    assert outlook == pytest.approx((gain, gain / entropy(5, 4, 5)))
    assert [round(each, 3) for each in outlook] == [0.247, 0.156]
    assert round(nominal_split(data, 3, rows, ones, 14.0)[0], 3) == 0.048
    # Section 3.3: with the outlook of one overcast day unknown, 0.199 and 0.110.
    unknown = GOLF[:, :1].copy()
    unknown[5] = NAN
    found = nominal_split(training(unknown, y, [True]), 0, rows, ones, 14.0)
    assert [round(each, 3) for each in found] == [0.199, 0.11]
    # A cut costs what it takes to name it: of the sunny days two cuts of humidity leave two on each side.
    sunny = GOLF[:5]
    data = training(sunny[:, 2:3], y[:5], [False])
    gain, _, *beside = numeric_split(data, 0, rows[:5], ones[:5], 5.0, np.empty(5, dtype=np.int64))
    assert (data.levels[beside].tolist(), gain) == ([70, 85], pytest.approx(entropy(2, 3) - math.log2(2) / 5))


def added_errors(n, wrong):
    return c45_tree.added_errors(n, wrong, 0.25, norm.isf(0.25))


def test_quinlan_s_bounds_of_errors():
    # Section 4.2 prints U25%(0, 6) = 0.206, U25%(0, 9) = 0.143 and U25%(0, 1) = 0.750.
    assert [round(added_errors(n, 0) / n, 3) for n in (6, 9, 1)] == [0.206, 0.143, 0.75]
    # From one error on it is the normal approximation: near the exact bound, and nearer with more rows.
    for n, wrong, within in ((16, 1, 0.006), (100, 20, 0.001), (1000, 300, 1e-4)):
        exact = beta.ppf(0.75, wrong + 1, n - wrong)
        assert (wrong + added_errors(n, wrong)) / n == pytest.approx(exact, abs=within)
    # Between no error and one it is a line, and it never exceeds the rows.
    assert added_errors(8, 0.5) == pytest.approx((added_errors(8, 0) + added_errors(8, 1)) / 2)
    assert added_errors(3, 2.8) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"confidence": 0}, "confidence: 0 is not valid"),
        ({"confidence": 0.6}, "confidence: 0.6 is not valid"),
        ({"min_rows": 0.5}, "min_rows: 0.5 is not valid"),
        ({"nominal": (True,)}, "nominal: "),
        ({"nominal": (False, True, False, False)}, "X (feature 1): 70.5 is not valid; expected category codes"),
    ],
)
def test_bad_input(params, said):
    X = GOLF[:, :4].copy()
    X[0, 1] = 70.5
    with pytest.raises(ValueError) as error:
        C45Classifier(**params).fit(X, GOLF[:, 4])
    assert str(error.value).startswith(said)


def test_the_ready_learner_takes_data_as_it_is():
    tree = build("c4.5", params={"confidence": 0.1}, nominal=np.array(GOLF_NOMINAL))
    assert tree.get_params() == {"nominal": GOLF_NOMINAL, "confidence": 0.1, "min_rows": 2, "prune": True}


@settings(deadline=None, max_examples=examples(20))
@given(st.integers(0, 10**6), st.sampled_from([40, 90, 160]), st.booleans(), st.booleans())
def test_the_compiled_form_predicts_the_same(seed, n, missing, prune):
    pytest.importorskip("numba")
    X, y = made(seed + 1, n)
    if not missing:
        X = np.nan_to_num(X)
    rng = np.random.default_rng(seed)
    problem = Problem(X, y, rng.integers(0, 3, n), 3, 3)
    tree = C45Classifier(nominal=NOMINAL, prune=prune)
    form = BatchedC45.recognise(tree, problem, "labels")
    place = np.stack([rng.permutation(n), np.arange(n)])
    source = np.stack([[rng.permutation(n) for _ in range(8)], [np.arange(n)] * 8])
    columns = np.arange(8)[:, None]
    cases = [(X, y[draw], problem.folds[draw]) for draw in place]
    cases += [(X[draw, columns].T, y, problem.folds) for draw in source]
    found = [*form.predict_labels(place), *form.predict_features(source)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(c45_classifier, "tree_code", lambda: c45_tree)  # not compiled
        for (columns_, label, folds), predicted in zip(cases, found, strict=True):
            for fold in range(3):
                train, test = folds != fold, folds == fold
                expected = tree.fit(columns_[train], label[train]).predict(columns_[test])
                assert np.array_equal(expected, predicted[test])


@pytest.mark.parametrize("seed", range(3))
def test_the_compiled_form_with_rare_classes_and_empty_columns(seed):
    pytest.importorskip("numba")
    X, y = made(seed + 50, 300)
    y[:2] = [3, 4]  # each is missing in the training rows of one fold, whose cuts leave more rows
    X[:, 3], X[:, 6] = NAN, NAN
    X[:, 1] = 2.0
    rng = np.random.default_rng(seed)
    problem = Problem(X, y, np.arange(300) % 3, 5, 3)
    tree = C45Classifier(nominal=NOMINAL)
    place = np.stack([rng.permutation(300) for _ in range(4)])
    for draw, predicted in zip(place, BatchedC45.recognise(tree, problem, "labels").predict_labels(place), strict=True):
        label, folds = y[draw], problem.folds[draw]
        for fold in range(3):
            expected = tree.fit(X[folds != fold], label[folds != fold]).predict(X[folds == fold])
            assert np.array_equal(expected, predicted[folds == fold])


def test_a_class_that_the_training_rows_lack_moves_no_cut():
    pytest.importorskip("numba")
    # A cut leaves a tenth of a class's mean share on each side: 10 of 200 rows of two classes, 4 if there were five.
    X, folds = np.arange(300.0)[:, None], (np.arange(300) % 3 == 0).astype(int)
    y = np.where((folds == 0) & (X[:, 0] < 14), 1, 0)  # nine rows, to which a cut adds one more
    y[[150, 153, 156]], X[150] = [2, 3, 4], 13.8
    problem = Problem(X, y, folds, 5, 2)
    predicted = BatchedC45.recognise(C45Classifier(), problem, "labels").predict_labels(np.arange(300)[None])[0]
    tree = C45Classifier().fit(X[folds == 0], y[folds == 0])
    assert tree.predict([[13.8], [14.2]]).tolist() == [1, 0]
    assert np.array_equal(tree.predict(X[folds == 1]), predicted[folds == 1])


def test_only_the_estimator_itself_is_recognised():
    pytest.importorskip("numba")
    X, y = made(1, 40)
    problem = Problem(X, y, np.arange(40) % 2, 3, 2)
    assert BatchedC45.recognise(C45Classifier(nominal=NOMINAL), problem, "labels") is not None
    assert BatchedC45.recognise(C45Classifier(nominal=NOMINAL, confidence=0.9), problem, "labels") is None
    assert BatchedC45.recognise(C45Classifier(nominal=(True,) * 8), problem, "labels") is None
    assert BatchedC45.recognise(type("Other", (C45Classifier,), {})(), problem, "labels") is None
