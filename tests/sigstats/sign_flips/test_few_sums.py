"""Sums that are few and far apart: the same counts as listing every choice of signs, and as the dense product."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats import sign_flip_test, stratified_paired_test
from sigstats.sign_flips import law
from sigstats.sign_flips.law import halves, tail_count

from ...examples import examples


@settings(max_examples=examples(80), deadline=None)
@given(st.dictionaries(st.integers(1, 10**12), st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_the_counts_are_those_of_all_choices(distinct, data):
    magnitudes = [size for size, times in distinct.items() for _ in range(times)]
    sums = [sum(chosen) for k in range(len(magnitudes) + 1) for chosen in itertools.combinations(magnitudes, k)]
    threshold = data.draw(st.sampled_from([*sums, max(sums) + 1, -5, 1]))
    one, other, most = halves(distinct)
    assert one | other == distinct
    assert most <= len(sums)
    count = tail_count(one, other, threshold)
    assert count == sum(each >= threshold for each in sums)


@pytest.mark.parametrize("seed", range(5))
def test_both_exact_ways_agree(monkeypatch, seed):
    draw = random.Random(seed)
    magnitudes = [draw.choice([97, 1001, 5003, 20011]) for _ in range(40)]
    positive = sum(each for each in magnitudes if draw.random() < 0.7)
    by_sums = law.tail_of_sum(magnitudes, positive)
    monkeypatch.setattr(law, "MOST_SUMS", 0)
    assert law.tail_of_sum(magnitudes, positive) == by_sums


def test_data_sets_of_unlike_sizes_are_exact_in_an_instant():
    # The least common multiple of the sizes has 16 digits, and so has the number of coefficients of the dense product.
    a, b, n = [9, 4, 6, 1], [3, 2, 1, 5], [9973, 9967, 9949, 9941]
    found = stratified_paired_test(a, b, n)
    observed = abs(sum(Fraction(x - y, size) for x, y, size in zip(a, b, n, strict=True)))
    totals = [x + y for x, y in zip(a, b, strict=True)]
    extreme = sum(
        math.prod(map(math.comb, totals, split))
        for split in itertools.product(*(range(total + 1) for total in totals))
        if abs(sum(Fraction(2 * x - t, size) for x, t, size in zip(split, totals, n, strict=True))) >= observed
    )
    assert found.pvalue_interval is None
    assert found.pvalue == extreme / 2 ** sum(totals)


@pytest.mark.parametrize("large", [[1e6], [2e3, 2e3, -2e3], [1e6, 1e6, -3e6], [4e3, 4e3, 1e6]])
def test_a_few_sizes_that_are_far_larger_than_all_others_are_put_in_and_left_out(monkeypatch, large):
    differences = np.concatenate([np.random.default_rng(35).normal(size=14), large])
    exact = sign_flip_test(differences, alternative="greater").pvalue
    monkeypatch.setattr(law, "MOST_ENUMERATED", 0)
    found = sign_flip_test(differences, alternative="greater").pvalue_interval
    assert found.low <= exact <= found.high
    assert found.high - found.low <= 3e-3 * found.high
