"""Tests of two classifiers, as a methodologist would write them: plain, vectorised, drawing, and wrong at times."""

import sys
import time

import numpy as np
from scipy.stats import binom, binomtest, permutation_test


def sign(labels, a, b):
    """The exact sign test of the rows that only one of the two gets right; SciPy's result."""
    only_a, only_b = ((a == labels) & (b != labels)).sum(), ((a != labels) & (b == labels)).sum()
    return binomtest(only_b, only_a + only_b) if only_a + only_b else 1.0


def signs(labels, a, b):
    """The same of many test sets, a row each."""
    only_a, only_b = (((x == labels) & (y != labels)).sum(axis=-1) for x, y in ((a, b), (b, a)))
    return np.minimum(1, 2 * binom.cdf(np.minimum(only_a, only_b), only_a + only_b, 0.5))


def draws(labels, a, b, rng, resamples=19):
    """A Monte-Carlo test of the difference of accuracy."""
    right = [(x == labels).astype(float) for x in (a, b)]
    return permutation_test(
        right, lambda x, y: x.mean() - y.mean(), permutation_type="samples", n_resamples=resamples, rng=rng
    )


def draws_globally(labels, a, b):
    """A number that is uniform, whatever the data."""
    return np.random.random()


def fails(labels, a, b):
    """Undefined unless one more row is got right by one of the two: it raises, or says NaN."""
    only_a, only_b = ((a == labels) & (b != labels)).sum(), ((a != labels) & (b == labels)).sum()
    if only_a == only_b:
        raise ZeroDivisionError("the two are\nequal, as is one row in 3 of 9 test sets")
    return float("nan") if only_b == only_a + 1 else 0.01


def too_many(labels, a, b):
    """Two p-values for one test set."""
    return [0.1, 0.2]


def leaves(labels, a, b):
    """It ends its process in good order."""
    sys.exit("no licence")


def slow(labels, a, b):
    """It hangs."""
    time.sleep(1000)


def first_half(labels, a, b):
    """The share of the first half's rows that are positive, as if it were a p-value: it tells the order of the rows."""
    return labels[: len(labels) // 2].mean()


answer = 42
