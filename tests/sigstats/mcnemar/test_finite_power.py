"""The power on a finite population is the sum over all test sets."""

from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.mcnemar.mcnemar_test import mcnemar_test
from sigstats.mcnemar.power import type_one_error
from sigstats.sign_flips.power import paired_power as power
from sigstats.subsampling import finite_power

from ...examples import examples


def enumerated(n, only_a, only_b, total, swapped, alpha, **options):
    """Every table of discordant counts with its probability, in whole numbers, and its p-value."""
    found = 0.0
    for a in range(min(n, only_a) + 1):
        for b in range(min(n - a, only_b) + 1):
            sets = comb(only_a, a) * comb(only_b, b) * comb(total - only_a - only_b, n - a - b)
            splits = {k: comb(a + b, k) / 2 ** (a + b) for k in range(a + b + 1)} if swapped else {a: 1.0}
            for k, share in splits.items():
                if mcnemar_test(k, a + b - k, **options).pvalue <= alpha * (1 + 1e-12):
                    found += sets * share / comb(total, n)
    return found


quickly = settings(deadline=None, derandomize=True, max_examples=examples(40))


@quickly
@given(
    st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 9)).filter(any),
    st.data(),
    st.booleans(),
    st.sampled_from([0.05, 0.0625, 0.25]),
    st.sampled_from(["two-sided", "greater", "less"]),
    st.sampled_from(["exact", "mid-p", "chi2"]),
)
def test_it_is_the_sum_over_all_test_sets(rows, data, swapped, alpha, alternative, method):
    only_a, only_b, _ = rows
    n = data.draw(st.integers(1, sum(rows)))
    options = {"alpha": alpha, "alternative": alternative, "method": method}
    found = finite_power(n, only_a, only_b, sum(rows), swapped=swapped, **options)
    assert found == pytest.approx(enumerated(n, only_a, only_b, sum(rows), swapped, **options), abs=1e-12)


def test_a_large_population_is_nearly_endless_and_all_of_it_is_certain():
    total = 10**12
    endless = power(300, only_a=0.1, only_b=0.2)
    assert finite_power(300, total // 10, total // 5, total) == pytest.approx(endless, abs=1e-9)
    swapped = finite_power(300, total // 10, total // 5, total, swapped=True)
    assert swapped == pytest.approx(type_one_error(300, 0.3), abs=1e-9)
    assert mcnemar_test(3, 17).pvalue <= 0.05
    assert finite_power(30, 3, 17, 30) == pytest.approx(1, abs=1e-12)
    assert finite_power(5, 0, 0, 10) == 0
