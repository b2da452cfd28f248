"""Rank sets: McNemar's test of each pair, laws of orders, and coverage by simulation."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats import mcnemar_test, rank_models
from sigstats.ranking.rank_sets import rank_sets, sets_of

from ...examples import simulated


def test_pairs_are_mcnemar_s_one_sided():
    correct = np.random.default_rng(0).random((60, 5)) < [0.9, 0.8, 0.7, 0.6, 0.5]
    found = rank_sets(correct)
    for a, b in itertools.permutations(range(5), 2):
        only_a, only_b = (correct[:, a] & ~correct[:, b]).sum(), (correct[:, b] & ~correct[:, a]).sum()
        expected = mcnemar_test(int(only_a), int(only_b), alternative="greater").pvalue
        assert found.pvalues[a, b] == pytest.approx(expected, rel=1e-12)


def race(factors):
    """P(sum of exponential variables times these factors <= 0) in rationals: of two of unlike sign one stays."""
    gains, losses = [f for f in factors if f > 0], [-f for f in factors if f < 0]
    row = [Fraction(1)] * (len(losses) + 1)
    for gain in gains:
        found = [Fraction(0)]
        for loss, without in zip(losses, row[1:], strict=True):
            found.append((gain * found[-1] + loss * without) / (gain + loss))
        row = found
    return float(row[-1])


def test_groups_and_scores_have_the_bound_of_their_mean():
    rng = np.random.default_rng(1)
    correct, groups = rng.random((80, 3)) < [0.8, 0.7, 0.5], np.arange(80) // 4
    found = rank_sets(correct, groups=groups)
    sums = np.array([correct[groups == group].sum(axis=0) for group in range(20)])
    for a, b in itertools.permutations(range(3), 2):
        expected = race([*map(Fraction, (sums[:, a] - sums[:, b]).tolist()), Fraction(-4)])
        assert found.pvalues[a, b] == pytest.approx(expected, rel=1e-10)
    assert found.n == 20
    marks = rng.choice([0, 0.25, 0.5, 1], (40, 3))
    expected = race([*map(Fraction, (marks[:, 0] - marks[:, 2]).tolist()), Fraction(-1)])
    assert rank_sets(marks).pvalues[0, 2] == pytest.approx(expected, rel=1e-10)
    assert rank_sets(marks - 1).pvalues[0, 2] == pytest.approx(expected, rel=1e-10)
    wider = np.vstack([3 * marks, np.zeros(3)])  # no limit is known: that of the largest difference
    assert rank_sets(wider).pvalues[0, 2] == pytest.approx(
        race([*map(Fraction, (wider[:, 0] - wider[:, 2]).tolist()), Fraction(-3)]), rel=1e-10
    )


def test_an_unseen_row_differs_by_no_more_than_the_stated_limits():
    marks = np.random.default_rng(7).integers(1, 6, (12, 2)).astype(float)
    marks[:, 0] += marks[:, 0] < 5
    differences = [*map(Fraction, (marks[:, 0] - marks[:, 1]).tolist())]
    for score_range, unseen in (((1, 5), -4), ((0, 10), -10), (None, -max(map(abs, differences)))):
        (pair,) = rank_models(marks, models=["a", "b"], score_range=score_range).pairs
        assert pair.a == "a"
        assert pair.pvalue == pytest.approx(race([*differences, Fraction(unseen)]), rel=1e-10)
    with pytest.raises(ValueError, match=r"^score_range: 1 to 4 does not contain 5; expected all scores in it$"):
        rank_models(marks, score_range=(1, 4))
    with pytest.raises(
        ValueError, match=r"^score_range: 0 to 1 is not used by accuracy; expected scores, or no limits$"
    ):
        rank_models(marks > 3, score_range=(0, 1))


@pytest.mark.parametrize("scale", [2.0**-240, 2.0**60, 2.0**240])
def test_units_change_nothing(scale):
    marks = np.random.default_rng(3).integers(-9, 9, (40, 3)).astype(float)
    assert rank_sets(marks * scale).pvalues == pytest.approx(rank_sets(marks).pvalues, rel=1e-9)


@pytest.mark.long
def test_models_of_equal_means_with_rare_large_losses_are_not_told_apart():
    """Nine rows in ten gain .01 and one loses .09: changes of sign told 81% of such models apart."""
    rng, told = np.random.default_rng(8), 0
    for _ in range(200):
        loss = np.where(rng.random(20) < 0.1, -0.09, 0.01)
        told += bool(rank_sets(np.column_stack([0.5 + loss, np.full(20, 0.5)])).better.any())
    assert told <= stats.binom.isf(1e-6, 200, 0.05)


def test_a_mean_over_tasks_is_that_of_weighted_rows():
    rng = np.random.default_rng(9)
    right, tasks = rng.random((60, 2)) < [0.9, 0.6], np.repeat([0, 1], [45, 15])
    weights = np.where(tasks == 0, 60 / 90, 60 / 30)
    found = sets_of(right, ["a", "b"], None, 0.95, weights)
    shares = np.where(tasks == 0, 2, 6).tolist()
    differences = [Fraction(of * int(x - y), 3) for of, (x, y) in zip(shares, right.astype(int), strict=True)]
    assert found.pvalues[0, 1] == pytest.approx(race([*differences, Fraction(-2)]), rel=1e-10)
    assert found.scores[0] == pytest.approx((right[:45, 0].mean() + right[45:, 0].mean()) / 2)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 7))
def test_laws(seed, k):
    rng = np.random.default_rng(seed)
    correct = rng.random((120, k)) < np.sort(rng.random(k))
    found = rank_sets(correct)
    better = found.better
    assert not np.diag(better).any()
    assert not (better & better.T).any()
    closed = (better.astype(int) @ better.astype(int)) > 0
    assert not (closed & ~better).any()
    for model in range(k):
        assert 1 <= found.low[model] <= found.high[model] <= k
        assert found.low[model] == 1 + sum(better[other, model] for other in range(k))
    order = rng.permutation(k)
    permuted = rank_sets(correct[:, order])
    assert permuted.low == tuple(found.low[i] for i in order)
    assert permuted.tiers == tuple(found.tiers[i] for i in order)
    for a, b in itertools.permutations(range(k), 2):
        if better[a, b]:
            assert found.tiers[a] < found.tiers[b]


def test_no_fewer_pairs_than_holm():
    rng = np.random.default_rng(3)
    for _ in range(50):
        correct = rng.random((150, 6)) < [0.95, 0.9, 0.8, 0.7, 0.6, 0.6]
        found = rank_sets(correct)
        pvalues = sorted((found.pvalues[a, b], a, b) for a, b in itertools.permutations(range(6), 2))
        for position, (p, a, b) in enumerate(pvalues):
            if p > 0.05 / (30 - position):
                break
            assert found.better[a, b]


@pytest.mark.long
@pytest.mark.parametrize("chances", [[0.7] * 6, [0.9, 0.8, 0.8, 0.8, 0.6, 0.5], [0.95, 0.94, 0.93, 0.92, 0.91]])
def test_true_ranks_are_held_all_at_once(chances):
    # Ties included: a tied model may have any rank of its tie. Rows share what is hard, so that models are alike.
    rng, trials, missed = np.random.default_rng(4), simulated(1500), 0
    chances = np.array(chances)
    least = 1 + (chances[:, None] > chances).sum(axis=0)
    most = (chances[:, None] >= chances).sum(axis=0)
    for _ in range(trials):
        shared = stats.norm.cdf(0.7 * rng.normal(size=(100, 1)) + np.sqrt(0.51) * rng.normal(size=(100, len(chances))))
        found = rank_sets(shared < chances)
        missed += bool((np.array(found.low) > least).any() or (np.array(found.high) < most).any())
    assert missed <= stats.binom.isf(1e-6, trials, 0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"correct": [[1], [0]]}, r"correct: the shape"),
        ({"correct": [[1, 0]], "models": ["a"]}, r"models: the length"),
        ({"correct": [[1, 0]], "confidence_level": 1}, "confidence_level"),
        ({"correct": [[1, 0], [0, 1]], "groups": [1]}, r"groups: the length"),
        ({"correct": [["a", "b"]]}, "correct: "),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        rank_sets(**arguments)


@pytest.mark.parametrize("precision", ["float16", "float32"])
def test_scores_of_less_precision_are_tied_as_their_decimals_are(precision):
    tenths = np.random.default_rng(5).integers(0, 11, (60, 3)) / 10
    expected = rank_sets(tenths)
    found = rank_sets(tenths.astype(precision))
    assert found.pvalues.tolist() == expected.pvalues.tolist()
    assert found.scores == expected.scores
    mixed = pd.DataFrame({"a": tenths[:, 0], "b": tenths[:, 1].astype(precision), "c": tenths[:, 2]})
    assert rank_sets(mixed).pvalues.tolist() == expected.pvalues.tolist()
    assert [each.score for each in rank_models(mixed).models] == sorted(expected.scores, reverse=True)
    answered = np.vstack([tenths, tenths]).astype(precision)
    answered[-1, 0] = np.nan
    twice = {"items": np.tile(np.arange(60), 2)}
    decimals = np.where(np.isnan(answered), np.nan, np.vstack([tenths, tenths]))
    assert rank_models(answered, **twice).pairs == rank_models(decimals, **twice).pairs
