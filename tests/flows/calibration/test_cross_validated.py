"""Calibration on learners that are retrained: the folds, the tests of them, and what pooling does to a level."""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest, f, t
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from sigstats.flows.report.evidence import Evidence
from sigstats.tasks.calibration.folds import folds_cell, permutation_pvalues, run_fold_test
from sigstats.tasks.calibration.populations import two_views
from sigstats.tasks.calibration.work import AppliedTest
from sigstats.tasks.fan_out import fanout, input_cells, stand_in
from sigstats.tasks.record import Learner, Permuted, Scheme, TwoViews
from sigstats.tasks.storage.store import Store

from ..conftest import run_serial as run
from ..conftest import study_file
from .conftest import completed

STUDY = """\
kind = "calibration"
seed = 3
sizes = [60]
trials = 60

[[populations]]
name = "classes"
source = "cross-validated"
features = 2
separation = [1.5]
difference = [0.0, 1.0]
folds = 5
repeats = [1, 5]

[[tests]]
test = "mcnemar"

[[tests]]
test = "corrected-t"
alternative = "less"

[[tests]]
test = "five-by-two"

[[tests]]
test = "efficiency"

[[tests]]
test = "permutation"
resamples = 9
"""

POPULATION = TwoViews(features=3, separation=1.2, difference=0.4)
NAIVE_BAYES = Learner(learner="naive-bayes", params={})


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return completed(tmp_path_factory.mktemp("done"), STUDY)


def test_the_outcomes_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    (sample,) = two_views.draw(POPULATION, 41, rng, 1)
    folds = two_views.folds_of(sample, Scheme(folds=4, repeats=2), rng)
    found = two_views.outcomes(sample, folds, NAIVE_BAYES)
    assert found.shape == (2, 4, 8)
    for repeat, fold in enumerate(folds):
        a, b = (cross_val_predict(GaussianNB(), X, sample.y, cv=PredefinedSplit(fold)) for X in (sample.a, sample.b))
        for number in range(4):
            rows = fold == number
            positive, right_a, right_b = sample.y[rows] == 0, (a == sample.y)[rows], (b == sample.y)[rows]
            assert found[repeat, number, 1] == np.sum(positive & right_b & ~right_a)
            assert found[repeat, number, 2] == np.sum(positive & right_a & ~right_b)
            assert found[repeat, number, 5] == np.sum(~positive & right_a & ~right_b)
            assert found[repeat, number, 7] == np.sum(~positive & right_a & right_b)
            assert found[repeat, number].sum() == rows.sum()


def test_the_best_rule_is_right_as_often_as_said():
    rng = np.random.default_rng(4)
    samples = two_views.draw(TwoViews(features=3, separation=1.2, difference=0.4), 50, rng, 400)
    for side, best in (("a", 0.7257), ("b", 0.7881)):  # Phi(0.6), Phi(0.8)
        right = sum(int(np.sum((getattr(each, side).sum(axis=1) > 0) == each.y)) for each in samples)
        # The chance of a false alarm is 1e-9 for each.
        assert binom.ppf(5e-10, 20_000, best) <= right <= binom.ppf(1 - 5e-10, 20_000, best)


def test_the_tests_are_those_of_their_papers():
    rng = np.random.default_rng(2)
    outcomes = rng.integers(1, 9, size=(5, 2, 8))
    only_a, only_b = outcomes[..., 2] + outcomes[..., 5], outcomes[..., 1] + outcomes[..., 6]
    d = (only_a - only_b) / outcomes.sum(axis=2)

    p, ahead = run_fold_test(
        AppliedTest(test="mcnemar", options={"method": "exact", "alternative": "two-sided"}), outcomes, rng
    )
    assert p == pytest.approx(binomtest(int(only_a.sum()), int((only_a + only_b).sum())).pvalue, rel=1e-12)
    assert ahead == pytest.approx((only_b - only_a).sum() / outcomes.sum())
    p, ahead = run_fold_test(AppliedTest(test="corrected-t", options={"alternative": "two-sided"}), outcomes, rng)
    statistic = d.mean() / np.sqrt((1 / 10 + 1) * d.var(ddof=1))
    assert p == pytest.approx(2 * t.sf(abs(statistic), 9), rel=1e-10)
    assert ahead == pytest.approx(-d.mean())
    p, _ = run_fold_test(AppliedTest(test="five-by-two"), outcomes, rng)
    assert p == pytest.approx(f.sf((d**2).sum() / ((d[:, 0] - d[:, 1]) ** 2).sum(), 10, 5), rel=1e-10)


