"""Two models on different rows: Fisher's exact test, coverage by all outcomes, skewed scores, `compare --unpaired`."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import comb
from scipy.stats import beta, binom, fisher_exact

import sigstats
from sigstats.comparison.evidence import Classes
from sigstats.comparison.row_tests.weighted import by_weights
from sigstats.comparison.rows import ComparisonRow
from sigstats.comparison.rule import ComparisonRule
from sigstats.comparison.units import Units
from sigstats.flows.commands import main
from sigstats.scores.unpaired_test import Melded, difference_of_samples, sample_of

from ...examples import simulated


def answers(right, n):
    return np.arange(n) < right


@pytest.mark.parametrize(
    ("x", "n", "y", "m"),
    [
        (45, 50, 30, 50),
        (3, 10, 1, 12),
        (10, 10, 0, 10),
        (0, 5, 0, 7),
        (9, 9, 4, 5),
        (10, 10, 4, 6),
        (2, 7, 0, 9),
        (100, 100, 0, 100),
        (1, 900, 3, 10),
        (2999, 3000, 5, 5),
    ],
)
@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_right_and_wrong_have_the_p_value_of_fishers_exact_test(x, n, y, m, alternative):
    result = sigstats.unpaired_test(answers(x, n), answers(y, m), alternative=alternative)
    exact = fisher_exact([[x, n - x], [y, m - y]], alternative=alternative).pvalue
    assert result.pvalue == pytest.approx(exact, rel=1e-10)
    mirrored = {"greater": "less", "less": "greater"}[alternative]
    assert sigstats.unpaired_test(answers(y, m), answers(x, n), alternative=mirrored).pvalue == pytest.approx(
        exact, rel=1e-10
    )


@pytest.mark.parametrize(
    ("x", "n", "y", "m"), [(3, 10, 0, 7), (10, 10, 4, 6), (0, 5, 2, 9), (1, 2, 1, 2), (30, 40, 9, 9)]
)
@pytest.mark.parametrize("margin", [-0.6, -0.05, 0.1])
def test_right_and_wrong_with_a_margin_have_the_integral_of_two_beta_laws(x, n, y, m, margin):
    """The bounds of 0 and of all right are constants: laws that are as good as constant stand for them."""
    a, b = beta(x or 1e-14, n - x + 1), beta(y + 1, (m - y) or 1e-14)
    low, high = max(0.0, margin), min(1.0, 1 + margin)
    if x and m > y:
        exact = a.cdf(low) + quad(lambda t: a.pdf(t) * b.sf(t - margin), low, high, epsabs=1e-13, limit=200)[0]
    else:
        exact = a.cdf(1 + margin) if x else b.sf(-margin)
    result = sigstats.unpaired_test(
        answers(x, n) * 8 + 2, answers(y, m) * 8 + 2, score_range=(2, 10), margin=8 * margin, alternative="greater"
    )
    assert result.pvalue == pytest.approx(exact, rel=1e-9)


def test_the_interval_is_where_the_p_value_of_a_margin_is_the_level():
    a, b = answers(30, 40), answers(20, 50)
    low, high = sigstats.unpaired_test(a, b).confidence_interval
    for margin, side in ((low, "greater"), (high, "less")):
        assert sigstats.unpaired_test(a, b, margin=margin, alternative=side).pvalue == pytest.approx(0.025, rel=1e-5)
    assert (low, high) == pytest.approx((0.1311, 0.5414), abs=0.03)  # Newcombe's score interval, which is shorter


@pytest.mark.long
@pytest.mark.parametrize(("n", "m"), [(5, 5), (3, 8)])
def test_no_law_of_right_and_wrong_is_missed_too_often(n, m):
    lows = np.array(
        [
            [
                Melded.of(sample_of(1.0 * answers(x, n), None), sample_of(1.0 * answers(y, m), None), (0.0, 1.0))
                .interval(0.95)
                .low
                for y in range(m + 1)
            ]
            for x in range(n + 1)
        ]
    )
    for p in np.linspace(0, 1, 21):
        for q in np.linspace(0, 1, 21):
            chances = np.outer(binom.pmf(np.arange(n + 1), n, p), binom.pmf(np.arange(m + 1), m, q))
            assert chances[lows > p - q + 1e-6].sum() <= 0.025


@pytest.mark.long
def test_skewed_scores_and_groups_keep_the_level():
    """Rare zeros among ones, which small samples seldom have; groups whose rows are alike."""
    rng, missed = np.random.default_rng(3), np.zeros(3)
    for _ in range(80):
        a, b = (rng.random(40) > 0.03).astype(float), rng.beta(9.7, 0.3, 25)
        low, high = sigstats.unpaired_test(a, b).confidence_interval
        missed[0] += not low <= 0.0 <= high
        codes = np.arange(60) // 4
        a, b = (np.repeat((rng.random(15) < rate).astype(float), 4) for rate in (0.8, 0.8))
        samples = [sample_of(side, codes) for side in (a, b)]
        missed[1] += Melded.of(*samples, (0.0, 1.0)).pvalue(0.0, "two-sided") <= 0.05
        missed[2] += sigstats.unpaired_test(a, b).pvalue <= 0.05
    assert (missed[:2] <= 0.05 * 80 + 2 * np.sqrt(80 * 0.0475)).all()
    assert missed[2] > 0.1 * 80  # the same rows without their groups


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    for name, n, start, rate in (("a", 300, 0, 0.85), ("b", 200, 1000, 0.7)):
        label = rng.integers(0, 3, n)
        said = np.where(rng.random(n) < rate, label, (label + 1) % 3)
        half = np.where(np.arange(n) % 2, "odd", "even")
        frame = pd.DataFrame({"id": start + np.arange(n), "label": label, "prediction": said, "half": half})
        frame.assign(grade=rng.integers(0, 6, n)).to_csv(tmp_path / f"{name}.csv", index=False)
    return [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]


@pytest.mark.long
def test_files_of_different_rows_are_compared_on_slices_too(files, tmp_path, answer, printed, refused):
    target = tmp_path / "out.json"
    assert "(compare two models on different rows with --unpaired)" in refused("compare", *files)
    page = ("--report", str(tmp_path / "page.html"), "--report", str(tmp_path / "table.md"))
    assert "the models have different rows, 300 and 200" in printed(
        "compare", *files, "--unpaired", "--slice", "half", "--json", target, *page, code=1
    )
    frames = [pd.read_csv(file) for file in files]
    for row in json.loads(target.read_text())["rows"]:
        parts = [frame if row["slice"] == "all rows" else frame[frame.half == row["slice"][7:]] for frame in frames]
        baseline, candidate = ((part.label == part.prediction) for part in parts)
        direct = sigstats.unpaired_test(candidate, baseline)
        assert row["n"] == sum(map(len, parts))
        assert (row["low"], row["high"]) == tuple(direct.confidence_interval)
        assert (row["p_differs"], row["difference"]) == (direct.pvalue, pytest.approx(direct.estimate))
    graded = [*files, "--unpaired", "--score", "grade", "--higher-is-better", "grade", "--measure", "mean-score"]
    row = answer("compare", *graded, "--score-range", "0", "5", code=0)["rows"][0]
    direct = sigstats.unpaired_test(frames[1].grade, frames[0].grade, score_range=(0, 5))
    assert (row["low"], row["high"]) == tuple(direct.confidence_interval)
    for arguments, said in (
        (graded, "'mean-score' is not valid for different rows without the limits of a row; expected --score-range"),
        ([*files, "--unpaired", "--order", "id"], "--order: 'id' is not valid with --unpaired"),
    ):
        assert said in refused("compare", *arguments)
    same = pd.read_csv(files[0]).assign(prediction=0).to_csv(index=False)
    Path(files[1]).write_text(same)
    words = "compare", *files, "--unpaired", "--measure", "accuracy"
    assert "300 ids are in both files" in printed(*words, code=(0, 1))
    for file in files:
        pd.read_csv(file).drop(columns="id").to_csv(file, index=False)
    assert "ids are in both files" not in printed(*words, code=(0, 1))  # of positions nothing is known


@pytest.mark.long
def test_arrays_frames_and_files_have_the_same_result(files, tmp_path, capsys):
    target = tmp_path / "out.json"
    main(["compare", *files, "--unpaired", "--measure", "macro-f1", "--measure", "accuracy", "--json", str(target)])
    of_files = {row["measure"]: row for row in json.loads(target.read_text())["rows"]}
    a, b = (pd.read_csv(file) for file in files)
    one = pd.concat([a.assign(model="old"), b.assign(model="new")])
    how = {"measures": ["macro-f1", "accuracy"], "unpaired": True}
    by_name = sigstats.compare(a, b, **how)
    for result in (
        by_name,
        sigstats.compare((a.label, b.label), a.prediction, b.prediction, **how),
        sigstats.compare(one, model=("old", "new"), **how),
    ):
        for row in result.rows:
            theirs = of_files[row.measure]
            assert (row.pvalue, row.low, row.high) == (theirs["p_worse"], theirs["low"], theirs["high"])
    right = [int((side.label == side.prediction).sum()) for side in (a, b)]
    table = [[right[1], len(b) - right[1]], [right[0], len(a) - right[0]]]
    accuracy = next(row for row in by_name.rows if row.measure == "accuracy")
    assert accuracy.pvalue == pytest.approx(fisher_exact(table, alternative="less").pvalue, rel=1e-3, abs=3e-9)
    with pytest.raises(AssertionError, match="accuracy on all rows fell"):
        sigstats.assert_no_regression(a, b, unpaired=True, measures="accuracy")
    y = a.label, b.label
    for options, said in (
        ({"y": a.label}, "y: .*expected a pair of arrays with unpaired=True, one for the rows of each model"),
        ({"y": y, "groups": a.half}, "groups: .*expected a pair of arrays"),
        ({"y": y, "order": [1]}, "order: is not valid with unpaired"),
        ({"y": y, "unpaired": 1}, "unpaired: 1 is not valid; expected True or False"),
    ):
        with pytest.raises(ValueError, match=said):
            sigstats.compare(baseline=a.prediction, candidate=b.prediction, **{"unpaired": True, **options})


@pytest.mark.long
def test_slices_groups_and_probabilities_of_arrays_are_pairs(files):
    a, b = (pd.read_csv(file) for file in files)
    groups, slices = (a.id // 4, b.id // 4), {"half": (a.half, b.half)}
    by_array, by_frame = (
        sigstats.compare((a.label, b.label), a.prediction, b.prediction, unpaired=True, groups=groups, slices=slices),
        sigstats.compare(
            a.assign(block=groups[0]), b.assign(block=groups[1]), unpaired=True, groups="block", slices=["half"]
        ),
    )
    assert by_array.rows == by_frame.rows
    tables = [np.eye(3)[side.prediction] * 0.7 + 0.1 for side in (a, b)]
    result = sigstats.compare((a.label, b.label), *tables, unpaired=True, measures=["accuracy", "macro-auc"])
    assert next(row.baseline for row in result.rows) == (a.label == a.prediction).mean()


def test_pass_at_k_and_ratios_have_the_bounds_of_their_rows(tmp_path):
    rng, samples = np.random.default_rng(11), []
    for name, n in (("a", 60), ("b", 45)):
        rights, words = rng.binomial(4, rng.beta(2, 1, n)), rng.integers(0, 9, n)
        items = pd.DataFrame({"id": name + pd.Series(range(n)).astype(str), "words": words, "rights": rights})
        items["errors"] = rng.binomial(words, 0.3)
        answers_ = items.loc[items.index.repeat(4)].assign(label=1, epoch=np.tile(np.arange(4), n))
        answers_["prediction"] = (answers_.epoch < answers_.rights).astype(int)
        samples.append((items, answers_))
    (row,) = sigstats.compare(*(s[1] for s in samples), unpaired=True, epoch="epoch", measures="pass@2").rows
    chances = [1 - comb(4 - s[0].rights, 2) / comb(4, 2) for s in samples]
    direct = sigstats.unpaired_test(chances[1], chances[0])
    assert (row.low, row.high) == pytest.approx(tuple(direct.confidence_interval), abs=1e-9)
    assert (row.baseline, row.candidate) == pytest.approx((direct.value_b, direct.value_a))
    how = {"ratio": "errors/words", "lower_is_better": "errors", "unpaired": True}
    items = [s[0].assign(words=s[0].words.clip(0, 1) * 5) for s in samples]
    (row,) = sigstats.compare(*items, score_range=(0, 2), **how).rows  # of equal denominators: a mean; 0 counts nothing
    shares = [(side.errors / side.words)[side.words > 0] for side in items]
    direct = sigstats.unpaired_test(*shares[::-1], score_range=(0, 2))
    assert (row.low, row.high) == pytest.approx(tuple(direct.confidence_interval), abs=1e-6)
    (row,) = sigstats.compare(*(s[0] for s in samples), score_range=(0, 2), **how).rows
    errors = []
    for side, _ in samples:  # linearized, Cochran (1977), section 6.3
        rest = side.errors - side.errors.sum() / side.words.sum() * side.words
        errors.append(rest.std(ddof=1) * len(side) ** 0.5 / side.words.sum())
    assert row.standard_error == pytest.approx(np.hypot(*errors), rel=0.02)
    with pytest.raises(ValueError, match="'ratio' is not valid for different rows without the limits of a row"):
        sigstats.compare(*items, **how)


@pytest.mark.long
def test_a_large_denominator_of_one_sample_is_assumed_of_both():
    rng, rejected = np.random.default_rng(5), 0
    for _ in range(60):
        sides = []
        for n in (15, 150):  # one row in ten is large and all wrong; the smaller sample often has none
            large = rng.random(n) < 0.1
            sides.append(sample_of(np.where(large, 0.0, 1.0), None, np.where(large, 10.0, 1.0)))
        rejected += difference_of_samples(sides[0], sides[1], (0.0, 1.0), 0.95, 0.01)["pvalue"] <= 0.05
    assert rejected <= 7  # P(more | 0.05) = 0.008


def by_random_weights(measure, baseline, candidate, rule, code=1):
    """The row of labels and predictions of two samples."""
    label, said = (np.concatenate(both) for both in zip(baseline, candidate, strict=True))
    units = Units(n=len(label), candidates=np.arange(len(label)) >= len(baseline[0]))
    part = Classes(units=units, measure=measure, label=label, a=said, b=said, code=code)
    return by_weights(ComparisonRow(slice="", measure=measure, n=len(label)), part, rule)


@pytest.mark.parametrize(("x", "n", "y", "m"), [(45, 50, 30, 50), (3, 10, 1, 12), (18, 20, 390, 400), (9, 9, 4, 5)])
def test_the_recall_of_rows_of_one_class_has_the_melded_result(x, n, y, m):
    rule = ComparisonRule(n_resamples=20_000)
    samples = [(np.ones(size, dtype=int), 1 * answers(right, size)) for right, size in ((x, n), (y, m))]
    row, turned = by_random_weights("recall", *samples, rule), by_random_weights("recall", *samples[::-1], rule)
    exact = fisher_exact([[y, m - y], [x, n - x]], alternative="less").pvalue
    assert row.pvalue == pytest.approx(exact, abs=4 * row.pvalue_error + 1e-4)
    melded = sigstats.unpaired_test(answers(y, m), answers(x, n)).confidence_interval
    assert (row.low, row.high) == pytest.approx(tuple(melded), abs=4 * row.end_error)
    assert (turned.low, turned.high, turned.difference) == (-row.high, -row.low, -row.difference)


def test_f1_and_auc_have_the_errors_of_the_delta_method(tmp_path):
    rng, samples = np.random.default_rng(7), []
    for name, n, noise in (("a", 700, 1.0), ("b", 500, 1.3)):
        label = (rng.random(n) < 0.3).astype(int)
        score = label + rng.normal(0, noise, n)
        frame = pd.DataFrame({"id": name + pd.Series(range(n)).astype(str), "label": label, "score": score})
        frame.assign(prediction=(score > 0.5).astype(int)).to_csv(tmp_path / f"{name}.csv", index=False)
        samples.append((label, (score > 0.5).astype(int), score))
    target, files = tmp_path / "out.json", [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    options = "--unpaired --measure f1 --measure auc --score score --json"
    main(["compare", *files, *options.split(), str(target)])
    rows = {row["measure"]: row for row in json.loads(target.read_text())["rows"]}
    values, errors = {"f1": [], "auc": []}, {"f1": [], "auc": []}
    for label, said, score in samples:
        hits, counted = 2 * label * said, label + said
        values["f1"].append(hits.sum() / counted.sum())
        errors["f1"].append(np.std(hits - values["f1"][-1] * counted) * len(label) ** 0.5 / counted.sum())
        wins = score[label == 1][:, np.newaxis] > score[label == 0]
        values["auc"].append(wins.mean())
        errors["auc"].append(np.sqrt(sum(wins.mean(axis=axis).var() / wins.shape[1 - axis] for axis in (0, 1))))
    for name, row in rows.items():
        assert (row["baseline"], row["candidate"]) == pytest.approx(values[name])
        error = np.hypot(*errors[name])
        assert row["standard_error"] == pytest.approx(error, rel=0.1)
        ends = row["difference"] - 1.96 * error, row["difference"] + 1.96 * error
        assert (row["low"], row["high"]) == pytest.approx(ends, abs=4 * row["end_error"] + 0.35 * error)


def test_classes_that_one_sample_lacks_leave_their_mean_untested():
    samples = [(np.repeat([0, 1], 20), np.repeat([0, 1], 20)), (np.repeat([0, 1, 2], 10), np.repeat([0, 1, 1], 10))]
    row = by_random_weights("macro-f1", *samples, ComparisonRule(), code=-1)
    assert row.pvalue is None
    assert row.note.endswith("1 of the classes are labels of one sample only: nothing can be tested")


@pytest.mark.long
@pytest.mark.parametrize(
    ("measure", "baseline", "candidate", "code"),
    [
        ("f1", (0.3, 0.1, 0.0), (0.3, 0.0, 0.1 / 0.9 * 0.3 / 0.7 * 0.9), 1),  # misses against false alarms
        ("precision", (0.3, 0.0, 0.01), (0.3, 0.5, 0.005), 1),
        ("mcc", (0.1, 0.1, 0.02), (0.1, 0.1, 0.02), -1),
        ("balanced-accuracy", (0.1, 0.04, 0.0), (0.5, 0.0, 0.04), 1),
    ],
)
def test_equal_measures_of_unequal_samples_keep_the_level(measure, baseline, candidate, code):
    """20 rows against 400, and rare errors of other kinds; laws: the shares of positives, misses, false alarms."""
    rng, wrong, times = np.random.default_rng(2), np.zeros(4), simulated(400)
    for seed in range(times):
        samples = []
        for n, (positives, misses, alarms) in ((400, baseline), (20, candidate)):
            label = (rng.random(n) < positives).astype(int)
            samples.append((label, np.abs(label - (rng.random(n) < np.where(label == 1, misses, alarms)))))
        for way, both in enumerate((samples, samples[::-1])):
            row = by_random_weights(measure, *both, ComparisonRule(n_resamples=999, rng=seed), code)
            if row.pvalue is not None:
                wrong[2 * way :][:2] += row.pvalue <= 0.05, row.low > 0 or row.high < 0
    assert (wrong <= 0.05 * times + 2 * np.sqrt(times * 0.0475)).all()


def test_groups_of_both_samples_are_noted():
    rng = np.random.default_rng(1)
    frames = [
        pd.DataFrame({"id": ids, "label": 1, "prediction": rng.integers(0, 2, 60), "text": np.arange(60) // 6 + start})
        for ids, start in ((range(60), 0), (range(100, 160), 4))
    ]
    names = {note.name: note for note in sigstats.compare(*frames, unpaired=True, groups="text").notes}
    assert names["shared-groups"].startswith("6 groups are in both files")
    frames[1]["text"] += 100
    assert "shared-groups" not in [n.name for n in sigstats.compare(*frames, unpaired=True, groups="text").notes]
