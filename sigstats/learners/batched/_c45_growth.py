"""The trees of `sigstats.learners.c45_tree`, compiled by Numba: grown on a fold's training rows, pruned, and asked."""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled

from ._c45_splits import TOLERANCE, Fold, choose

_DEEPEST = 400
_SLACK = 0.1


class Nodes(NamedTuple):
    """The nodes of a tree, a parent before its children, which stand side by side.

    Attributes
    ----------
    feature : array of int64, shape (nodes,)
        -1 in a leaf.
    cut : array of int64, shape (nodes,)
        The last code of the first branch, of a number.
    first, branches : arrays of int64, shape (nodes,)
        The first child, and how many there are.
    counts : array of float64, shape (nodes, classes)
        The weight of each class.
    """

    feature: Any
    cut: Any
    first: Any
    branches: Any
    counts: Any


@compiled
def _branch(fold: Fold, nodes: Nodes, node: int, row: int) -> int:
    """The branch that a row takes; -1 where its value is missing, -2 where it is of a category that is no branch."""
    feature = nodes.feature[node]
    code = fold.codes[feature, row]
    if code < 0:
        return -1
    if fold.n_codes[feature]:
        return code if code < nodes.branches[node] else -2
    return 1 if code > nodes.cut[node] else 0


@compiled
def _divide(fold: Fold, nodes: Nodes, node: int, rows: Any, weights: Any) -> Any:
    """The rows and weights of all branches, one after another, and where each starts."""
    branches = nodes.branches[node]
    known = np.zeros(branches)
    taken = np.empty(len(rows), dtype=np.int64)
    lengths = np.zeros(branches, dtype=np.int64)
    missing, total = 0, 0.0
    for at in range(len(rows)):
        branch = _branch(fold, nodes, node, rows[at])
        taken[at] = branch
        if branch >= 0:
            known[branch] += weights[at]
            total += weights[at]
            lengths[branch] += 1
        else:
            missing += 1
    shares = known / total if total > 0 else np.full(branches, 1.0 / branches)
    starts = np.zeros(branches + 1, dtype=np.int64)
    for branch in range(branches):
        starts[branch + 1] = starts[branch] + lengths[branch] + (missing if shares[branch] > TOLERANCE else 0)
    next_place = starts[:-1].copy()
    into, parts = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    for at in range(len(rows)):
        if taken[at] >= 0:
            into[next_place[taken[at]]], parts[next_place[taken[at]]] = rows[at], weights[at]
            next_place[taken[at]] += 1
            continue
        for branch in range(branches):
            if shares[branch] > TOLERANCE:
                into[next_place[branch]], parts[next_place[branch]] = rows[at], weights[at] * shares[branch]
                next_place[branch] += 1
    return into, parts, starts


@compiled
def _count(fold: Fold, rows: Any, weights: Any, counts: Any) -> None:
    counts[:] = 0
    for at in range(len(rows)):
        counts[fold.label[rows[at]]] += weights[at]


@compiled
def _larger(nodes: Nodes, wanted: int) -> Nodes:
    """The nodes with room for `wanted` and as many more."""
    size, n_classes = nodes.counts.shape
    made = Nodes(
        np.empty(2 * wanted, dtype=np.int64),
        np.empty(2 * wanted, dtype=np.int64),
        np.empty(2 * wanted, dtype=np.int64),
        np.empty(2 * wanted, dtype=np.int64),
        np.zeros((2 * wanted, n_classes)),
    )
    made.feature[:size] = nodes.feature
    made.cut[:size] = nodes.cut
    made.first[:size] = nodes.first
    made.branches[:size] = nodes.branches
    made.counts[:size] = nodes.counts
    return made


