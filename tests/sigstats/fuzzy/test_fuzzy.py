"""Tests of fuzzy classes against every crisp reading, one by one."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigstats
from sigstats.fuzzy.degrees import TooManyTables, reachable
from sigstats.fuzzy.extremes import greatest, smallest

from ...examples import examples

WEIGHTS = st.sampled_from([0, 0, 0, 0.25, 0.5, 1])


def objects(n_classes, most):
    row = st.lists(WEIGHTS, min_size=n_classes, max_size=n_classes).filter(any)
    return st.lists(row, min_size=1, max_size=most)


def readings(weights):
    """Every crisp reading with its possibility: the least of the weights that it uses, the largest of a row being 1."""
    degrees = [[weight / max(row) for weight in row] for row in weights]
    for classes in itertools.product(*(range(len(row)) for row in degrees)):
        possibility = min(row[j] for row, j in zip(degrees, classes, strict=True))
        if possibility > 0:
            yield classes, possibility


def check(found, pvalues):
    """The intervals are the extremes of the p-values that are possible to each degree."""
    assert list(found.degrees) == sorted({degree for _, degree in pvalues}, reverse=True)
    for degree, low, high in zip(found.degrees, found.low, found.high, strict=True):
        own = [p for p, possibility in pvalues if possibility >= degree]
        assert (low, high) == pytest.approx((min(own), max(own)), rel=1e-9)
    assert all(found.attained)
    for p, possibility in pvalues:
        assert found.possibility(p * (1 - 1e-12)) >= possibility or found.possibility(p) >= possibility
    for alpha in (0.05, 0.4):
        decision = found.rejection(alpha)
        assert decision.possibility == max((d for p, d in pvalues if p <= alpha), default=0)
        assert decision.necessity == 1 - max((d for p, d in pvalues if p > alpha), default=0)


def table(true, assigned, k):
    counts = np.zeros((k, k), dtype=int)
    np.add.at(counts, (list(true), list(assigned)), 1)
    return counts


@settings(deadline=None, max_examples=examples(40))
@given(st.data(), st.integers(2, 3))
def test_efficiency_by_all_readings(data, k):
    true = data.draw(objects(k, 4))
    assigned = data.draw(
        st.lists(st.lists(WEIGHTS, min_size=k, max_size=k).filter(any), min_size=len(true), max_size=len(true))
    )
    pvalues = [
        (sigstats.efficiency_test(table(one, other, k), method="exact").pvalue, min(first, second))
        for (one, first), (other, second) in itertools.product(readings(true), readings(assigned))
    ]
    found = sigstats.fuzzy.efficiency_test(true, assigned)
    # A degree that only one side has may change nothing, and is a cut all the same.
    kept = [at for at, degree in enumerate(found.degrees) if degree in {d for _, d in pvalues}]
    for at in kept:
        own = [p for p, possibility in pvalues if possibility >= found.degrees[at]]
        assert (found.low[at], found.high[at]) == pytest.approx((min(own), max(own)), rel=1e-9)
    assert found.low[-1] == pytest.approx(min(p for p, _ in pvalues), rel=1e-9)
    assert found.high[-1] == pytest.approx(max(p for p, _ in pvalues), rel=1e-9)


@settings(deadline=None, max_examples=examples(40))
@given(objects(3, 5), st.sampled_from(["exact", "chi2"]))
def test_goodness_of_fit_by_all_readings(assigned, method):
    required = [0.2, 0.3, 0.5]
    pvalues = []
    for classes, possibility in readings(assigned):
        counts = np.bincount(classes, minlength=3)
        pvalues.append((sigstats.goodness_of_fit_test(counts, required, method=method).pvalue, possibility))
    check(sigstats.fuzzy.goodness_of_fit_test(assigned, required, method=method), pvalues)


@settings(deadline=None, max_examples=examples(30))
@given(objects(3, 4), objects(3, 4), st.sampled_from(["exact", "chi2"]))
def test_homogeneity_by_all_readings(first, second, method):
    pvalues = []
    for (one, a), (other, b) in itertools.product(list(readings(first)), list(readings(second))):
        x, y = (np.bincount(classes, minlength=3) for classes in (one, other))
        p = 1.0 if (x + y > 0).sum() < 2 else sigstats.homogeneity_test(x, y, method=method).pvalue
        pvalues.append((p, min(a, b)))
    found = sigstats.fuzzy.homogeneity_test(first, second, method=method)
    for degree, low, high in zip(found.degrees, found.low, found.high, strict=True):
        own = [p for p, possibility in pvalues if possibility >= degree]
        assert (low, high) == pytest.approx((min(own), max(own)), rel=1e-9)


def listing(call, n_tables):
    """What a test of fit gives where objects hesitate between more classes than orders are searched for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sigstats.fuzzy.extremes.MOST_CLASSES", 0)
        return call(n_tables=n_tables)


