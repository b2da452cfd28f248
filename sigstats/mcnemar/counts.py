"""Counts of observations that exactly one of two classifiers got right, and McNemar's test in Bayesian form."""

from typing import NamedTuple, SupportsIndex

import numpy as np
from scipy.special import betainc

from .._common.calls import takes_counts
from .._common.class_names import as_predictions
from .._common.validation import Labels, as_count, as_real


class DiscordantCounts(NamedTuple):
    """The numbers of observations that exactly one of two classifiers got right."""

    only_a: int
    only_b: int


def discordant_counts(y: Labels, a: Labels, b: Labels) -> DiscordantCounts:
    """Count the observations that exactly one of two classifiers got right.

    When not to use: for items with several answers (`sigstats.sign_flip_test`), or for marks (`sigstats.compare`).

    Parameters
    ----------
    y, a, b : array_like, shape (n,)
        The true labels and the labels that the classifiers A and B assigned: all numbers or all strings.

    Returns
    -------
    DiscordantCounts
        ``only_a`` and ``only_b``, in the order in which `mcnemar_test` takes them.

    Raises
    ------
    ValueError
        If a sequence is empty, of another length than `y`, has missing labels, or mixes numbers with strings.

    Examples
    --------
    >>> import sigstats
    >>> sigstats.discordant_counts(["cat", "cat", "dog"], ["cat", "cat", "cat"], ["dog", "cat", "cat"])
    DiscordantCounts(only_a=1, only_b=0)
    """
    truth, *assigned = as_predictions(y, a, b)
    right_a, right_b = (labels == truth for labels in assigned)
    return DiscordantCounts(int(np.sum(right_a & ~right_b)), int(np.sum(right_b & ~right_a)))


def _of_labels(y: Labels, a: Labels, b: Labels, *, prior: float = 1.0) -> float:
    """Return `pair_probability` for true labels `y` and the labels assigned by A and B, with its options."""
    return pair_probability(*discordant_counts(y, a, b), prior=prior)


@takes_counts(2, _of_labels)
def pair_probability(only_a: SupportsIndex, only_b: SupportsIndex, *, prior: float = 1.0) -> float:
    """Compute the posterior probability that A is more accurate than B on rows like these.

    When not to use: if you need a test, use `sigstats.mcnemar_test`.

    Parameters
    ----------
    only_a, only_b : int
        The numbers of rows that only A, and only B, got right (`sigstats.discordant_counts`).
    prior : float
        Both parameters of the beta prior of the share of discordant rows that A gets right: 1 is uniform, 1/2
        Jeffreys's.

    Returns
    -------
    float
        The posterior probability; exactly 1/2 if the counts are equal.

    Raises
    ------
    ValueError
        If a count is negative or fractional, or `prior` is not above 0.

    Notes
    -----
    The posterior of the share is beta with parameters ``only_a + prior`` and ``only_b + prior``; the probability that
    it exceeds 1/2 is the incomplete beta function ``I_{1/2}(only_b + prior, only_a + prior)``: the Bayesian McNemar
    test of Chechile, ``dfba_mcnemar`` of the R package DFBA. Rows that both or neither got right do not matter if the
    prior of all four cells is a Dirichlet distribution.

    References
    ----------
    Chechile, *Bayesian Statistics for Experimental Scientists* (2020).

    Examples
    --------
    >>> import sigstats
    >>> round(sigstats.pair_probability(7, 1), 5), round(sigstats.pair_probability(7, 1, prior=0.5), 5)
    (0.98047, 0.98663)
    """
    a, b = as_count(only_a, "only_a"), as_count(only_b, "only_b")
    weight = as_real(prior, "prior", low=0, high=1e15, open_ends=True)
    return 0.5 if a == b else float(betainc(b + weight, a + weight, 0.5))
