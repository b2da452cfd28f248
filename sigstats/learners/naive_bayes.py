"""Naive Bayes for a block of replicates: class-wise sums for each fold, then one matrix product.

Naive Bayes learns only sums over the rows of a class: of values and their squares, and of category counts. They are
computed once for each test fold and class; the training rows of a fold have the total minus those of the fold. The
log-likelihood is linear in the same columns (squares, values, known, categories), so classifying is a matrix product.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from sigstats._common.validation import FloatArray, IntArray

from .base import UNDECIDED, Null, Problem, best_or_undecided, is_default, nominal_mask, whole_or_halves
from .design import BatchedDesign, Design
from .gaussian_estimators import MixedNB, category_codes

#: A variance no larger than this, relative to the squared values, may be rounding alone.
_NO_VARIANCE = 1e-20
#: Sums of quarters below this are exact.
_WHOLE = 2.0**51
#: Rounding of a log-likelihood, relative to the sum of its terms and to what rounding of the variances moves; a row
#: within it is refitted.
_ROUNDING = 2e-15


@dataclass(frozen=True)
class _Spread:
    """Means and variances of values, (replicates, folds, classes, features).

    ``loss``, at least 1, is the ratio of the squares of all rows to a variance, which is a difference of their sums; if
    sums of squares are exact, of the squares of the class.
    """

    mean: FloatArray
    variance: FloatArray
    loss: FloatArray


@dataclass(frozen=True)
class _Terms:
    """The log-likelihood as weights of the columns and constants, (replicates, folds, classes, ...)."""

    weights: FloatArray
    constant: FloatArray
    spread: _Spread


class BatchedNaiveBayes(BatchedDesign):
    """`sklearn.naive_bayes.GaussianNB` and `MixedNB` (with ``alpha > 0``)."""

    def __init__(self, problem: Problem, nominal: Any, alpha: float, var_smoothing: float) -> None:
        self._alpha, self._var_smoothing = alpha, var_smoothing
        self._no_variance = _NO_VARIANCE * (np.nan_to_num(problem.X[:, ~nominal]) ** 2).max(axis=0, initial=0)
        numbers = problem.X[:, ~nominal]
        known = ~np.isnan(numbers)
        self._complete = bool(known.all())
        numbers = np.where(known, numbers - _centers(numbers, known), 0)
        self._numeric = numbers.shape[1]
        self._squares = (numbers**2).sum(axis=0)
        self._exact: Any = whole_or_halves(numbers) & (self._squares < _WHOLE)
        columns = [numbers**2, numbers] + ([] if self._complete else [known.astype(np.float64)])
        feature = [np.flatnonzero(~nominal)] * len(columns)
        self._gaussians = self._numeric * len(columns)
        self._categories = []
        for j in np.flatnonzero(nominal):
            codes = category_codes(problem.X[:, j], int(j))
            seen = np.unique(codes[codes >= 0])
            columns.append((codes[:, None] == seen).astype(np.float64))
            feature.append(np.full(len(seen), j))
            self._categories.append(len(seen))
        matrix = np.ascontiguousarray(np.hstack(columns))
        unscaled, categories = np.zeros(matrix.shape[1], dtype=bool), np.arange(0)
        super().__init__(problem, Design(matrix, np.concatenate(feature), unscaled, categories))
        self.replicate_bytes = 16 * matrix.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedNaiveBayes | None":  # noqa: ARG003
        """Prepare the sums; None for another classifier, given priors, or unsupported parameters."""
        d = problem.X.shape[1]
        nominal, alpha = np.zeros(d, dtype=bool), 1.0
        if is_default(estimator, MixedNB, free=("nominal", "alpha", "var_smoothing")):
            nominal, alpha = nominal_mask(estimator.nominal, d), estimator.alpha
        elif not is_default(estimator, GaussianNB, free=("var_smoothing",)) or np.isnan(problem.X).any():
            return None
        smoothing = estimator.var_smoothing
        if not (isinstance(alpha, (int, float)) and isinstance(smoothing, (int, float)) and alpha > 0 <= smoothing):
            return None
        if np.isinf(problem.X).any():
            return None
        return cls(problem, nominal, float(alpha), float(smoothing))

    def _predict(self, rows: FloatArray, sums: FloatArray) -> IntArray:
        train, count = sums.sum(axis=1, keepdims=True) - sums, self._order.train_counts
        weights, constant, spread = self._gaussian(train, count)
        weights[..., self._gaussians :] = self._categorical(train)
        with np.errstate(divide="ignore"):
            constant = constant + np.log(count / count.sum(axis=1, keepdims=True))
        joint = self._scores(rows, weights, constant)
        # A common bound of the errors of all classes and folds settles most rows, their own bounds nearly all others.
        terms = _Terms(weights, constant, spread)
        slope, level = self._common_bound(terms)
        with np.errstate(invalid="ignore"):
            error = rows[..., : self._numeric] @ slope[..., None] + level[:, None, None]
        predicted = best_or_undecided(joint, 2 * error.swapaxes(1, 2))
        for replicate in np.flatnonzero((predicted == UNDECIDED).any(axis=1)).tolist():
            undecided = np.flatnonzero(predicted[replicate] == UNDECIDED)
            errors = self._own_bounds(undecided, rows[replicate, undecided], replicate, terms)
            predicted[replicate, undecided] = _best_beyond(joint[replicate][:, undecided].T, errors)
        return predicted

    def _common_bound(self, terms: _Terms) -> tuple[FloatArray, FloatArray]:
        """Return the slope and level, in the squared values, of a bound of the error for any class in any fold.

        It is above that of `_own_bounds`, as |a b| <= (a^2 + b^2) / 2 and (a - b)^2 <= 2 a^2 + 2 b^2.
        """
        spread, constant = terms.spread, terms.constant
        with np.errstate(over="ignore", invalid="ignore"):
            slope = 3 * spread.loss / spread.variance
            level = (spread.loss + slope * spread.mean**2).sum(axis=-1)
        level += 1 + np.where(np.isfinite(constant), np.abs(constant), 0)
        level += np.abs(terms.weights[..., 2 * self._numeric :]).sum(axis=-1)
        return _ROUNDING * slope.max(axis=(1, 2)), _ROUNDING * level.max(axis=(1, 2))

    def _own_bounds(self, rows: IntArray, values: FloatArray, replicate: int, terms: _Terms) -> FloatArray:
        """Return bounds of the errors of the scores of these rows, which are in order, by the terms of their folds."""
        errors = np.empty((len(rows), terms.constant.shape[-1]))
        slope, level = _error_weights(terms.spread, replicate, complete=self._complete)
        size = 1 + np.where(np.isfinite(terms.constant[replicate]), np.abs(terms.constant[replicate]), 0)
        weights, absolute = np.abs(terms.weights[replicate]).swapaxes(1, 2), np.abs(values)
        slope, values = slope.swapaxes(1, 2), values[:, : self._gaussians]
        ends = np.searchsorted(rows, [span.stop for span in self._order.spans])
        for fold, (first, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            if first < end:
                of_variances = values[first:end] @ slope[fold] + level[fold]
                errors[first:end] = np.maximum(of_variances, 0) + absolute[first:end] @ weights[fold] + size[fold]
        return _ROUNDING * errors

    def _gaussian(self, train: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray, _Spread]:
        """Return weights of the columns, constants, and the learned parameters, (replicates, folds, classes, ...).

        Constants are NaN if a variance may be only rounding.
        """
        d = self._numeric
        squares, values = train[..., :d], train[..., d : 2 * d]
        known = rows[..., None] if self._complete else train[..., 2 * d : 3 * d].round()
        # A class without any known value of a feature takes the moments of all classes.
        total = np.maximum(known.sum(axis=-2, keepdims=True), 1)
        center = values.sum(axis=2, keepdims=True) / total
        spread = np.maximum(squares.sum(axis=2, keepdims=True) / total - center**2, 0)
        in_class = np.maximum(known, 1)
        mean = np.where(known > 0, values / in_class, center)
        variance = np.where(known > 0, np.maximum(squares / in_class - mean**2, 0), spread)
        variance += self._var_smoothing * spread.max(axis=-1, keepdims=True, initial=0)
        unknown = np.where((variance <= self._no_variance).any(axis=(-2, -1)), np.nan, 0)
        variance = np.maximum(variance, np.finfo(np.float64).tiny)
        with np.errstate(over="ignore"):  # where the constant is NaN anyway
            loss = 1 + np.where(self._exact, squares, self._squares) / (in_class * variance)
        weights = np.empty_like(train)
        weights[..., :d] = -0.5 / variance
        weights[..., d : 2 * d] = mean / variance
        level = -0.5 * (np.log(2 * np.pi * variance) + mean**2 / variance)
        learned = _Spread(mean, variance, loss)
        if self._complete:
            return weights, level.sum(axis=-1) + unknown[..., None], learned
        weights[..., 2 * d : 3 * d] = level
        return weights, np.zeros(level.shape[:-1]) + unknown[..., None], learned

    def _categorical(self, train: FloatArray) -> FloatArray:
        """Return log frequencies; 0 for a category that the training rows do not have."""
        parts = []
        first = train.shape[-1] - sum(self._categories)
        for width in self._categories:
            counts = train[..., first : first + width].round()
            seen = counts.sum(axis=2, keepdims=True) > 0
            weight = counts + self._alpha * seen
            total = np.maximum(weight.sum(axis=-1, keepdims=True), self._alpha)
            parts.append(np.where(seen, np.log(np.where(seen, weight, 1) / total), 0))
            first += width
        return np.concatenate(parts, axis=-1) if parts else np.empty((*train.shape[:-1], 0))


def _error_weights(spread: _Spread, replicate: int, *, complete: bool) -> tuple[FloatArray, FloatArray]:
    """Return weights and constants of the sum over values of their loss times (1 + the squared standardised value)."""
    mean, variance, loss = (part[replicate] for part in (spread.mean, spread.variance, spread.loss))
    with np.errstate(over="ignore", invalid="ignore"):
        squares = loss / variance
        level = loss + squares * mean**2
        parts = [squares, -2 * squares * mean]
    if complete:
        return np.concatenate(parts, axis=-1), level.sum(axis=-1)
    return np.concatenate([*parts, level], axis=-1), np.zeros(level.shape[:-1])


def _centers(numbers: FloatArray, known: Any) -> Any:
    """Return the value of more than half of the known rows of a column, or their mean; 0 if none is known.

    Around the value of most rows, only squares of the other rows are summed and rounded. For whole numbers or halves,
    the mean is rounded to a whole number.
    """
    count = np.maximum(known.sum(axis=0), 1)
    usual = np.sort(np.where(known, numbers, np.inf), axis=0)[(count - 1) // 2, np.arange(numbers.shape[1])]
    mean: FloatArray = np.where(known, numbers, 0).sum(axis=0) / count
    mean = np.where(whole_or_halves(np.where(known, numbers, 0)), np.rint(mean), mean)
    return np.where(2 * (numbers == usual).sum(axis=0) > count, usual, mean)


def _best_beyond(scores: FloatArray, error: FloatArray) -> IntArray:
    """Return the class, along the last axis, that is best for all errors up to `error`; `UNDECIDED` if none is."""
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    least = scores[rows, best] - error[rows, best]
    most = scores + error
    most[rows, best] = -np.inf
    return np.where(most.max(axis=1) < least, best, UNDECIDED)
