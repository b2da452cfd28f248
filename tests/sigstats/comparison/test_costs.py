"""Costs beside quality: a cost that is named is compared, quantiles are exact, both claims are one sentence."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, quantile_test

import sigstats
from sigstats.flows.commands import main
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
        (0.5, 1.0, ""),
        (0.0, 0.5, "mean cost_usd on all rows fell by 0.0025 USD (0.0025 to 0.0026), 50% of the baseline"),
    ],
)
def test_quality_and_cost_are_one_sentence(gain, cost, said):
    baseline, candidate = pair(gain, cost)
    if gain == 0.0:
        candidate["prediction"] = 1 - candidate["prediction"]
    found = sigstats.compare(baseline, candidate, score="cost_usd", lower_is_better=["cost_usd"])
    assert found.measures == ("accuracy", "mean-score")
    assert "; ".join(words for _, words in found.answer.also).startswith(said)
    assert bool(found.answer.also) == bool(said)
    assert found.verdict == ("fail" if gain == 0 else "inconclusive")
    assert (found.answer.row.score == "cost_usd") == (gain > 0)
    named = sigstats.compare(baseline, candidate, score="cost_usd", lower_is_better=["cost_usd"], measures=["accuracy"])
    assert named.rows == found.rows


def test_the_rule_says_on_which_side_of_an_interval_the_margin_of_a_cost_lies():
    """The interval of a cost that fell lies below minus the margin, and the row passes."""
    frame = pd.DataFrame({"id": range(200), "label": 1, "prediction": 1, "latency_ms": 500.0})
    faster = frame.assign(latency_ms=np.linspace(100, 300, 200))
    options = {"lower_is_better": ["latency_ms"], "score_range": (0, 1000)}
    alone = sigstats.compare(frame[["id", "latency_ms"]], faster[["id", "latency_ms"]], **options)
    (row,) = alone.rows
    assert (row.verdict, row.high < -row.lower_is_better * alone.rule.margin) == ("pass", True)
    assert "inconclusive where the 95% interval reaches above +5% of the baseline (25 ms on all rows)." in str(
        alone
    ).replace("\n", " ")
    both = sigstats.compare(frame, faster, **options)
    said = (
        "below −0.5 points of accuracy, or above +5% of the baseline of mean-score of latency_ms (25 ms on all rows)."
    )
    assert said in str(both).replace("\n", " ")
    marks = sigstats.compare(frame, faster, score="latency_ms", measures=["mean-score"], higher_is_better="latency_ms")
    assert "inconclusive where the 95% interval reaches below −5% of the baseline (25 ms on all rows)." in str(
        marks
    ).replace("\n", " ")


@pytest.mark.long
def test_a_margin_of_a_cost_is_a_number_of_its_own_unit(tmp_path, capsys, refused):
    rng = np.random.default_rng(6)
    label = np.arange(400) % 2
    frames = []
    for name, slower in (("a", 0.0), ("b", 0.3)):
        frame = pd.DataFrame({"id": range(400), "label": label, "prediction": label})
        frame["latency_ms"] = (rng.normal(100 + slower, 10, 400)).clip(50, 200)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frames.append(frame)
    options = {"score": "latency_ms", "measures": ["mean-score"], "score_range": (0, 200)}

    def verdict(margin):
        return sigstats.compare(
            *frames, **options, rule=sigstats.ComparisonRule(margins=margin, relative_margin=1e-5)
        ).rows[0]

    row = verdict({})
    assert row.verdict == "inconclusive"
    for named in ("latency_ms", "mean-score", "mean-score of latency_ms", "all rows"):
        above, below = (verdict({named: margin}) for margin in (row.high * 1.01, row.high * 0.99))
        assert (above.verdict, below.verdict) == ("pass", "inconclusive")
    assert verdict({"latency_ms": f"{row.high * 1.01}ms"}) == verdict({"latency_ms": row.high * 1.01})
    part = 100 * row.high * 1.01 / row.baseline
    assert verdict({"latency_ms": f"{part}%"}).margin == pytest.approx(row.high * 1.01)
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--score", "latency_ms", "--score-range", "0", "200"]
    main(["compare", *files, "--margin", "latency_ms=20ms"])
    assert "of latency_ms (5 ms on all rows), +20 ms of latency_ms" in " ".join(capsys.readouterr().out.split())
    for margin, told in (
        ("latency_ms=20s", "'latency_ms=20s' is not valid; expected a number of ms"),
        ("accuracy=20ms", "'accuracy=20ms' is not valid; expected points, such as accuracy=1pt"),
        ("accuracy=1%", "'accuracy=1%' is not valid; expected points, such as accuracy=1pt"),
        ("accuracy=20", "20.0 is not valid; expected 20pt"),
        ("all rows=20", "20.0 is not valid; expected 20pt"),  # of the accuracy too, before the cost
        ("all rows=20ms", "'all rows=20ms' is not valid; expected points"),
        ("latency_ms=-1", "-1.0 is not valid; expected 0 or more"),
    ):
        assert f"--margin: {told}" in refused("compare", *files, "--margin", margin)
    for letter, frame in zip("ab", frames, strict=True):  # of a cost without a unit
        frame.rename(columns={"latency_ms": "cost"}).to_csv(tmp_path / f"{letter}2.csv", index=False)
    others = [str(tmp_path / "a2.csv"), str(tmp_path / "b2.csv"), "--score", "cost", "--margin", "cost=20 apples"]
    assert "--margin: 'cost=20apples' is not valid; expected a number without a unit" in refused("compare", *others)
    study = {"kind": "regression", "baseline": files[0], "candidate": files[1], "columns": {"score": "latency_ms"}}
    rule = {"margins": {"latency_ms": "20 ms", "accuracy": "30pt"}}
    study |= {"score_range": [0, 200], "rule": rule}
    found = sigstats.run_study(study, output=tmp_path / "out", quiet=True)
    assert {"pass"} == set(found.summary["row_verdict"])
