"""The observed run of a classifier, as arrays."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sigstats.intervals import Interval
from sigstats.ranking.intervals import share_interval


@dataclass(frozen=True)
class ObservedRun:
    """Cross-validated predictions: true and predicted class of every row, and its group where rows are in groups."""

    label: NDArray[np.int64]
    prediction: NDArray[np.int64]
    groups: NDArray[np.int64] | None = None

    def rows(self, where: NDArray[np.int64]) -> Self:
        """The run on some of the rows."""
        groups = None if self.groups is None else self.groups[where]
        return replace(self, label=self.label[where], prediction=self.prediction[where], groups=groups)

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.label)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which rows are right."""
        return np.equal(self.label, self.prediction)

    @property
    def wrong(self) -> int:
        """The number of rows that are wrong."""
        return int(self.n - self.right.sum())

    @property
    def error_interval(self) -> Interval:
        """Of the share of wrong rows: Clopper and Pearson's, in groups Korn and Graubard's."""
        return share_interval(~self.right, self.groups, 0.95)

    def table(self) -> NDArray[np.int64]:
        """The confusion matrix, true classes in rows."""
        k = int(max(self.label.max(), self.prediction.max())) + 1
        return np.bincount(self.label * k + self.prediction, minlength=k * k).reshape(k, k)
