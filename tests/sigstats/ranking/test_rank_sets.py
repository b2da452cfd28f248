"""Rank sets: McNemar's test of each pair, laws of orders, and coverage by simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats import mcnemar_test, rank_models, rank_sets, sign_flip_test


def test_pairs_are_mcnemar_s_one_sided():
    correct = np.random.default_rng(0).random((60, 5)) < [0.9, 0.8, 0.7, 0.6, 0.5]
    found = rank_sets(correct)
    for a, b in itertools.permutations(range(5), 2):
        only_a, only_b = (correct[:, a] & ~correct[:, b]).sum(), (correct[:, b] & ~correct[:, a]).sum()
        expected = mcnemar_test(int(only_a), int(only_b), alternative="greater").pvalue
        assert found.pvalues[a, b] == pytest.approx(expected, rel=1e-12)


def test_groups_and_scores_are_changes_of_sign():
    rng = np.random.default_rng(1)
    correct, groups = rng.random((80, 3)) < [0.8, 0.7, 0.5], np.arange(80) // 4
    found = rank_sets(correct, groups=groups)
    sums = np.array([correct[groups == group].sum(axis=0) for group in range(20)])
    for a, b in itertools.permutations(range(3), 2):
        expected = sign_flip_test((sums[:, a] - sums[:, b]).tolist(), alternative="greater").pvalue
        assert found.pvalues[a, b] == expected
    assert found.n == 20
    marks = rng.choice([0, 0.25, 0.5, 1], (40, 3))
    expected = sign_flip_test(marks[:, 0] - marks[:, 2], alternative="greater").pvalue
    assert rank_sets(marks).pvalues[0, 2] == expected


@pytest.mark.parametrize("scale", [2.0**60, 2.0**240])
def test_scores_beyond_int64(scale):
    marks = np.random.default_rng(3).integers(-9, 9, (40, 3)) * scale
    marks[0] = 1.0, 0.0, 2.0
    expected = [sign_flip_test(marks[:, 0] - marks[:, other], alternative="greater").pvalue for other in (1, 2)]
    assert rank_sets(marks).pvalues[0, 1:] == pytest.approx(expected, rel=1e-9)


def test_whole_scores_whose_sums_are_beyond_int64():
    marks = np.zeros((9000, 2))
    marks[:, 0] = np.random.default_rng(4).integers(-(2**53), 2**53, 9000)
    one = sign_flip_test(marks[:, 0] - marks[:, 1], alternative="greater")
    assert one.pvalue_interval.low <= rank_sets(marks).pvalues[0, 1] <= one.pvalue * 1.02


@pytest.mark.parametrize("digits", [None, 3, 1])
def test_marks_of_many_models_have_certified_p_values(digits):
    rng = np.random.default_rng(2)
    marks = rng.normal(size=(70, 1)) + rng.normal(size=(70, 24)) + np.linspace(0, 1.5, 24)
    marks = marks if digits is None else marks.round(digits)
    found = rank_sets(marks)
    for a, b in [(0, 1), (23, 0), (0, 23), (20, 2), (12, 8), (8, 12)]:
        one = sign_flip_test(marks[:, a] - marks[:, b], alternative="greater")
        low = one.pvalue if one.pvalue_interval is None else one.pvalue_interval.low
        assert low <= found.pvalues[a, b] <= one.pvalue * (1.02 if one.pvalue > 2e-5 else 1.08)


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


@pytest.mark.parametrize("chances", [[0.7] * 6, [0.9, 0.8, 0.8, 0.8, 0.6, 0.5], [0.95, 0.94, 0.93, 0.92, 0.91]])
def test_true_ranks_are_held_all_at_once(chances):
    # Ties included: a tied model may have any rank of its tie. Rows share what is hard, so that models are alike.
    rng, trials, missed = np.random.default_rng(4), 1500, 0
    chances = np.array(chances)
    least = 1 + (chances[:, None] > chances).sum(axis=0)
    most = (chances[:, None] >= chances).sum(axis=0)
    for _ in range(trials):
        shared = stats.norm.cdf(0.7 * rng.normal(size=(100, 1)) + np.sqrt(0.51) * rng.normal(size=(100, len(chances))))
        found = rank_sets(shared < chances)
        missed += bool((np.array(found.low) > least).any() or (np.array(found.high) < most).any())
    assert missed <= stats.binom.isf(1e-6, trials, 0.05)


def test_a_hundred_models():
    rng = np.random.default_rng(5)
    found = rank_sets(rng.random((500, 100)) < np.linspace(0.4, 0.9, 100), models=[f"m{i}" for i in range(100)])
    assert found.high[0] == 100
    assert found.low[99] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"correct": [[1], [0]]}, r"correct \(shape\)"),
        ({"correct": [[1, 0]], "models": ["a"]}, r"models \(length\)"),
        ({"correct": [[1, 0]], "confidence_level": 1}, "confidence_level"),
        ({"correct": [[1, 0], [0, 1]], "groups": [1]}, r"groups \(length\)"),
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
