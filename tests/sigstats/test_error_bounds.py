"""Whether p-values lie within the error bounds that they state: the truth is found without sigstats."""

import math
import random

import flint
import numpy as np
import pytest

import sigstats
from sigstats._common.extreme import ROUNDING, error_bound, width_of
from sigstats.mcnemar.binomial_tails import tail_error
from tests.examples import examples
from tools.error_bounds import FAMILIES, PRECISION, Drawn, error, reals

TABLE = [[9, 7, 3], [15, 17, 13], [3, 7, 28]]


@pytest.fixture(autouse=True)
def _precision():
    before, flint.ctx.prec = flint.ctx.prec, PRECISION
    yield
    flint.ctx.prec = before


@pytest.mark.parametrize("name", FAMILIES)
def test_no_pvalue_lies_outside_its_bound(name):
    family, share = FAMILIES[name]
    draw = random.Random(f"committed {name}")
    for _ in range(max(2, examples(share))):
        case = family(draw)
        assert error(case) <= case.bound, case.about


def test_the_bounds_of_real_differences_hold_the_sum_of_all_signs():
    case = reals(random.Random(3))
    assert 1e-6 < error(case) <= case.bound < 2.1e-3


def test_results_say_where_ten_digits_are_not_known_or_not_proven():
    rng = np.random.default_rng(0)
    bounded = sigstats.sign_flip_test(rng.normal(size=60))
    assert bounded.error_bound > 1e-10
    assert "the upper of the two bounds" in bounded.reason
    assert bounded.pvalue_interval.low < bounded.pvalue == bounded.pvalue_interval.high
    assert sigstats.sign_flip_test(rng.integers(-9, 10, size=60)).reason == ""
    assert sigstats.signed_rank_test(rng.normal(size=60)).reason == ""
    large, small = (sigstats.efficiency_test(np.full((3, 3), each) + np.eye(3, dtype=int)) for each in (300, 30))
    assert "error_bound is an estimate" in large.reason
    assert "estimate" not in small.reason
    assert large.error_bound < 1e-10


def test_a_number_outside_its_bound_is_seen():
    assert error(Drawn(0.25 * (1 + 1e-9), 1e-10, flint.arb(0.25), "")) > 1e-10


@pytest.mark.long
def test_ten_digits_are_kept_where_arithmetic_alone_is_to_blame():
    """What the reference set and users rely on: far tails, thousands of objects, a million pairs."""
    bounds = [
        sigstats.mcnemar_test(510_000, 490_000).error_bound,
        sigstats.mcnemar_test(2600, 1000).error_bound,
        sigstats.efficiency_test([[20 * each for each in row] for row in TABLE], method="exact").error_bound,
        sigstats.homogeneity_test([55, 48, 112, 90, 141], [46, 55, 86, 84, 175]).error_bound,
        sigstats.goodness_of_fit_test([315, 108, 101, 32], [9 / 16, 3 / 16, 3 / 16, 1 / 16]).error_bound,
        sigstats.signed_rank_test(np.arange(1, 400) - 150).error_bound,
    ]
    assert all(0 < bound < 1e-10 for bound in bounds), bounds


@pytest.mark.parametrize(
    "result",
    [
        sigstats.mcnemar_test(7, 1, method="chi2"),
        sigstats.efficiency_test(TABLE, method="chi2"),
        sigstats.homogeneity_test([5, 4], [9, 2], method="chi2"),
        sigstats.goodness_of_fit_test([5, 4], [0.5, 0.5], method="likelihood-ratio"),
        sigstats.signed_rank_test([1, 2, -3], method="normal"),
        sigstats.friedman_test([[1, 2, 3], [3, 1, 2]], method="f"),
        sigstats.mean_score_test([0.1, 0.5, 0.2], [0.3, 0.6, 0.9]),
        sigstats.five_by_two_test([[0.05, 0.03], [0.04, 0.05], [0.02, 0.04], [0.06, 0.04], [0.03, 0.05]]),
    ],
    ids=lambda result: f"{type(result).__name__}, {result.method}",
)
def test_approximations_state_no_bound(result):
    assert result.error_bound is None


@pytest.mark.parametrize(
    "result",
    [
        sigstats.mcnemar_test(7, 1),
        sigstats.sign_flip_test([3, 2, 0, 1, -1]),
        sigstats.friedman_test([[1, 2, 3], [3, 1, 2]], method="exact"),
        sigstats.efficiency_test(TABLE, method="monte-carlo", n_resamples=99, rng=0),
        sigstats.FixedRule(maximum=3).test([0, 0, 1]),
    ],
    ids=lambda result: type(result).__name__,
)
def test_whole_numbers_leave_one_rounding(result):
    assert result.error_bound == ROUNDING


def test_a_pvalue_below_the_smallest_double_is_said_to_be_wrong():
    found = sigstats.mcnemar_test(100_000, 0)
    assert (found.pvalue, found.error_bound) == (0.0, 1.0)
    assert found.log10_pvalue < -30_000
    excluded = sigstats.goodness_of_fit_test([20, 30, 49, 1], [0.2, 0.3, 0.5, 0])
    assert (excluded.pvalue, excluded.error_bound) == (0.0, 0.0)


def test_bounds_grow_with_what_is_not_known():
    assert error_bound(0.5, 1e-12) == 1e-12
    assert 1e-12 < error_bound(1e-310, 1e-12) < 1e-10
    assert width_of(0.9, 1.0) == pytest.approx(0.1)
    assert tail_error(1000, -1.0) == ROUNDING < tail_error(1001, -1.0) < tail_error(1001, -math.log(1e300)) < 2e-11
