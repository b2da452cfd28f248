"""The positive class is decided by one rule, whatever function, command or study asks."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

import sigstats
from sigstats._common.class_columns import PAIRS, positive_place
from sigstats.proportions import dcf_test, proportion_test

RNG = np.random.default_rng(6)
Y, A, B = (RNG.integers(0, 2, 120) for _ in range(3))
X = RNG.normal(size=(120, 2)) + Y[:, None]

#: How each function measures f1 (or needs a positive class) of labels, of two predictions and of scores.
DOORS = {
    "compare": lambda y, a, b, **o: sigstats.compare(y, a, b, measures="f1", **o).rows[0].baseline,
    "assert_at_least": lambda y, a, b, **o: (
        sigstats.assert_at_least(y, a, measures="f1", at_least=0.01, **o).rows[0].value
    ),
    "bootstrap_test": lambda y, a, b, **o: sigstats.bootstrap_test.from_predictions(y, a, b, rng=1, **o).value_a,
    "f1_interval": lambda y, a, b, **o: sigstats.f1_interval.from_predictions(y, a, **o).low,
    "dcf_test": lambda y, a, b, **o: dcf_test.from_predictions(y, a, b, cost_fn=3, cost_fp=1, prior=0.3, **o).estimate,
    "auc_test": lambda y, a, b, **o: sigstats.auc_test(y, X[:, 0], X[:, 1], **o).estimate,
    "scores": lambda y, a, b, **o: (
        sigstats.compare(y, a, b, scores=(X[:, 0], X[:, 1]), measures="auc", **o).rows[0].baseline
    ),
    "tables": lambda y, a, b, **o: sigstats.compare(y, np.eye(2)[A], np.eye(2)[B], measures="f1", **o).rows[0].baseline,
    "permutation_test": lambda y, a, b, **o: (
        sigstats.permutation_test("lda", X, y, measure="f1", n_resamples=2, cv=3, rng=1, **o).statistic
    ),
}
#: Names of the classes 0 and 1 of which the second is positive without being named.
KNOWN = [[0, 1], [-1, 1], [False, True], ["0", "1"], ["false", "true"], ["False", "True"], ["no", "yes"], ["NO", "YES"]]
KNOWN += [["0.0", "1.0"], ["-1.0", "1.0"]]
UNKNOWN = [["fraud", "ok"], [1, 2], ["negative", "positive"], ["n", "y"], [0, 2]]


def named(names):
    return [np.array(names)[each] for each in (Y, A, B)]


@pytest.mark.long
@pytest.mark.parametrize("door", DOORS)
def test_every_door_knows_the_same_pairs(door):
    expected = DOORS[door](Y, A, B, positive=1)
    for names in KNOWN:
        assert DOORS[door](*named(names)) == expected, names


@pytest.mark.long
@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_other_pairs_and_takes_a_named_class(door):
    expected = [DOORS[door](Y, A, B, positive=positive) for positive in (0, 1)]
    for names in UNKNOWN:
        with pytest.raises(ValueError, match=f"positive: is missing; expected one of '{names[0]}', '{names[1]}'"):
            DOORS[door](*named(names))
        assert [DOORS[door](*named(names), positive=each) for each in names] == expected, names


def test_the_positive_class_is_the_second_of_a_pair_in_any_order():
    for negative, positive in PAIRS:
        assert positive_place([negative, positive]) == 1
        assert positive_place([positive.upper(), negative.title()]) == 0
    assert sigstats.bootstrap_test.from_predictions(Y, A, B, rng=1).value_a == f1_score(Y, A)


def test_measures_of_all_classes_ask_for_none():
    y, a, b = named(["fraud", "ok"])
    accuracy = sigstats.bootstrap_test.from_predictions(y, a, b, measure="accuracy", rng=1)
    assert accuracy.value_a == (y == a).mean()
    assert accuracy.value_a - accuracy.value_b == accuracy.estimate
    wrong = proportion_test.from_predictions(y, a, b)
    assert wrong == proportion_test.from_predictions(Y, A, B)
    for measure in ("accuracy", "mcc", "macro-f1", "auc", "neg-log-loss"):
        options = {"measure": measure, "n_resamples": 2, "cv": 3, "rng": 1}
        of_text, of_numbers = (sigstats.permutation_test("lda", X, each, **options).statistic for each in (y, Y))
        assert of_text == of_numbers


def test_booleans_have_one_spelling():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": range(120), "label": Y, "prediction": A, "old": B == 1})
    of_frames = sigstats.compare(frame, frame.assign(prediction=B), slices=["old"])
    of_arrays = sigstats.compare(Y, A, B, slices={"old": B == 1})
    assert [row.slice for row in of_frames.rows] == [row.slice for row in of_arrays.rows]
    assert {row.slice for row in of_arrays.rows} == {"all rows", "old = false", "old = true"}
