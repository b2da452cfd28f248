"""The tree of C4.5: grown by gain ratio, then pruned by estimates of the errors that it would make on new rows.

Rows are listed by their number, each with the weight that it has in a node. One with a missing value goes to every
branch, with the share of its weight that the branch has of the rows whose value is known.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from sigstats._common.validation import FloatArray, IntArray

from .c45_splits import TOLERANCE, Split, best_split, nominal_split, numeric_split

#: Deeper nodes are leaves.
DEEPEST = 400

#: By so much a smaller tree may seem worse and be taken all the same.
_SLACK = 0.1


class Rows(NamedTuple):
    """Rows of a node: their numbers and their weights."""

    at: IntArray
    weights: FloatArray


class Training(NamedTuple):
    """Training data, and the options by which a tree is grown from them."""

    #: NaN is missing; a nominal feature has its categories as codes 0, 1, ; ndarray, shape (n, d).
    X: FloatArray
    #: Class codes; ndarray of int, shape (n,).
    y: IntArray
    n_classes: int
    #: The number of categories of each feature, 0 for numbers; ndarray of int, shape (d,).
    n_codes: IntArray
    #: Two branches have so many rows, or a node is not split.
    least: float
    #: Of the upper bounds of errors.
    confidence: float

    def counts(self, rows: Rows) -> FloatArray:
        """The weight of each class."""
        return np.asarray(np.bincount(self.y[rows.at], rows.weights, minlength=self.n_classes), dtype=np.float64)


@dataclass
class Node:
    """A node of a tree."""

    #: The weight of each class in each branch; a leaf has one branch; ndarray, shape (branches, classes).
    counts: FloatArray
    #: -1 in a leaf.
    feature: int = -1
    #: As of a `Split`.
    threshold: float = np.nan
    children: "list[Node]" = field(default_factory=list)

    def branch(self, values: FloatArray) -> IntArray:
        """The branch of each value of the node's feature; -1 where it is missing or of a category that is no branch."""
        missing = np.isnan(values)
        if not np.isnan(self.threshold):
            return np.where(missing, -1, values > self.threshold)
        codes = np.where(missing, -1, values)
        return np.where((codes >= 0) & (codes < len(self.counts)), codes, -1).astype(np.int64)


def divide(node: Node, rows: Rows, training: Training) -> list[Rows]:
    """The rows of each branch."""
    branch = node.branch(training.X[rows.at, node.feature])
    known = np.bincount(branch[branch >= 0], rows.weights[branch >= 0], minlength=len(node.counts))
    total = known.sum()
    shares = known / total if total > 0 else np.full(len(known), 1 / len(known))
    parts = []
    for code, share in enumerate(shares):
        factor = np.where(branch == code, 1.0, np.where((branch < 0) & (share > TOLERANCE), share, 0.0))
        own = factor > 0
        parts.append(Rows(rows.at[own], rows.weights[own] * factor[own]))
    return parts


def choose(rows: Rows, training: Training) -> Split | None:
    """The split of a node, or None where it is to be a leaf."""
    counts, total = training.counts(rows), float(rows.weights.sum())
    if total < 2 * training.least - TOLERANCE or abs(counts.max() - total) < TOLERANCE:
        return None
    many = np.flatnonzero(training.n_codes >= 0.3 * len(training.X))
    y, candidates = training.y[rows.at], []
    for j, n_codes in enumerate(training.n_codes.tolist()):
        values = training.X[rows.at, j]
        if n_codes:
            found = nominal_split(j, values, y, rows.weights, training.n_classes, n_codes, training.least)
        else:
            found = numeric_split(j, values, y, rows.weights, training.n_classes, training.least)
        if found is not None:
            candidates.append(found)
    return best_split(candidates, many if len(many) < len(training.n_codes) else np.empty(0, dtype=np.int64))


def grow(rows: Rows, training: Training, depth: int = 0) -> Node:
    """The tree of some rows, not pruned."""
    split = choose(rows, training) if depth < DEEPEST else None
    if split is None:
        return Node(training.counts(rows)[None])
    threshold = split.threshold
    if not np.isnan(threshold):  # as Quinlan does: a value that occurs in the data
        column = training.X[:, split.feature]
        threshold = float(column[column <= threshold].max())
    node = Node(np.zeros((training.n_codes[split.feature] or 2, training.n_classes)), split.feature, threshold)
    parts = divide(node, rows, training)
    node.counts = np.array([training.counts(part) for part in parts])
    node.children = [grow(part, training, depth + 1) for part in parts]
    return node


def _wrong(counts: FloatArray) -> float:
    return float(counts.sum() - counts.max())


def training_errors(node: Node) -> float:
    """The weight of the training rows that the leaves have wrong."""
    if node.feature < 0:
        return _wrong(node.counts[0])
    return sum(map(training_errors, node.children))


