"""Tests on the joint outcomes of cross-validation: of each fold, or pooled over all folds and repetitions.

Pooled predictions share training rows, and those of several repetitions share the rows themselves, so that a test which
takes them as independent need not keep its level: what a calibration study finds out.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sigstats._common.extreme import monte_carlo_pvalue
from sigstats.efficiency import efficiency_test
from sigstats.homogeneity.test import homogeneity_test
from sigstats.joint.outcomes import JointOutcomes
from sigstats.retraining.resampled import corrected_resampled_test, five_by_two_test

from ..record import Permuted, Scheme
from ..work import AppliedTest
from .population import Population
from .tests import advantage, run_test

#: The tests that only cross-validated learners can have.
OF_FOLDS = ("corrected-t", "five-by-two", "efficiency", "homogeneity", "permutation")
#: Pooled counts are not drawn from a population of rows; what a test needs of one is that both classes occur.
_POOLED = Population(outcomes=(1,) * 8)


def scheme_of(test: AppliedTest, scheme: Scheme) -> Scheme:
    """The folds and repetitions that a test takes, of a population with this scheme."""
    return Scheme(folds=2, repeats=5) if test.test == "five-by-two" else scheme


def permutation_of(test: AppliedTest) -> Permuted | None:
    """What is permuted, and how often; None for a test that permutes nothing."""
    return Permuted(**test.options) if test.test == "permutation" else None


def differences(outcomes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The accuracy of A less that of B in each fold, shape (repeats, folds), of outcomes of shape (..., 8)."""
    only_a = outcomes[..., 2] + outcomes[..., 5]
    only_b = outcomes[..., 1] + outcomes[..., 6]
    found: NDArray[np.float64] = (only_a - only_b) / outcomes.sum(axis=-1)
    return found


def run_fold_test(test: AppliedTest, outcomes: NDArray[np.int64], rng: np.random.Generator) -> tuple[float, float]:
    """The p-value of a test on one sample, and by how much B is better than A."""
    pooled = outcomes.sum(axis=(0, 1))
    if test.test == "efficiency":
        a = JointOutcomes(*pooled.tolist()).confusion_a
        result = efficiency_test([[int(a.tp), int(a.fn)], [int(a.fp), int(a.tn)]], method="exact")
        return result.pvalue, (a.tp + a.tn) / float(pooled.sum()) - 0.5
    ahead = -float(differences(outcomes).mean())
    if test.test == "homogeneity":
        return homogeneity_test(*_right_by_class(pooled)).pvalue, ahead
    if test.test == "five-by-two":
        return five_by_two_test(differences(outcomes)).pvalue, ahead
    if test.test == "corrected-t":
        folds = outcomes.shape[1]
        values = differences(outcomes).ravel()
        return corrected_resampled_test(values, n_train=folds - 1, n_test=1, **test.options).pvalue, ahead
    found = run_test(test, pooled[None], _POOLED, rng)
    if found.problem:
        raise ValueError(found.problem)
    return float(found.p_value[0]), float(advantage(test, pooled[None], _POOLED)[0])


def _right_by_class(pooled: NDArray[np.int64]) -> Iterator[list[int]]:
    """Hryniewicz's counts of A and of B (eq. 1): right in each class, and all that are wrong."""
    joint = JointOutcomes(*pooled.tolist())
    for side in (joint.confusion_a, joint.confusion_b):
        yield [int(side.tp), int(side.tn), int(side.fp + side.fn)]


def permutation_pvalues(wrong: NDArray[np.int64], permuted: NDArray[np.int64]) -> NDArray[np.float64]:
    """The p-value of each sample from its wrong answers and those of its permutations, shape (m, resamples)."""
    exceedances = np.count_nonzero(permuted <= wrong[:, None], axis=1)
    return np.array([monte_carlo_pvalue(int(count), permuted.shape[1]) for count in exceedances])
