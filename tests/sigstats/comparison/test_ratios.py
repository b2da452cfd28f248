"""Ratios of sums beside every exchange in rationals, weighted means, and recipes that are equally good."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.measured import evidence_of
from sigstats.comparison.row_tests.mean_tests import exchange_pvalues
from sigstats.comparison.row_tests.mean_tests import test_ratio as ratio_test
from sigstats.comparison.rule import ComparisonRule

from ...paired import paired_marks


def paired(errors, words, **more):
    scores, per = (tuple(np.array(each, float) for each in pair) for pair in (errors, words))
    return paired_marks(scores, **({"per": per, "column": "errors/words", "lower": True} | more))


def by_exchanges(errors, words):
    """The share of all exchanges in which B is as much worse, and as far away, in rationals."""
    rows = list(zip(*errors, *words, strict=True))

    def gain(given):
        a, b, of_a, of_b = (sum(each) for each in zip(*given, strict=True))
        return Fraction(a, of_a) - Fraction(b, of_b)

    observed = gain(rows)
    swapped = [
        gain([(b, a, v, w) if turn else (a, b, w, v) for (a, b, w, v), turn in zip(rows, turns, strict=True)])
        for turns in itertools.product((False, True), repeat=len(rows))
    ]
    n = len(swapped)
    return sum(each <= observed for each in swapped) / n, sum(abs(each) >= abs(observed) for each in swapped) / n


@pytest.mark.parametrize("seed", range(8))
def test_p_is_the_share_of_all_exchanges(seed):
    rng = np.random.default_rng(seed)
    errors, words = rng.integers(0, 6, (2, 10)).tolist(), rng.integers(1, 9, (2, 10)).tolist()
    pair, rule = paired(errors, words), ComparisonRule()
    (row,) = compare_pair(pair, rule).rows
    exchanged, how = exchange_pvalues(evidence_of(pair, "ratio"), rule)
    assert (exchanged, how) == (by_exchanges(errors, words), "exact")
    assert row.pvalue >= exchanged[0]
    assert row.two_sided_pvalue >= exchanged[1]
    assert row.baseline == pytest.approx(sum(errors[0]) / sum(words[0]))
    assert row.difference == pytest.approx(sum(errors[1]) / sum(words[1]) - sum(errors[0]) / sum(words[0]), abs=1e-12)


def test_neither_rows_nor_models_have_an_order_of_exchanges():
    rng = np.random.default_rng(3)
    errors, words = rng.integers(0, 6, (2, 40)), rng.integers(1, 9, (2, 40))
    order = rng.permutation(40)
    found, mixed, turned = (
        exchange_pvalues(evidence_of(paired(*given), "ratio"), ComparisonRule())[0]
        for given in ((errors, words), (errors[:, order], words[:, order]), (errors[::-1], words[::-1]))
    )
    assert mixed == found
    assert turned[1] == found[1]


def test_p_of_drawn_exchanges_has_an_error_until_the_bound_is_larger():
    rng = np.random.default_rng(1)
    pair = paired(rng.integers(0, 6, (2, 40)), rng.integers(1, 9, (2, 40)))
    (row,) = compare_pair(pair).rows
    found = ratio_test(replace(row, pvalue_error=1.0), evidence_of(pair, "ratio"), ComparisonRule()).row
    assert found.pvalue_error == pytest.approx(np.sqrt(found.pvalue * (1 - found.pvalue) / 10_000))
    assert row.pvalue > found.pvalue
    assert row.pvalue_error is None


def test_of_denominators_of_one_the_interval_is_that_of_the_mean_of_marks():
    rng = np.random.default_rng(3)
    marks = rng.random((2, 80))
    ratio = paired(marks, np.ones((2, 80)), lower=False, score_range=(0.0, 1.0), column="f1/one")
    mean = replace(ratio, scored=replace(ratio.scored, per=None, column="f1"))
    of_ratio, of_mean = (compare_pair(each).rows[0] for each in (ratio, mean))
    assert of_ratio.measure, of_mean.measure == ("ratio", "mean-score")
    assert of_ratio.baseline_interval == pytest.approx(of_mean.baseline_interval)
    for name in ("baseline", "candidate", "difference", "standard_error"):
        assert getattr(of_ratio, name) == pytest.approx(getattr(of_mean, name))
    assert of_ratio.low <= of_mean.low <= of_mean.high <= of_ratio.high


@pytest.mark.long
def test_models_that_are_equally_good_are_told_apart_as_often_as_the_level_says():
    rng = np.random.default_rng(11)
    alarms = covered = 0
    for trial in range(400):
        words = rng.integers(1, 30, (2, 40))
        pair = paired(rng.binomial(words, rng.beta(1, 6, 40)), words)
        part, rule = evidence_of(pair, "ratio"), ComparisonRule(n_resamples=499)
        alarms += exchange_pvalues(part, rule)[0][0] <= 0.05
        if trial < 30:
            (row,) = compare_pair(pair, rule).rows
            covered += row.low <= 0 <= row.high
    assert alarms <= 34  # of 400 at 5%: more have a chance of 0.2%
    assert covered >= 25  # of 30 at 95%: fewer have a chance of 0.4%


def test_a_rare_large_gain_against_many_small_losses_is_no_regression():
    fails = by_exchange = 0
    for seed in range(40):
        lost = np.random.default_rng(seed).random(20) < 0.05
        pair = paired((np.full(20, 20), np.where(lost, 1, 21)), np.full((2, 20), 100), score_range=(0.0, 1.0))
        (row,) = compare_pair(pair, ComparisonRule(n_resamples=999)).rows
        by_exchange += not lost.any()
        fails += row.verdict == "fail"
    assert by_exchange > 8  # of these the exchange alone has p = 1e-3
    assert fails <= 1


def test_the_command_divides_sums_and_says_what_is_wrong(tmp_path, printed, refused):
    rng = np.random.default_rng(2)
    words = rng.integers(5, 20, 60)
    files = []
    for name, rate in (("a", 0.1), ("b", 0.4)):
        files.append(str(tmp_path / f"{name}.csv"))
        errors = rng.binomial(words, rate)
        pd.DataFrame({"id": range(60), "errors": errors, "words": words}).to_csv(files[-1], index=False)
    said = " ".join(printed("compare", *files, "--measure", "errors/words", "--score-range", "0", "1", code=1).split())
    assert "ratio of errors/words" in said
    assert "errors/words: the lower is the better" in said
    for ratio, complaint in (
        ("errors", "'errors' is not valid; expected one of"),
        ("errors/none", "column 'none' was not found"),
        ("words/errors", "Is a higher 'words/errors' better? Add --higher-is-better words/errors or"),
    ):
        assert complaint in refused("compare", *files, "--measure", ratio)


@pytest.mark.parametrize("score_range", [None, (0, 1)])
def test_a_ratio_without_a_denominator_is_refused(score_range):
    frame = pd.DataFrame({"id": range(40), "hit": 1, "found": 1})
    zeros, options = frame.assign(hit=0, found=0), {"ratio": "hit/found", "higher_is_better": "hit"}
    for pair in ((frame, zeros), (zeros, zeros)):
        with pytest.raises(ValueError, match="denominators of one model add up to 0: the ratio is undefined"):
            sigstats.compare(*pair, score_range=score_range, **options)
