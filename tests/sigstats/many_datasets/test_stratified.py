"""Two models over fixed data sets: enumeration in rationals, McNemar's test, and simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats import joint_tasks_test, mcnemar_test, stratified_paired_test


def enumerated(only_a, only_b, n, alternative):
    """The convolution of binomials from the definition."""
    discordant = [a + b for a, b in zip(only_a, only_b, strict=True)]
    observed = sum(Fraction(a - b, size) for a, b, size in zip(only_a, only_b, n, strict=True))
    found = Fraction(0)
    for counts in itertools.product(*(range(m + 1) for m in discordant)):
        total = sum(Fraction(2 * k - m, size) for k, m, size in zip(counts, discordant, n, strict=True))
        extreme = {"greater": total >= observed, "less": total <= observed, "two-sided": abs(total) >= abs(observed)}[
            alternative
        ]
        if extreme:
            found += math.prod(math.comb(m, k) for k, m in zip(counts, discordant, strict=True))
    return found / 2 ** sum(discordant)


strata = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 30)), min_size=1, max_size=4)


@settings(deadline=None)
@given(strata, st.sampled_from(["two-sided", "greater", "less"]))
def test_as_enumerated(cells, alternative):
    a, b, _rest = zip(*cells, strict=True)
    n = [x + y + z for x, y, z in cells]
    found = stratified_paired_test(a, b, n, alternative=alternative)
    assert Fraction(found.pvalue) == pytest.approx(enumerated(a, b, n, alternative), rel=1e-15)
    expected = sum(Fraction(x - y, size) for x, y, size in zip(a, b, n, strict=True)) / len(n)
    assert found.estimate == pytest.approx(float(expected), abs=1e-15)


@settings(deadline=None)
@given(strata, st.sampled_from(["two-sided", "greater", "less"]))
def test_by_rows_it_is_mcnemar_s(cells, alternative):
    a, b, _rest = zip(*cells, strict=True)
    found = stratified_paired_test(a, b, [sum(each) for each in cells], weights="rows", alternative=alternative)
    assert found.pvalue == mcnemar_test(sum(a), sum(b), alternative=alternative).pvalue


def test_sixty_data_sets_of_unlike_sizes_have_certified_bounds():
    rng = np.random.default_rng(0)
    n = rng.integers(100, 20_000, 60)
    a, b = rng.binomial(n, 0.06), rng.binomial(n, 0.058)
    found = stratified_paired_test(a, b, n)
    low, high = found.pvalue_interval
    assert found.pvalue_interval.confidence_level == 1
    assert high == found.pvalue
    assert low <= high <= 1.2 * low
    z = ((a - b) / n).sum() / math.sqrt(((a + b) / n**2).sum())
    assert low * 0.95 <= 2 * stats.norm.sf(abs(z)) <= high * 1.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1], [5, 5]), r"only_b: the length is 1; expected 2"),
        (([3], [3], [5]), "n: 5 is not valid; expected at least only_a \\+ only_b, 6"),
        (([0], [0], [0]), "n: 0"),
        (([-1], [0], [3]), "only_a: -1"),
        (([10**6], [1], [10**7]), r"only_a \+ only_b: the total"),
        (([9, 4, 12, 25], [3, 2, 4, 9], [150, 60, 200, 410]), "^n: the last data set has the total counts"),
        (([25, 9, 16], [9, 3, 6], [410, 150, 260]), "^n: the first data set has the total counts"),
        *(
            ((pd.Series([9, 4, 12], ["a", "b", name]), [3, 2, 4], [150, 60, 200]), f"'{name}' is not a data set")
            for name in ("Total", "All", "Overall accuracy", "Mean", "average")
        ),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    for test in (stratified_paired_test, joint_tasks_test):
        with pytest.raises(ValueError, match=message):
            test(*arguments)


def test_counts_that_only_partly_are_sums_are_of_data_sets():
    for a, b, n in (
        ([9, 7, 16], [1, 2, 4], [50, 50, 100]),
        ([0, 0, 0], [0, 0, 0], [5, 5, 10]),
        ([3, 3], [1, 1], [9, 9]),
    ):
        assert stratified_paired_test(a, b, n).strata == len(n)
    named = pd.Series([9, 7, 16], ["iris", "wine", "digits"])
    assert stratified_paired_test(named, [1, 2, 3], [50, 50, 100]).strata == 3
