"""Logistic regression for a block of replicates: the iterates of its solver, for all folds and replicates at once.

All folds of all replicates share X, so that the scores of all of them are one matrix product, whatever the scale of a
fold is. `LogisticRegression` stops by default where the slope is 1e-4, which is far from the optimum where features are
collinear; so its own way is followed to where it stops, and a row nearer to the boundary than rounding, amplified on
the way, may move it is left to scikit-learn.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression

from sigstats._common.validation import FloatArray, IntArray

from ..base import UNDECIDED, Null, Problem, best_or_undecided, blocks, is_default, steps_of
from ..design import Design, design_of
from ._lbfgs import Rules, amplified, minimise

_WIDEST = 256

#: A longer way is not followed, as rounding is amplified on it.
_LONGEST = 80

#: A variance smaller than this part of that of all rows is left to scikit-learn, unless the column is constant.
_LEAST = 1e-4


class BatchedLogisticRegression:
    """`sklearn.linear_model.LogisticRegression` by L-BFGS with any ``C``, behind the ready learners' transforms."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels",)
    one_size: ClassVar[bool] = False

    def __init__(self, problem: Problem, design: Design, classifier: Any) -> None:
        self._problem, self._cost = problem, float(classifier.C)
        longest = classifier.max_iter
        decrease = 64 * float(np.finfo(np.float64).eps)
        self._rules = Rules(float(classifier.tol), decrease, min(longest, _LONGEST), longest <= _LONGEST)
        self._scaled = design.standardised
        columns = design.columns - np.where(design.standardised, design.columns.mean(axis=0), 0)
        spread = np.where(design.standardised, columns.std(axis=0), 1)
        self._columns = np.ascontiguousarray(columns / np.where(spread > 0, spread, 1))
        usual = np.partition(design.columns, len(columns) // 2, axis=0)[len(columns) // 2]
        self._moments = np.hstack([self._columns, self._columns**2, design.columns != usual])
        self._outputs = 1 if problem.n_classes == 2 else problem.n_classes
        n, m = columns.shape
        self.replicate_bytes = 8 * problem.n_folds * (6 * n * self._outputs + 30 * self._outputs * (m + 1))

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedLogisticRegression | None":  # noqa: ARG003
        """Prepare the columns; None for other solvers, penalties, weights or transforms."""
        *transforms, classifier = steps_of(estimator)
        if not is_default(classifier, LogisticRegression, free=("C", "tol", "max_iter", "random_state", "n_jobs")):
            return None
        design = design_of(transforms, problem.X)
        if design is None or design.sparse or design.columns.shape[1] > _WIDEST:
            return None
        # The way on columns of unlike scales is long, and rounding is amplified beyond any margin.
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
        for some in blocks(len(place), self.replicate_bytes // 16, least=4):
            predicted[some] = self._predict(place[some])
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Not offered: columns permuted differ in each replicate, and no product is shared."""
        raise NotImplementedError

    def _predict(self, place: IntArray) -> IntArray:
        fold, label = self._problem.folds[place], self._problem.y[place]
        inside = fold[:, None, :] == np.arange(self._problem.n_folds)[:, None]  # (replicates, folds, n)
        task = _Task(self, inside.reshape(-1, inside.shape[2]), np.repeat(label, self._problem.n_folds, axis=0))
        start = np.zeros((len(task.train), self._outputs * (self._columns.shape[1] + 1)))
        found, iterations = minimise(task.evaluate, start, self._rules)
        scores = task.scores(found, np.arange(len(found)))  # (problems, outputs, n)
        if self._outputs == 1:
            scores = np.concatenate([-scores, scores], axis=1) / 2
        best = best_or_undecided(scores, amplified(iterations)[:, None, None])
        best[(iterations < 0) | ~task.known] = UNDECIDED
        chosen: IntArray = np.take_along_axis(best.reshape(*inside.shape), fold[:, None, :], axis=1)[:, 0]
        return chosen


class _Task:
    """The regressions of each fold of each replicate: what they are trained on, and how columns are scaled there."""

    def __init__(self, learner: BatchedLogisticRegression, inside: Any, label: IntArray) -> None:
        self._columns, self._outputs = learner._columns, learner._outputs
        self.train = (~inside).astype(np.float64)
        self._size = self.train.sum(axis=1)
        m = self._columns.shape[1]
        sums = self.train @ learner._moments
        mean = sums[:, :m] / self._size[:, None]
        variance = sums[:, m : 2 * m] / self._size[:, None] - mean**2
        constant = sums[:, 2 * m :].round() == 0
        self.known = (constant | (variance > _LEAST) | ~learner._scaled).all(axis=1)
        # A column that is constant where it is scaled is 0 there, and gets no weight.
        scale = np.sqrt(np.maximum(variance, _LEAST))
        self._inverse = np.where(learner._scaled, np.where(constant, 0, 1 / scale), 1)
        self._shift = np.where(learner._scaled, mean, 0) * self._inverse
        classes = np.arange(1, 2) if self._outputs == 1 else np.arange(self._outputs)
        self._hits = (label[:, None, :] == classes[:, None]) * self.train[:, None]
        self._at: Any = None
        present = self._hits.sum(axis=2)
        self.known &= ((present > 0) & (present < self._size[:, None])).all(axis=1)
        self._penalty = 1 / (learner._cost * self._size)

    def scores(self, x: FloatArray, at: IntArray) -> FloatArray:
        """The scores of all rows, (problems, outputs, n)."""
        weights = x.reshape(len(x), self._outputs, -1)
        slopes = weights[..., :-1] * self._inverse[at][:, None]
        level = weights[..., -1] - (weights[..., :-1] * self._shift[at][:, None]).sum(axis=2)
        products = slopes.reshape(-1, slopes.shape[2]) @ self._columns.T
        scores: FloatArray = products.reshape(len(x), self._outputs, -1)
        scores += level[..., None]
        return scores

    def evaluate(self, x: FloatArray, at: IntArray) -> tuple[FloatArray, FloatArray]:
        """The mean loss with the penalty, and its gradient."""
        if not np.array_equal(at, self._at):
            self._at, self._own = at, (self.train[at, None], self._hits[at])
        train, hits = self._own
        weights = x.reshape(len(x), self._outputs, -1)
        value, gradient = np.empty(len(x)), np.empty_like(weights)
        for some in blocks(len(x), 64 * hits[0].size if len(x) else 1):  # what is worked on at a time is in cache
            value[some], residual = _losses(self.scores(x[some], at[some]), train[some], hits[some])
            raw = residual.reshape(-1, residual.shape[2]) @ self._columns
            total = residual.sum(axis=2)
            own = raw.reshape(len(residual), self._outputs, -1) * self._inverse[at[some], None]
            gradient[some, :, :-1] = own - total[..., None] * self._shift[at[some], None]
            gradient[some, :, -1] = total
        size, penalty = self._size[at], self._penalty[at]
        gradient /= size[:, None, None]
        gradient[..., :-1] += penalty[:, None, None] * weights[..., :-1]
        value = value / size + 0.5 * penalty * (weights[..., :-1] ** 2).sum(axis=(1, 2))
        return value, gradient.reshape(len(x), -1)


def _losses(scores: FloatArray, train: FloatArray, hits: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sums of losses over training rows, and the derivatives by each score."""
    gain = np.einsum("pkn,pkn->p", scores, hits)
    if scores.shape[1] == 1:
        residual = np.exp(-np.abs(scores))
        loss = np.log1p(residual)
        np.divide(np.where(scores >= 0, 1, residual), 1 + residual, out=residual)
        loss += np.maximum(scores, 0)
    else:
        top = scores.max(axis=1, keepdims=True)
        residual = np.exp(np.subtract(scores, top, out=scores), out=scores)
        whole = residual.sum(axis=1, keepdims=True)
        residual /= whole
        loss = top + np.log(whole)
    total: FloatArray = np.einsum("pkn,pkn->p", loss, train) - gain
    residual *= train
    residual -= hits
    return total, residual


BATCHED = (BatchedLogisticRegression,)
