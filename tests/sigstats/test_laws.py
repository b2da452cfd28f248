"""Laws that hold whatever the data: what may be permuted, transposed, merged or moved, and which way p then goes.

Each is a theorem about the test, not a feature of the code. Laws of single modules (swapping the samples, an empty
class, one-sided monotony) are in the tests of those modules.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sigstats import efficiency_test, goodness_of_fit_test, homogeneity_test, mcnemar_test, number_correct

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
@given(*[st.integers(0, 40)] * 4)
def test_two_by_two_tables_may_be_transposed(a, b, c, d):
    assume(min(a + b, c + d, a + c, b + d) > 0)
    for method in ("exact", "chi2", "bounds"):
        found, transposed = (homogeneity_test(*rows, method=method) for rows in (([a, b], [c, d]), ([a, c], [b, d])))
        assert transposed.pvalue == pytest.approx(found.pvalue, **CLOSE)


@law
@given(two_samples(), st.integers(2, 50))
def test_chi_square_grows_with_the_sample(samples, factor):
    a, b = samples
    found, larger = homogeneity_test(a, b, method="chi2"), homogeneity_test(factor * a, factor * b, method="chi2")
    assert larger.statistic == pytest.approx(factor * found.statistic, rel=1e-9, abs=1e-9)
    assert larger.pvalue <= found.pvalue * (1 + 1e-9)


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
