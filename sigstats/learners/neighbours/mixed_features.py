"""One nearest neighbour where features are permuted: products of matrices in 32 bits find the rows that may be it.

For each tested row they leave those whose distance is that of the nearest but for rounding, mostly one; exact distances
decide among several. A sum of d products of numbers of 24 bits is off by at most (d + 1) times 2**-24 of the sum of
their sizes (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3.1), which is bounded by the
largest square of a row.
"""

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

from ..base import Problem
from ..door import compiled
from .lists import weights_of
from .nearest_neighbours import Configuration

#: Squares beyond these bounds may be no number of 32 bits.
_LEAST, _MOST = 1e-12, 1e30


def _whole(n: int, unit: int) -> int:
    """The least multiple of a unit that is n or more."""
    return -(-n // unit) * unit


class MixedFeatures:
    """The nearest row of another fold in each replicate, for complete numbers about their middle.

    `priority`, (folds, n), is the rank of each row among those that are equally near; `farthest` a distance of which
    rounding is as large as the tolerance.
    """

    def __init__(
        self, X: FloatArray, problem: Problem, config: Configuration, priority: IntArray, farthest: float
    ) -> None:
        self._code = compiled("neighbours")
        self._columns, self._config, self._farthest = np.ascontiguousarray(X.T), config, farthest
        self._order = np.argsort(problem.folds, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(problem.folds, minlength=problem.n_folds))])
        self._halves = bool((np.rint(2 * X) == 2 * X).all())
        self._labels = problem.y[self._order].astype(np.int64)
        known = config.ties != "unknown"
        self._priority = [each[self._order] if known else np.empty(0, dtype=np.int64) for each in priority]
        panel = self._code.SINGLE_COLUMNS
        d, width = len(self._columns), _whole(len(X), panel)
        self._mixed = np.zeros((d, width), dtype=np.float32)
        self._panels = np.empty((width // panel, d, panel), dtype=np.float32)
        self._tested = np.zeros((d, _whole(int(np.diff(self._starts).max()), self._code.ROWS)), dtype=np.float32)

    def predict(self, source: IntArray, predicted: IntArray) -> bool:
        """Fill in the predictions of one replicate, (n,); False where too many rows are about as near."""
        n_folds, mixed = len(self._starts) - 1, self._mixed
        low, high = (np.empty((n_folds, len(mixed))) for _ in range(2))
        source = np.require(source, requirements=["C", "W"])
        self._code.mix(self._columns, source, self._order, self._starts, mixed, low, high)
        weights = self._weights(low, high)
        with np.errstate(over="ignore"):
            largest = np.maximum(low**2, high**2).max(axis=0)
        if not weights.max(axis=0) @ largest < _MOST or not weights.min(axis=0) @ largest > _LEAST:
            return False
        np.copyto(self._panels, mixed.reshape(len(mixed), -1, self._code.SINGLE_COLUMNS).transpose(1, 0, 2))
        squared, squares = mixed * mixed, None
        for fold, weight in enumerate(weights):
            if squares is None or self._config.scaled:
                squares = weight.astype(np.float32) @ squared
                margin = self._margin(float(squares.max()))
            s, e = self._starts[fold : fold + 2]
            np.multiply(mixed[:, s:e], (-2 * weight[:, None]).astype(np.float32), out=self._tested[:, : e - s])
            data = self._columns, source, self._order, weight
            rule = self._labels, self._priority[fold], self._config.tolerance, self._farthest
            if not self._code.predict_fold(self._tested, self._panels, squares, margin, (s, e), data, rule, predicted):
                return False
        return True

    def _weights(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """The weights of features as learned without each fold, from the extremes in each, all (folds, d)."""
        if not self._config.scaled:
            return np.ones_like(low)
        own = np.eye(len(low), dtype=bool)[:, :, None]
        return weights_of(np.where(own, -np.inf, high).max(axis=1) - np.where(own, np.inf, low).min(axis=1))

    def _margin(self, largest: float) -> float:
        """By how much rounding may move one distance against another, the tolerance included; `largest` of squares.

        Where all are small whole numbers, or halves, there is no rounding.
        """
        if not self._config.scaled and 16 * largest < 2**24 and self._halves:
            return self._config.tolerance
        return 2 * (3 * len(self._columns) + 40) * 2.0**-24 * largest + self._config.tolerance
