"""The search of scikit-learn's `KNeighborsClassifier`, as far as it decides which of tied neighbours are taken."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier

from sigstats._common.validation import FloatArray

from ..base import Problem

#: Whole numbers up to this are float64, and so are their sums.
_EXACT = 2.0**53


def tree_of(classifier: Any, X: FloatArray) -> Callable[[FloatArray], Any] | None:
    """The maker of the tree that `classifier` searches if it is fitted on as many rows as `X`; None if it has none."""
    fitted = _fitted(classifier, X)
    kind: Any = type(getattr(fitted, "_tree", None))
    if kind not in (KDTree, BallTree):
        return None
    return functools.partial(kind, leaf_size=classifier.leaf_size, metric=fitted.effective_metric_)


def takes_first(classifier: Any, problem: Problem) -> bool:
    """True if `classifier`, without a scaler, certainly takes the first of the rows that are equally near.

    Without a tree it goes through the training rows in order and keeps the nearest so far. Distances come from
    products of matrices, of which rounding may differ between equal rows; squared distances of whole numbers are exact.
    """
    if classifier.n_neighbors != 1 or classifier.algorithm not in ("auto", "brute") or not problem.floats:
        return False
    if not _exact(problem.X):
        return False
    sizes = np.unique(len(problem.y) - np.bincount(problem.folds))
    return all(without_tree(classifier, problem.X[:size]) for size in sizes.tolist()) and _first_is_taken()


def _exact(X: FloatArray) -> bool:
    """True if squared distances between rows are the same float64 however they are summed."""
    with np.errstate(over="ignore"):
        return bool(4 * np.einsum("ij,ij->i", X, X).max() < _EXACT and (np.rint(X) == X).all())


def without_tree(classifier: Any, X: FloatArray) -> bool:
    """True if `classifier`, fitted on as many rows as `X`, compares a row with all of them."""
    return getattr(_fitted(classifier, X), "_tree", False) is None


def _fitted(classifier: Any, X: FloatArray) -> Any:
    """A copy fitted on `X`; None where its parameters are refused, which the fits of the folds say better."""
    try:
        with config_context(skip_parameter_validation=False):
            return clone(classifier).fit(X, np.zeros(len(X), dtype=np.int64))
    except ValueError:
        return None


@functools.cache
def _first_is_taken() -> bool:
    """True if the scikit-learn that is installed takes the first, on rows that are tied with 30 others."""
    X = np.random.default_rng(0).integers(0, 2, (1200, 5)).astype(np.float64)
    X, tested = X[:1000], X[1000:]
    first = ((tested[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)
    # Two rows a class, as scikit-learn warns of more classes than that.
    found = KNeighborsClassifier(1, algorithm="brute").fit(X, np.arange(len(X)) // 2).predict(tested)
    return np.array_equal(found, first // 2)
