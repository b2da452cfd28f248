"""One nearest neighbour where features are permuted: products of matrices in 32 bits find the rows that may be it.

For each tested row they leave those whose distance is that of the nearest except for rounding, mostly one; exact
distances decide among several. A sum of d products of numbers of 24 bits is off by at most (d + 1) times 2**-24 of the
sum of their sizes (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3.1), which is bounded by the
largest square of a row.
"""

import itertools
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

from ..base import Problem, whole_or_halves
from ..door import compiled
from .lists import weights_of
from .nearest_neighbours import Configuration

#: Squares beyond these bounds may be no number of 32 bits.
_LEAST, _MOST = 1e-12, 1e30
#: Whole numbers up to this are floats of 32 bits.
_EXACT = 2.0**24


class MixedFeatures:
    """The nearest row of another fold in each replicate, for complete numbers about their middle.

    `priority`, (folds, n), is the rank of each row among equally near ones; `farthest` is a distance with a rounding
    error as large as the tolerance.
    """

    def __init__(
        self, X: FloatArray, problem: Problem, config: Configuration, priority: IntArray, farthest: float
    ) -> None:
        self._code = compiled("neighbours")
        self._columns, self._config, self._farthest = np.ascontiguousarray(X.T), config, farthest
        self._order = np.argsort(problem.folds, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(problem.folds, minlength=problem.n_folds))])
        self._halves = not config.scaled and bool(whole_or_halves(X).all())
        self._labels = problem.y[self._order].astype(np.int64)
        known = config.ties != "unknown"
        self._priority = np.ascontiguousarray(priority[:, self._order] if known else priority[:, :0])

    def predict(self, source: IntArray, predicted: IntArray) -> bool:
        """Fill in the predictions of one replicate, (n,); False if too many rows are about equally near."""
        numbers = np.take_along_axis(self._columns, source[:, self._order], axis=1)
        low, high = (extreme.reduceat(numbers, self._starts[:-1], axis=1).T for extreme in (np.minimum, np.maximum))
        weights = self._weights(low, high)
        with np.errstate(over="ignore"):
            largest = np.maximum(low**2, high**2).max(axis=0)
        if not weights.max(axis=0) @ largest < _MOST or not weights.min(axis=0) @ largest > _LEAST:
            return False
        numbers = numbers.astype(np.float32)
        squares = weights.astype(np.float32) @ numbers**2
        data = self._columns, np.require(source, requirements=["C", "W"]), self._order
        for fold, (first, end) in enumerate(itertools.pairwise(self._starts.tolist())):
            tested = numbers[:, first:end].T * (-2 * weights[fold]).astype(np.float32)
            products = tested @ numbers
            products[:, first:end] = np.inf
            priority = self._priority[fold]
            rule = self._labels, priority, self._config.tolerance, self._farthest, self._margin(squares[fold])
            if not self._code.decide_fold(products, squares[fold], first, data, weights[fold], rule, predicted):
                return False
        return True

    def _margin(self, squares: Any) -> float:
        """The error by which rounding may order two rows wrongly, including the tolerance."""
        largest = float(squares.max())
        rounded = not (self._halves and 16 * largest < _EXACT)
        return self._config.tolerance + rounded * 2 * (3 * len(self._columns) + 40) / _EXACT * largest

    def _weights(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """The weights of features as learned without each fold, from the extremes in each, all (folds, d)."""
        if not self._config.scaled:
            return np.ones_like(low)
        own = np.eye(len(low), dtype=bool)[:, :, None]
        return weights_of(np.where(own, -np.inf, high).max(axis=1) - np.where(own, np.inf, low).min(axis=1))
