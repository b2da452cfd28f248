"""One nearest neighbour where features are permuted: products of matrices in 32 bits find the rows that may be it.

For each tested row they leave those whose distance is that of the nearest but for rounding, mostly one; exact distances
decide among several. A sum of d products of numbers of 24 bits is off by at most (d + 1) times 2**-24 of the sum of
their sizes (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3.1), which is bounded by the
largest square of a row.
"""

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

from ..base import Problem, whole_or_halves
from ..door import compiled
from .lists import weights_of
from .nearest_neighbours import Configuration

#: Squares beyond these bounds may be no number of 32 bits.
_LEAST, _MOST = 1e-12, 1e30


class MixedFeatures:
    """The nearest row of another fold in each replicate, for complete numbers about their middle.

    `priority`, (folds, n), is the rank of each row among those that are equally near; `farthest` a distance of which
    rounding is as large as the tolerance.
    """

    def __init__(
        self, X: FloatArray, problem: Problem, config: Configuration, priority: IntArray, farthest: float
    ) -> None:
        self._code = compiled("mixed_features")
        self._columns, self._config, self._farthest = np.ascontiguousarray(X.T), config, farthest
        self._order = np.argsort(problem.folds, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(problem.folds, minlength=problem.n_folds))])
        self._halves = not config.scaled and bool(whole_or_halves(X).all())
        self._labels = problem.y[self._order].astype(np.int64)
        known = config.ties != "unknown"
        self._priority = np.ascontiguousarray(priority[:, self._order] if known else priority[:, :0])
        panel = self._code.SINGLE_COLUMNS
        self._panels = np.zeros((-(-len(X) // panel), X.shape[1], panel), dtype=np.float32)

    def predict(self, source: IntArray, predicted: IntArray) -> bool:
        """Fill in the predictions of one replicate, (n,); False where too many rows are about as near."""
        low, high = (np.empty((len(self._starts) - 1, len(self._columns))) for _ in range(2))
        source = np.require(source, requirements=["C", "W"])
        self._code.mix(self._columns, source, self._order, self._starts, self._panels, low, high)
        weights = self._weights(low, high)
        with np.errstate(over="ignore"):
            largest = np.maximum(low**2, high**2).max(axis=0)
        if not weights.max(axis=0) @ largest < _MOST or not weights.min(axis=0) @ largest > _LEAST:
            return False
        data = self._columns, source, self._order, self._starts
        rule = self._labels, self._priority, self._config.tolerance, self._farthest
        return bool(self._code.predict(self._panels, weights, self._halves, data, rule, predicted))

    def _weights(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """The weights of features as learned without each fold, from the extremes in each, all (folds, d)."""
        if not self._config.scaled:
            return np.ones_like(low)
        own = np.eye(len(low), dtype=bool)[:, :, None]
        return weights_of(np.where(own, -np.inf, high).max(axis=1) - np.where(own, np.inf, low).min(axis=1))
