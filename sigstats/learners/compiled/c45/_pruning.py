"""The pruning of C4.5's trees by the errors to be expected of each leaf, compiled by Numba."""

from typing import Any

import numpy as np

from sigstats._common.compiled import compiled

from ._growth import Nodes, count_classes, divide
from ._splits import TOLERANCE, Training

_SLACK = 0.1


@compiled
def _wrong(counts: Any) -> Any:
    return counts.sum() - counts.max()


@compiled
def collapse(nodes: Nodes, made: int) -> None:
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
def _from_one(data: Training, n: float, wrong: float) -> Any:
    """The errors to add where there is one or more."""
    if wrong + 0.5 >= n:
        return max(n - wrong, 0.0)
    share = (wrong + 0.5) / n
    spread = np.sqrt(share / n - share * share / n + data.z**2 / (4 * n * n))
    return (share + data.z**2 / (2 * n) + data.z * spread) / (1 + data.z**2 / n) * n - wrong


@compiled
def _estimated(data: Training, counts: Any) -> Any:
    """The errors that a leaf with these class counts is charged with."""
    n = counts.sum()
    if n < TOLERANCE:
        return 0.0
    wrong = _wrong(counts)
    if wrong >= 1:
        return wrong + _from_one(data, n, wrong)
    none = n * (1 - data.confidence ** (1 / n))
    return wrong + (none if wrong == 0 else none + wrong * (_from_one(data, n, 1.0) - none))


@compiled
def _of_leaves(data: Training, nodes: Nodes, node: int) -> float:
    errors = 0.0
    waiting = [node]
    while len(waiting):
        one = waiting.pop()
        if nodes.feature[one] < 0:
            errors += _estimated(data, nodes.counts[one])
        waiting.extend(range(nodes.first[one], nodes.first[one] + nodes.branches[one]))
    return errors


@compiled
def _as_branch(data: Training, nodes: Nodes, node: int, rows: Any, weights: Any) -> float:
    """The errors that a subtree is charged with if it gets these rows."""
    errors, counts = 0.0, np.empty(data.n_classes)
    waiting = [(node, rows, weights)]
    while len(waiting):
        one, own_rows, own_weights = waiting.pop()
        if nodes.feature[one] < 0:
            count_classes(data, own_rows, own_weights, counts)
            errors += _estimated(data, counts)
            continue
        into, parts, starts = divide(data, nodes, one, own_rows, own_weights)
        for branch in range(nodes.branches[one]):
            own = slice(starts[branch], starts[branch + 1])
            waiting.append((nodes.first[one] + branch, into[own], parts[own]))
    return errors


@compiled
def _fill(data: Training, nodes: Nodes, node: int, rows: Any, weights: Any) -> None:
    """Count the rows in a subtree that gets others than it was grown from."""
    waiting = [(node, rows, weights)]
    while len(waiting):
        one, own_rows, own_weights = waiting.pop()
        count_classes(data, own_rows, own_weights, nodes.counts[one])
        if nodes.feature[one] < 0:
            continue
        into, parts, starts = divide(data, nodes, one, own_rows, own_weights)
        for branch in range(nodes.branches[one]):
            own = slice(starts[branch], starts[branch + 1])
            waiting.append((nodes.first[one] + branch, into[own], parts[own]))


@compiled
def _replace(data: Training, nodes: Nodes, node: int, rows: Any, weights: Any) -> bool:
    """Make a leaf of a node, or its largest branch, where fewer errors are to be expected; whether it is a branch."""
    first, branches = nodes.first[node], nodes.branches[node]
    most = 0.0
    for child in range(first, first + branches):
        most = max(most, nodes.counts[child].sum())
    largest = first
    while nodes.counts[largest].sum() <= most - TOLERANCE:
        largest += 1
    of_leaf = _estimated(data, nodes.counts[node])
    of_tree = _of_leaves(data, nodes, node) + _SLACK
    of_branch = _as_branch(data, nodes, largest, rows, weights)
    if of_leaf < of_tree + TOLERANCE and of_leaf < of_branch + _SLACK + TOLERANCE:
        nodes.feature[node], nodes.branches[node] = -1, 0
        return False
    if of_branch >= of_tree + TOLERANCE:
        return False
    nodes.feature[node], nodes.cut[node] = nodes.feature[largest], nodes.cut[largest]
    nodes.first[node], nodes.branches[node] = nodes.first[largest], nodes.branches[largest]
    _fill(data, nodes, node, rows, weights)
    return True


@compiled
def prune(data: Training, nodes: Nodes, train: Any) -> None:
    """Prune from below: a node waits until its branches are pruned, and is pruned again where it became one of them."""
    waiting = [(0, False, train, np.ones(len(train)))]
    while len(waiting):
        node, ready, rows, weights = waiting.pop()
        if nodes.feature[node] < 0:
            continue
        if ready:
            if _replace(data, nodes, node, rows, weights):
                waiting.append((node, False, rows, weights))
            continue
        waiting.append((node, True, rows, weights))
        into, parts, starts = divide(data, nodes, node, rows, weights)
        for branch in range(nodes.branches[node]):
            own = slice(starts[branch], starts[branch + 1])
            waiting.append((nodes.first[node] + branch, False, into[own], parts[own]))