def test_homogeneity_sums_the_tables_of_the_totals_that_are_no_likelier():
    outcomes = np.array([[[2, 1, 1, 0, 1, 0, 0, 1], [1, 0, 1, 0, 0, 1, 0, 0]]])
    # By hand: A is right in 5 positives and 2 negatives and wrong in 2 rows, B in 4, 1 and 4.
    totals = [9, 3, 6]

    def ways(first, second):
        return math.comb(totals[0], first) * math.comb(totals[1], second) * math.comb(totals[2], 9 - first - second)

    law = [ways(first, second) for first in range(10) for second in range(min(3, 9 - first) + 1)]
    assert sum(law) == math.comb(18, 9)
    expected = sum(each for each in law if each <= ways(5, 2)) / math.comb(18, 9)
    p, ahead = run_fold_test(AppliedTest(test="homogeneity"), outcomes, np.random.default_rng(0))
    assert p == pytest.approx(expected, rel=1e-12)
    assert ahead == pytest.approx(-(0 / 6 + 2 / 3) / 2)  # the mean of the folds


FAILING = """\
kind = "calibration"
seed = 3
sizes = [24]
trials = 60

[[populations]]
name = "classes"
source = "cross-validated"
learner = "sklearn.neighbors.RadiusNeighborsClassifier"
params = { radius = RADIUS }
features = 1
separation = [1.0]
folds = 3

[[tests]]
test = "mcnemar"

[[tests]]
test = "permutation"
resamples = 4
"""


@pytest.mark.long
def test_samples_on_which_a_learner_fails_are_counted_and_not_rejected(tmp_path):
    # Without a neighbour in the radius, scikit-learn's classifier refuses a row.
    stored = completed(tmp_path, FAILING.replace("RADIUS", "1.0"))
    (folds,) = [cell for cell in stored.cells("cross-validate") if cell.work.permutation is None]
    outcomes = stored.table(folds).column("outcomes").to_pylist()
    failed = [not each for each in outcomes]
    assert 0 < sum(failed) < 60
    rows = {row.method.split(",")[0].split(" ")[0].lower(): row for row in Evidence(stored).rows_of("calibration")}
    p_values = []
    for each in outcomes:
        if each:
            e = np.sum(np.reshape(each, (3, 8)), axis=0)
            only_a, only_b = int(e[2] + e[5]), int(e[1] + e[6])
            p_values.append(binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0)
    row = rows["mcnemar"]
    assert (row.replicates, len(p_values)) == (60, 60 - sum(failed))
    assert row.estimate == sum(p <= 0.05 for p in p_values) / 60
    said = f"p is undefined in {sum(failed)} of 60 test sets, which count as not rejected"
    assert row.note == said
    assert said in stored.store.files.read("report.html").decode()
    (folds,) = [cell for cell in stored.cells("cross-validate") if cell.work.permutation]
    permuted = stored.table(folds).to_pylist()
    wrong = [each["wrong"] for each in permuted if not each["permuted"]]
    assert wrong == [-1] * len(wrong)
    assert rows["permutation"].note == f"p is undefined in {len(wrong)} of 60 test sets, which count as not rejected"


def test_a_learner_that_fails_on_all_samples_is_a_failure(tmp_path, capsys):
    assert run(study_file(tmp_path, FAILING.replace("RADIUS", "1e-9")), tmp_path / "out") == 3
    assert "RadiusNeighborsClassifier failed in fold" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.long
def test_a_permutation_is_one_of_its_equals():
    """Without anything to learn the observed run is one more permutation: P(p <= a) <= a, over two repetitions too."""
    rng = np.random.default_rng(7)
    nothing = TwoViews(features=2, separation=0.0, difference=0.0)
    found = []
    for sample in two_views.draw(nothing, 24, rng, 200):
        folds = two_views.folds_of(sample, Scheme(folds=3, repeats=2), rng)
        wrong, permuted = two_views.permuted_wrong(
            sample, folds, NAIVE_BAYES, Permuted(null="labels", resamples=19), rng
        )
        assert len(permuted) == 19
        found.append(permutation_pvalues(np.array([wrong]), permuted[None])[0])
    for level in (0.05, 0.2, 0.5):
        # The chance of a false alarm is at most 1e-6 for each.
        assert np.sum(np.array(found) <= level + 1e-12) <= binom.isf(1e-6, 200, level)


