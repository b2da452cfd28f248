"""Costs beside quality: a cost that is named is compared, quantiles are exact, both claims are one sentence."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, quantile_test

import sigstats
from sigstats.comparison.result import title_of
from sigstats.intervals import quantile_interval


@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize("n", [5, 40, 301])
def test_quantile_intervals_are_those_of_scipy(share, n):
    values = np.random.default_rng(n).normal(size=n)
    low, high = quantile_interval(values, share)
    ours = [None if np.isinf(each) else each for each in (low, high)]
    tested = quantile_test(values, p=share).confidence_interval(0.95)
    theirs = [None if np.isnan(each) or np.isinf(each) else each for each in tested]
    assert ours == theirs


def test_quantile_intervals_cover_by_the_binomial_law():
    values, share = np.arange(1.0, 31.0), 0.8
    low, high = quantile_interval(values, share)
    below = binom(30, share)
    assert 1 - below.cdf(low - 1) - below.sf(high - 1) >= 0.95
    assert 1 - below.cdf(low) - below.sf(high - 1) < 0.975
    assert 1 - below.cdf(low - 1) - below.sf(high - 2) < 0.975


def pair(gain, cost, n=4000):
    rng = np.random.default_rng(8)
    y = rng.integers(2, size=n)
    a = np.where(rng.random(n) < 0.9, y, 1 - y)
    b = np.where(rng.random(n) < gain, y, a)
    prices = rng.random(n) * 0.01
    frames = [
        {"id": np.arange(n), "label": y, "prediction": said, "cost_usd": paid}
        for said, paid in ((a, prices), (b, prices * cost))
    ]
    return [pd.DataFrame(each) for each in frames]


@pytest.mark.parametrize(
    ("gain", "cost", "said"),
    [
        (0.5, 0.5, "not worse and cheaper: cost_usd −0.0025 USD"),
        (0.5, 1.0, "not worse, but cost_usd is not shown to be lower"),
        (0.0, 0.5, "cheaper (cost_usd −0.0025 USD"),
    ],
)
def test_quality_and_cost_are_one_sentence(gain, cost, said):
    baseline, candidate = pair(gain, cost)
    if gain == 0.0:
        candidate["prediction"] = 1 - candidate["prediction"]
    found = sigstats.compare(baseline, candidate, score="cost_usd", lower_is_better=["cost_usd"])
    assert found.measures == ("accuracy", "mean-score")
    assert said in title_of(found)
    alone = "though cost_usd alone is inconclusive, as no limit of a row is known"
    assert (alone in title_of(found)) == (cost < 1)
    named = sigstats.compare(baseline, candidate, score="cost_usd", lower_is_better=["cost_usd"], measures=["accuracy"])
    assert named.rows == found.rows
    assert any(note.startswith("95% point of cost_usd (USD): 0.009") for note in found.notes)


def test_the_rule_says_on_which_side_of_an_interval_the_margin_of_a_cost_lies():
    """The interval of a cost that fell lies below minus the margin, and the row passes."""
    frame = pd.DataFrame({"id": range(200), "label": 1, "prediction": 1, "latency_ms": 500.0})
    faster = frame.assign(latency_ms=np.linspace(100, 300, 200))
    options = {"lower_is_better": ["latency_ms"], "score_range": (0, 1000)}
    alone = sigstats.compare(frame[["id", "latency_ms"]], faster[["id", "latency_ms"]], **options)
    (row,) = alone.rows
    assert (row.verdict, row.high < -row.lower_is_better * alone.rule.margin) == ("pass", True)
    assert "inconclusive where the 95% interval reaches above +0.005." in str(alone).replace("\n", " ")
    both = sigstats.compare(frame, faster, **options)
    assert "below −0.5 points (0.005 of a mark or loss), or above +0.005 of a cost." in str(both).replace("\n", " ")
    marks = sigstats.compare(frame, faster, score="latency_ms", measures=["mean-score"], higher_is_better="latency_ms")
    assert "inconclusive where the 95% interval reaches below −0.005." in str(marks).replace("\n", " ")
