"""Laws that hold whatever the data: what may be permuted, transposed, merged or moved, and which way p then goes.

Each is a theorem about the test, not a feature of the code. Laws of single modules (swapping the samples, an empty
class, one-sided monotony) are in the tests of those modules.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sigstats import (
    discordant_counts,
    efficiency_test,
    goodness_of_fit_test,
    homogeneity_test,
    mcnemar_test,
    number_correct,
)
from sigstats.possibilistic import dominance, possibility

from ..examples import examples

law = settings(deadline=None, derandomize=True, max_examples=examples(80))

#: Sums of products of rounded probabilities, in whatever order.
CLOSE = {"rel": 1e-9, "abs": 1e-300}


@st.composite
def confusion_tables(draw, least=2, most=5):
    k = draw(st.integers(least, most))
    table = np.array(draw(st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k)))
    assume(table.sum() > 0)
    return table


@st.composite
def two_samples(draw, most=4):
    pairs = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=most))
    a, b = np.array(pairs).T
    assume(a.any() and b.any())
    return a, b


@st.composite
def counts_and_probabilities(draw):
    pairs = draw(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 6)), min_size=2, max_size=4))
    counts, weights = np.array(pairs).T
    assume(counts.any())
    return counts, weights / weights.sum()


def redrawn(totals, n, draw):
    """Another row of `n` objects out of columns with these totals."""
    objects = draw(st.permutations(np.repeat(np.arange(len(totals)), totals).tolist()))
    return np.bincount(objects[:n], minlength=len(totals))


def merged(counts):
    """The first two classes as one."""
    return np.array([counts[0] + counts[1], *counts[2:]])


# Efficiency of a confusion table


@law
@given(confusion_tables(), st.randoms(use_true_random=False), st.sampled_from(["exact", "chi2"]))
def test_efficiency_knows_no_order_of_classes_and_no_side(table, random, method):
    order = random.sample(range(len(table)), len(table))
    found, shuffled, transposed = (
        efficiency_test(each, method=method) for each in (table, table[np.ix_(order, order)], table.T)
    )
    for other in (shuffled, transposed):
        assert other.pvalue == pytest.approx(found.pvalue, **CLOSE)
        assert other.log10_pvalue == pytest.approx(found.log10_pvalue, rel=1e-9, abs=1e-9)
        assert (other.kappa is None) == (found.kappa is None)
        assert (other.kappa or 0) == pytest.approx(found.kappa or 0, rel=1e-12, abs=1e-12)


@law
@given(confusion_tables(least=3), st.data())
def test_efficiency_sees_margins_and_trace_alone(table, data):
    i, j, m = data.draw(st.permutations(range(len(table))))[:3]
    room = int(min(table[i, j], table[j, m], table[m, i]))
    # What was called i -> j -> m -> i is called i -> m -> j -> i: another table, with the same margins and trace.
    turned = table.copy()
    for row, column in ((i, j), (j, m), (m, i)):
        turned[row, column] -= room
        turned[column, row] += room
    assert (turned.sum(axis=0) == table.sum(axis=0)).all()
    assert (turned.sum(axis=1) == table.sum(axis=1)).all()
    assert efficiency_test(turned) == efficiency_test(table)


@law
@given(confusion_tables(), st.data())
def test_putting_two_objects_right_lowers_p(table, data):
    i, j = data.draw(st.permutations(range(len(table))))[:2]
    assume(table[i, j] and table[j, i])
    better = table.copy()
    better[[i, j], [j, i]] -= 1
    better[[i, j], [i, j]] += 1
    for method in ("exact", "chi2"):
        before, after = (efficiency_test(each, method=method) for each in (table, better))
        assert after.log10_pvalue < before.log10_pvalue
        assert after.efficiency > before.efficiency
        assert after.expected == before.expected


@law
@given(confusion_tables(least=3))
def test_merging_classes_makes_any_number_correct_likelier(table):
    # What is right stays right if two classes become one, and more may be right.
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    fine, coarse = number_correct(rows, columns), number_correct(merged(rows), merged(columns))
    gained = (rows[0] * columns[1] + rows[1] * columns[0]) / rows.sum()
    assert float(coarse.pmf @ coarse.numbers - fine.pmf @ fine.numbers) == pytest.approx(gained, abs=1e-9)
    sf = dict(zip(coarse.numbers.tolist(), (10.0**coarse.log10_sf).tolist(), strict=True))
    for t, p in zip(fine.numbers.tolist(), (10.0**fine.log10_sf).tolist(), strict=True):
        assert sf.get(t, 1.0 if t < coarse.numbers[0] else 0.0) >= p * (1 - 1e-9)


@law
@given(confusion_tables(least=3), st.booleans())
def test_classes_that_never_occur_may_be_merged(table, named):
    table[:2] = 0  # true of no object
    assume(table.sum() > 0)
    coarse = np.column_stack([table[:, 0] + table[:, 1], table[:, 2:]])[1:]
    found = [efficiency_test(each.T if named else each).log10_pvalue for each in (table, coarse)]
    assert found[0] == pytest.approx(found[1], rel=1e-9, abs=1e-9)


# Homogeneity of two samples


@law
@given(two_samples(), st.data())
def test_homogeneity_orders_tables_by_their_probability(samples, data):
    a, b = samples
    other = redrawn(a + b, int(a.sum()), data.draw)
    one, two = homogeneity_test(a, b), homogeneity_test(other, a + b - other)
    if one.statistic == pytest.approx(two.statistic, rel=1e-9):
        assert one.pvalue == pytest.approx(two.pvalue, **CLOSE)
    else:
        assert (one.statistic < two.statistic) == (one.pvalue < two.pvalue)


@law
@given(*[st.integers(0, 40)] * 4)
def test_two_by_two_tables_may_be_transposed(a, b, c, d):
    assume(min(a + b, c + d, a + c, b + d) > 0)
    for method in ("exact", "chi2", "bounds"):
        found, transposed = (homogeneity_test(*rows, method=method) for rows in (([a, b], [c, d]), ([a, c], [b, d])))
        assert transposed.pvalue == pytest.approx(found.pvalue, **CLOSE)


@law
@given(two_samples())
def test_merging_two_classes_adds_the_probabilities_of_the_tables_that_become_one(samples):
    a, b = samples
    assume(len(a) > 2)
    totals, both = a + b, int(a[0] + a[1])
    parts = []
    for x in range(both + 1):
        row = np.array([x, both - x, *a[2:]])
        if (row <= totals).all():
            parts.append(homogeneity_test(row, totals - row).statistic)
    assert homogeneity_test(merged(a), merged(b)).statistic == pytest.approx(math.fsum(parts), rel=1e-9)


@law
@given(st.lists(st.integers(1, 30), min_size=2, max_size=7), st.data())
def test_a_sample_of_one_object(totals, data):
    # It falls into class i with probability c_i / N: p adds up those of the classes that are no larger.
    place = data.draw(st.integers(0, len(totals) - 1))
    a = np.eye(len(totals), dtype=int)[place]
    expected = sum(c for c in totals if c <= totals[place]) / sum(totals)
    assert homogeneity_test(a, np.array(totals) - a).pvalue == pytest.approx(expected, rel=1e-11)


@law
@given(two_samples(), st.integers(2, 50))
def test_chi_square_grows_with_the_sample(samples, factor):
    a, b = samples
    found, larger = homogeneity_test(a, b, method="chi2"), homogeneity_test(factor * a, factor * b, method="chi2")
    assert larger.statistic == pytest.approx(factor * found.statistic, rel=1e-9, abs=1e-9)
    assert larger.pvalue <= found.pvalue * (1 + 1e-9)


# Goodness of fit


@law
@given(counts_and_probabilities(), st.data())
def test_goodness_of_fit_orders_outcomes_by_their_statistic(case, data):
    counts, p = case
    other = redrawn(np.full(len(p), counts.sum()), int(counts.sum()), data.draw)
    for ordering, sign in (("probability", 1), ("chi2", -1), ("likelihood-ratio", -1)):
        one, two = (goodness_of_fit_test(each, p, ordering=ordering) for each in (counts, other))
        if one.statistic == pytest.approx(two.statistic, rel=1e-9, abs=1e-9):
            continue
        assert (sign * one.statistic < sign * two.statistic) == (one.pvalue < two.pvalue)


@law
@given(counts_and_probabilities())
def test_merging_two_classes_adds_the_probabilities_of_the_outcomes_that_become_one(case):
    counts, p = case
    assume(len(counts) > 2)
    both = int(counts[0] + counts[1])
    parts = [goodness_of_fit_test([x, both - x, *counts[2:]], p).statistic for x in range(both + 1)]
    assert goodness_of_fit_test(merged(counts), merged(p)).statistic == pytest.approx(math.fsum(parts), rel=1e-9)


@law
@given(st.lists(st.integers(0, 12), min_size=2, max_size=5).filter(any), st.randoms(use_true_random=False))
def test_counts_of_equally_probable_classes_may_change_places(counts, random):
    p = [1 / len(counts)] * len(counts)
    shuffled = random.sample(counts, len(counts))
    for ordering in ("probability", "chi2", "likelihood-ratio"):
        one, two = (goodness_of_fit_test(each, p, ordering=ordering) for each in (counts, shuffled))
        assert one.pvalue == pytest.approx(two.pvalue, **CLOSE)


@law
@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.data())
def test_one_object(weights, data):
    place = data.draw(st.integers(0, len(weights) - 1))
    expected = sum(w for w in weights if w <= weights[place]) / sum(weights)
    counts = np.eye(len(weights), dtype=int)[place]
    assert goodness_of_fit_test(counts, np.array(weights) / sum(weights)).pvalue == pytest.approx(expected, rel=1e-11)


# Two classifiers on the same objects


@law
@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_goodness_of_fit_of_a_fair_coin(a, b):
    assume(a + b)
    p = mcnemar_test(a, b).pvalue
    assert p == pytest.approx(goodness_of_fit_test([a, b], [0.5, 0.5]).pvalue, rel=1e-8)
    one_sided = [mcnemar_test(a, b, alternative=each).pvalue for each in ("greater", "less")]
    assert p == pytest.approx(min(1.0, 2 * min(one_sided)), rel=1e-12)
    for method in ("mid-p", "chi2") if a != b else ():
        two = mcnemar_test(a, b, method=method).pvalue
        tails = [mcnemar_test(a, b, method=method, alternative=each).pvalue for each in ("greater", "less")]
        assert two == pytest.approx(2 * min(tails), rel=1e-9)
        assert sum(tails) == pytest.approx(1, rel=1e-12)


@law
@given(st.integers(0, 400), st.integers(1, 400), st.sampled_from(["exact", "mid-p", "chi2"]))
def test_more_unequal_discordant_counts_lower_p(a, b, method):
    assume(a >= b)
    before, after = mcnemar_test(a, b, method=method), mcnemar_test(a + 1, b - 1, method=method)
    assert after.log10_pvalue < before.log10_pvalue or before.pvalue == 1


labels = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=40)


@law
@given(labels, labels, st.permutations(range(5)), st.randoms(use_true_random=False))
def test_discordant_counts_add_up_and_know_no_order_and_no_names(first, second, names, random):
    def found(rows):
        return np.array(discordant_counts(*zip(*rows, strict=True)))

    everything = [*first, *second]
    renamed = [tuple("abcde"[names[label]] for label in row) for row in random.sample(everything, len(everything))]
    assert (found(first) + found(second) == found(everything)).all()
    assert (found(renamed) == found(everything)).all()
    assert (found([(y, b, a) for y, a, b in everything]) == found(everything)[::-1]).all()


# Possibilistic indices

unit = st.floats(0, 1)


@law
@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=6), st.data())
def test_possibility_of_one_is_what_the_necessity_of_the_other_leaves(pairs, data):
    a, b = map(list, zip(*pairs, strict=True))
    one, other = dominance(a, b), dominance(b, a)
    assert one.pd == pytest.approx(1 - other.nsd, abs=1e-15)  # Dubois and Prade (1983)
    turned = dominance(a[::-1], b[::-1])  # what was right is left
    assert (turned.pd, turned.nsd) == (other.pd, other.nsd)
    place = data.draw(st.integers(0, len(a) - 1))
    doubled = [[*each[: place + 1], *each[place:]] for each in (a, b)]  # two points in the place of one
    assert dominance(*doubled) == one


@law
@given(unit, unit)
def test_two_hypotheses_cannot_both_be_necessary(p, q):
    one, other = possibility(p, q), possibility(q, p)
    assert one.pd == pytest.approx(1 - other.nsd, abs=1e-15)
    assert min(one.nsd, other.nsd) == 0
    assert max(one.pd, other.pd) == 1
