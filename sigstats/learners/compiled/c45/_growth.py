"""The trees of `sigstats.learners.trees.c45_tree`, compiled by Numba: grown on a fold's training rows."""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled

from ._splits import TOLERANCE, Training, choose

_DEEPEST = 400


class Nodes(NamedTuple):
    """The nodes of a tree, a parent before its children, which stand side by side."""

    #: -1 in a leaf; array of int64, shape (nodes,).
    feature: Any
    #: The last code of the first branch, of a number; array of int64, shape (nodes,).
    cut: Any
    #: The first child, and how many there are; arrays of int64, shape (nodes,).
    first: Any
    branches: Any
    #: The weight of each class; array of float64, shape (nodes, classes).
    counts: Any


@compiled
def branch_of(data: Training, nodes: Nodes, node: int, row: int) -> int:
    """The branch that a row takes; -1 where its value is missing, -2 where it is of a category that is no branch."""
    feature = nodes.feature[node]
    code = data.codes[feature, row]
    if code < 0:
        return -1
    if data.n_codes[feature]:
        return code if code < nodes.branches[node] else -2
    return 1 if code > nodes.cut[node] else 0


@compiled
def divide(data: Training, nodes: Nodes, node: int, rows: Any, weights: Any) -> Any:
    """The rows and weights of all branches, one after another, and where each starts."""
    branches = nodes.branches[node]
    known = np.zeros(branches)
    taken = np.empty(len(rows), dtype=np.int64)
    lengths = np.zeros(branches, dtype=np.int64)
    missing, total = 0, 0.0
    for at in range(len(rows)):
        branch = branch_of(data, nodes, node, rows[at])
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
def count_classes(data: Training, rows: Any, weights: Any, counts: Any) -> None:
    """Set `counts` to the weight of each class in the rows."""
    counts[:] = 0
    for at in range(len(rows)):
        counts[data.label[rows[at]]] += weights[at]


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
def grow(data: Training, train: Any) -> Any:
    """The nodes of the tree of the rows `train`, not pruned, and how many there are."""
    nodes = Nodes(
        np.empty(64, dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.zeros((64, data.n_classes)),
    )
    keys = np.empty(len(train), dtype=np.int64)
    waiting = [(0, 0, train, np.ones(len(train)))]
    made = 1
    while len(waiting):
        node, depth, rows, weights = waiting.pop()
        count_classes(data, rows, weights, nodes.counts[node])
        nodes.feature[node], nodes.branches[node] = -1, 0
        if depth >= _DEEPEST:
            continue
        feature, cut = choose(data, rows, weights, nodes.counts[node], keys)
        if feature < 0:
            continue
        branches = data.n_codes[feature] if data.n_codes[feature] else 2
        if made + branches > len(nodes.feature):
            nodes = _larger(nodes, made + branches)
        nodes.feature[node], nodes.cut[node] = feature, cut
        nodes.first[node], nodes.branches[node] = made, branches
        into, parts, starts = divide(data, nodes, node, rows, weights)
        for branch in range(branches):
            own = slice(starts[branch], starts[branch + 1])
            waiting.append((made + branch, depth + 1, into[own], parts[own]))
        made += branches
    return nodes, made
