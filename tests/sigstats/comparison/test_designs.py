"""Equivalence, simultaneous intervals, margins by class, weights of rows and ordered classes, beside other programs."""

import math

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk
from scipy.optimize import minimize_scalar
from scipy.stats import norm

import sigstats
from sigstats.comparison.result import rule_in_words
from sigstats.comparison.rule import ComparisonRule
from sigstats.effects import score_equivalence

RNG = np.random.default_rng(20261125)
N = 400
Y = RNG.integers(1, 6, N)
A = np.clip(Y + RNG.choice([-1, 0, 1], N, p=[0.1, 0.8, 0.1]), 1, 5)
B = np.where(RNG.random(N) < 0.1, RNG.integers(1, 6, N), A)
WEIGHTS = RNG.integers(1, 4, N)


def rows(measure, *, weights=None, **rule):
    rule = ComparisonRule(**{"n_resamples": 999, **rule})
    limits = (1, 5) if measure == "neg-mae" else None
    return sigstats.compare(Y, A, B, measures=[measure], rule=rule, score_range=limits, weights=weights).rows


@pytest.mark.parametrize("measure", ["accuracy", "macro-f1", "linear-kappa", "neg-mae"])
def test_equivalence_is_shown_where_the_interval_of_90_percent_lies_within_the_margin(measure):
    low, high = rows(measure, confidence_level=0.9)[0].confidence_interval
    for factor, shown in ((0.99, False), (1.01, True)):
        points = 100 * factor * max(-low, high) / (4 if measure == "neg-mae" else 1)  # of numbers from 1 to 5
        (row,) = rows(measure, margin=f"{points}pt")
        assert (row.equivalence_pvalue < 0.05) == shown


def test_equivalence_of_rows_that_never_differ_is_the_chance_of_a_share_that_is_not_seen():
    marks = np.linspace(0, 1, 50)
    (row,) = sigstats.compare(
        Y[:50], Y[:50], Y[:50].copy(), measures=["mean-score"], scores=(marks, marks.copy()), score_range=(0, 2),
        rule=ComparisonRule(margin=0.1),
    ).rows  # fmt: skip
    assert row.equivalence_pvalue == pytest.approx((1 - 0.1) ** 50)  # of a range of 2


@pytest.mark.parametrize(("only_a", "only_b", "n", "margin"), [(6, 16, 161, 0.2), (0, 3, 40, 0.15), (9, 9, 500, 0.02)])
def test_tangos_statistic_has_the_likeliest_law_at_the_margin(only_a, only_b, n, margin):
    p = 0.0
    for a, b in ((only_a, only_b), (only_b, only_a)):  # "a is ahead by the margin"

        def unlikely(q, a=a, b=b):
            shares = np.array([q + margin, q, 1 - 2 * q - margin])
            return -np.sum(np.array([a, b, n - a - b]) * np.log(np.maximum(shares, 1e-300)))

        q = minimize_scalar(unlikely, bounds=(0, (1 - margin) / 2), method="bounded", options={"xatol": 1e-12}).x
        p = max(p, norm.cdf((a - b - n * margin) / np.sqrt(n * (2 * q + margin - margin**2))))
    assert score_equivalence(only_a, only_b, n, margin) == pytest.approx(p, rel=1e-4)
    grown = [score_equivalence(only_a, only_b, n, each) for each in (0.0, 0.01, 0.2, 0.9, 1.0)]
    assert grown == sorted(grown, reverse=True)
    assert 0 < grown[-1] < 1e-9


def test_simultaneous_intervals_share_the_confidence_and_hold_together():
    part = {"half": np.arange(N) % 2}
    rule = ComparisonRule(simultaneous=True)
    found = sigstats.compare(Y, A, B, slices=part, rule=rule)
    for row in found.rows:
        where = np.arange(N) >= 0 if row.slice == "all rows" else part["half"] == int(row.slice[-1])
        counts = sigstats.discordant_counts(Y[where], A[where], B[where])
        of_one = sigstats.accuracy_difference(*counts[::-1], row.n, confidence_level=1 - 0.05 / 3)
        assert (row.low, row.high) == pytest.approx(tuple(of_one.confidence_interval))
        assert row.confidence_level == pytest.approx(1 - 0.05 / 3)
    assert found.rule == rule
    assert "95% simultaneous interval" in str(found)


