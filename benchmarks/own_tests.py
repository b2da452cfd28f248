"""Tests of a person's own, for `plan.py`: paired tests of two classifiers, from the right answers of both."""

import numpy as np
from scipy.special import bdtr
from scipy.stats import binomtest


def discordant(labels, a, b):
    """The numbers of rows that only A and only B has right; of each test set, if these are rows."""
    return np.sum((a == labels) & (b != labels), axis=-1), np.sum((a != labels) & (b == labels), axis=-1)


def by_scipy(labels, a, b):
    only_a, only_b = discordant(labels, a, b)
    return binomtest(int(only_a), int(only_a + only_b)).pvalue if only_a + only_b else 1.0


def by_scipy_with_imports(labels, a, b):
    import pandas  # noqa: F401
    import sklearn.ensemble  # noqa: F401

    return by_scipy(labels, a, b)


def by_sign_flips(labels, a, b, rng, resamples=999):
    difference = (a == labels).astype(float) - (b == labels)
    flipped = np.abs(rng.choice([-1.0, 1.0], (resamples, len(difference))) @ difference)
    return (1 + np.count_nonzero(flipped >= abs(difference.sum()) - 1e-9)) / (resamples + 1)


def by_a_loop(labels, a, b):
    wins = losses = 0
    for label, one, other in zip(labels.tolist(), a.tolist(), b.tolist(), strict=True):
        wins += one == label != other
        losses += other == label != one
    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5))) if wins + losses else 1.0


def vectorised(labels, a, b):
    only_a, only_b = discordant(labels, a, b)
    both = only_a + only_b
    return np.where(both > 0, np.minimum(1.0, 2 * bdtr(np.minimum(only_a, only_b), np.maximum(both, 1), 0.5)), 1.0)
