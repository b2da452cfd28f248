"""Calibration of intervals on a grid: the performance measures, the precision wanted, size-adjusted power."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from sigstats.flows.calibration.populations.described import two_classifiers
from sigstats.joint.outcomes import JointOutcomes
from sigstats.tasks.calibration import interval
from sigstats.tasks.calibration.interval import run_intervals, true_f1
from sigstats.tasks.calibration.performance import STATED, _means, adjusted_power_error, critical_p, monte_carlo_error
from sigstats.tasks.calibration.population import Population
from sigstats.tasks.calibration.work import Estimate
from sigstats.tasks.schema import Hypothesis

from ...examples import thorough
from ..conftest import run_serial as run
from ..conftest import study_file
from .conftest import completed

#: So few, an interval whose coverage is half of what it says is still found; and the most where the error is given.
TRIALS, MOST = (200, 900) if thorough() else (100, 450)
WANTED = 0.02 if thorough() else 0.03
STUDY = f"""\
kind = "calibration"
seed = 5
sizes = [40, 160]
trials = {TRIALS}

[[populations]]
name = "grid"
source = "simulated"
prevalence = [0.5, 0.05]
recall = [0.8]
precision = [0.8]
difference = [0.0, 0.1]
dependence = [0.9]

[[tests]]
test = "f1-interval"

[[tests]]
test = "f1-interval"
method = "percentile"
resamples = 199

[[tests]]
test = "f1-interval"
of = "a"
method = "exact"

[[tests]]
test = "mcnemar"
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return completed(tmp_path_factory.mktemp("done"), STUDY)


@pytest.fixture(scope="module")
def found(done):
    return [Hypothesis(**row) for row in done.summary.to_pylist()]


def f1(outcomes, side):
    e1, e2, e3, e4, e5, e6, e7, _ = outcomes
    tp, fn, fp = (e1 + e3, e2 + e4, e5 + e7) if side == "a" else (e1 + e2, e3 + e4, e5 + e6)
    return 2 * tp / (2 * tp + fn + fp)


@pytest.mark.parametrize(("prevalence", "dependence"), list(product((0.5, 0.02), (0.0, 0.4, 1.0))))
def test_a_population_is_what_it_is_said_to_be(prevalence, dependence):
    options = {"recall": 0.7, "precision": 0.6, "difference": 0.1}
    made = two_classifiers(prevalence=prevalence, dependence=dependence, **options)
    e = made.outcomes
    assert min(e) >= -1e-15
    assert sum(e) == pytest.approx(1)
    assert sum(e[:4]) == pytest.approx(prevalence)
    assert (e[0] + e[2]) / sum(e[:4]) == pytest.approx(0.7)
    assert (e[0] + e[1]) / sum(e[:4]) == pytest.approx(0.8)
    assert (e[0] + e[2]) / (e[0] + e[2] + e[4] + e[6]) == pytest.approx(0.6)
    assert (e[0] + e[1]) / (e[0] + e[1] + e[4] + e[5]) == pytest.approx(0.7)
    both_wrong = {0.0: 0.3 * 0.2, 1.0: 0.2}.get(dependence)
    if both_wrong is not None:
        assert e[3] / sum(e[:4]) == pytest.approx(both_wrong)
    assert true_f1(made, "a") == pytest.approx(f1(e, "a"))
    assert true_f1(made, "difference") == pytest.approx(f1(e, "b") - f1(e, "a"))


@pytest.mark.parametrize("of", ["a", "difference"])
def test_what_is_true_where_outputs_are_exchanged_is_the_mean_of_test_sets(of):
    population = Population(outcomes=(300, 20, 90, 40, 30, 10, 70, 440), swapped=True)
    drawn = population.draw(600, np.random.default_rng(8), 4000)
    values = [f1(each, "a") if of == "a" else f1(each, "b") - f1(each, "a") for each in drawn]
    # Five standard errors, and the bias of F1, a ratio, which falls by 1 / n.
    assert true_f1(population, of) == pytest.approx(np.mean(values), abs=5 * np.std(values) / math.sqrt(4000) + 5e-4)


