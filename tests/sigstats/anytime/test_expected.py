"""The expected number of fresh rows until a decision: closed forms, and simulated streams."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sigstats
from sigstats.anytime.bets import expected_rows, log_evalues, log_wealth


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (0, 9), (40, 3), (3, 40), (900, 1000)])
def test_one_sided_evalues_are_those_of_the_mixture_of_bets(counts):
    a, b = map(float, counts)
    wealth = log_wealth(np.array([1.0, -1.0]), np.array([a, b]), least=-1, mean=0)
    assert log_evalues(np.array([a]), np.array([b]))[0] == pytest.approx(wealth, abs=1e-9)


def test_where_all_disagreements_are_losses_the_number_is_that_of_the_first_that_decides():
    n = next(n for n in range(1, 50) if sigstats.anytime_test([1], counts=[n], alternative="greater").pvalue <= 0.05)
    assert expected_rows(drop=0.125, discordance=0.125, alpha=0.05) == pytest.approx(float(n / Fraction(1, 8)))


@pytest.mark.long
@pytest.mark.parametrize(("drop", "minimum"), [(0.05, 0.0), (0.06, 0.03), (0.03, 0.0)])
def test_the_number_is_the_mean_of_simulated_streams(drop, minimum):
    rng, share, most = np.random.default_rng(2), 0.1, 1500
    ahead = (rng.random((1500, most)) < (1 + drop / share) / 2).cumsum(axis=1)
    n = np.arange(1, most + 1)
    shown = log_evalues(ahead.astype(float), (n - ahead).astype(float)) >= -math.log(0.05)
    shown &= 2 * ahead - n >= minimum * n / share
    assert shown.any(axis=1).mean() > 0.999
    rows = (shown.argmax(axis=1) + 1) / share
    error = rows.std() / math.sqrt(len(rows))
    assert abs(expected_rows(drop=drop, discordance=share, alpha=0.05, minimum=minimum) - rows.mean()) < 4 * error


def test_a_drop_that_does_not_count_needs_no_number():
    assert expected_rows(drop=0.01, discordance=0.1, alpha=0.05, minimum=0.01) is None
    assert expected_rows(drop=1e-5, discordance=0.1, alpha=0.05) is None