@compiled
def _grow(fold: Fold, train: Any) -> Any:
    """The nodes of the tree of the rows `train`, not pruned, and how many there are."""
    nodes = Nodes(
        np.empty(64, dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.zeros((64, fold.n_classes)),
    )
    keys = np.empty(len(train), dtype=np.int64)
    waiting = [(0, 0, train, np.ones(len(train)))]
    made = 1
    while len(waiting):
        node, depth, rows, weights = waiting.pop()
        _count(fold, rows, weights, nodes.counts[node])
        nodes.feature[node], nodes.branches[node] = -1, 0
        if depth >= _DEEPEST:
            continue
        feature, cut = choose(fold, rows, weights, nodes.counts[node], keys)
        if feature < 0:
            continue
        branches = fold.n_codes[feature] if fold.n_codes[feature] else 2
        if made + branches > len(nodes.feature):
            nodes = _larger(nodes, made + branches)
        nodes.feature[node], nodes.cut[node] = feature, cut
        nodes.first[node], nodes.branches[node] = made, branches
        into, parts, starts = _divide(fold, nodes, node, rows, weights)
        for branch in range(branches):
            own = slice(starts[branch], starts[branch + 1])
            waiting.append((made + branch, depth + 1, into[own], parts[own]))
        made += branches
    return nodes, made


@compiled
def _wrong(counts: Any) -> Any:
    return counts.sum() - counts.max()


@compiled
def _collapse(nodes: Nodes, made: int) -> None:
    """Make leaves of the nodes whose branches have no fewer training rows wrong than they would have."""
    errors = np.empty(made)
    for node in range(made - 1, -1, -1):
        errors[node] = _wrong(nodes.counts[node]) if nodes.feature[node] < 0 else 0.0
        for child in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
            errors[node] += errors[child]
    for node in range(made):
        if nodes.feature[node] >= 0 and errors[node] >= _wrong(nodes.counts[node]) - 1e-3:
            nodes.feature[node], nodes.branches[node] = -1, 0


@compiled
def _from_one(fold: Fold, n: float, wrong: float) -> Any:
    """The errors to add where there is one or more."""
    if wrong + 0.5 >= n:
        return max(n - wrong, 0.0)
    share = (wrong + 0.5) / n
    spread = np.sqrt(share / n - share * share / n + fold.z**2 / (4 * n * n))
    return (share + fold.z**2 / (2 * n) + fold.z * spread) / (1 + fold.z**2 / n) * n - wrong


@compiled
def _estimated(fold: Fold, counts: Any) -> Any:
    """The errors that a leaf with these class counts is charged with."""
    n = counts.sum()
    if n < TOLERANCE:
        return 0.0
    wrong = _wrong(counts)
    if wrong >= 1:
        return wrong + _from_one(fold, n, wrong)
    none = n * (1 - fold.confidence ** (1 / n))
    return wrong + (none if wrong == 0 else none + wrong * (_from_one(fold, n, 1.0) - none))


@compiled
def _of_leaves(fold: Fold, nodes: Nodes, node: int) -> float:
    errors = 0.0
    waiting = [node]
    while len(waiting):
        one = waiting.pop()
        if nodes.feature[one] < 0:
            errors += _estimated(fold, nodes.counts[one])
        waiting.extend(range(nodes.first[one], nodes.first[one] + nodes.branches[one]))
    return errors


@compiled
def _as_branch(fold: Fold, nodes: Nodes, node: int, rows: Any, weights: Any) -> float:
    """The errors that a subtree is charged with if it gets these rows."""
    errors, counts = 0.0, np.empty(fold.n_classes)
    waiting = [(node, rows, weights)]
    while len(waiting):
        one, own_rows, own_weights = waiting.pop()
        if nodes.feature[one] < 0:
            _count(fold, own_rows, own_weights, counts)
            errors += _estimated(fold, counts)
            continue
        into, parts, starts = _divide(fold, nodes, one, own_rows, own_weights)
        for branch in range(nodes.branches[one]):
            own = slice(starts[branch], starts[branch + 1])
            waiting.append((nodes.first[one] + branch, into[own], parts[own]))
    return errors


@compiled
def _fill(fold: Fold, nodes: Nodes, node: int, rows: Any, weights: Any) -> None:
    """Count the rows in a subtree that gets others than it was grown from."""
    waiting = [(node, rows, weights)]
    while len(waiting):
        one, own_rows, own_weights = waiting.pop()
        _count(fold, own_rows, own_weights, nodes.counts[one])
        if nodes.feature[one] < 0:
            continue
        into, parts, starts = _divide(fold, nodes, one, own_rows, own_weights)
        for branch in range(nodes.branches[one]):
            own = slice(starts[branch], starts[branch + 1])
            waiting.append((nodes.first[one] + branch, into[own], parts[own]))


@compiled
def _replace(fold: Fold, nodes: Nodes, node: int, rows: Any, weights: Any) -> bool:
    """Make a leaf of a node, or its largest branch, where fewer errors are to be expected; whether it is a branch."""
    first, branches = nodes.first[node], nodes.branches[node]
    most = 0.0
    for child in range(first, first + branches):
        most = max(most, nodes.counts[child].sum())
    largest = first
    while nodes.counts[largest].sum() <= most - TOLERANCE:
        largest += 1
    of_leaf = _estimated(fold, nodes.counts[node])
    of_tree = _of_leaves(fold, nodes, node) + _SLACK
    of_branch = _as_branch(fold, nodes, largest, rows, weights)
    if of_leaf < of_tree + TOLERANCE and of_leaf < of_branch + _SLACK + TOLERANCE:
        nodes.feature[node], nodes.branches[node] = -1, 0
        return False
    if of_branch >= of_tree + TOLERANCE:
        return False
    nodes.feature[node], nodes.cut[node] = nodes.feature[largest], nodes.cut[largest]
    nodes.first[node], nodes.branches[node] = nodes.first[largest], nodes.branches[largest]
    _fill(fold, nodes, node, rows, weights)
    return True


@compiled
def _prune(fold: Fold, nodes: Nodes, train: Any) -> None:
    """Prune from below: a node waits until its branches are pruned, and is pruned again where it became one of them."""
    waiting = [(0, False, train, np.ones(len(train)))]
    while len(waiting):
        node, ready, rows, weights = waiting.pop()
        if nodes.feature[node] < 0:
            continue
        if ready:
            if _replace(fold, nodes, node, rows, weights):
                waiting.append((node, False, rows, weights))
            continue
        waiting.append((node, True, rows, weights))
        into, parts, starts = _divide(fold, nodes, node, rows, weights)
        for branch in range(nodes.branches[node]):
            own = slice(starts[branch], starts[branch + 1])
            waiting.append((nodes.first[node] + branch, False, into[own], parts[own]))


@compiled
def _ask(fold: Fold, nodes: Nodes, row: int, into: Any) -> None:
    """The class probabilities of a row, of the leaves that it comes to."""
    into[:] = 0
    waiting = [(0, 1.0)]
    while len(waiting):
        node, weight = waiting.pop()
        total = nodes.counts[node].sum()
        first, branch = nodes.first[node], -2
        if nodes.feature[node] >= 0:
            branch = _branch(fold, nodes, node, row)
        if branch == -1:
            for child in range(first, first + nodes.branches[node]):
                own = nodes.counts[child].sum()
                if own >= TOLERANCE:
                    waiting.append((child, weight * own / total))
        elif branch >= 0 and nodes.counts[first + branch].sum() >= TOLERANCE:
            waiting.append((first + branch, weight))
        else:
            for label in range(len(into)):
                into[label] += weight * nodes.counts[node, label] / total


@compiled
def predict_fold(fold: Fold, train: Any, test: Any, pruned: bool, predicted: Any) -> None:
    """Predict the rows `test` by the tree that is grown on the rows `train`.

    Parameters
    ----------
    fold : Fold
    train, test : arrays of int64
    pruned : bool
    predicted : array of int64, shape (n,)
        Where the classes are written to.
    """
    nodes, made = _grow(fold, train)
    _collapse(nodes, made)
    if pruned:
        _prune(fold, nodes, train)
    found = np.empty(fold.n_classes)
    for row in test:
        _ask(fold, nodes, row, found)
        total = found.sum()
        best = 0
        for label in range(1, fold.n_classes):
            if found[label] / total > found[best] / total + TOLERANCE:
                best = label
        predicted[row] = best
