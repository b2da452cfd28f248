"""The front of quality and cost: p-values by SciPy, false claims by simulation, and refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sigstats import rank_models

from ...examples import simulated

MODELS = ["good", "cheap", "bad"]


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, 3)) < [0.9, 0.75, 0.8], rng.uniform(0.5, 1.5, (n, 3)) * [4.0, 1.0, 5.0]


def test_a_model_is_dominated_by_those_that_are_better_and_cheaper():
    right, cost = table(300)
    result = rank_models(pd.DataFrame(right, columns=MODELS), cost=pd.DataFrame(cost, columns=MODELS))
    assert result.front == ("good", "cheap")
    _, bad, _ = result.costs
    assert (bad.model, bad.dominated_by) == ("bad", ("good",))
    assert [of.cost for of in result.costs] == pytest.approx(cost.mean(axis=0)[[0, 2, 1]])
    assert "Not dominated in accuracy and cost: good, cheap." in str(result)
    # The costs differ without doubt, so the smallest p is McNemar's, times the six ordered pairs.
    only = [int((right[:, 0] & ~right[:, 2]).sum()), int((right[:, 2] & ~right[:, 0]).sum())]
    pvalue = stats.binomtest(only[0], sum(only), alternative="greater").pvalue
    assert bad.adjusted_pvalue == pytest.approx(6 * pvalue)


@pytest.mark.long
@pytest.mark.parametrize(("rows", "rare"), [(40, 50), (90, 25), (91, 25), (150, 25)])
def test_a_rare_cost_that_the_others_do_not_have_breaks_no_level(rows, rare):
    """Model B costs nothing or, one row in `rare`, as much as A does in all; few rows show that they show nothing."""
    rng, false = np.random.default_rng(rows), 0
    for _ in range(200):
        cost = np.column_stack([np.ones(rows), rare * (rng.random(rows) < 1 / rare)])
        found = rank_models(np.tile([False, True], (rows, 1)), cost=cost)
        false += len(found.front) < 2
    assert false <= stats.binom(200, 0.05).ppf(0.999) * (rows > 90)
    notes = {note.name: note for note in found.notes}
    assert f"p includes the chance {0.96**rows:.2g} that no row is" in notes["no-limits"]
    assert all(str(notes["no-limits"]) in text for text in (repr(found), str(found)))


def test_equal_costs_leave_every_model_on_the_front():
    right, _ = table(300)
    assert set(rank_models(right, models=MODELS, cost=np.ones((300, 3))).front) == set(MODELS)


@pytest.mark.long
@pytest.mark.parametrize("law", ["one thing", "tied costs", "costs certain", "scores certain"])
def test_false_claims_are_as_rare_as_stated(law):
    """Models that are equal in one or both, where errors of score and cost may happen in the same samples."""
    rng, false, samples = np.random.default_rng(5), 0, simulated(600)
    for _ in range(samples):
        right = rng.random((40, 3)) < (0.5 if law != "scores certain" else [0.02, 0.5, 0.98])
        cost = 1.0 * ~right if law == "one thing" else rng.integers(1, 4, (40, 3)) * 1.0
        if law == "costs certain":
            cost *= [1, 50, 2500]
        false += len(rank_models(right, cost=cost, confidence_level=0.8).front) < 3
    assert false <= stats.binom(samples, 0.2).ppf(0.999)


@pytest.mark.parametrize(
    ("cost", "options", "message"),
    [
        (np.ones((9, 3)), {}, r"cost: the shape is \(9, 3\); expected \(300, 3\)"),
        (np.full((300, 3), np.nan), {}, "cost"),
        (np.ones((300, 3)) * [1, -2.5, 1], {}, "cost: 'cost' is -2.5 in a row of cheap; is a higher one cheaper"),
        (pd.DataFrame(np.ones((300, 2)), columns=MODELS[:2]), {}, "no column 'bad'"),
    ],
)
def test_other_costs_are_refused_before_models_are_ranked(cost, options, message, monkeypatch):
    right, _ = table(300)
    monkeypatch.delattr("sigstats.files.frames.rank.rank_table")
    with pytest.raises(ValueError, match=message):
        rank_models(pd.DataFrame(right, columns=MODELS), cost=cost, **options)