def test_each_class_has_a_margin_of_its_own():
    rule = ComparisonRule(margin="1pt", margins={"class = 1": "40pt", "macro-f1": 0.15})
    found = sigstats.compare(Y, A, B, slices={"class": Y}, measures=["accuracy", "macro-f1"], rule=rule)
    for row in found.rows:
        margin = {"class = 1": 0.4}.get(row.slice, 0.15 if row.measure == "macro-f1" else 0.01)
        assert row.verdict == "fail" or (row.verdict == "pass") == (row.low >= -margin)
    with pytest.raises(ValueError, match="margins: 'class = 6' is not valid; expected a slice or a measure"):
        sigstats.compare(Y, A, B, rule=ComparisonRule(margins={"class = 6": 0.1}))


def test_a_large_margin_of_which_the_unit_is_said_stays_one():
    with pytest.raises(
        ValueError, match=r"margin: 2.* expected 2pt \(a share of 0.02\), or NAME=2 for a score in its own"
    ):
        rows("macro-f1", margin=2)
    (row,) = rows("macro-f1", margin="50pt", minimum_effect="50pt", n_resamples=99, alpha=0.01)
    assert row.verdict == "pass"


@pytest.mark.parametrize("limits", [(0, 100), (1, 5), (-1, 1)])
@pytest.mark.parametrize("rule", [{}, {"margin": "5pt", "minimum_effect": "2pt"}, {"margins": {"mean-score": "3pt"}}])
def test_a_point_is_a_hundredth_of_the_range_of_marks(limits, rule):
    """Marks of any scale have the verdicts of the same marks from 0 to 1."""
    marks = RNG.random((2, 150))
    marks[1] = np.clip(marks[0] - 0.015 + RNG.normal(0, 0.03, 150), 0, 1)
    low, width, rule = limits[0], limits[1] - limits[0], ComparisonRule(**rule)

    def compared(scores, limits):
        frames = [pd.DataFrame({"id": range(150), "m": side}) for side in scores]
        return sigstats.compare(*frames, score="m", higher_is_better="m", score_range=limits, rule=rule)

    shares, found = compared(marks, (0, 1)), compared(low + width * marks, limits)
    (share,), (row,) = shares.rows, found.rows
    assert row.margin == pytest.approx(width * share.margin)
    assert rule.effect_of(row) == pytest.approx(width * rule.effect_of(share))
    assert (row.verdict, row.deciding) == (share.verdict, share.deciding)
    assert f"by at least {width * rule.minimum_effect:g};" in rule_in_words(found)
    assert "span" not in found.to_pandas().columns


def test_a_margin_of_a_name_has_the_unit_of_the_score_and_errors_of_numbers_have_their_range():
    rule = ComparisonRule(margins={"m": 5})
    frames = [pd.DataFrame({"id": range(60), "m": 50 + RNG.normal(0, 5, 60)}) for _ in range(2)]
    (row,) = sigstats.compare(*frames, score="m", higher_is_better="m", score_range=(0, 100), rule=rule).rows
    assert (row.margin, rule.effect_of(row)) == (5, 0.5)
    sizes = {
        measure: sigstats.compare(Y, A, B, measures=measure, score_range=(1, 5)).rows[0].margin
        for measure in ("neg-mae", "rmse", "neg-mse", "quadratic-kappa")
    }
    squares = np.mean((A - Y) ** 2)
    assert sizes == pytest.approx({"neg-mae": 0.02, "rmse": 0.02, "neg-mse": 0.05 * squares, "quadratic-kappa": 0.005})


@pytest.mark.long
@pytest.mark.parametrize(
    ("measure", "theirs"),
    [
        ("accuracy", sk.accuracy_score),
        ("macro-f1", lambda *two, **how: sk.f1_score(*two, average="macro", **how)),
        ("kappa", sk.cohen_kappa_score),
        ("linear-kappa", lambda *two, **how: sk.cohen_kappa_score(*two, weights="linear", **how)),
        ("quadratic-kappa", lambda *two, **how: sk.cohen_kappa_score(*two, weights="quadratic", **how)),
        ("neg-mae", lambda *two, **how: -sk.mean_absolute_error(*two, **how)),
    ],
)
def test_values_of_weighted_rows_are_scikit_learns(measure, theirs):
    for weights in (WEIGHTS, np.ones(N)):
        (row,) = rows(measure, weights=weights)
        assert row.baseline == pytest.approx(theirs(Y, A, sample_weight=weights))
        assert row.candidate == pytest.approx(theirs(Y, B, sample_weight=weights))
        (again,) = rows(measure, weights=1e300 * weights)  # their unit says nothing
        assert (again.low, again.high) == pytest.approx((row.low, row.high), abs=0.05)
    (row,), (plain,) = rows(measure, weights=np.ones(N)), rows(measure)
    assert row.pvalue == pytest.approx(plain.pvalue, abs=0.01 if "weightings" in row.test else 1e-9)