@pytest.mark.long
def test_all_tests_see_the_same_samples(done):
    folds = done.cells("cross-validate")
    assert len(folds) == 2 * (1 + 1 + 1 + 2)  # two-fold, five-fold once and five times, permuted likewise
    assert len({str(cell.stream) for cell in folds}) == 2
    (once,) = done.cells("fold-test", slice="separation = 1.5, difference = 0, 1 x 5 folds", test="McNemar (exact)")
    (often,) = done.cells("fold-test", slice="separation = 1.5, difference = 0, 5 x 5 folds", test="McNemar (exact)")
    advantages = [done.table(cell).column("advantage").to_numpy() for cell in (once, often)]
    assert np.corrcoef(*advantages)[0, 1] > 0.5


@pytest.mark.long
def test_pooling_repetitions_destroys_the_level(done):
    rows = done.summary.to_pylist()
    summary = {(row["slice"], row["method"]): row for row in rows if row["test"] == "calibration"}
    assert len(summary) == 4 * 5
    once, often = (f"separation = 1.5, difference = 0, {repeats} x 5 folds" for repeats in (1, 5))
    error = summary[often, "McNemar (exact)"]
    assert error["measure"] == "type I error"
    assert error["decision"] == "reject"
    assert error["estimate_low"] > 0.1 > summary[once, "McNemar (exact)"]["estimate"]
    assert summary[often, "corrected t (less)"]["decision"] == "keep"
    assert summary[once, "5x2cv F"]["estimate"] == summary[often, "5x2cv F"]["estimate"]
    assert summary[once, "efficiency"]["measure"] == "power"  # there is something to learn
    assert summary[once.replace("difference = 0", "difference = 1"), "corrected t (less)"]["measure"] == "power"


@pytest.mark.long
def test_it_is_taken_up_where_it_was_interrupted_and_is_the_same(done, tmp_path):
    fewer = completed(tmp_path, STUDY, "--set", "trials=20")
    for cell in fewer.cells("cross-validate"):
        (longer,) = done.cells("cross-validate", **cell.subject)
        assert fewer.table(cell) == done.table(longer).slice(0, 20)
    for cell in fewer.cells("fold-test"):
        (longer,) = done.cells("fold-test", **cell.subject)
        assert fewer.table(cell) == done.table(longer).slice(0, 20)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("sizes = [60]", "sizes = [9]", "sizes: 9 is not valid; expected at least 10, two rows for each fold"),
        ("features = 2", 'learner = "naive-bayse"', "did you mean 'naive-bayes'"),
        ("separation = [1.5]", "separation = [-1.0]", "separation"),
        ('"cross-validated"\nfeatures = 2', '"sturm"\nright = [0.1]', "unknown key"),
        (STUDY.partition("source = ")[2], '"sturm"\nright = [0.1]\n[[tests]]\ntest = "five-by-two"', "no test applies"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(refusal, old, new, complaint):
    assert complaint in refusal(STUDY, old, new)


@pytest.mark.long
def test_the_report_begins_with_the_tests_that_reject_too_often(done):
    rows = [row for row in Evidence(done).rows_of("calibration") if row.measure == "type I error"]
    # By hand: too often is a share that a level of 5% reaches so seldom, Holm-adjusted in the family of the test.
    failing = {row.method: row.estimate for row in rows if row.decision == "reject"}
    assert set(failing) == {"McNemar (exact)"}
    assert failing["McNemar (exact)"] > binom.ppf(1 - 1e-4, 60, 0.05) / 60
    headline = done.store.files.read("report.html").decode().partition('class="headline">')[2].partition("<")[0]
    share = f"{100 * failing['McNemar (exact)']:.1f}%"
    assert f"Not all: McNemar (exact) rejects without a difference on {share} of the test sets" in headline
    assert headline.count("; no fault was shown for ") == 1


@pytest.mark.long
def test_a_plan_times_every_test_on_invented_folds_of_as_many_rows(done, tmp_path):
    cells, scratch = done.cells("fold-test"), Store(str(tmp_path))
    assert len({cell.subject["test"] for cell in cells}) == 5
    for cell in cells:
        other = stand_in(cell, scratch)
        tests = fanout(other.fanout).compute(other.block(0, 1), scratch, other.work)
        p_values = tests.column("p_value").to_numpy()
        assert len(p_values) == 60
        assert ((p_values > 0) & (p_values <= 1)).all()
        (folds,) = input_cells(other)
        assert folds.name not in {known.name for known in done.plan.cells}
        truth = done.table(folds_cell(cell.work)).to_pydict()
        for row, invented in zip(truth["outcomes"], scratch.read_prefix(folds)["outcomes"].to_pylist(), strict=True):
            assert sum(row) == sum(invented) or cell.subject["test"].startswith("permutation")
