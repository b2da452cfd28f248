"""Logistic regression for a block of replicates: the iterates of its solver, for all folds and replicates at once.

All folds of all replicates share X, so their scores are one matrix product, for any scale of a fold.
`LogisticRegression` stops by default at a slope of 1e-4, which is far from the optimum if features are collinear. So
the path of its solver is followed to its end (`lbfgs.minimise`), and a row nearer to the boundary than the amplified
rounding error is left to scikit-learn.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from sigstats._common.validation import FloatArray, IntArray

from .base import (
    UNDECIDED,
    BatchedLearner,
    Null,
    Problem,
    best_or_undecided,
    blocks,
    class_weights,
    is_default,
    steps_of,
)
from .design import Design, design_of
from .lbfgs import Rules, available, minimise

_WIDEST = 256
#: Longer paths are not followed, since rounding is amplified along them.
_MOST_ITERATIONS = 80
#: Rounding moves scores by less than this in the first steps, times the root of the cost if that is above 1. Measured
#: on digits, breast cancer, wine, iris and sets with collinear columns, with labels as they are and permuted: moving
#: the data by a rounding moved the scores by at most 3e-13 for costs up to 1, 5e-13 for 100 and 8e-11 for 10,000,
#: divided by the amplification of `Rules.amplified`.
_ROUNDING = 3e-11
#: A variance smaller than this part of that of all rows is left to scikit-learn, unless the column is constant.
_LEAST_VARIANCE = 1e-4
#: At most this many scores are computed at a time.
_MOST_SCORES = 2**16

_MOST_CLASSES = 2**14


class BatchedLogisticRegression(BatchedLearner):
    """`LogisticRegression` by L-BFGS: any ``C`` and weights of classes, behind the ready learners' transforms."""

    nulls = ("labels",)  # permuted columns differ in each replicate, so that no product can be shared

    def __init__(self, problem: Problem, design: Design, classifier: Any) -> None:
        self._problem, self._cost = problem, float(classifier.C)
        self._class_weights = class_weights(classifier.class_weight, problem)
        most = classifier.max_iter
        decrease = 64 * float(np.finfo(np.float64).eps)
        rounding = _ROUNDING * max(1.0, self._cost) ** 0.5
        self._rules = Rules(
            float(classifier.tol), decrease, min(most, _MOST_ITERATIONS), most <= _MOST_ITERATIONS, rounding
        )
        # A scaled column that is constant in all rows gets no weight.
        varying = ~design.standardised | (np.ptp(design.columns, axis=0) > 0)
        columns, self._scaled = design.columns[:, varying], design.standardised[varying]
        usual = np.partition(columns, len(columns) // 2, axis=0)[len(columns) // 2]
        unusual = columns != usual
        columns = columns - np.where(self._scaled, columns.mean(axis=0), 0)
        spread = np.where(self._scaled, columns.std(axis=0), 1)
        self._columns = np.ascontiguousarray(columns / np.where(spread > 0, spread, 1))
        self._with_ones = np.column_stack([self._columns, np.ones(len(columns))])
        self._moments = np.hstack([self._columns, self._columns**2, unusual])
        self._outputs = 1 if problem.n_classes == 2 else problem.n_classes
        n, m = columns.shape
        self.replicate_bytes = 8 * problem.n_folds * (6 * n * self._outputs + 30 * self._outputs * (m + 1))

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedLogisticRegression | None":  # noqa: ARG003
        """Prepare the columns; None for other solvers, penalties or transforms."""
        *transforms, classifier = steps_of(estimator)
        free = ("C", "tol", "max_iter", "random_state", "n_jobs", "class_weight")
        if not (available and is_default(classifier, LogisticRegression, free=free)):
            return None
        if classifier.class_weight is not None and class_weights(classifier.class_weight, problem) is None:
            return None
        design = design_of(transforms, problem.X)
        if design is None or design.sparse or design.columns.shape[1] > _WIDEST or problem.n_classes > _MOST_CLASSES:
            return None
        # On columns of unlike scales the path is long, and rounding is amplified beyond any margin.
        if not (design.standardised | np.isin(np.arange(design.columns.shape[1]), design.categories)).all():
            return None
        numbers = (classifier.C, classifier.tol)
        if not all(isinstance(value, (int, float)) and 0 < value < np.inf for value in numbers):
            return None
        if type(classifier.max_iter) is not int or classifier.max_iter < 1 or np.isnan(design.columns).any():
            return None
        return cls(problem, design, classifier)

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from scores of all folds and replicates."""
        predicted = np.empty_like(place)
        for some in blocks(len(place), self.replicate_bytes // 16, least=8):
            predicted[some] = self._predict(place[some])
        return predicted

    def _predict(self, place: IntArray) -> IntArray:
        fold, label = self._problem.folds[place], self._problem.y[place]
        inside = fold[:, None, :] == np.arange(self._problem.n_folds)[:, None]  # (replicates, folds, n)
        fits = _Fits(self, inside.reshape(-1, inside.shape[2]), np.repeat(label, self._problem.n_folds, axis=0))
        start = np.zeros((len(fits.train), self._outputs * (self._columns.shape[1] + 1)))
        values, iterations = minimise(fits.evaluate, start, self._rules)
        scores = np.empty((len(place), self._outputs, place.shape[1]))
        for replicate, numbers in enumerate(np.arange(len(values)).reshape(inside.shape[:2])):
            by_fold = fits.scores(values[numbers], numbers)
            scores[replicate] = np.take_along_axis(by_fold, fold[replicate, None, None], axis=0)[0]
        if self._outputs == 1:
            scores = np.concatenate([-scores, scores], axis=1) / 2
        margin, known = self._rules.amplified(iterations), (iterations >= 0) & fits.known
        best = best_or_undecided(scores, np.take_along_axis(margin.reshape(inside.shape[:2]), fold, axis=1)[:, None])
        best[~np.take_along_axis(known.reshape(inside.shape[:2]), fold, axis=1)] = UNDECIDED
        return best


class _Fits:
    """The fits of the folds of all replicates, numbered from 0: their training rows, and the scales of columns there.

    `inside`, shape (fits, n): the test rows of each fit. `known`: False if scikit-learn is to do a fit.
    """

    def __init__(self, learner: BatchedLogisticRegression, inside: Any, label: IntArray) -> None:
        m = learner._columns.shape[1]
        self._columns, self._outputs = learner._with_ones, learner._outputs
        self.train = (~inside).astype(np.float64)
        size = self.train.sum(axis=1)[:, None]
        sums = self.train @ learner._moments
        mean = sums[:, :m] / size
        variance = sums[:, m : 2 * m] / size - mean**2
        constant = sums[:, 2 * m :].round() == 0
        self.known = (constant | (variance > _LEAST_VARIANCE) | ~learner._scaled).all(axis=1)
        # A column that is constant where it is scaled is 0 there, and gets no weight.
        scale = np.sqrt(np.maximum(variance, _LEAST_VARIANCE))
        self._inverse = np.where(learner._scaled, np.where(constant, 0, 1 / scale), 1)
        self._shift = np.where(learner._scaled, mean, 0) * self._inverse
        self._codes = np.where(inside, -1, label).astype(np.int16)
        n_classes = max(self._outputs, 2)
        counts = np.array([np.bincount(codes + 1, minlength=n_classes + 1)[1:] for codes in self._codes])
        self.known &= counts.all(axis=1)
        self._weights = self.train
        if learner._class_weights is not None:
            of_class = np.tile(learner._class_weights, (len(inside) // len(learner._class_weights), 1))
            self._weights = np.take_along_axis(of_class, np.maximum(self._codes, 0), axis=1) * self.train
        self._total_weight = self._weights.sum(axis=1)
        self._penalty = 1 / (learner._cost * self._total_weight)

    def _slopes(self, x: FloatArray, numbers: IntArray, outputs: int) -> FloatArray:
        """Return the weights of the first outputs for columns that are not scaled; the last weight is 1."""
        weights = x.reshape(len(x), self._outputs, -1)[:, :outputs]
        slopes = np.empty(weights.shape)
        np.multiply(weights[..., :-1], self._inverse[numbers, None], out=slopes[..., :-1])
        slopes[..., -1] = weights[..., -1] - (weights[..., :-1] * self._shift[numbers, None]).sum(axis=2)
        return slopes

    def scores(self, x: FloatArray, numbers: IntArray) -> FloatArray:
        """Return the scores of all rows for these fits, shape (fits, outputs, n)."""
        slopes = self._slopes(x, numbers, self._outputs)
        products = slopes.reshape(-1, slopes.shape[2]) @ self._columns.T
        return products.reshape(len(x), self._outputs, -1)

    def evaluate(self, x: FloatArray, numbers: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean loss with the penalty, and its gradient, for these fits."""
        weights = x.reshape(len(x), self._outputs, -1)
        free = max(self._outputs - 1, 1)  # weights, scores and derivatives of all classes sum to 0
        slopes = self._slopes(x, numbers, free)
        codes, row_weights = self._codes, self._weights
        if len(numbers) < len(codes):
            codes, row_weights = codes[numbers], row_weights[numbers]
        value, raw = _losses(self._columns, slopes, codes, row_weights, self._outputs == 1)
        gradient = np.empty_like(weights)
        of_free = gradient[:, :free]
        np.multiply(raw[..., :-1], self._inverse[numbers, None], out=of_free[..., :-1])
        of_free[..., :-1] -= raw[..., -1:] * self._shift[numbers, None]
        of_free[..., -1] = raw[..., -1]
        if free < self._outputs:
            np.negative(of_free.sum(axis=1), out=gradient[:, -1])
        total, penalty = self._total_weight[numbers], self._penalty[numbers]
        gradient /= total[:, None, None]
        gradient[..., :-1] += penalty[:, None, None] * weights[..., :-1]
        value = value / total + 0.5 * penalty * (weights[..., :-1] ** 2).sum(axis=(1, 2))
        return value, gradient.reshape(len(x), -1)


def _losses(
    columns: FloatArray, slopes: FloatArray, codes: Any, weights: FloatArray, binary: bool
) -> tuple[FloatArray, FloatArray]:
    """Return losses of all rows and their slopes, in parts that fit into memory."""
    value, raw = np.zeros(len(slopes)), np.zeros(slopes.shape)
    step = max(_MOST_SCORES // (slopes.shape[0] * slopes.shape[1]), 1)
    for first in range(0, len(columns), step):
        rows = slice(first, first + step)
        losses, derivatives = _losses_of(slopes @ columns[rows].T, codes[:, rows], weights[:, rows], binary)
        value += losses
        raw += derivatives @ columns[rows]
    return value, raw


def _losses_of(scores: FloatArray, codes: Any, weights: FloatArray, binary: bool) -> tuple[FloatArray, FloatArray]:
    """Return weighted sums of losses, (problems,), and derivatives by scores, (problems, outputs, n)."""
    other = np.zeros_like(scores) if binary else -scores.sum(axis=1, keepdims=True)
    full = np.concatenate([other, scores] if binary else [scores, other], axis=1)
    hits = codes[:, None] == np.arange(full.shape[1])[:, None]
    top = full.max(axis=1, keepdims=True)
    shares = np.exp(full - top)
    whole = shares.sum(axis=1, keepdims=True)
    shares /= whole
    losses = (((top + np.log(whole))[:, 0] - (full * hits).sum(axis=1)) * weights).sum(axis=1)
    derivatives = (shares - hits) * weights[:, None]
    return losses, derivatives[:, 1:] if binary else derivatives[:, :-1]
