"""A population of two classes on which two learners are retrained, each on its own half of the features.

The features are normal and independent given the class, and both halves have the same distribution if they separate the
classes equally well. A learner is then equally good in expectation on either half, for every size of the training set,
so that the null hypothesis of a comparison is true. No real data set guarantees this.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.learners import build
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.retrainer import Retrainer

from ...record import Learner, Permuted, Scheme, TwoViews
from ..work import AppliedTest


@dataclass(frozen=True)
class Sample:
    """A sample of the population."""

    #: Features of each row for A and for B; ndarray of float64, shape (n, features).
    a: FloatArray
    b: FloatArray
    #: The class of each row, 0 or 1; 0 is the positive class; ndarray of int64, shape (n,).
    y: IntArray


def draw(population: TwoViews, n: int, rng: np.random.Generator, size: int) -> list[Sample]:
    """Draw samples of n rows, half of them of each class (one more of class 0 if n is odd)."""
    y = np.arange(n) % 2
    features = population.features
    samples = []
    for _ in range(size):
        views = rng.standard_normal((2, n, features))
        for view, distance in zip(views, distances(population), strict=True):
            view += (distance / math.sqrt(features)) * (y[:, None] - 0.5)
        samples.append(Sample(views[0], views[1], y))
    return samples


def distances(population: TwoViews) -> tuple[float, float]:
    """Return the distance between the class means for A and for B; the best accuracy is Phi(distance / 2)."""
    return population.separation, population.separation + population.difference


def null_holds(population: TwoViews, test: AppliedTest) -> bool:
    """Return True if the null hypothesis of a test is true, on both learners or only on A (efficiency, permutation)."""
    if test.test == "permutation" and test.options["null"] == "features":
        return True  # features are independent inside each class
    if test.test in ("efficiency", "permutation"):
        return population.separation == 0
    return population.difference == 0


def folds_of(sample: Sample, scheme: Scheme, rng: np.random.Generator) -> list[IntArray]:
    """Draw the stratified folds of each repetition of cross-validation."""
    return [stratified_folds(sample.y, scheme.folds, rng) for _ in range(scheme.repeats)]


def retrainers(
    X: FloatArray, y: IntArray, folds: list[IntArray], learner: Learner, null: str = "labels"
) -> Iterator[Retrainer]:
    """Yield the retrainer of a learner on one view for each repetition."""
    for fold in folds:
        estimator = build(learner.learner, params=learner.params, missing=False)
        yield Retrainer(estimator, X, y, fold, null=null)


def outcomes(sample: Sample, folds: list[IntArray], learner: Learner) -> IntArray:
    """Return the eight joint outcomes of the cross-validated predictions, shape (repeats, folds, 8)."""
    sides = [[view.observed() for view in retrainers(X, sample.y, folds, learner)] for X in (sample.a, sample.b)]
    count = int(folds[0].max()) + 1
    values = np.empty((len(folds), count, 8), dtype=np.int64)
    for repeat, (fold, a, b) in enumerate(zip(folds, *sides, strict=True)):
        event = 4 * sample.y + a + 2 * b
        values[repeat] = np.bincount(8 * fold + event, minlength=8 * count).reshape(count, 8)
    return values


def permuted_wrong(
    sample: Sample, folds: list[IntArray], learner: Learner, permutation: Permuted, rng: np.random.Generator
) -> tuple[int, IntArray]:
    """Count the wrong answers of A over all repetitions, as observed and in each permutation."""
    repeated = list(retrainers(sample.a, sample.y, folds, learner, permutation.null))
    observed = sum(int(np.count_nonzero(retrainer.observed() != sample.y)) for retrainer in repeated)
    # All repetitions see the same permutation, so that the observed run is exchangeable with the permuted runs.
    chunks = repeated[0].chunks(rng, permutation.resamples)
    permuted = [sum(retrainer.count_wrong(draws) for retrainer in repeated) for draws in chunks]
    return observed, np.concatenate([np.asarray(wrong, dtype=np.int64) for wrong in permuted])
