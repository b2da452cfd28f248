"""Quinlan's C4.5: a tree that splits nominal features by category, takes missing values as they are, and is pruned.

scikit-learn has CART alone, whose splits are binary, which takes nominal features as columns of 0 and 1, and which is
not pruned unless a cost is chosen. Do not read the probabilities of leaves as calibrated: the rows of a leaf chose it.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sigstats._common.validation import FloatArray, IntArray, as_real, refuse

from ..base import nominal_mask
from .c45_tree import Node, Rows, Training, add_probabilities, collapse, grow, prune

#: A class is the more probable one by more than this.
_EQUAL = 1e-6


class C45Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """C4.5 (release 8), pruned, as Weka's J48 does it by default.

    `nominal` (array_like of bool, shape (d,), or None): which features are nominal; they hold category codes 0, 1,
    ... as floats, and a split has a branch for each.
    `confidence`: the level of the upper bounds of errors by which the tree is pruned, above 0 and at most 0.5: with
    less, more is pruned.
    `min_rows`: the fewest rows, by weight, that at least two branches of a split must have; at least 1.
    `prune`: false leaves the tree as it was grown.

    Attributes
    ----------
    classes_ : ndarray
    tree_ : Node
        The root.

    Notes
    -----
    Of the splits whose information gain is at least the mean of all, the one of greatest gain ratio is taken; the gain
    of a cut of numbers is lessened by the bits that name it among all cuts. A row with a missing value goes down every
    branch with the branch's share. A subtree becomes a leaf, or its own largest branch, where its estimated errors are
    not the greater by more than 0.1. Quinlan, C4.5: Programs for Machine Learning (1993), chapters 2 to 4; Improved use
    of continuous attributes in C4.5, Journal of Artificial Intelligence Research 4 (1996).

    Values that differ at all are told apart, where Quinlan's program and Weka take differences below 0.00001 for none:
    the unit of a feature does not matter. Nodes deeper than 400 are leaves.

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
        training = Training(X, codes, len(self.classes_), n_codes, least, confidence)
        rows = Rows(np.arange(len(X)), np.ones(len(X)))
        self.tree_ = grow(rows, training)
        collapse(self.tree_)
        if self.prune:
            prune(self.tree_, rows, training)
        return self

    def validated(self, X: FloatArray) -> tuple[IntArray, float, float]:
        """The number of categories of each feature (0 for numbers), `min_rows` and `confidence`; or ValueError."""
        confidence = as_real(self.confidence, "confidence", low=0, high=0.5)
        if confidence == 0:
            raise refuse("confidence", self.confidence, "a number above 0 and at most 0.5")
        least = as_real(self.min_rows, "min_rows", low=1)
        return _categories(X, nominal_mask(self.nominal, X.shape[1])), least, confidence

    @property
    def n_nodes_(self) -> int:
        """The number of nodes."""
        check_is_fitted(self)
        return _count(self.tree_)

    @property
    def n_leaves_(self) -> int:
        """The number of leaves, those to which no training row came among them."""
        check_is_fitted(self)
        return _count(self.tree_, leaves=True)

    def predict(self, X: Any) -> Any:
        """The most probable class, the first of equals."""
        check_is_fitted(self)
        return self.classes_[most_probable(self.predict_proba(X))]

    def predict_proba(self, X: Any) -> FloatArray:
        """The shares of the classes in the leaves that a row comes to."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        found = np.zeros((len(X), len(self.classes_)))
        add_probabilities(self.tree_, X, Rows(np.arange(len(X)), np.ones(len(X))), found)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def most_probable(probabilities: FloatArray) -> IntArray:
    """The class of the greatest probability in each row; the first of those that are equal but for rounding."""
    found = np.zeros(len(probabilities), dtype=np.int64)
    best = probabilities[:, 0].copy()
    for code in range(1, probabilities.shape[1]):
        more = probabilities[:, code] > best + _EQUAL
        found[more], best[more] = code, probabilities[more, code]
    return found


def _categories(X: FloatArray, nominal: Any) -> IntArray:
    """The number of categories of each nominal feature, by its largest code; 0 for numbers."""
    found = np.zeros(X.shape[1], dtype=np.int64)
    for j in np.flatnonzero(nominal):
        codes = X[:, j][~np.isnan(X[:, j])]
        if (codes < 0).any() or (codes != np.floor(codes)).any() or (codes > 10**6).any():
            wrong = codes[(codes < 0) | (codes != np.floor(codes)) | (codes > 10**6)][0]
            raise refuse(f"X (feature {j})", float(wrong), "category codes 0, 1, ..., at most 1000000")
        found[j] = 1 + int(codes.max(initial=0))
    return found


def _count(node: Node, *, leaves: bool = False) -> int:
    own = int(node.feature < 0) if leaves else 1
    return own + sum(_count(child, leaves=leaves) for child in node.children)