def _make_leaf(node: Node) -> None:
    node.counts, node.feature, node.children = node.counts.sum(axis=0, keepdims=True), -1, []


def collapse(node: Node) -> None:
    """Make leaves of the nodes whose branches have no fewer training rows wrong than they would have."""
    if node.feature < 0:
        return
    if training_errors(node) >= _wrong(node.counts.sum(axis=0)) - 1e-3:
        _make_leaf(node)
        return
    for child in node.children:
        collapse(child)


def added_errors(n: float, wrong: float, confidence: float) -> float:
    """The errors that a leaf is to be charged with beyond those seen.

    The upper bound of a binomial proportion of `wrong` of `n` at `confidence`, times n, less `wrong`: exact where there
    is no error, by the normal approximation with continuity correction from one error on, and on the line between the
    two for less than one (Quinlan 1993, chapter 4, and his program).

    >>> round(6 * 0.206, 2), round(added_errors(6, 0, 0.25), 2)  # Quinlan's U25%(0, 6) = 0.206
    (1.24, 1.24)
    """
    if wrong < 1:
        none: float = n * (1 - confidence ** (1 / n))
        return none if wrong == 0 else none + wrong * (added_errors(n, 1.0, confidence) - none)
    if wrong + 0.5 >= n:
        return max(n - wrong, 0.0)
    z = float(ndtri(1 - confidence))
    share = (wrong + 0.5) / n
    spread = np.sqrt(share / n - share**2 / n + z**2 / (4 * n**2))
    return float((share + z**2 / (2 * n) + z * spread) / (1 + z**2 / n) * n - wrong)


def estimated_errors(counts: FloatArray, confidence: float) -> float:
    """The errors that a leaf with these class counts is charged with."""
    n = float(counts.sum())
    return 0.0 if n < TOLERANCE else _wrong(counts) + added_errors(n, _wrong(counts), confidence)


def _of_leaves(node: Node, confidence: float) -> float:
    if node.feature < 0:
        return estimated_errors(node.counts[0], confidence)
    return sum(_of_leaves(child, confidence) for child in node.children)


def _as_branch(node: Node, rows: Rows, training: Training) -> float:
    """The errors that a subtree is charged with if it gets these rows."""
    if node.feature < 0:
        return estimated_errors(training.counts(rows), training.confidence)
    parts = divide(node, rows, training)
    return sum(_as_branch(child, part, training) for child, part in zip(node.children, parts, strict=True))


def _fill(node: Node, rows: Rows, training: Training) -> None:
    """Count the rows in a subtree that gets others than it was grown from."""
    if node.feature < 0:
        node.counts = training.counts(rows)[None]
        return
    parts = divide(node, rows, training)
    node.counts = np.array([training.counts(part) for part in parts])
    for child, part in zip(node.children, parts, strict=True):
        _fill(child, part, training)


def prune(node: Node, rows: Rows, training: Training) -> None:
    """Replace a subtree by a leaf, or by its largest branch, where fewer errors are to be expected, from below."""
    if node.feature < 0:
        return
    for child, part in zip(node.children, divide(node, rows, training), strict=True):
        prune(child, part, training)
    branches = node.counts.sum(axis=1)
    largest = node.children[int(np.argmax(branches > branches.max() - TOLERANCE))]
    of_leaf = estimated_errors(node.counts.sum(axis=0), training.confidence)
    of_tree = _of_leaves(node, training.confidence) + _SLACK
    of_branch = _as_branch(largest, rows, training)
    if of_leaf < of_tree + TOLERANCE and of_leaf < of_branch + _SLACK + TOLERANCE:
        _make_leaf(node)
    elif of_branch < of_tree + TOLERANCE:
        node.feature, node.threshold, node.children = largest.feature, largest.threshold, largest.children
        node.counts = largest.counts
        _fill(node, rows, training)
        prune(node, rows, training)


def add_probabilities(node: Node, X: FloatArray, rows: Rows, into: FloatArray) -> None:
    """Add to each row's class probabilities, weighted, what the leaves say that it comes to."""
    total = node.counts.sum()
    own = node.counts.sum(axis=0) / total if total > 0 else np.zeros(into.shape[1])
    if node.feature < 0:
        np.add.at(into, rows.at, rows.weights[:, None] * own)
        return
    branch = node.branch(X[rows.at, node.feature])
    missing = np.isnan(X[rows.at, node.feature])
    unseen = (branch < 0) & ~missing
    shares = node.counts.sum(axis=1) / total
    for code, (child, share) in enumerate(zip(node.children, shares, strict=True)):
        if child.counts.sum() < TOLERANCE:  # no training row came here
            unseen |= branch == code
            continue
        factor = np.where(missing, share, branch == code)
        kept = factor > 0
        add_probabilities(child, X, Rows(rows.at[kept], (rows.weights * factor)[kept]), into)
    np.add.at(into, rows.at[unseen], rows.weights[unseen, None] * own)
