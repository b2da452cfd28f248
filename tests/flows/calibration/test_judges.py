"""Calibration on rows of a judge: the population, the intervals that are compared, the ready study."""

import math

import numpy as np
import pytest

import sigstats
from sigstats.flows.commands import main
from sigstats.tasks.calibration.populations.judged import JudgedRows, Sample
from sigstats.tasks.calibration.work import AppliedTest

from ..conftest import study_file
from .conftest import completed

WORLD = {"accuracy": (0.8, 0.6), "sensitivity": (0.95, 0.9), "specificity": (0.85, 0.55)}
STUDY = """\
kind = "calibration"
seed = 4
sizes = [30]
trials = 60
adjust = "none"
tests = [
    { test = "judged-interval" },
    { test = "judged-interval", method = "ppi++" },
    { test = "judged-interval", method = "rogan-gladen" },
    { test = "judged-interval", method = "judge-alone" },
]

[[populations]]
name = "verdicts"
source = "judged"
rows = 1000
accuracy = [0.8, 0.8]
sensitivity = [0.9, 0.9]
specificity = [0.8, 0.4]

[[populations]]
name = "marks"
source = "judged"
rows = 400
accuracy = [0.8, 0.7]
sensitivity = [0.9, 0.9]
specificity = [0.9, 0.9]
answers = 2
marks = 10
"""


def interval(method, sample, seed=0, **options):
    options = {"method": method, "confidence": 0.95, "resamples": 999, **options}
    test = AppliedTest(test="judged-interval", options=options)
    return JudgedRows(rows=len(sample.judge[0]), **WORLD).run_interval(test, sample, np.random.default_rng(seed))


def test_a_population_is_what_it_is_said_to_be():
    (one,) = JudgedRows(rows=200_000, **WORLD).draw(9, np.random.default_rng(1), 1)
    error = 4 * math.sqrt(0.25 / 200_000 / 0.2)
    for side, accuracy, sensitivity, specificity in zip((0, 1), *WORLD.values(), strict=True):
        people, judge = one.people[side], one.judge[side]
        assert set(people) == set(judge) == {0.0, 1.0}
        assert people.mean() == pytest.approx(accuracy, abs=error)
        assert judge[people == 1].mean() == pytest.approx(sensitivity, abs=error)
        assert judge[people == 0].mean() == pytest.approx(1 - specificity, abs=error)
    assert np.corrcoef(one.people)[0, 1] > 0.2  # hard for one, hard for both
    (marks,) = JudgedRows(rows=200_000, answers=4, marks=10, **WORLD).draw(9, np.random.default_rng(2), 1)
    assert marks.people.mean(axis=1) == pytest.approx(WORLD["accuracy"], abs=2 * error)
    assert marks.judge[1].mean() == pytest.approx(0.6 * 0.9 + 0.4 * 0.45, abs=2 * error)
    assert set(np.round(10 * marks.people.ravel(), 9)) == set(range(11))
    assert np.corrcoef(marks.people[0][0::4], marks.people[0][1::4])[0, 1] > 0.5
    assert np.array_equal(np.bincount(marks.items), [4] * 50_000)


@pytest.mark.parametrize("options", [{}, {"answers": 4}, {"marks": 10}])
def test_the_interval_is_that_of_the_library_with_the_sign_of_the_study(options):
    (one,) = JudgedRows(rows=600, **WORLD, **options).draw(120, np.random.default_rng(3), 1)
    found = interval("judged-test", one, seed=7)
    labels = np.where(np.arange(600) < 120, one.people, np.nan)
    more = {"score_range": (0, 1)} if "marks" in options else {}
    result = sigstats.judged_test(
        *one.judge[::-1], *labels[::-1], groups=one.items, n_resamples=999, rng=np.random.default_rng(7), **more
    )
    assert (found.estimate, found.low, found.high) == (result.estimate, *result.confidence_interval)


