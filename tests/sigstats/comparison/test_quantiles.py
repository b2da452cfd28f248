"""Quantiles of costs and latencies: of one model against a bar, and of two models on the same rows."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, combine_pvalues, quantile_test

import sigstats
from sigstats.intervals import quantile_interval
from sigstats.mcnemar.quantile_difference import fewest_with_interval, quantile_difference


def checked(values, bar, measure="p95", **more):
    (row,) = sigstats.check(
        pd.DataFrame({"latency_ms": values}), score="latency_ms", measures=[measure], **bar, **more
    ).rows
    return row


@pytest.mark.parametrize(("measure", "share"), [("p95", 0.95), ("p50", 0.5), ("p99.5", 0.995)])
@pytest.mark.parametrize("digits", [0, 6])
def test_the_test_and_the_limits_are_those_of_scipy(measure, share, digits):
    values = np.random.default_rng(3).gamma(4, 5, 2000).round(digits)
    for bar in np.quantile(values, [share - 0.004, share, share + 0.004]):
        row = checked(values, {"at_most": bar}, measure)
        theirs = quantile_test(values, q=bar, p=share, alternative="greater")
        assert row.pvalue == pytest.approx(theirs.pvalue, rel=1e-9)
        both = quantile_test(values, q=bar, p=share).confidence_interval(0.95)
        assert (row.low, row.high) == (both.low, both.high)
        assert row.verdict == ("fail" if row.pvalue <= 0.05 else "pass" if row.high <= bar else "inconclusive")


def test_of_marks_the_low_quantile_is_at_least_the_bar():
    marks = pd.DataFrame({"grade": np.random.default_rng(4).uniform(0, 1, 3000)})
    how = {"score": "grade", "higher_is_better": ["grade"], "score_range": (0, 1), "measures": ["p05"]}
    (row,) = sigstats.check(marks, at_least=0.07, **how).rows
    assert row.pvalue == pytest.approx(
        quantile_test(marks["grade"], q=0.07, p=0.05, alternative="less").pvalue, rel=0.05
    )
    assert row.verdict == "fail"
    assert sigstats.check(marks, at_least=0.03, **how).verdict == "pass"


@pytest.mark.long
@pytest.mark.parametrize("law", [[0.95, 0.05], [0.2, 0.75, 0.05], [0.949, 0.002, 0.049], [0.5, 0.449, 0.002, 0.049]])
def test_ties_raise_no_more_false_alarms_than_stated(law):
    """Few distinct values, with the quantile at a step of the law or within one: the worst case of the binomial law."""
    rng, places = np.random.default_rng(5), np.arange(len(law))
    true = int(np.searchsorted(np.cumsum(law), 0.95 - 1e-9))
    failed = outside = 0
    for _ in range(600):
        row = checked(rng.choice(places, 150, p=law).astype(float), {"at_most": true})
        failed += row.verdict == "fail"
        outside += not row.low <= true <= row.high
    assert failed <= 45  # P(more | 0.05) = 0.003
    assert outside <= 45


def test_few_rows_have_no_interval_and_never_pass():
    row = checked(np.arange(50.0), {"at_most": 1000})
    assert (row.low, row.high, row.verdict) == (None, None, "inconclusive")
    assert "too few rows for an interval" in row.note


@pytest.mark.parametrize("measure", ["p00", "p5", "p100", "p9x"])
def test_other_names_are_no_quantiles(measure):
    with pytest.raises(ValueError, match="measures: "):
        checked(np.arange(50.0), {"at_most": 10}, measure)


def test_quantiles_are_not_tested_in_groups():
    frame = pd.DataFrame({"id": range(50), "latency_ms": np.arange(50.0), "user": np.arange(50) % 9})
    for test in (
        lambda **how: sigstats.check(frame, at_most=9, groups="user", **how),
        lambda **how: sigstats.compare(frame, frame.assign(latency_ms=1.0), id="id", groups="user", **how),
    ):
        with pytest.raises(ValueError, match="'p95' is not valid for rows in groups or with weights"):
            test(score="latency_ms", measures=["p95"])


def not_below(a, b, share):
    """The same p-value threshold by threshold, by the tests of SciPy."""
    edges = [-np.inf, *np.unique(np.concatenate([a, b])), np.inf]
    largest = 0.0
    for t in [*edges, *((low + high) / 2 for low, high in pairwise(edges[1:-1]))]:
        falls, rises = np.sum((b < t) & (a > t)), np.sum((a <= t) & (b >= t))
        mcnemar = binomtest(falls, falls + rises, alternative="greater").pvalue if falls else 1.0
        below = binomtest(int(np.sum(a <= t)), len(a), share, alternative="less").pvalue
        above = binomtest(int(np.sum(a < t)), len(a), share, alternative="greater").pvalue
        largest = max(largest, min(mcnemar / 0.9, 2 * min(below, above) / 0.1))
    return min(1.0, largest)


@pytest.mark.parametrize("digits", [0, pytest.param(6, marks=pytest.mark.long)])
def test_the_difference_of_quantiles_is_tested_at_every_threshold(digits):
    rng = np.random.default_rng(6)
    for share, shift in ((0.5, 0.6), (0.1, 0.0), (0.05, -0.5)):
        a = rng.normal(size=120).round(digits)
        b = (a + rng.normal(shift, 0.5, size=120)).round(digits)
        (low, high), worse, equal = quantile_difference(a, b, share, 0.9)
        ours = not_below(a, b, share), not_below(b, a, share)
        assert (worse, equal) == pytest.approx((ours[0], min(1, 2 * min(ours))), rel=1e-9)
        for end, of in (
            (high, lambda shift: not_below(a, b - shift, share)),
            (-low, lambda x: not_below(b, a - x, share)),
        ):
            if np.isfinite(end):
                assert of(end + 1e-6) <= 0.05 < of(end - 1e-6)


LAWS = {
    "equal": lambda rng, n: (rng.normal(size=n), rng.normal(size=n)),
    "opposed": lambda rng, n: (a := rng.normal(size=n), -a),
    "a step at the quantile": lambda rng, n: rng.choice([0.0, 1, 2], (2, n), p=[0.5, 0.1, 0.4]),
    "b wider": lambda rng, n: (rng.normal(size=n) / 99, rng.normal(size=n)),
    "a wider": lambda rng, n: (rng.normal(size=n), rng.normal(size=n) / 99),
    "one of a few values": lambda rng, n: (rng.integers(0, 2, n) * 1.0, np.full(n, 0.0)),
}


@pytest.mark.long
def test_a_slower_tail_is_found_although_the_mean_falls():
    rng = np.random.default_rng(9)
    base = rng.gamma(4, 10, 3000)
    slow = np.where(rng.random(3000) < 0.08, 3.0, 0.8) * base
    frames = [pd.DataFrame({"id": range(3000), "latency_ms": values}) for values in (base, slow)]
    result = sigstats.compare(*frames, id="id", score="latency_ms", measures=["p95", "mean-score"])
    tail, mean = result.rows
    assert (tail.verdict, tail.baseline < tail.candidate, mean.difference < 0) == ("fail", True, True)
    assert tail.low <= tail.difference <= tail.high
    swapped = sigstats.compare(*frames[::-1], id="id", score="latency_ms", measures=["p95"]).rows[0]
    assert (swapped.low, swapped.high) == pytest.approx((-tail.high, -tail.low))
    assert swapped.verdict == "pass"


def test_few_rows_of_two_models_have_no_interval_and_ask_for_more():
    frames = [pd.DataFrame({"id": range(80), "latency_ms": np.arange(80.0) + shift}) for shift in (0, 50)]
    result = sigstats.compare(*frames, id="id", score="latency_ms", measures=["p95"])
    (row,) = result.rows
    assert (row.low, row.high, row.verdict) == (None, None, "inconclusive")
    assert "too few rows for an interval" in row.note
    assert "more rows" in result.answer.advice
    assert "score-range" not in result.answer.advice


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5, 0.9, 0.95])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_fewest_rows_with_an_interval_are_those_of_the_interval(share, confidence):
    fewest, rng = fewest_with_interval(share, (1 - confidence) / 2), np.random.default_rng(1)
    for n in (fewest - 1, fewest):
        a, b = rng.normal(size=(2, n))
        ends = *quantile_difference(a, b, share, confidence).interval[:2], *quantile_interval(a, share)[:2]
        assert np.isfinite(ends).all() == (n == fewest)


@pytest.mark.parametrize(("rows", "told"), [(348, True), (349, False)])
def test_a_ranking_by_a_quantile_says_how_many_rows_have_intervals(rows, told):
    ranking = sigstats.rank_models(np.random.default_rng(2).normal(size=(rows, 3)), measure="p95")
    assert np.isfinite(ranking.models[0].confidence_interval[:2]).all() != told
    note = f"{rows} rows are too few for intervals of p95; 349 are needed"
    assert (note in ranking.notes) == told


@pytest.mark.long
@pytest.mark.parametrize(("share", "digits"), [(0.5, 6), (0.75, 1), (0.25, 0)])
def test_of_different_rows_it_combines_two_binomial_tests_at_every_threshold(share, digits):
    rng = np.random.default_rng(8)
    a, b = rng.gamma(4, 5, 60).round(digits), rng.gamma(4, 6, 45).round(digits)

    def p_not_below(a, b):
        tests = [
            (
                binomtest(int((a <= t).sum()), len(a), share, "less").pvalue,
                binomtest(int((b < t).sum()), len(b), share, "greater").pvalue,
            )
            for t in [*np.unique([*a, *b]), *(np.unique([*a, *b]) + 1e-9)]
        ]
        return max(combine_pvalues(pair, "fisher").pvalue for pair in tests)

    interval, worse, equal = quantile_difference(a, b, share, 0.9, paired=False)
    assert worse == pytest.approx(p_not_below(a, b), rel=1e-9)
    assert equal == pytest.approx(min(1, 2 * min(p_not_below(a, b), p_not_below(b, a))), rel=1e-9)
    assert p_not_below(a, b - interval.high - 1e-6) <= 0.05 < p_not_below(a, b - interval.high + 1e-6)
    frames = [pd.DataFrame({"id": np.arange(len(side)) + 1000 * len(side), "cost_usd": side}) for side in (a, b)]
    measure = f"p{100 * share:g}"
    (row,) = sigstats.compare(*frames, score="cost_usd", measures=measure, unpaired=True).rows
    assert row.pvalue == pytest.approx(p_not_below(b, a), rel=1e-9)  # a lower cost is better
    upper = [-np.quantile(-side, 1 - share, method="inverted_cdf") for side in (a, b)]
    assert (row.baseline, row.candidate, row.difference) == (*upper, upper[1] - upper[0])


@pytest.mark.long
@pytest.mark.parametrize("law", [*LAWS])
def test_of_different_rows_equal_quantiles_are_rejected_no_more_often_than_stated(law):
    rng, rejected = np.random.default_rng(9), 0
    for _ in range(200):
        a, b = LAWS[law](rng, 80)[0], LAWS[law](rng, 30)[1]
        rejected += quantile_difference(a, b, 0.5, 0.9, paired=False).p_not_below <= 0.05
    assert rejected <= 19  # P(more | 0.05) = 0.003
