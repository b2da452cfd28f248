"""Test sets drawn as counts have the law of rows drawn without replacement."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, hypergeom

from sigstats import subsampling
from sigstats.subsampling import draw_samples, draw_subsamples, hypergeometric_tables

from ..examples import examples

#: A false alarm of one comparison; all of this file together stay below 1e-6.
ALARM = 1e-7
DRAWS = 40_000


@pytest.fixture(params=["numpy", "inversion"])
def way(request, monkeypatch):
    """Both ways of drawing, on populations that either can draw from."""
    if request.param == "inversion":
        monkeypatch.setattr(subsampling, "_NUMPY_TOTAL", 0)
    return request.param


def exact(counts, n):
    """The multivariate hypergeometric law, every outcome, in rationals."""
    whole = comb(sum(counts), n)
    outcomes = (x for x in product(*(range(min(c, n) + 1) for c in counts)) if sum(x) == n)
    return {x: Fraction(prod(map(comb, counts, x)), whole) for x in outcomes}


def multinomial(probabilities, n):
    outcomes = (x for x in product(range(n + 1), repeat=len(probabilities)) if sum(x) == n)
    return {
        x: prod((p**k for p, k in zip(probabilities, x, strict=True)), start=Fraction(1))
        * prod(comb(sum(x[i:]), x[i]) for i in range(len(x)))
        for x in outcomes
    }


def assert_drawn_from(law, drawn):
    """Pearson's test against a known law, with outcomes expected fewer than 20 times put together."""
    found, times = np.unique(drawn, axis=0, return_counts=True)
    seen = {tuple(x): int(k) for x, k in zip(found.tolist(), times, strict=True)}
    possible = {x for x, p in law.items() if p > 0}
    assert set(seen) <= possible
    expected = {x: float(law[x]) * len(drawn) for x in possible}
    common = [x for x in possible if expected[x] >= 20]
    e = [*(expected[x] for x in common), len(drawn) - sum(expected[x] for x in common)]
    o = [*(seen.get(x, 0) for x in common), len(drawn) - sum(seen.get(x, 0) for x in common)]
    kept = [(a, b) for a, b in zip(o, e, strict=True) if b >= 5]
    statistic = sum((a - b) ** 2 / b for a, b in kept)
    assert statistic <= chi2.isf(ALARM, len(kept) - 1)


@pytest.mark.parametrize(("counts", "n"), [((5, 4, 3), 6), ((2, 9, 0, 1), 3), ((7, 2), 8), ((1, 1, 12, 2), 15)])
def test_the_law_is_the_enumerated_one(way, counts, n):
    assert sum(exact(counts, n).values()) == 1
    assert_drawn_from(exact(counts, n), draw_subsamples(counts, n, rng=3, size=DRAWS))


@pytest.mark.parametrize("counts", [(4 * 10**11, 6 * 10**11), (10**12, 3 * 10**11, 10**12 // 7)])
def test_beyond_the_populations_that_numpy_draws_from(counts):
    with pytest.raises(ValueError, match="1000000000"):
        np.random.default_rng(0).multivariate_hypergeometric(counts, 5, method="marginals")
    assert_drawn_from(exact(counts, 5), draw_subsamples(counts, 5, rng=4, size=DRAWS))


def test_rare_outcomes_of_a_large_population_are_drawn_as_often_as_they_should():
    # Of 10**12 rows 10**9 are drawn: each of 5 rare rows is among them with probability 1/1000.
    counts, n = (10**12 - 5, 5), 10**9
    drawn = draw_subsamples(counts, n, rng=5, size=20_000)[:, 1]
    law = {(x,): Fraction(comb(5, x), 1000**x) * Fraction(999, 1000) ** (5 - x) for x in range(6)}  # to 1e-8
    assert_drawn_from(law, drawn[:, None])


def test_counts_have_the_law_of_rows(way):
    counts, n = np.array([11, 5, 3, 1]), 9
    rng = np.random.default_rng(6)
    rows = np.repeat(np.arange(4), counts)
    by_row = np.array([np.bincount(rng.choice(rows, n, replace=False), minlength=4) for _ in range(10_000)])
    by_count = draw_subsamples(counts, n, rng=7, size=10_000)
    both = np.concatenate([by_row, by_count])
    _, which = np.unique(both, axis=0, return_inverse=True)
    table = np.array([np.bincount(half, minlength=which.max() + 1) for half in np.split(which.ravel(), 2)])
    table = table[:, table.sum(axis=0) >= 20]
    statistic = ((table[0] - table[1]) ** 2 / table.sum(axis=0)).sum()
    assert statistic <= chi2.isf(ALARM, table.shape[1] - 1)


def test_an_endless_population_is_multinomial():
    probabilities = [Fraction(1, 2), Fraction(0), Fraction(3, 8), Fraction(1, 8)]
    drawn = draw_samples([float(p) for p in probabilities], 5, rng=8, size=DRAWS)
    assert_drawn_from(multinomial(probabilities, 5), drawn)


@pytest.mark.parametrize(
    ("total", "marked", "n"), [(12, 5, 7), (10**6, 10, 999_990), (10**12, 10**11, 300), (2**53, 2**52 - 1, 60)]
)
def test_a_tabulated_law_is_the_rational_one(total, marked, n):
    (first,), (law,) = hypergeometric_tables(total, marked, [n])
    whole = comb(total, n) if n < 1000 else comb(total, total - n)
    inside = 0
    for k, p in enumerate(law.tolist(), start=int(first)):
        if k > min(marked, n):
            assert p == 0
            continue
        truth = Fraction(comb(marked, k) * comb(total - marked, n - k), whole)
        inside += truth
        assert p == pytest.approx(float(truth), rel=1e-11, abs=1e-300)
    assert 1 - inside < Fraction(1, 10**15)


def test_laws_are_tabulated_as_scipy_has_them():
    n = np.array([40, 500, 7909])
    first, laws = hypergeometric_tables(790_900, 31_000, n)
    for i, k0 in enumerate(first):
        k = np.arange(k0, k0 + laws.shape[1])
        assert np.allclose(laws[i], hypergeom.pmf(k, 790_900, 31_000, n[i]), rtol=1e-8, atol=1e-16)


quickly = settings(deadline=None, derandomize=True, max_examples=examples(60))
populations = st.lists(st.integers(0, 2 * 10**11), min_size=1, max_size=6).filter(any)


@quickly
@given(populations, st.data())
def test_draws_are_parts_of_the_population(counts, data):
    n = data.draw(st.integers(0, min(sum(counts), 10**6)))
    n = data.draw(st.sampled_from([n, sum(counts) - n]))
    drawn = draw_subsamples(counts, n, rng=1, size=5)
    assert drawn.dtype == np.int64
    assert (drawn.sum(axis=1) == n).all()
    assert ((drawn >= 0) & (drawn <= np.array(counts))).all()
    assert (draw_subsamples(counts, n, rng=1, size=3) == drawn[:3]).all()


def test_a_sample_larger_than_its_population_is_refused():
    with pytest.raises(ValueError, match="n: 8 is not valid; expected at most 7"):
        draw_subsamples([3, 4], 8, size=1)
    with pytest.raises(ValueError, match="at most 10000000000"):
        draw_subsamples([10**12], 10**11, size=1)
