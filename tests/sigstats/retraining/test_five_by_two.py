"""The 5x2cv F: its formula by hand, its law for independent normal differences, and bad input."""

import numpy as np
import pytest
from scipy import stats

from sigstats import five_by_two_test


def test_formula_by_hand():
    p = np.random.default_rng(0).normal(0.01, 0.02, (5, 2))
    means = p.mean(axis=1, keepdims=True)
    variances = ((p - means) ** 2).sum(axis=1)
    f = (p**2).sum() / (2 * variances.sum())
    for sign in (1, -1):
        result = five_by_two_test(sign * 7 * p[::-1, ::-1])  # scale, order and direction change nothing
        assert result.statistic == pytest.approx(f)
        assert result.pvalue == pytest.approx(stats.f.sf(f, 10, 5))
        assert result.estimate == pytest.approx(sign * 7 * p.mean())


@pytest.mark.parametrize(
    ("ahead", "rows", "statistic", "pvalue"),
    [
        ([[2, 0], [2, -1], [1, 0], [0, 3], [2, 2]], 75, 1.1739130434782623, 0.4559900758804651),  # iris
        ([[9, 10], [10, 13], [12, 11], [5, 13], [10, 10]], 89, 14.786666666666667, 0.004130988794850492),  # wine
    ],
)
def test_mlxtend_gives_the_same(ahead, rows, statistic, pvalue):
    """combined_ftest_5x2cv of mlxtend 0.25.0, of naive Bayes and a tree of depth 2: how many more rows were right."""
    result = five_by_two_test(np.array(ahead) / rows)
    assert result.statistic == pytest.approx(statistic, rel=1e-13)
    assert result.pvalue == pytest.approx(pvalue, rel=1e-12)


def test_level_for_independent_normal_differences():
    # Means and differences of the folds are independent then, so that 2 F - 1 has the F distribution with 5 and 5
    # degrees of freedom, and the test rejects in 1.7 per cent of cases at 0.05.
    rng, trials = np.random.default_rng(1), 4000
    level = stats.f.sf(2 * stats.f.isf(0.05, 10, 5) - 1, 5, 5)
    rejected = sum(five_by_two_test(rng.normal(size=(5, 2))).pvalue <= 0.05 for _ in range(trials))
    assert abs(rejected - trials * level) < 5 * np.sqrt(trials * level * (1 - level))


def test_scores_that_do_not_vary():
    assert five_by_two_test(np.zeros((5, 2))).pvalue == 1
    found = five_by_two_test(np.array([[0.1 * 3, 0.3]] * 5))  # equal but for rounding
    assert (found.pvalue, found.reason) == (2 / 2**5, "the differences do not vary within replications")


@pytest.mark.parametrize("bad", [[0.1] * 10, np.zeros((2, 5)), np.full((5, 2), np.nan), np.full((5, 2), 1e200)])
def test_bad_input_is_one_line(bad):
    with pytest.raises(ValueError, match="differences") as raised:
        five_by_two_test(bad)
    assert len(str(raised.value).splitlines()) == 1