@pytest.mark.long
def test_a_weighted_mean_holds_its_population_and_a_share_that_nobody_lost_has_a_limit():
    rng, held, above = np.random.default_rng(1), 0, 0
    truth = -(0.1 * 0.1 + 0.02) / 1.1  # half of the rows stand for a tenth of what the others stand for
    for _ in range(50):
        rare = rng.random(200) < 0.5
        lost = rng.random(200) < np.where(rare, 0.1, 0.02)
        zeros = np.zeros(200, int)
        (row,) = sigstats.compare(zeros, zeros, lost.astype(int), weights=np.where(rare, 0.1, 1.0)).rows
        held, above = held + (row.low <= truth <= row.high), above + (row.low > truth)
    assert held >= 42  # of 50, where 47.5 are expected; fewer have a chance of 1 in 500
    assert above <= 6


def test_classes_are_ordered_as_numbers_and_not_as_text():
    pd = pytest.importorskip("pandas")
    y = np.where(Y == 5, 10, Y)
    a, b = np.where(A == 5, 10, A), np.where(B == 5, 10, B)
    frame = pd.DataFrame({"id": range(N), "label": y.astype(str), "prediction": a.astype(str), "w": WEIGHTS / 3})
    other = frame.assign(prediction=b.astype(str))
    found = sigstats.compare(frame, other, measures=["neg-mae", "quadratic-kappa"], weights="w", score_range=(1, 10))
    mae, kappa = found.rows
    assert mae.baseline == pytest.approx(-np.average(abs(y - a), weights=WEIGHTS))
    distance = np.subtract.outer(y, a) ** 2
    weights = WEIGHTS / WEIGHTS.sum()
    assert kappa.baseline == pytest.approx(1 - weights @ np.diag(distance) / (weights @ distance @ weights))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"weights": -WEIGHTS}, "weights: -3.0 is not valid; expected how many rows of the population"),
        (
            {"weights": np.geomspace(1e-60, 1, N)},
            "weights: 1e-60 is not valid; expected weights that differ by a factor below 1e.50",
        ),
        ({"weights": WEIGHTS[1:]}, "weights: the length is 399; expected 400"),
        ({"weights": WEIGHTS, "measures": ["auc"], "scores": (A / 5, B / 5)}, "'auc' is not valid with weights"),
        ({"rule": ComparisonRule(margins={"f1": 0.1})}, "margins: 'f1' is not valid"),
    ],
)
def test_designs_that_do_not_fit_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        sigstats.compare(Y, A, B, **options)


@pytest.mark.long
@pytest.mark.parametrize("measure", ["mean-score", "neg-brier", "auc", "pass@2"])
def test_the_order_of_rows_in_groups_changes_no_digit_of_what_decides(measure):
    rng = np.random.default_rng(0)
    label, group, scores = rng.integers(0, 2, 300), rng.integers(0, 40, 300), rng.random((2, 300))
    said = rng.integers(0, 2, (2, 300))

    def found(order):
        rows = label[order]
        options = {"measures": [measure], "positive": "1", "groups": group[order], "scores": scores[:, order]}
        if measure == "pass@2":
            (row,) = sigstats.compare(rows, *said[:, order], groups=group[order], measures=[measure]).rows
        else:
            (row,) = sigstats.compare(rows, rows, rows.copy(), **{**options, "scores": tuple(options["scores"])}).rows
        own = [row.baseline_interval, row.candidate_interval, row.standard_error]
        return [row.pvalue, row.low, row.high, row.difference, row.baseline, row.candidate, row.verdict, *own]

    first = found(np.arange(300))
    assert all(found(rng.permutation(300)) == first for _ in range(5))
    if measure in ("mean-score", "neg-brier"):
        values = scores if measure == "mean-score" else -((scores - label) ** 2)
        assert first[3] == pytest.approx(math.fsum(values[1] - values[0]) / 300, abs=1e-15)