def test_no_difference_is_exactly_none():
    made = two_classifiers(prevalence=0.1, recall=0.8, precision=0.7, difference=0.0, dependence=0.3)
    assert made.difference("f1") == 0.0
    assert made.discordant[0] == made.discordant[1]


def interval_on(options, counts):
    rows, problem = run_intervals(options, np.array([counts]), np.random.default_rng(1))
    assert not problem
    return Estimate(*rows[0])


@pytest.mark.parametrize("method", ["wilson", "bayesian", "percentile", "bca", "centred", "exact"])
def test_one_classifier_is_compared_with_none(method):
    counts = [30, 8, 5, 7, 4, 6, 9, 131]
    test = {"of": "a", "method": method, "confidence": 0.9, "resamples": 999}
    result = interval_on(test, counts)
    assert result.estimate == pytest.approx(f1(counts, "a"))
    assert 0 <= result.low < result.estimate < result.high <= 1
    # Delta method: J = TP / n is binomial, and dF1/dJ = 2 / (1 + J)**2.
    tp, n = 35, 35 + 15 + 13
    j = tp / n
    assert result.standard_error == pytest.approx(2 / (1 + j) ** 2 * math.sqrt(j * (1 - j) / n), rel=0.12)
    assert not result.undefined
    assert interval_on(test, [0, 0, 0, 0, 0, 3, 0, 30]).undefined


@pytest.mark.long
def test_the_measures_are_those_of_the_replicates(done, found):
    (cell,) = done.cells(
        "interval", slice="difference = 0.1, prevalence = 0.05", n="160", test="difference of F1 (wilson)"
    )
    table = {name: done.table(cell).column(name).to_numpy() for name in done.table(cell).column_names}
    true = 0.1
    rows = {row.measure: row for row in found if row.cell == cell.name}
    assert len(rows) == 9
    estimates, n = table["estimate"], TRIALS
    held = (table["low"] <= true) & (true <= table["high"])
    wanted = {
        "coverage": held.mean(),
        "bias-eliminated coverage": ((table["low"] <= estimates.mean()) & (estimates.mean() <= table["high"])).mean(),
        "interval below the truth": (table["high"] < true).mean(),
        "interval above the truth": (table["low"] > true).mean(),
        "undefined": table["undefined"].mean(),
        "bias": estimates.mean() - true,
        "empirical standard error": estimates.std(ddof=1),
        "stated standard error": math.sqrt((table["standard_error"] ** 2).mean()),
        "width": (table["high"] - table["low"]).mean(),
    }
    assert {name: row.estimate for name, row in rows.items()} == pytest.approx(wanted)
    assert rows["coverage"].p_value == pytest.approx(binom.cdf(held.sum(), n, 0.95))
    assert monte_carlo_error(rows["bias"]) == pytest.approx(estimates.std(ddof=1) / math.sqrt(n))
    assert monte_carlo_error(rows["empirical standard error"]) == pytest.approx(
        estimates.std(ddof=1) / math.sqrt(2 * (n - 1))
    )
    assert monte_carlo_error(rows["coverage"]) == pytest.approx(math.sqrt(held.mean() * (1 - held.mean()) / n))


def test_the_error_of_a_stated_error_is_that_of_many_studies():
    """The formulas of Morris, White and Crowther, by simulation: chi-square variances of 9 degrees of freedom."""
    rng = np.random.default_rng(2)
    row = Hypothesis(
        study="", cell="", test="performance", method="", alternative="", null_hypothesis="", replicates=100
    )
    values, errors = [], []
    for _ in range(1500):
        stated = np.sqrt(rng.chisquare(9, 100) / 9)
        columns = {"estimate": rng.standard_normal(100), "standard_error": stated, "low": -stated, "high": stated}
        (made,) = [each for each in _means(row, columns, 0.0) if each.measure == STATED]
        values.append(made.estimate)
        errors.append(monte_carlo_error(made))
    # The standard deviation of 1,500 values has a relative error of 0.018: five of them, and the delta method's own.
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.1)


