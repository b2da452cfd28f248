import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.homogeneity.homogeneity_test import homogeneity_test
from sigstats.possibilistic_indices import DominanceIndices, dominance, membership, possibility, weigh_hypotheses

from ..examples import examples

unit = st.floats(0, 1)
sixteenths = st.integers(0, 16).map(lambda x: x / 16)


def by_definition(first, second):
    """Hryniewicz, eq. (22)-(24), literally: suprema and infima over pairs of points of an ordered scale."""
    points = range(len(first))
    pd = max(min(first[x], second[y]) for x in points for y in points if x >= y)
    psd = max(min(min(first[x], 1 - second[y]) for y in points if x <= y) for x in points)
    nsd = 1 - max(min(first[x], second[y]) for x in points for y in points if x <= y)
    return DominanceIndices(pd, psd, nsd)


@st.composite
def two_memberships(draw, values=sixteenths):
    n = draw(st.integers(1, 7))
    return [draw(st.lists(values, min_size=n, max_size=n)) for _ in range(2)]


@settings(deadline=None, derandomize=True, max_examples=examples(400))
@given(two_memberships())
def test_fast_indices_equal_the_definition(pair):
    assert dominance(*pair) == by_definition(*pair)


@settings(deadline=None, derandomize=True, max_examples=examples(400))
@given(two_memberships(), st.data())
def test_the_order_holds_for_normal_sets(pair, data):
    first, second = pair
    first[data.draw(st.integers(0, len(first) - 1))] = 1.0
    second[data.draw(st.integers(0, len(second) - 1))] = 1.0
    pd, psd, nsd = dominance(first, second)
    assert 1 >= pd >= psd >= nsd >= 0


def test_the_order_fails_for_sets_that_are_not_normal():
    # Eq. (28) says PD >= PSD >= NSD without a condition; these are the smallest exceptions to it.
    assert dominance([0, 1], [0, 0]) == (0, 1, 1)
    assert dominance([0, 0], [0, 0]) == (0, 0, 1)


@settings(deadline=None, derandomize=True, max_examples=examples(400))
@given(unit, unit)
def test_closed_forms_equal_the_definition_for_all_pvalues(pvalue, alternative_pvalue):
    # "true" (the paper's x = 0) is the greater of the two points
    h, k = membership(pvalue), membership(alternative_pvalue)
    closed = possibility(pvalue, alternative_pvalue)
    assert (closed.pd, closed.psd, closed.nsd) == by_definition((h.false, h.true), (k.false, k.true))
    assert closed.pd >= closed.psd >= closed.nsd


@settings(deadline=None, derandomize=True, max_examples=examples(400))
@given(sixteenths, sixteenths, sixteenths, sixteenths)
def test_closed_forms_need_normal_memberships_and_nothing_else(h0, h1, k0, k1):
    closed = (max(h0, k1), min(h0, 1 - k0), 1 - max(h1, k0))  # eq. (25)-(27)
    if max(h0, h1) == 1 == max(k0, k1):
        assert by_definition((h1, h0), (k1, k0)) == closed
    # With the points in the other order they would not even hold for normal memberships.
    assert by_definition((1, 0.5), (0.25, 1)) == (0.5, 0, 0)
    assert by_definition((0.5, 1), (1, 0.25)) == (1, 0.75, 0.5)


def test_closed_forms_fail_for_a_set_that_is_not_normal():
    assert by_definition((0.5, 0.5), (1, 1)).pd == 0.5
    assert max(0.5, 1) == 1  # eq. (25) of the same sets


@settings(deadline=None, derandomize=True)
@given(unit)
def test_complement(p):
    index = possibility(p)
    assert index.pd == min(1, 2 * p)  # eq. (29)
    assert index.psd == index.nsd == pytest.approx(1 - min(1, 2 * (1 - p)), abs=1e-15)  # eq. (30)
    explicit = possibility(p, 1 - p)
    assert (index.pd, index.psd, index.nsd) == pytest.approx((explicit.pd, explicit.psd, explicit.nsd), abs=1e-15)


@pytest.mark.parametrize(
    ("one", "other", "pd", "strict"),
    [
        ([18, 27, 45, 10], [10, 30, 50, 10], 0.908, 0),
        ([18, 27, 45, 10], [20, 30, 40, 10], 1, 0.836),
        ([10, 30, 50, 10], [20, 30, 40, 10], 0.428, 0),
        ([19, 29, 47, 5], [15, 30, 50, 5], 1, 0.816),
        ([19, 29, 47, 5], [20, 30, 45, 5], 1, 0.981),  # the paper prints 0.982, from p = 0.991
        ([15, 30, 50, 5], [20, 30, 45, 5], 1, 0.602),
    ],
)
def test_table_11_from_the_counts_of_table_5(one, other, pd, strict):
    index = possibility(homogeneity_test(one, other).pvalue)
    assert (round(index.pd, 3), round(index.psd, 3), round(index.nsd, 3)) == (pd, strict, strict)


def test_wheat_kernels():
    # Section 4: CRT against QDA. (The printed 0.018 is 0.0158429 when recomputed; the indices are of what is printed.)
    index = possibility(0.018, 0.002)
    assert (index.pd, index.psd, index.nsd) == (1, 0.036, 0)
    assert possibility(0.0158429, 0.0021946).psd == pytest.approx(0.0316858)
    best, other = weigh_hypotheses({"QDA": 0.002, "CRT": 0.018})
    assert (best.name, best.rival, best.pd, best.psd, best.nsd) == ("CRT", "QDA", 1, 0.036, 0)
    assert (other.name, other.rival) == ("QDA", "CRT")


def test_when_each_index_is_positive():
    # The paper: NSD > 0 requires p_H > 0.5 (and, by (27), p_K < 0.5); PSD > 0 when p_K < 0.5; PD always.
    grid = np.linspace(0.01, 0.99, 25)
    for p in grid:
        for q in grid:
            index = possibility(p, q)
            assert index.pd > 0
            assert (index.psd > 0) == (q < 0.5)
            assert (index.nsd > 0) == (p > 0.5 and q < 0.5)


@settings(deadline=None, derandomize=True)
@given(unit, unit, unit)
def test_indices_rise_with_the_first_and_fall_with_the_second_pvalue(p, q, r):
    low, high = sorted((q, r))
    for field in ("pd", "psd", "nsd"):
        assert getattr(possibility(low, p), field) <= getattr(possibility(high, p), field)
        assert getattr(possibility(p, low), field) >= getattr(possibility(p, high), field)


@settings(deadline=None, derandomize=True)
@given(st.lists(unit, min_size=2, max_size=6))
def test_ranking_is_against_every_other(pvalues):
    known = {f"algorithm {i}": p for i, p in enumerate(pvalues)}
    ranked = weigh_hypotheses(known)
    assert [h.pvalue for h in ranked] == sorted(pvalues, reverse=True)
    for h in ranked:
        others = [possibility(h.pvalue, p) for name, p in known.items() if name != h.name]
        assert (h.pd, h.psd, h.nsd) == tuple(min(getattr(o, f) for o in others) for f in ("pd", "psd", "nsd"))


def test_equal_hypotheses_keep_their_order():
    assert [h.name for h in weigh_hypotheses({"z": 0.3, "a": 0.3, "m": 0.4})] == ["m", "z", "a"]


@pytest.mark.parametrize(("a", "b"), [([], []), ([1], [1, 1]), ([2], [1]), ([0.5], [-1]), ([[1]], [[1]])])
def test_what_is_no_membership_is_refused(a, b):
    with pytest.raises(ValueError, match=r"^(first|second)\b"):
        dominance(a, b)
