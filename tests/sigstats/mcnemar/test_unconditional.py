"""The unconditional exact test beside all outcomes of small numbers of observations, and its power."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from sigstats.mcnemar.mcnemar_test import mcnemar_test


@pytest.mark.long
def test_small_cases_are_suprema_over_all_outcomes_in_rationals():
    """p is at most 0.1% above the largest chance of shares in steps of 1/400, and no lower."""
    n, shares = 9, [Fraction(k, 400) for k in range(401)]
    outcomes = [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]
    ways = {(a, b): factorial(n) // (factorial(a) * factorial(b) * factorial(n - a - b)) for a, b in outcomes}

    def key(a, b, two_sided):
        square = Fraction((a - b) ** 2, max(a + b, 1))
        return square if a >= b or two_sided else -square

    for alternative in ("two-sided", "greater"):
        two_sided = alternative == "two-sided"
        for a, b in outcomes:
            seen = key(a, b, two_sided)
            region = [each for each in outcomes if key(*each, two_sided) >= seen]
            chances = (
                sum(ways[i, j] * (share / 2) ** (i + j) * (1 - share) ** (n - i - j) for i, j in region)
                for share in shares[:: 1 if a + b == 5 else 20]
            )
            least, p = (
                float(max(chances)),
                mcnemar_test(a, b, n=n, method="unconditional", alternative=alternative).pvalue,
            )
            assert least * (1 - 1e-12) <= p <= least * (1.001 if a + b == 5 else 1.02) + 1e-12
            mirror = {"two-sided": "two-sided", "greater": "less"}[alternative]
            assert mcnemar_test(b, a, n=n, method="unconditional", alternative=mirror).pvalue == p


@pytest.mark.long
@pytest.mark.parametrize("n", [5, 20, 45])
def test_no_true_hypothesis_is_rejected_more_often_than_stated(n):
    """All outcomes; equal probabilities, and with one side those that favour the other classifier."""
    a, b = (each.ravel() for each in np.indices((n + 1, n + 1)))
    a, b = a[a + b <= n], b[a + b <= n]
    outcomes = np.column_stack([a, b, n - a - b])
    for alternative in ("two-sided", "greater"):
        p = np.array(
            [
                mcnemar_test(*two, n=n, method="unconditional", alternative=alternative).pvalue
                for two in zip(a.tolist(), b.tolist(), strict=True)
            ]
        )
        for share in (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0):
            for of_a in (0.5,) if alternative == "two-sided" else (0.5, 0.4):
                law = multinomial.pmf(outcomes, n, [share * of_a, share * (1 - of_a), 1 - share])
                assert abs(law.sum() - 1) < 1e-9
                for level in (0.01, 0.05, 0.1):
                    assert law[p <= level].sum() <= level * (1 + 1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("n", "drop", "exact", "wanted"), [(100, 0.05, 0.35, 0.45), (200, 0.03, 0.31, 0.37)])
def test_it_has_more_power_than_the_conditional_test(n, drop, exact, wanted):
    """One-sided level 5%, with models that differ on a tenth of observations."""
    power = {"exact": 0.0, "unconditional": 0.0}
    for discordant in range(n // 3):
        for method in power:
            how = {"method": method, "n": n if method == "unconditional" else None, "alternative": "greater"}
            low, high = 0, discordant + 1  # p falls with the number of those that only A got right
            while low < high:
                middle = (low + high) // 2
                rejected = mcnemar_test(middle, discordant - middle, **how).pvalue <= 0.05
                low, high = (low, middle) if rejected else (middle + 1, high)
            power[method] += binom.pmf(discordant, n, 0.1) * binom.sf(low - 1, discordant, (0.1 + drop) / 0.2)
    assert power["exact"] == pytest.approx(exact, abs=0.01)
    assert power["unconditional"] >= wanted


def test_tables_give_the_number_of_observations():
    table = [[40, 1], [7, 52]]
    found = mcnemar_test(table, method="unconditional")
    assert found == mcnemar_test(1, 7, n=100, method="unconditional")
    assert 0 < found.error_bound < 1.1e-3
    assert mcnemar_test.from_predictions([1] * 9, [1] * 9, [0] * 9, n=9, method="unconditional").pvalue < 0.01
    assert mcnemar_test(0, 0, n=4, method="unconditional").pvalue == 1
    assert mcnemar_test(400, 0, n=2000, method="unconditional").log10_pvalue == pytest.approx(-89, abs=20)


@pytest.mark.parametrize("n", [None, 7, 2001, 8.5])
def test_the_number_of_observations_is_asked_for(n):
    with pytest.raises(ValueError, match=r"n: "):
        mcnemar_test(1, 7, n=n, method="unconditional")
    with pytest.raises(ValueError, match=r"n: 9 .* discordant"):
        mcnemar_test(1, 7, n=9)
