"""The chances of the verdicts, beside the sum over all outcomes of what the rule says of each."""

import math

import pytest

from sigstats.comparison.rule import ComparisonRule
from sigstats.effects import accuracy_difference
from sigstats.mcnemar.mcnemar_test import mcnemar_test
from sigstats.mcnemar.power import pass_power, verdict_chances
from sigstats.mcnemar.sample_size import passing_size


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "drop", "share", "margin"),
    [(30, 0.0, 0.2, 0.1), (40, 0.1, 0.3, 0.15), (25, 0.2, 0.2, 0.18), (90, 0.08, 0.1, 0.18)],
)
def test_the_chances_are_those_of_all_outcomes(n, drop, share, margin):
    rule = ComparisonRule(minimum_effect=0.05, margin=margin)
    known = dict.fromkeys(("pass", "inconclusive", "fail"), 0.0)
    only_a, only_b = (share + drop) / 2, (share - drop) / 2
    for a in range(n + 1):
        for b in range(n + 1 - a):
            ways = math.comb(n, a) * math.comb(n - a, b)
            chance = ways * only_a**a * only_b**b * (1 - share) ** (n - a - b)
            low = accuracy_difference(b, a, n).confidence_interval.low
            p = mcnemar_test(a, b, alternative="greater").pvalue
            known[rule.verdict(adjusted_pvalue=p, difference=(b - a) / n, low=low)] += chance
    found = verdict_chances(
        n, drop=drop, discordance=share, alpha=0.05, minimum=0.05, margin=margin, confidence_level=0.95
    )
    assert (found.passes, found.inconclusive, found.fails) == pytest.approx(tuple(known.values()), abs=1e-9)


def test_an_equal_candidate_passes_from_a_number_of_rows_on():
    options = {"discordance": 0.1, "margin": 0.02, "confidence_level": 0.95, "alpha": 0.05, "minimum": 0.005}
    n = passing_size(target=0.8, **options)
    assert pass_power(n, drop=0.0, **options) >= 0.8 > pass_power(n - 1, drop=0.0, **options)
    assert passing_size(target=0.8, **options | {"margin": 0.0}) is None
