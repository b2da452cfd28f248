"""The predictions of C4.5's trees for the rows of a data, compiled by Numba."""

from typing import Any

import numpy as np

from sigstats._common.compiled import compiled

from ._growth import Nodes, branch_of, grow
from ._pruning import collapse, prune
from ._splits import TOLERANCE, Training


@compiled
def _ask(data: Training, nodes: Nodes, row: int, into: Any) -> None:
    """The class probabilities of a row, of the leaves that it comes to."""
    into[:] = 0
    waiting = [(0, 1.0)]
    while len(waiting):
        node, weight = waiting.pop()
        total = nodes.counts[node].sum()
        first, branch = nodes.first[node], -2
        if nodes.feature[node] >= 0:
            branch = branch_of(data, nodes, node, row)
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
def predict_fold(data: Training, train: Any, test: Any, pruned: bool, predicted: Any) -> None:
    """Predict the rows `test` by the tree that is grown on the rows `train`.

    `predicted` (array of int64, shape (n,)): where the classes are written to.
    """
    nodes, made = grow(data, train)
    collapse(nodes, made)
    if pruned:
        prune(data, nodes, train)
    found = np.empty(data.n_classes)
    for row in test:
        _ask(data, nodes, row, found)
        total = found.sum()
        best = 0
        for label in range(1, data.n_classes):
            if found[label] / total > found[best] / total + TOLERANCE:
                best = label
        predicted[row] = best