@pytest.mark.long
@settings(deadline=None, max_examples=examples(20))
@given(objects(3, 6), objects(3, 6))
def test_certified_bounds_hold_all_readings(first, second):
    required = [0.2, 0.3, 0.5]
    fit = partial(sigstats.fuzzy.goodness_of_fit_test, first, required, method="chi2")
    for listed, bounded in (
        [listing(fit, n) for n in (10**4, 1)],
        [sigstats.fuzzy.homogeneity_test(first, second, method="chi2", n_tables=n) for n in (10**4, 1)],
        [sigstats.fuzzy.efficiency_test(first, (second * 6)[: len(first)], n_tables=n) for n in (10**5, 1)],
    ):
        for low, high, inner_low, inner_high in zip(bounded.low, bounded.high, listed.low, listed.high, strict=True):
            assert low <= inner_low * (1 + 1e-9)
            assert inner_high * (1 - 1e-9) <= high


@pytest.mark.parametrize("seed", range(4))
def test_certified_bounds_are_near(seed):
    rng = np.random.default_rng(seed)
    sure = np.eye(4)[rng.integers(0, 4, 300)]
    doubtful = np.eye(4)[rng.integers(0, 4, 12)] + 0.5 * np.eye(4)[rng.integers(0, 4, 12)]
    membership = np.vstack([sure, doubtful])
    fit = partial(sigstats.fuzzy.goodness_of_fit_test, membership, [0.25] * 4, method="chi2")
    listed, bounded = fit(), listing(fit, 1)
    assert listed.attained[-1]
    assert not bounded.attained[-1]
    assert bounded.high[-1] == pytest.approx(listed.high[-1], rel=0.1)
    assert bounded.low[-1] == pytest.approx(listed.low[-1], rel=0.5)


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.sets(st.integers(0, 3), min_size=1).map(sorted).map(tuple), min_size=1, max_size=7), st.data())
def test_the_ends_of_sums_of_convex_terms_are_those_of_all_readings(objects, data):
    slopes = st.lists(st.integers(-9, 9), min_size=len(objects), max_size=len(objects))
    terms = np.array([np.concatenate([[0], np.cumsum(sorted(data.draw(slopes)))]) for _ in range(4)], dtype=float)
    sums = {
        sum(terms[j, n] for j, n in enumerate(np.bincount(classes, minlength=4)))
        for classes in itertools.product(*objects)
    }
    for found, end in ((greatest(objects, terms), max(sums)), (smallest(objects, terms), min(sums))):
        assert found.sum() == len(objects)
        assert terms[range(4), found].sum() == end


@pytest.mark.parametrize("method", ["exact", "chi2"])
def test_fit_of_more_counts_than_are_listed_is_that_of_the_list(method):
    rng = np.random.default_rng(3)
    membership = np.eye(3)[rng.integers(0, 3, 60)]
    membership[:25] += rng.choice([0, 0.5], size=(25, 3))
    fit = partial(sigstats.fuzzy.goodness_of_fit_test, membership, [0.2, 0.3, 0.5], method=method)
    assert all(fit(n_tables=1).attained)
    assert fit(n_tables=1).low == pytest.approx(listing(fit, 10**4).low, rel=1e-9, abs=0)
    assert fit(n_tables=1).high == pytest.approx(listing(fit, 10**4).high, rel=1e-9, abs=0)


@pytest.mark.long
def test_bounds_of_efficiency_tell_something_where_few_objects_hesitate():
    rng = np.random.default_rng(8)
    true = np.eye(4)[rng.integers(0, 4, 400)]
    assigned = np.where(rng.random(400)[:, None] < 0.35, true, np.eye(4)[rng.integers(0, 4, 400)])
    assigned[:8] = 1.0  # any class: 65,536 readings
    found = sigstats.fuzzy.efficiency_test(true, assigned, n_tables=1)
    listed = sigstats.fuzzy.efficiency_test(true, assigned)
    assert (found.attained, listed.attained) == ((False,), (True,))
    assert 0 < found.low[0] <= listed.low[0] < listed.high[0] <= found.high[0] < 1e-6