def test_f1_of_right_and_wrong_answers_is_refused(refusal):
    grid = STUDY[STUDY.index("[[populations]]") : STUDY.index("[[tests]]")]
    systems = '[[populations]]\nname = "systems"\nsource = "sturm"\nright = [0.1]\n\n'
    wanted = "tests: difference of F1 (wilson): systems is not valid; expected a population with rows of both classes"
    assert wanted in refusal(STUDY, grid, systems)


@pytest.mark.long
def test_no_disagreement_is_no_certainty(found):
    coverage = {(row.slice, row.n, row.method): row for row in found if row.measure == "coverage"}
    few = "difference = 0.1, prevalence = 0.05", 40
    assert coverage[*few, "difference of F1 (percentile, resamples = 199)"].decision == "reject"
    for key, row in coverage.items():
        if "percentile" not in key[2]:
            assert row.decision == "keep", key


def test_the_error_of_size_adjusted_power_is_how_far_studies_differ():
    """Studies of 500 test sets with a difference and 200 without: the critical p makes most of the error."""
    rng = np.random.default_rng(1)
    powers, errors = [], []
    for _ in range(500):
        under_null, p_values = rng.random(200), rng.random(500) ** 3
        powers.append(np.mean(p_values <= critical_p(under_null, 0.05)))
        errors.append(adjusted_power_error(p_values, under_null, 0.05))
    of_rate = np.sqrt(np.mean(powers) * (1 - np.mean(powers)) / 500)
    assert np.std(powers) > 2 * of_rate
    # The standard deviation of 500 studies is known to 3%; that of few test sets by the bootstrap to a tenth.
    assert np.mean(errors) == pytest.approx(np.std(powers), rel=0.15)
    assert adjusted_power_error(np.zeros(100), rng.random(50), 0.05) < 1e-7


@pytest.mark.long
def test_power_is_adjusted_to_the_level_that_a_test_has(done, found):
    assert critical_p(np.array([0.01, 0.2, 0.2, 0.9]), 0.5) == 0.01
    assert critical_p(np.array([0.01, 0.2, 0.2, 0.9]), 0.2) == 0.0
    rows = [row for row in found if row.measure == "size-adjusted power"]
    assert {(row.slice, row.n) for row in rows} == {
        (f"difference = 0.1, prevalence = {prevalence}", n) for prevalence in (0.5, 0.05) for n in (40, 160)
    }
    row = next(row for row in rows if row.slice == "difference = 0.1, prevalence = 0.5" and row.n == 160)
    (power,), (null,) = (
        done.cells("subsample", slice=f"difference = {value}, prevalence = 0.5", n="160") for value in ("0.1", "0")
    )
    under_null = np.sort(done.table(null).column("p_value").to_numpy())
    assert np.mean(under_null <= row.statistic) <= 0.05
    assert np.mean(under_null <= under_null[under_null > row.statistic][0]) > 0.05
    assert row.estimate == np.mean(done.table(power).column("p_value").to_numpy() <= row.statistic)


@pytest.mark.long
def test_test_sets_are_drawn_until_the_error_is_as_wanted(done, tmp_path):
    wanted = completed(tmp_path, STUDY, "--set", f"precision={WANTED}", "--set", f"trials={MOST}")
    lengths = set()
    for cell in wanted.cells("subsample"):
        table = wanted.table(cell)
        rejected = table.column("p_value").to_numpy() <= 0.05
        n = table.num_rows
        lengths.add(n)
        errors = [
            math.sqrt((s + 2) / (k + 4) * (1 - (s + 2) / (k + 4)) / k)
            for k, s in enumerate(np.cumsum(rejected).tolist(), start=1)
        ]
        assert errors[-1] <= WANTED < min(errors[:-1]) or n == MOST
        (shorter,) = done.cells("subsample", **cell.subject)
        most = min(n, TRIALS)
        assert table.slice(0, most) == done.table(shorter).slice(0, most)
    assert len(lengths) > 2
    for cell in wanted.cells("interval"):
        missed = 1 - wanted.table(cell).column("covers").to_numpy().mean()
        assert math.sqrt(missed * (1 - missed) / wanted.table(cell).num_rows) <= WANTED + 1e-4


