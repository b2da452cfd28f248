"""Bounds of differences of areas beside direct random weights of rows, and how often they hold."""

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

from sigstats.unseen_row.areas import area_interval, area_pvalue, gains_of


def weighted_differences(positive, scores, rng, draws):
    """Differences of areas with Dirichlet weights of rows and one more positive that A ranks first and B last."""
    wins = [
        (score[positive][:, None] > score[~positive]) + 0.5 * (score[positive][:, None] == score[~positive])
        for score in scores
    ]
    gains = np.vstack([wins[1] - wins[0], np.full((1, (~positive).sum()), -1.0)])
    of_rows = rng.standard_exponential((draws, gains.shape[0]))
    of_columns = rng.standard_exponential((draws, gains.shape[1]))
    return ((of_rows @ gains) * of_columns).sum(1) / of_rows.sum(1) / of_columns.sum(1)


@pytest.mark.parametrize(("m", "n"), [(8, 40), (30, 200)])
def test_it_is_the_point_of_weighted_areas(m, n):
    rng = np.random.default_rng(m)
    positive = np.arange(m + n) < m
    a = rng.normal(size=m + n) + 1.2 * positive
    scores = (a, a + 0.7 * rng.normal(size=m + n))
    drawn = weighted_differences(positive, scores, rng, 10_000)
    low, _ = area_interval(gains_of(positive, scores))
    # The linear law differs from the bilinear one by what products of two small terms give.
    assert np.mean(drawn <= low) == pytest.approx(0.025, abs=0.008)


def test_where_nothing_differs_the_rarer_class_decides():
    positive, score = np.arange(1000) < 30, np.linspace(0, 1, 1000)
    gains = gains_of(positive, (score, score))
    low, high = area_interval(gains)
    assert (-low, high) == (pytest.approx(beta.ppf(0.975, 1, 30)),) * 2
    assert (area_pvalue(gains), area_pvalue(gains, "greater")) == (1, 1)


def test_groups_of_one_row_are_rows():
    rng = np.random.default_rng(3)
    positive, scores = rng.random(80) < 0.3, tuple(rng.random((2, 80)))
    of_rows = area_interval(gains_of(positive, scores))
    assert area_interval(gains_of(positive, scores, np.arange(80))) == pytest.approx(of_rows)


@pytest.mark.long
def test_it_holds_where_few_positives_are_lost():
    """B ranks 3% of the positives last; 150 sets of 30 positives: a chance below 1e-5 of a false alarm of each end."""
    rng, missed = np.random.default_rng(6), np.zeros(2, dtype=int)
    positive, truth = np.arange(330) < 30, -0.03 * norm.cdf(1.5 / np.sqrt(2))
    for _ in range(150):
        a = rng.normal(size=330) + 1.5 * positive
        b = np.where(positive & (rng.random(330) < 0.03), -9.0, a)
        low, high = area_interval(gains_of(positive, (a, b)))
        missed += [low > truth, high < truth]
    assert (missed <= binom.isf(1e-5, 150, 0.025)).all()
