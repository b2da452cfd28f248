"""The Bayesian signed-rank test: the probability that a model is better, equal in practice, or worse.

When not to use: where a guarantee on false alarms is wanted (`sigstats.signed_rank_test`); with a handful of data sets,
where the prior decides.
"""

from typing import Any, NamedTuple

import numpy as np

from .._common.random_streams import RNG, as_generator
from .._common.validation import as_count, as_real, as_reals, require_squarable

_BATCH = 2**22


class SignedRankProbabilities(NamedTuple):
    """Posterior probabilities that sum to one."""

    better: float
    equal: float
    worse: float


def bayesian_signed_rank(
    differences: Any, *, rope: float = 0.01, prior: float = 0.5, n_resamples: int = 50_000, rng: RNG = None
) -> SignedRankProbabilities:
    """Posterior probabilities that A is better than B, equal to it in practice, or worse, on data sets like these.

    `differences` (array_like, shape (n,)): a score of A less that of B on each data set.
    `rope`: half the width of the region of practical equivalence; smaller differences are none.
    `prior`: the weight of one pseudo-observation of 0, in observations.
    `n_resamples` and `rng`: the number of draws from the posterior, and their source.

    Returns how often, among the draws, each of the three has the greatest share of pairs. Raises ValueError if there is
    no difference, one is not finite, or an option is out of range.

    Benavoli, Corani, Demsar and Zaffalon (2017), Journal of Machine Learning Research 18, section 4.2: the weights of
    the observations are Dirichlet with parameters ``(prior, 1, ..., 1)``, and a pair of observations speaks for A where
    its mean exceeds `rope`.

    >>> found = bayesian_signed_rank([0.03, 0.05, 0.02, 0.04, 0.06, 0.03, 0.0, 0.04], rng=1)
    >>> found.better > 0.95, found.worse < 0.01
    (True, True)
    """
    values = as_reals(differences, "differences", ndim=1)
    require_squarable(values, "differences")
    half = as_real(rope, "rope", low=0, high=1e150)
    weight = as_real(prior, "prior", low=0, high=1e6, open_ends=True)
    draws = as_count(n_resamples, "n_resamples", minimum=1, maximum=10**7)
    generator = as_generator(rng)
    observations = np.concatenate([[0.0], values])
    order = np.argsort(observations, kind="stable")
    ascending = observations[order]
    # With each observation the pairs below and above the region are those with the least and the largest others.
    below = [np.searchsorted((each + ascending) / 2, -half, side="left") for each in ascending]
    upto_above = [np.searchsorted((each + ascending) / 2, half, side="right") for each in ascending]
    parameters = np.concatenate([[weight], np.ones(len(values))])
    won, step = np.zeros(3), max(1, _BATCH // len(observations))
    for start in range(0, draws, step):
        shares = generator.dirichlet(parameters, size=min(step, draws - start))[:, order]
        upto = np.zeros((len(shares), len(ascending) + 1))
        np.cumsum(shares, axis=1, out=upto[:, 1:])
        for_a = np.einsum("ij,ij->i", upto[:, -1:] - upto[:, upto_above], shares)
        for_b = np.einsum("ij,ij->i", upto[:, below], shares)
        masses = np.stack([for_a, 1 - for_a - for_b, for_b])
        best = masses >= masses.max(axis=0) - 1e-12
        won += (best / best.sum(axis=0)).sum(axis=1)  # a draw with two greatest shares counts half for each
    better, equal, worse = (won / draws).tolist()
    return SignedRankProbabilities(better, equal, worse)
