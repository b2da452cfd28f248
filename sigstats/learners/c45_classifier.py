"""Quinlan's C4.5 as a classifier of scikit-learn, `C45Classifier`, and its batched form, `BatchedC45`.

The tree splits nominal features by category, takes missing values as they are, and is pruned (`c45_tree`).

scikit-learn only has CART, whose splits are binary, which takes nominal features as columns of 0 and 1, and which is
not pruned unless a cost is chosen. The probabilities of leaves are not calibrated, since their rows were used to choose
the splits.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sigstats._common.validation import FloatArray, IntArray, as_real, refuse

from . import c45_tree
from .base import BatchedLearner, Null, Problem, compiled, nominal_mask, steps_of, taken_by_column
from .c45_splits import Training
from .c45_tree import Nodes

#: Probabilities that differ by at most this are equal.
_EQUAL = 1e-6
#: Code of a value that is not a category.
_UNSEEN = 2**30


class C45Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """C4.5 (release 8), pruned, as Weka's J48 does it by default.

    `nominal` (array_like of bool, shape (d,), or None): mask of nominal features, which have category codes 0, 1, ...
    as floats; a split has a branch for each category.
    `confidence`: the level of the upper bounds of errors for pruning, above 0 and at most 0.5; a lower one prunes more.
    `min_rows`: the fewest rows, by weight, that at least two branches of a split must have; at least 1.
    `prune`: False keeps the tree as grown.

    Attributes
    ----------
    classes_ : ndarray
    tree_ : Nodes
        The nodes of the tree, the root first.

    Notes
    -----
    Among the splits with at least the mean information gain, the one with the largest gain ratio is chosen; the
    gain of a cut of numbers is reduced by the bits that identify it among all cuts. A row with a missing value goes
    down every branch, with the branch's share. A subtree is replaced by a leaf, or by its own largest branch, if this
    increases the estimated errors by at most 0.1. Quinlan, C4.5: Programs for Machine Learning (1993), chapters 2 to 4;
    Improved use of continuous attributes in C4.5, Journal of Artificial Intelligence Research 4 (1996).

    Any two different values are distinguished, so the unit of a feature does not matter; Quinlan's program and Weka
    ignore differences below 0.00001. Nodes deeper than 400 are leaves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = C45Classifier().fit(X, y)
    >>> tree.n_leaves_, tree.n_nodes_, tree.score(X, y)
    (5, 9, 0.98)
    """

    def __init__(
        self, *, nominal: Any = None, confidence: float = 0.25, min_rows: float = 2, prune: bool = True
    ) -> None:
        self.nominal = nominal
        self.confidence = confidence
        self.min_rows = min_rows
        self.prune = prune

    def fit(self, X: Any, y: Any) -> "C45Classifier":
        """Grow the tree and prune it."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        n_codes, least, confidence = self.validated(X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        levels = Levels.of(X, n_codes > 0)
        data = levels.training(
            levels.codes(X), codes.astype(np.int64), np.arange(len(X)), len(self.classes_), least, confidence
        )
        self.tree_: Nodes = tree_code().grow(data, np.arange(len(X)), bool(self.prune))
        self._levels, self._data = levels, data
        return self

    def validated(self, X: FloatArray) -> tuple[IntArray, float, float]:
        """Return the categories of each feature (0 for numbers), `min_rows` and `confidence`, or raise ValueError."""
        confidence = as_real(self.confidence, "confidence", low=0, high=0.5)
        if confidence == 0:
            raise refuse("confidence", self.confidence, "a number above 0 and at most 0.5")
        least = as_real(self.min_rows, "min_rows", low=1)
        return _categories(X, nominal_mask(self.nominal, X.shape[1])), least, confidence

    @property
    def n_nodes_(self) -> int:
        """The number of nodes."""
        check_is_fitted(self)
        return len(_reached(self.tree_))

    @property
    def n_leaves_(self) -> int:
        """The number of leaves, including those without training rows."""
        check_is_fitted(self)
        return int((self.tree_.feature[_reached(self.tree_)] < 0).sum())

    def predict(self, X: Any) -> Any:
        """Return the most probable class, the first of equals."""
        check_is_fitted(self)
        return self.classes_[most_probable(self.predict_proba(X))]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the shares of the classes in the leaves that a row reaches."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        data = self._data._replace(codes=self._levels.codes(X))
        return np.asarray(tree_code().probabilities(data, self.tree_, np.arange(len(X))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def most_probable(probabilities: FloatArray) -> IntArray:
    """Return the class with the highest probability in each row; the first of those that differ only by rounding."""
    codes = np.zeros(len(probabilities), dtype=np.int64)
    best = probabilities[:, 0].copy()
    for code in range(1, probabilities.shape[1]):
        more = probabilities[:, code] > best + _EQUAL
        codes[more], best[more] = code, probabilities[more, code]
    return codes


def _categories(X: FloatArray, nominal: Any) -> IntArray:
    """Return the number of categories of each nominal feature, by its largest code; 0 for numbers."""
    counts = np.zeros(X.shape[1], dtype=np.int64)
    for j in np.flatnonzero(nominal):
        codes = X[:, j][~np.isnan(X[:, j])]
        if (codes < 0).any() or (codes != np.floor(codes)).any() or (codes > 10**6).any():
            wrong = codes[(codes < 0) | (codes != np.floor(codes)) | (codes > 10**6)][0]
            raise refuse(f"X (feature {j})", float(wrong), "category codes 0, 1, ..., at most 1000000")
        counts[j] = 1 + int(codes.max(initial=0))
    return counts


def _reached(nodes: Nodes) -> list[int]:
    """Return the nodes of the pruned tree; some nodes that were made are no longer reached."""
    reached = [0]
    for node in reached:  # which grows
        reached.extend(range(nodes.first[node], nodes.first[node] + nodes.branches[node]))
    return reached


def tree_code() -> Any:
    """Return the functions that grow trees and predict with them, compiled if Numba is installed."""
    return compiled("c45") or c45_tree


class Levels(NamedTuple):
    """The distinct numbers of all features, one feature after another, and where those of a feature start."""

    nominal: Any
    values: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, X: FloatArray, nominal: Any) -> "Levels":
        """Return the levels of some rows."""
        levels = [np.unique(x[~np.isnan(x) & ~is_nominal]) for x, is_nominal in zip(X.T, nominal, strict=True)]
        sizes = np.array([len(array) for array in levels], dtype=np.int64)
        return cls(nominal, np.concatenate([*levels, np.zeros(1)]), np.cumsum(sizes) - sizes)

    def codes(self, X: FloatArray) -> Any:
        """Return the number of levels below each number, or the category itself, shape (d, n); -1 if missing."""
        codes: Any = np.full(X.T.shape, -1, dtype=np.int32)
        ends = [*self.starts[1:], len(self.values) - 1]
        for j, (feature_codes, column) in enumerate(zip(codes, X.T, strict=True)):
            present = ~np.isnan(column)
            known = column[present]
            if self.nominal[j]:
                feature_codes[present] = np.where((known >= 0) & (known < _UNSEEN), known, _UNSEEN)
            else:
                feature_codes[present] = np.searchsorted(self.values[self.starts[j] : ends[j]], known)
        return codes

    def training(
        self, codes: Any, label: IntArray, train: IntArray, n_classes: int, least: float, confidence: float
    ) -> Training:
        """Return the data from which a tree of the rows `train` is grown."""
        trained = codes[:, train]
        n_codes = np.where(self.nominal, trained.max(axis=1) + 1, 0).clip(self.nominal).astype(np.int64)
        present = np.zeros(len(self.values), dtype=np.bool_)
        for j in np.flatnonzero(~self.nominal):
            present[self.starts[j] + trained[j][trained[j] >= 0]] = True
        # As in Quinlan's program, features with many categories do not count in the mean gain.
        counted = n_codes < 0.3 * len(train)
        if not counted.any():
            counted[:] = True
        n_trained, z = len(np.unique(label[train])), float(ndtri(1 - confidence))
        return Training(
            codes, label, self.values, self.starts, present, n_codes, counted,
            n_classes, n_trained, least, confidence, z,
        )  # fmt: skip


class BatchedC45(BatchedLearner):
    """`C45Classifier`, compiled, with values coded once; without Numba the class itself is used."""

    fits = "compiled"

    def __init__(self, problem: Problem, tree: C45Classifier) -> None:
        self._problem, self._pruned = problem, bool(tree.prune)
        self._levels = Levels.of(problem.X, nominal_mask(tree.nominal, problem.X.shape[1]))
        self._options = float(tree.min_rows), float(tree.confidence)
        self._codes = self._levels.codes(problem.X)
        self.replicate_bytes = 4 * self._codes.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedC45 | None":  # noqa: ARG003
        """Code the data once; None without Numba, and for data that the estimator refuses."""
        steps = steps_of(estimator)
        if len(steps) != 1 or type(steps[0]) is not C45Classifier or np.isinf(problem.X).any():
            return None
        if compiled("c45") is None:
            return None
        try:
            steps[0].validated(problem.X)
        except ValueError:  # the estimator itself reports it
            return None
        return cls(problem, steps[0])

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from one tree a fold, on rows with the labels and folds of their places."""
        predicted = np.empty_like(place, order="C")
        for draw, labels in zip(place, predicted, strict=True):
            self._cross_validate(self._codes, self._problem.y[draw], self._problem.folds[draw], labels)
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from one tree a fold, on columns permuted one by one."""
        predicted = np.empty((len(source), self._codes.shape[1]), dtype=np.int64)
        for draw, labels in zip(source, predicted, strict=True):
            codes = taken_by_column(self._codes, draw)
            self._cross_validate(codes, self._problem.y, self._problem.folds, labels)
        return predicted

    def _cross_validate(self, codes: Any, label: IntArray, folds: IntArray, predicted: IntArray) -> None:
        label, n_classes = label.astype(np.int64), self._problem.n_classes  # to Numba, read-only is another type
        for tested in range(self._problem.n_folds):
            train, test = np.flatnonzero(folds != tested), np.flatnonzero(folds == tested)
            data = self._levels.training(codes, label, train, n_classes, *self._options)
            nodes = tree_code().grow(data, train, self._pruned)
            predicted[test] = most_probable(tree_code().probabilities(data, nodes, test))
