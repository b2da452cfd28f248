"""Cohen's weighted kappa of classes that are numbers, so that far errors count more.

When not to use: classes without an order (kappa counts all errors alike); numbers that are measurements (``neg-mae``).

References
----------
Cohen (1968), Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit,
Psychological Bulletin 70, 213-220.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray

#: By what power of the distance of two classes an error counts.
POWERS = {"linear-kappa": 1, "quadratic-kappa": 2}


class OrderedSums(NamedTuple):
    """What weighted kappa is a function of, sums over rows: of distances, and of the rows of each class."""

    #: float64 array of shape (m, 1).
    distances: FloatArray
    #: The rows that are, and that are called, each class; float64 arrays of shape (m, classes).
    true: FloatArray
    called: FloatArray


def weighted_kappa(name: str, true: Any, called: Any) -> float:
    """Weighted kappa of labels and predictions that are numbers.

    >>> round(weighted_kappa("linear-kappa", [1, 2, 3, 3], [1, 2, 3, 1]), 12)
    0.5
    """
    numbers, codes = np.unique(np.concatenate([true, called]), return_inverse=True)
    kappa, (rows, said) = WeightedKappa(name, numbers), codes.reshape(2, -1)
    weights = np.ones((1, len(rows)))
    sums = kappa.sums_of(weights, rows, said)
    return float(kappa.of(sums)[0])


@dataclass(frozen=True)
class WeightedKappa:
    """Weighted kappa of classes of these numbers, as a function of sums over rows."""

    name: str
    #: float64 array of shape (classes,).
    numbers: FloatArray

    @property
    def _distances(self) -> FloatArray:
        return np.asarray(np.abs(np.subtract.outer(self.numbers, self.numbers)) ** POWERS[self.name])

    @property
    def ends(self) -> tuple[int, int]:
        """The positions of the least and the greatest class."""
        return int(np.argmin(self.numbers)), int(np.argmax(self.numbers))

    def sums(self, joint: Any, weights: FloatArray) -> tuple[OrderedSums, OrderedSums]:
        """Those of A and of B for each row of weights of the joint events."""
        y, a, b = (np.array([event[which][0] for event in joint.events]) for which in range(3))
        return self.sums_of(weights, y, a), self.sums_of(weights, y, b)

    def sums_of(self, weights: FloatArray, true: IntArray, called: IntArray) -> OrderedSums:
        """Those of kinds of rows with these classes, for each row of weights of them."""
        each = np.eye(len(self.numbers))
        distances = self._distances[true, called][:, np.newaxis]
        return OrderedSums(weights @ distances, weights @ each[true], weights @ each[called])

    def of(self, sums: OrderedSums, _kind: str = "classes") -> FloatArray:
        """One less the distances over those expected by chance; 1 where one class alone is there and called."""
        n = sums.true.sum(axis=-1)
        expected = ((sums.true @ self._distances) * sums.called).sum(axis=-1)
        seen = sums.distances[..., 0] * n
        return np.where(expected > 0, 1 - seen / np.where(expected > 0, expected, 1.0), 1.0)
