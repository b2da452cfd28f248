"""Measures of one class in `compare`: scikit-learn's values, F1's interval, positives that nobody lost."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import f1_score, jaccard_score, precision_score, recall_score

import sigstats

VALUES = {
    "precision": lambda y, p: precision_score(y, p, pos_label="yes", average="binary"),
    "recall": lambda y, p: recall_score(y, p, pos_label="yes"),
    "specificity": lambda y, p: recall_score(y, p, pos_label="no"),
    "f1": lambda y, p: f1_score(y, p, pos_label="yes"),
    "jaccard": lambda y, p: jaccard_score(y, p, pos_label="yes"),
}


@pytest.fixture(scope="module")
def predictions():
    rng = np.random.default_rng(3)
    y = np.where(rng.random(700) < 0.2, "yes", "no")
    return y, *(np.where(rng.random(700) < right, y, np.where(y == "yes", "no", "yes")) for right in (0.85, 0.9))


def test_values_are_those_of_scikit_learn(predictions):
    y, a, b = predictions
    found = sigstats.compare(y, a, b, measures=list(VALUES), positive="yes")
    for row in found.rows:
        assert (row.baseline, row.candidate) == pytest.approx((VALUES[row.measure](y, a), VALUES[row.measure](y, b)))


@pytest.mark.long
def test_f1_has_the_interval_of_f1_difference(predictions):
    y, a, b = predictions
    outcomes = sigstats.JointOutcomes.from_predictions(y, a, b, positive="yes")
    (row,) = sigstats.compare(y, a, b, measures=["f1"], positive="yes").rows
    low, high = sigstats.f1_difference_interval(outcomes)
    assert (-row.high, -row.low) == pytest.approx((low, high), abs=0.01)  # candidate - baseline beside A - B
    (grouped,) = sigstats.compare(y, a, b, measures=["f1"], positive="yes", groups=np.arange(700)).rows
    assert (grouped.low, grouped.high) == pytest.approx((row.low, row.high), abs=0.01)


def test_one_of_several_classes_is_that_class_against_the_others(predictions):
    y, a, b = (np.where(np.arange(700) % 3 == 0, np.char.add(each, "!"), each) for each in predictions)
    (row,) = sigstats.compare(y, a, b, measures=["recall"], positive="yes!").rows
    assert row.baseline == pytest.approx(recall_score(y == "yes!", a == "yes!"))
    with pytest.raises(ValueError, match="positive: is missing; expected one of 'no', 'no!', 'yes', 'yes!'"):
        sigstats.compare(y, a, b, measures=["recall"])


def test_positives_that_nobody_lost_bound_the_recall_by_their_number():
    y = np.arange(300) < 30
    (row,) = sigstats.compare(y, y, y.copy(), measures=["recall"], positive=True).rows
    exact = binomtest(0, 30).proportion_ci(0.95).high
    assert -row.low == pytest.approx(exact, abs=0.01)
    assert row.verdict == "inconclusive"


def test_a_slice_without_the_class_is_not_tested():
    y = np.repeat([1, 0], [50, 50])
    quiet = np.where(np.arange(100) < 50, 1 - y, 0)
    found = sigstats.compare(y, y, quiet, measures=["f1"], positive=1, slices={"part": np.repeat(["p", "n"], 50)})
    (empty,) = (row for row in found.rows if row.slice == "part = n")
    assert empty.verdict is None
    assert empty.note == "no row has the class as label or prediction: nothing can be tested"
