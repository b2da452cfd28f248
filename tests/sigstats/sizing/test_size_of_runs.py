"""The power of tests of runs, beside simulated runs, and the parts of their spread."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nct, t

from sigstats.comparison.row_tests.runs import runs_test
from sigstats.comparison.rule import ComparisonRule
from sigstats.files.predictions import Columns, join, read
from sigstats.sizing.runs import _power, plan_runs


@pytest.mark.parametrize(("runs", "drop"), [((5, 5), 0.02), ((8, 4), 0.03), ((3, 3), 0.05)])
def test_the_power_is_that_of_simulated_runs(runs, drop):
    rng, level, trials = np.random.default_rng(0), 0.05, 1000
    rejected = 0
    for _ in range(trials):
        a, b = (rng.normal(0.9 - shift, 0.012, k) for shift, k in zip((0.0, drop), runs, strict=True))
        rejected += runs_test(a, b).pvalue <= level and a.mean() - b.mean() >= 0.005
    expected = _power(runs, drop, 0.012**2, level, 0.005)
    # Three standard errors, and what a test of few divisions differs from its limit.
    assert rejected / trials == pytest.approx(expected, abs=0.05 + 0.04)


def recipes(tmp_path, luck, *, runs=12, items=400):
    rng = np.random.default_rng(1)
    hard = rng.random(items)
    files = []
    for name in "ab":
        rows = []
        for seed in range(runs):
            right = rng.random(items) < np.clip(0.6 + 0.3 * hard + rng.normal(0, luck), 0, 1)
            rows.append(pd.DataFrame({"id": range(items), "seed": seed, "label": 1, "prediction": right.astype(int)}))
        files.append(tmp_path / f"{name}.csv")
        pd.concat(rows).to_csv(files[-1], index=False)
    return files


def test_the_luck_of_runs_is_told_from_that_of_items(tmp_path):
    columns = Columns().but(run="seed")
    found = []
    for luck in (0.0, 0.04):
        pair = [read(str(file), columns) for file in recipes(tmp_path, luck)]
        found.append(plan_runs(join(*pair, columns), ComparisonRule(), [0.02, 0.05]))
    alike, unlike = found
    assert alike.luck < 0.02
    assert unlike.luck == pytest.approx(0.04, rel=0.4)
    assert alike.drops[0].needed_any_items < alike.drops[0].needed_more_items < alike.drops[0].needed
    assert unlike.drops[0].needed_any_items > 0.7 * unlike.drops[0].needed
    assert unlike.drops[1].needed < unlike.drops[0].needed


def test_compare_says_how_many_runs_a_drop_needs(tmp_path, printed):
    files = [str(each) for each in recipes(tmp_path, 0.03)]
    said = printed("compare", *files, "--run", "seed", "--power", "0.8", "--drop", "0.02", code=(0, 1))
    assert "from 12 and 12 runs" in said
    assert "the part that is due to the run" in said


@pytest.mark.long
def test_runs_whose_divisions_no_float_holds_have_a_power(tmp_path, printed):
    """1,200 runs have more than 10^308 divisions into two recipes of 600."""
    error, freedom = 0.05 * np.sqrt(2 / 600), 1198
    expected = nct.sf(t.isf(0.05, freedom), freedom, 0.01 / error)
    assert _power((600, 600), 0.01, 0.05**2, 0.05, 0) == pytest.approx(expected)
    files = [str(each) for each in recipes(tmp_path, 0.04, runs=4, items=100)]
    options = ["--run", "seed", "--power", "0.8", "--drop", "0.0055", "--json", "-"]
    assert json.loads(printed("compare", *files, *options, code=(0, 1)))["sizes"]["drops"][0]["needed"] is None