def most_possible(*samples):
    """The class counts of each sample, with the degree of the most possible reading that gives them."""
    found = {tuple((0,) * samples[0].shape[1] for _ in samples): 1.0}
    for which, sample in enumerate(samples):
        for weights in sample / sample.max(axis=1, keepdims=True):
            grown = {}
            for counts, degree in found.items():
                for j in np.flatnonzero(weights):
                    own = list(counts[which])
                    own[j] += 1
                    key = (*counts[:which], tuple(own), *counts[which + 1 :])
                    grown[key] = max(grown.get(key, 0.0), min(degree, float(weights[j])))
            found = grown
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_many_degrees_are_exact(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((14, 3)) ** 3, rng.random((5, 2))
    for found, pvalues in (
        (
            sigstats.fuzzy.goodness_of_fit_test(first, [0.2, 0.3, 0.5]),
            {
                sigstats.goodness_of_fit_test(counts, [0.2, 0.3, 0.5]).pvalue: degree
                for (counts,), degree in sorted(most_possible(first).items(), key=lambda each: each[1])
            },
        ),
        (
            sigstats.fuzzy.homogeneity_test(first[:, :2], second),
            {
                sigstats.homogeneity_test(*counts).pvalue if min(map(sum, zip(*counts, strict=True))) else 1.0: degree
                for counts, degree in sorted(most_possible(first[:, :2], second).items(), key=lambda each: each[1])
            },
        ),
    ):
        assert len(found.degrees) > 15
        assert all(found.attained)
        for degree, low, high in zip(found.degrees, found.low, found.high, strict=True):
            inside = [p for p, possible in pvalues.items() if possible >= degree]
            assert (low, high) == pytest.approx((min(inside), max(inside)), rel=1e-9, abs=0)
        for level in (0.01, 0.05, 0.2):
            for_, against = ([d for p, d in pvalues.items() if (p <= level) == side] for side in (True, False))
            assert found.rejection(level) == pytest.approx((max(for_, default=0.0), 1 - max(against, default=0.0)))


def test_more_degrees_than_two_hundred_are_outward():
    rng = np.random.default_rng(9)
    weights = rng.random((230, 2)) * [1, 0.5]
    found = sigstats.fuzzy.goodness_of_fit_test(weights, [0.7, 0.3])
    assert not any(found.attained)
    pvalues = {
        sigstats.goodness_of_fit_test(*counts, [0.7, 0.3]).pvalue: degree
        for counts, degree in sorted(most_possible(weights).items(), key=lambda each: each[1])
    }
    for level in (0.01, 0.05, 0.2):
        for_ = max((d for p, d in pvalues.items() if p <= level), default=0.0)
        against = max((d for p, d in pvalues.items() if p > level), default=0.0)
        possibility, necessity = found.rejection(level)
        assert for_ <= possibility <= for_ + 0.01
        assert 1 - against - 0.01 - 1e-12 <= necessity <= 1 - against


def test_crisp_classes_are_the_crisp_test():
    a, b = [[5, 1, 3], [2, 6, 4]]
    first, second = (np.repeat(np.eye(3), counts, axis=0) for counts in (a, b))
    found = sigstats.fuzzy.homogeneity_test(first, 7 * second)  # a weight is as good as another
    assert found.degrees == (1.0,)
    assert found.low == found.high == (sigstats.homogeneity_test(a, b).pvalue,)


def test_many_doubtful_objects_are_no_more_readings_than_tables():
    true = np.repeat(np.eye(2), 60, axis=0)
    assigned = true.copy()
    assigned[40:80] = [1, 0.5]
    found = sigstats.fuzzy.efficiency_test(true, assigned)  # 2 to the power 40 readings
    p = sigstats.efficiency_test([[60, 0], [20, 40]], method="exact").pvalue
    assert found.low[0] == found.high[0] == pytest.approx(p)
    assert found.low[-1] == pytest.approx(sigstats.efficiency_test([[60, 0], [0, 60]], method="exact").pvalue)
    assert found.high[-1] == pytest.approx(sigstats.efficiency_test([[40, 20], [20, 40]], method="exact").pvalue)


def test_too_many_pairs_of_counts_are_found_out_before_all_are_listed():
    endless = itertools.repeat([(1, 0), (0, 1)])
    with pytest.raises(TooManyTables):
        reachable(endless, endless, size=2, most=10_000)
    few = [set(each) for each in reachable(*[[[(1, 0), (0, 1)]] * n for n in (2, 3)], size=2, most=12)]
    assert few == [{(2 - a, a) for a in range(3)}, {(3 - a, a) for a in range(4)}]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sigstats.fuzzy.efficiency_test([[1, 0]], [[1, 0], [0, 1]]), "assigned: the number of objects is 2"),
        (
            lambda: sigstats.fuzzy.efficiency_test([[1, 0]], [[1, 0, 0]]),
            "assigned: the number of classes is 3; expected 2",
        ),
        (
            lambda: sigstats.fuzzy.homogeneity_test([[0, 0]], [[1, 0]]),
            "first (object 0): 0 is not valid; expected a class",
        ),
        (lambda: sigstats.fuzzy.homogeneity_test([[1, -1]], [[1, 0]]), "first: -1"),
        (lambda: sigstats.fuzzy.goodness_of_fit_test([[1, 0]], [1.0, 0.0]), "probabilities: 0"),
        (lambda: sigstats.fuzzy.homogeneity_test([[1, 0.5]] * 9, [[1, 0.5]], n_tables=5), "n_tables: 5 are too few"),
    ],
)
def test_bad_input_is_one_line(call, said):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(said)
