"""Quantiles of one model against a bar, by binomial limits: p95 of costs and latencies."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import quantile_test

import sigstats


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


def test_quantiles_are_neither_compared_nor_checked_in_groups():
    frame = pd.DataFrame({"id": range(50), "latency_ms": np.arange(50.0), "user": np.arange(50) % 9})
    with pytest.raises(ValueError, match="'p95' is not valid for rows in groups or with weights"):
        sigstats.check(frame, score="latency_ms", measures=["p95"], at_most=9, groups="user")
    with pytest.raises(ValueError, match="measures: 'p95' is not valid"):
        sigstats.compare(frame, frame, id="id", score="latency_ms", measures=["p95"])