def test_a_judge_that_is_always_right_corrects_nothing():
    rng = np.random.default_rng(5)
    people = (rng.random((2, 500)) < [[0.8], [0.7]]) * 1.0
    one = Sample(people, people, 100, None)
    alone = interval("judge-alone", one)
    difference = people[1] - people[0]
    assert alone.estimate == difference.mean()
    assert (alone.high - alone.low) / 2 == pytest.approx(1.959963984540054 * difference.std() / math.sqrt(500))
    corrected = interval("rogan-gladen", one)
    assert corrected.estimate == pytest.approx(alone.estimate)
    assert corrected.standard_error**2 == pytest.approx(sum(p * (1 - p) for p in people.mean(axis=1)) / 500)


def test_prediction_powered_intervals_are_those_of_ppi_python():
    """`ppi_mean_ci` and `ppi_mean_pointestimate` of ppi-python 0.2.3, whose lambda divides one variance by n - 1."""
    row = np.arange(300)
    judge = np.array([row * 7 % 10 < 8, row * 3 % 10 < 6]) * 1.0
    found = interval("ppi++", Sample(judge, np.where(row % 9 < 2, 1 - judge, judge), 90, None))
    assert [found.estimate, found.low, found.high] == pytest.approx([-0.11111111, -0.25224485, 0.03002263], abs=1e-6)


def test_a_judge_that_says_nothing_leaves_the_labels():
    rng = np.random.default_rng(6)
    people = (rng.random((2, 300)) < [[0.8], [0.7]]) * 1.0
    one = Sample(np.ones((2, 300)), people, 90, None)
    seen = (people[1] - people[0])[:90]
    found = interval("ppi++", one)
    assert (found.estimate, found.standard_error) == pytest.approx((seen.mean(), seen.std() / math.sqrt(90)))
    refused = interval("rogan-gladen", one)
    assert (refused.low, refused.high, refused.undefined) == (-1.0, 1.0, True)
    by_judge, by_people = interval("judged-test", one), interval("labels-alone", one)
    assert (by_judge.low, by_judge.high) == (by_people.low, by_people.high)


@pytest.mark.long
def test_a_study_finds_the_judge_out(tmp_path, capsys):
    stored = completed(tmp_path, STUDY)
    found = {(row["dataset"], row["method"], row["measure"]): row for row in stored.summary.to_pylist()}
    coverage, level = (found["verdicts", "judge-alone", each] for each in ("coverage", "type I error"))
    assert coverage["decision"] == "reject"
    assert coverage["estimate"] + level["estimate"] == pytest.approx(1)
    assert found["verdicts", "judged-test", "coverage"]["decision"] == "keep"
    assert found["marks", "judged-test", "coverage"]["truth"] == pytest.approx(-0.1)
    assert ("marks", "judged-test", "power") in found
    assert not any(dataset == "marks" and method == "rogan-gladen" for dataset, method, _ in found)
    capsys.readouterr()
    output, csv = stored.store.root, str(tmp_path / "rows")
    assert main(["replay", output, "--trial", "17", "--only", "dataset=marks", "--rows", csv]) == 0
    assert (tmp_path / "rows").read_text().splitlines()[0] == '"item","judge_a","label_a","judge_b","label_b"'
    assert "a size is the number of rows that people label" in stored.store.files.read("report.html").decode()


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        (('test = "judged-interval", method = "judge-alone"', 'test = "mcnemar"'), "fits one of the populations"),
        (("sizes = [30]", "sizes = [500]"), "sizes: 500 is not valid; expected at most 400, the rows of marks"),
        (("accuracy = [0.8, 0.8]", "accuracy = [0.8]"), "populations.0.accuracy"),
    ],
)
def test_what_does_not_fit_is_said(spoiled, message, tmp_path, refused):
    assert message in refused("plan", study_file(tmp_path, STUDY.replace(*spoiled)))


def test_labels_are_no_part_of_a_population(tmp_path, printed):
    """All rows are drawn anew, so that many labels among them are nothing to warn of."""
    assert "replacement" not in printed("plan", "--no-timing", study_file(tmp_path, STUDY.replace("[30]", "[300]")))