@pytest.mark.long
def test_the_report_says_what_fails(done):
    report = done.store.files.read("report.html").decode()
    assert "the interval of difference of F1 (percentile) contains the truth on " in report
    assert "difference of F1 (percentile, resamples = 199)" in report  # once in full, in the design
    assert "MC error" in report


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("prevalence = [0.5, 0.05]", "prevalence = [0.5, 1.0]", "prevalence"),
        ("precision = [0.8]", "precision = [0.1]", "prevalence, recall, precision"),
        ("difference = [0.0, 0.1]", "difference = [0.3]", "recall, difference"),
        ('of = "a"\nmethod = "exact"', 'method = "exact"', "'exact' is not valid"),
        ("resamples = 199", "resamples = 5", "resamples: 5 is not valid"),
        (
            'method = "exact"',
            'method = "exact"\nresamples = 99',
            "resamples: 99 is not valid; expected only with",
        ),
        ("seed = 5", "precision = 0.5", "precision"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(refusal, old, new, complaint):
    assert complaint in refusal(STUDY, old, new)


@pytest.mark.long
def test_test_sets_on_which_a_method_fails_are_counted_as_misses(done, tmp_path, monkeypatch):
    # A method that refuses test sets with an odd number of disagreements; the others are as they were.
    method = interval._METHODS["wilson"]

    def fussy(test, counts, rng):
        if sum(JointOutcomes(*counts).discordant) % 2:
            raise ValueError("an odd number of disagreements")
        return method(test, counts, rng)

    monkeypatch.setitem(interval._METHODS, "wilson", fussy)
    found = completed(tmp_path, STUDY)
    checked = 0
    for before, after in zip(done.cells("interval"), found.cells("interval"), strict=True):
        whole, part = done.table(before).to_pandas(), found.table(after).to_pandas()
        refused = part["low"].isna()
        assert (part["estimate"] == whole["estimate"]).all()
        assert (part["covers"] == (whole["covers"] & ~refused)).all()
        rows = {row["measure"]: row for row in found.summary.to_pylist() if row["cell"] == after.name}
        if not refused.any():
            assert rows["coverage"]["note"] == ""
            continue
        checked += 1
        assert {row["unanswered"] for row in rows.values()} == {refused.sum()}
        widths = (whole["high"] - whole["low"])[~refused]
        assert rows["width"]["estimate"] == pytest.approx(widths.mean())
        assert rows["coverage"]["estimate"] == part["covers"].mean()
        counted = f"the interval is undefined in {refused.sum()} of {TRIALS} test sets, which count as misses"
        assert rows["coverage"]["note"] == counted
    assert checked >= 4
    report = (tmp_path / "out" / "report.html").read_text()
    assert "count as misses" in report


@pytest.mark.long
def test_a_method_that_fails_on_all_test_sets_fails_its_cell_with_its_own_error(tmp_path, monkeypatch, capsys):
    def never(test, counts, rng):
        if sum(counts) > 8:  # not those with which a study is tried
            raise ValueError("this is never defined")
        return 0.0, 1.0, 0.5

    monkeypatch.setitem(interval._METHODS, "wilson", never)
    assert run(study_file(tmp_path, STUDY.replace(f"trials = {TRIALS}", "trials = 20")), tmp_path / "out") == 3
    assert "this is never defined" in (tmp_path / "out" / "report.html").read_text()
