"""Intervals of any measure on rows of a few kinds, beside scikit-learn's values and Clopper and Pearson."""

import math
from dataclasses import replace

import numpy as np
import pytest
import sklearn.metrics as sk
from scipy.stats import ttest_1samp

import sigstats
from sigstats.tasks.calibration.populations.kinds import Kinds
from sigstats.tasks.calibration.work import AppliedTest
from sigstats.tasks.schema import Hypothesis

from .conftest import completed

SHARES = (0.05, 0.1, 0.15, 0.3, 0.4)
LABELS, A, B = ("2", "1", "1", "0", "0"), ("0", "1", "0", "0", "1"), ("2", "0", "1", "0", "0")
CLASSES = Kinds(shares=SHARES, labels=LABELS, a=A, b=B, group=1)
SCORED = replace(
    CLASSES, labels=("1", "1", "0", "0", "0"), a=(".9", ".4", ".4", ".1", ".6"), b=(".5", ".4", ".5", ".2", ".1")
)
LOST = Kinds(shares=(0.1, 0.9), labels=("", ""), a=("1", "0.5"), b=("0", "0.5"), group=1)
OPTIONS = {"method": "compare", "confidence": 0.95, "resamples": 999}
RNG = np.random.default_rng(1)


def applied(measure, method="compare"):
    return AppliedTest(test="difference-interval", measure=measure, options=OPTIONS | {"method": method})


@pytest.mark.parametrize(
    ("measure", "of"),
    [
        ("accuracy", sk.accuracy_score),
        ("macro-recall", sk.balanced_accuracy_score),
        ("kappa", sk.cohen_kappa_score),
        ("quadratic-kappa", lambda *two, **how: sk.cohen_kappa_score(*two, weights="quadratic", **how)),
    ],
)
def test_the_truth_is_that_of_rows_with_these_weights(measure, of):
    label, a, b = (np.array(each, dtype=int) for each in (LABELS, A, B))
    expected = of(label, b, sample_weight=SHARES) - of(label, a, sample_weight=SHARES)
    assert CLASSES.truth(measure) == pytest.approx(expected)


@pytest.mark.parametrize(("measure", "of"), [("auc", sk.roc_auc_score), ("neg-brier", sk.brier_score_loss)])
def test_the_truth_of_scores_is_that_of_rows_with_these_weights(measure, of):
    label = np.array(SCORED.labels, dtype=int)
    a, b = (of(label, np.array(each, dtype=float), sample_weight=SHARES) for each in (SCORED.a, SCORED.b))
    assert SCORED.truth(measure) == pytest.approx(b - a if measure == "auc" else a - b)


@pytest.mark.parametrize("lost", [0, 1, 4])
def test_the_lower_end_where_rows_are_lost_is_clopper_and_pearsons(lost):
    found = LOST.run_interval(applied("mean-score"), np.array([lost, 30 - lost]), RNG)
    assert found.low == pytest.approx(-sigstats.clopper_pearson(lost, 30).high, abs=1e-6)
    assert found.estimate == -lost / 30
    assert LOST.truth("mean-score") == pytest.approx(-0.1)


def test_where_nothing_is_tested_nothing_is_excluded():
    found = SCORED.run_interval(applied("auc"), np.array([0, 0, 3, 3, 3]), RNG)
    assert (found.low, found.high, found.undefined) == (-1, 1, True)
    assert math.isnan(found.estimate)


def test_the_usual_interval_of_an_absolute_error_is_students_of_the_errors():
    counts = np.array([3, 4, 6, 9, 18])
    label, a, b = (np.repeat(np.array(each, dtype=float), counts) for each in (LABELS, A, B))
    gained = np.abs(a - label) - np.abs(b - label)
    found = CLASSES.run_interval(applied("neg-mae", "usual"), counts, RNG)
    wanted = ttest_1samp(gained, 0).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    assert CLASSES.truth("neg-mae") == pytest.approx(2 * 0.05 - 0.1 + 0.15 + 0.4)
    assert CLASSES.run_interval(applied("neg-mae"), counts, RNG).low < wanted.low


