"""P(p <= a) <= a for every a, by enumeration of the null hypothesis where sampling does not fix the margins.

Given the margins, and by simulation with Monte-Carlo p-values: `test_efficiency`, `test_homogeneity`,
`test_goodness_of_fit`, `test_paired`, `test_power`, `test_permutation`.
"""

import math
from itertools import product

import numpy as np
import pytest

from sigstats.efficiency import efficiency_test
from sigstats.homogeneity.homogeneity_test import homogeneity_test
from sigstats.tables import confusion_table

SHARES = ([1 / 3, 1 / 3, 1 / 3], [0.6, 0.3, 0.1], [0.05, 0.05, 0.9])


def samples(n, classes):
    return [x for x in product(range(n + 1), repeat=classes) if sum(x) == n]


def probability(x, share):
    return math.factorial(sum(x)) * math.prod(q**k / math.factorial(k) for k, q in zip(x, share, strict=True))


def assert_valid(pvalues, chances):
    """No level is exceeded; it is enough to look at the p-values that occur."""
    pvalues, chances = np.array(pvalues), np.array(chances)
    assert chances.sum() == pytest.approx(1)
    for level in np.unique(pvalues):
        assert chances[pvalues <= level * (1 + 1e-9)].sum() <= level * (1 + 1e-9)


@pytest.mark.long
def test_certified_bounds_of_homogeneity():
    # Where listing is too much the upper bound is not below the exact p-value: see test_homogeneity.
    pairs = list(product(samples(5, 3), samples(4, 3)))
    results = [homogeneity_test(a, b, method="bounds") for a, b in pairs]
    for (a, b), result in zip(pairs, results, strict=True):
        assert result.pvalue_interval.low <= homogeneity_test(a, b).pvalue <= result.pvalue
    chances = [probability(a, SHARES[1]) * probability(b, SHARES[1]) for a, b in pairs]
    assert_valid([result.pvalue for result in results], chances)


@pytest.mark.long
@pytest.mark.parametrize("names", SHARES)
def test_efficiency_of_names_given_without_regard_to_the_objects(names):
    # Every sequence of names that a random classifier may give seven objects, column totals thus being random.
    truth = [0, 0, 0, 1, 1, 2, 2]
    sequences = list(product(range(3), repeat=len(truth)))
    chances = [math.prod(names[name] for name in sequence) for sequence in sequences]
    cache = {}
    for sequence in sequences:
        table = confusion_table(truth, sequence, labels=[0, 1, 2])
        key = (int(np.trace(table)), *table.sum(axis=0).tolist())
        if key not in cache:
            cache[key] = efficiency_test(table, method="exact")
    results = [
        cache[sum(a == b for a, b in zip(truth, s, strict=True)), s.count(0), s.count(1), s.count(2)] for s in sequences
    ]
    assert_valid([result.pvalue for result in results], chances)
    # Mid-p is not valid in this sense; its mean is one half, whatever the margins (Lancaster 1961).
    assert np.dot(chances, [result.mid_pvalue for result in results]) == pytest.approx(0.5, rel=1e-12)
