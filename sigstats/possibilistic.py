"""Hryniewicz's possibilistic measures: p-values as possibilities of hypotheses, and relaxed hypotheses."""

from .goodness_of_fit.goodness_of_fit_test import relax_probabilities
from .possibilistic_indices import dominance, membership, possibility, weigh_hypotheses

__all__ = ["dominance", "membership", "possibility", "relax_probabilities", "weigh_hypotheses"]
