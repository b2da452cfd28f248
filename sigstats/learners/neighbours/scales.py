"""Weights of squared differences under a scaler that is fitted without each fold.

`MinMaxScaler` learns only from the extreme rows of each feature, `StandardScaler` from sums over all rows minus those
of the fold.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._common.validation import FloatArray, IntArray

#: Number of smallest and of largest rows of each feature; a fold that contains all of them is left to scikit-learn.
_EXTREMES = 16
#: Variance, relative to the largest squared value, up to which a feature may be constant except for rounding.
_CONSTANT = 1e-16
#: Largest ratio of a fold's weight to the weight from all rows; larger ones are left to scikit-learn.
_LARGEST_FACTOR = 100
#: Rounding error of squared distances, relative to the largest squared norm of a row.
_RELATIVE = 1e-12


@dataclass(frozen=True)
class FoldWeights:
    """Weights of squared differences under a scaler that is fitted without each fold of each replicate.

    `weights` and `bound` are None if nothing is scaled.
    """

    #: Weight of each numeric feature, shape (replicates, folds, d).
    weights: Any
    #: Smallest ratio of a fold's weights to the weights from all rows, shape (replicates, folds). A squared
    #: distance of at least D with the latter is at least ``bound * D`` with the weights of the fold.
    bound: Any
    #: True for a fold whose weights could not be computed; scikit-learn predicts it. Shape (replicates, folds).
    unknown: Any


class MinMaxWeights:
    """Weights under `MinMaxScaler`, or ones if `scaled` is False. `weights`, shape (d,), are those from all rows.

    The range without a fold is read from the `_EXTREMES` smallest and largest rows of each feature. `numbers`, shape
    (n, d): numeric features, NaN if missing. `mixed`: distances also contain parts that are not scaled.
    """

    def __init__(self, numbers: FloatArray, n_folds: int, *, scaled: bool, mixed: bool) -> None:
        self._n_folds, self._mixed = n_folds, mixed
        self._is_scaled = scaled and bool(numbers.shape[1])
        self._extremes = [_extreme(numbers, sign) for sign in (1, -1)]
        low, high = (values[0] for _, values in self._extremes)
        self.weights = weights_of(high - low) if scaled else np.ones(numbers.shape[1])

    def without_each_fold(self, fold: IntArray) -> FoldWeights:
        """Return the weights without each fold. `fold`, shape (replicates, n): the fold of each row."""
        replicates = len(fold)
        unknown = np.zeros((replicates, self._n_folds), dtype=bool)
        if not self._is_scaled:
            return FoldWeights(None, None, unknown)
        ends = []
        for rows, values in self._extremes:
            row_fold = fold[:, rows]  # (replicates, extremes, features)
            # Without its own fold, the most extreme value is replaced by the next one of another fold.
            outside = row_fold != row_fold[:, :1]
            next_row = outside.argmax(axis=1, keepdims=True)
            second = np.take_along_axis(np.broadcast_to(values, row_fold.shape), next_row, axis=1)[:, 0]
            end = np.repeat(np.repeat(values[None, :1], replicates, axis=0), self._n_folds, axis=1)
            np.put_along_axis(end, row_fold[:, :1], second[:, None], axis=1)
            replicate, feature = np.nonzero(~outside.any(axis=1) | np.isnan(second))
            unknown[replicate, row_fold[replicate, 0, feature]] = True
            ends.append(end)
        weights = weights_of(ends[1] - ends[0])
        factors = (weights / self.weights)[..., self.weights != 0]
        bound = factors.min(axis=-1)
        if self._mixed:  # a mismatch of categories counts the same in every fold
            bound = np.minimum(bound, 1)
        return FoldWeights(weights, bound, unknown)


class StandardWeights:
    """Weights under `StandardScaler`, for features without missing values; `weights` as in `MinMaxWeights`.

    The variance without a fold is computed from sums over all rows minus sums over the fold. If a feature is constant
    outside a fold, it adds the same amount to all distances from a tested row, so its weight does not matter.
    `tolerance`: largest rounding error of a squared distance.
    """

    def __init__(self, numbers: FloatArray, n_folds: int) -> None:
        self._n_folds, d = n_folds, numbers.shape[1]
        self._numbers = numbers - numbers.mean(axis=0)
        variance = self._numbers.var(axis=0)
        self._varies: Any = variance > _CONSTANT * np.abs(numbers).max(axis=0) ** 2
        self.weights = np.where(self._varies, 1 / np.where(self._varies, variance, 1), 0)
        middle = np.partition(numbers, len(numbers) // 2, axis=0)[len(numbers) // 2]
        differs = (numbers != middle).astype(np.float64)
        self._sums = np.hstack([self._numbers**2, self._numbers, differs])
        self._parts = slice(0, d), slice(d, 2 * d), slice(2 * d, 3 * d)
        largest = float((self._numbers**2 @ self.weights).max())
        # `StandardScaler` does not scale a feature that is constant outside a fold.
        mostly_constant = (differs.sum(axis=0) <= len(numbers) // 2) & self._varies
        unscaled = float((self._numbers[:, mostly_constant] ** 2).sum(axis=1).max(initial=0))
        self.tolerance = max(1e-10, _RELATIVE * _LARGEST_FACTOR * largest, _RELATIVE * unscaled)

    def without_each_fold(self, fold: IntArray) -> FoldWeights:
        """Return the weights without each fold. `fold`, shape (replicates, n): the fold of each row."""
        inside = (fold[:, None, :] == np.arange(self._n_folds)[:, None]).astype(np.float64)
        rows = (fold.shape[1] - inside.sum(axis=2))[..., None]
        sums = self._sums.sum(axis=0) - (inside.reshape(-1, fold.shape[1]) @ self._sums).reshape(*inside.shape[:2], -1)
        squares, values, differs = (sums[..., part] for part in self._parts)
        variance = squares / rows - (values / rows) ** 2
        constant = ~self._varies | (differs.round() == 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(constant, 1, 1 / (variance * self.weights))
        known: Any = (factors > 0) & (factors <= _LARGEST_FACTOR)
        unknown = ~known.all(axis=-1)
        factors = np.where(unknown[..., None], 1, factors)
        return FoldWeights(factors * self.weights, factors.min(axis=-1), unknown)


def weights_of(span: FloatArray) -> FloatArray:
    """Return the weight of a squared difference under `MinMaxScaler`, which leaves a constant feature as it is."""
    span = np.where(np.isnan(span), 1, span)
    return 1 / np.where(span < 10 * np.finfo(np.float64).eps, 1.0, span) ** 2


def range_weights(numbers: FloatArray, starts: IntArray) -> FloatArray:
    """Return the weights under `MinMaxScaler` without each fold, shape (folds, d). The rows of a fold are adjacent."""
    low, high = (extreme.reduceat(numbers, starts[:-1], axis=0) for extreme in (np.fmin, np.fmax))
    fold = np.eye(len(low), dtype=bool)[:, :, None]
    highest, lowest = np.where(fold, np.nan, high), np.where(fold, np.nan, low)
    with np.errstate(invalid="ignore"):
        return weights_of(np.fmax.reduce(highest, axis=1) - np.fmin.reduce(lowest, axis=1))


def _extreme(numbers: FloatArray, sign: int) -> tuple[IntArray, FloatArray]:
    """Return the rows with the smallest (of `sign` times) values of each feature, and those values."""
    rows = np.argsort(sign * numbers, axis=0, kind="stable")[:_EXTREMES]  # NaN comes last
    return rows, np.take_along_axis(numbers, rows, axis=0)
