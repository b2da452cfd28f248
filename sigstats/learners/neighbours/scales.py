"""The scales that scalers learn without each fold of each replicate.

`MinMaxScaler` learns from the extreme rows of each feature alone, `StandardScaler` from sums over all rows less those
of the fold.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

#: A fold of a replicate that holds all of a feature's so many most extreme rows is left to scikit-learn.
_EXTREMES = 16

#: A feature whose variance is no larger, relative to its squared values, may be constant but for rounding.
_CONSTANT = 1e-16

#: A fold without which a variance shrinks to less than one such part is left to scikit-learn.
_MOST = 100

#: Rounding of squared distances, relative to the largest square of a row.
_RELATIVE = 1e-12


@dataclass(frozen=True)
class Learned:
    """The weights that the scaler learns without each fold, (replicates, folds); None where nothing is scaled."""

    #: Of squared differences.
    weights: Any
    #: The smallest and the largest factor by which they differ from those over all rows.
    bound: Any
    upper: Any
    #: Where they are not known.
    unknown: Any


class FoldScales:
    """The weights of squared differences that scaling amounts to; `weights`, (d,), as learned from all rows.

    `numbers`, (n, d), are the numeric features; NaN is missing. `mixed`: a distance has parts which no scaler changes.
    """

    def __init__(self, numbers: FloatArray, n_folds: int, *, scaled: bool, mixed: bool) -> None:
        self._n_folds, self._mixed = n_folds, mixed
        self._learns = scaled and bool(numbers.shape[1])
        self._extremes = [_extreme(numbers, sign) for sign in (1, -1)]
        low, high = (values[0] for _, values in self._extremes)
        self.weights = weights_of(high - low) if scaled else np.ones(numbers.shape[1])

    def learned(self, fold: IntArray) -> Learned:
        """Learn without each fold; `fold` is that of each row, (replicates, n)."""
        replicates = len(fold)
        unknown = np.zeros((replicates, self._n_folds), dtype=bool)
        if not self._learns:
            return Learned(None, None, None, unknown)
        ends = []
        for rows, values in self._extremes:
            where = fold[:, rows]  # (replicates, extremes, features)
            outside = where != where[:, :1]
            second = np.take_along_axis(
                np.broadcast_to(values, where.shape), outside.argmax(axis=1, keepdims=True), axis=1
            )[:, 0]
            end = np.repeat(np.repeat(values[None, :1], replicates, axis=0), self._n_folds, axis=1)
            np.put_along_axis(end, where[:, :1], second[:, None], axis=1)
            lost = ~outside.any(axis=1) | np.isnan(second)
            replicate, feature = np.nonzero(lost)
            unknown[replicate, where[replicate, 0, feature]] = True
            ends.append(end)
        weights = weights_of(ends[1] - ends[0])
        factors = (weights / self.weights)[..., self.weights != 0]
        bound, upper = factors.min(axis=-1), factors.max(axis=-1)
        if self._mixed:  # a mismatch of categories counts the same in every fold
            bound, upper = np.minimum(bound, 1), np.maximum(upper, 1)
        return Learned(weights, bound, upper, unknown)


class FoldVariances:
    """The weights of squared differences that `StandardScaler` amounts to; as `FoldScales`, for complete numbers.

    A feature that is constant in all rows but those of a fold is as far from each of them, whatever its weight is.
    `tolerance`: how far rounding may move a squared distance.
    """

    def __init__(self, numbers: FloatArray, n_folds: int) -> None:
        self._n_folds, d = n_folds, numbers.shape[1]
        self._numbers = numbers - numbers.mean(axis=0)
        variance = self._numbers.var(axis=0)
        self._varies: Any = variance > _CONSTANT * np.abs(numbers).max(axis=0) ** 2
        self.weights = np.where(self._varies, 1 / np.where(self._varies, variance, 1), 0)
        usual = np.partition(numbers, len(numbers) // 2, axis=0)[len(numbers) // 2]
        unusual = (numbers != usual).astype(np.float64)
        self._sums = np.hstack([self._numbers**2, self._numbers, unusual])
        self._parts = slice(0, d), slice(d, 2 * d), slice(2 * d, 3 * d)
        largest = float((self._numbers**2 @ self.weights).max())
        # Where a feature is constant but for a fold, `StandardScaler` leaves it in its own unit.
        alone = (unusual.sum(axis=0) <= len(numbers) // 2) & self._varies
        own_unit = float((self._numbers[:, alone] ** 2).sum(axis=1).max(initial=0))
        self.tolerance = max(1e-10, _RELATIVE * _MOST * largest, _RELATIVE * own_unit)

    def learned(self, fold: IntArray) -> Learned:
        """Learn without each fold; `fold` is that of each row, (replicates, n)."""
        inside = (fold[:, None, :] == np.arange(self._n_folds)[:, None]).astype(np.float64)
        rows = (fold.shape[1] - inside.sum(axis=2))[..., None]
        sums = self._sums.sum(axis=0) - (inside.reshape(-1, fold.shape[1]) @ self._sums).reshape(*inside.shape[:2], -1)
        squares, values, unusual = (sums[..., part] for part in self._parts)
        variance = squares / rows - (values / rows) ** 2
        constant = ~self._varies | (unusual.round() == 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(constant, 1, 1 / (variance * self.weights))
        known: Any = (factors > 0) & (factors <= _MOST)
        unknown = ~known.all(axis=-1)
        factors = np.where(unknown[..., None], 1, factors)
        return Learned(factors * self.weights, factors.min(axis=-1), factors.max(axis=-1), unknown)


def weights_of(span: FloatArray) -> FloatArray:
    """The weight of a squared difference under `MinMaxScaler`, which leaves a constant feature as it is."""
    span = np.where(np.isnan(span), 1, span)
    return 1 / np.where(span < 10 * np.finfo(np.float64).eps, 1.0, span) ** 2


def rescaled(X: FloatArray, numeric: IntArray, train: Any) -> FloatArray:
    """`X` with its columns `numeric` as `MinMaxScaler` makes them, learned from the rows `train`."""
    numbers = X[:, numeric]
    learned = numbers[train]
    with np.errstate(invalid="ignore"):
        low = np.fmin.reduce(learned, axis=0)
        span = np.fmax.reduce(learned, axis=0) - low
    X = X.copy()
    X[:, numeric] = (numbers - np.where(np.isnan(low), 0, low)) * np.sqrt(weights_of(span))
    return X


def _extreme(numbers: FloatArray, sign: int) -> tuple[IntArray, FloatArray]:
    """The rows with the smallest (of `sign` times) values of each feature, and those values."""
    rows = np.argsort(sign * numbers, axis=0, kind="stable")[:_EXTREMES]  # NaN comes last
    return rows, np.take_along_axis(numbers, rows, axis=0)