def test_groups_are_rows_of_one_kind():
    drawn = replace(LOST, group=3).rows_of(np.array([1, 2]))
    assert drawn["group"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert drawn["a"].tolist() == ["1"] * 3 + ["0.5"] * 6


def test_groups_of_unequal_kinds_have_their_sizes_and_shares_of_rows():
    unequal = replace(LOST, group=2, times=(3, 1))
    assert unequal.rows_of(np.array([1, 2]))["group"].tolist() == [0] * 6 + [1, 1, 2, 2]
    assert unequal.truth("mean-score") == pytest.approx(-0.1 * 6 / (0.1 * 6 + 0.9 * 2))
    drawn = unequal.draw(2400, RNG, 500)
    assert set(drawn.sum(axis=1)) == {1000}
    assert (drawn @ [6, 2]).mean() == pytest.approx(2400, rel=0.01)


def test_an_answer_that_no_label_has_fits_measures_of_several_classes():
    refused = replace(CLASSES, b=("none", *CLASSES.b[1:]))
    fits = [refused.fits(applied(measure)) for measure in ("accuracy", "macro-f1", "quadratic-kappa", "f1")]
    assert fits == [True, True, False, False]


def test_what_fits_which_kinds():
    assert CLASSES.fits(applied("macro-f1", "usual"))
    assert not replace(CLASSES, group=2).fits(applied("macro-f1", "usual"))  # the bootstrap draws single rows
    assert not CLASSES.fits(applied("f1"))  # three classes
    assert not SCORED.fits(applied("accuracy"))
    assert SCORED.fits(applied("auc", "usual"))
    assert SCORED.fits(applied("average-precision"))
    assert not SCORED.fits(applied("average-precision", "usual"))  # which the bootstrap does not know
    assert [LOST.fits(applied(measure)) for measure in ("mean-score", "auc", "accuracy")] == [True, False, False]


STUDY = """\
kind = "calibration"
sizes = [20]
trials = 60

[[populations]]
name = "disasters"
source = "kinds"
kinds = [{ share = 0.02, a = 1.0, b = 0.0 }, { share = 0.98, a = 0.5, b = 0.51 }]

[[tests]]
test = "difference-interval"
measure = "mean-score"

[[tests]]
test = "difference-interval"
measure = "mean-score"
method = "usual"
"""


@pytest.mark.long
def test_a_study_tells_the_bound_from_students_interval(tmp_path):
    stored = completed(tmp_path, STUDY)
    rows = [Hypothesis(**row) for row in stored.summary.to_pylist()]
    coverage = {row.method: row for row in rows if row.measure == "coverage"}
    bound, students = coverage["difference (mean-score, compare)"], coverage["difference (mean-score, usual)"]
    assert bound.truth == students.truth == pytest.approx(-0.0102)
    assert bound.estimate == 1
    # no disaster is seen in .98^20 = .67 of the test sets: 60 have 55 or more such with a chance of 1 in 10^5
    assert students.estimate < 0.65
    assert "mean-score of B minus that of A" in stored.store.files.read("report.html").decode()


TESTS = STUDY.partition("[[tests]]")[2]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("share = 0.98", "share = 0.9", "kinds: shares of 0.92 in all are not valid; expected 1"),
        (TESTS, TESTS.split("\n\n")[0].replace("mean-score", "auc"), "no test applies to disasters; expected a diff"),
        ('"usual"', '"usual"\nresamples = 500', "resamples: 500 is not valid; no interval of mean-score draws"),
        ('"mean-score"\n\n', '"mean-score"\nresamples = 500\n\n', "resamples: 500 is not valid; no interval of mean-"),
    ],
)
def test_what_does_not_fit_is_refused(old, new, said, refusal):
    assert said in refusal(STUDY, old, new)
