"""The votes of a tree of coded columns, compiled by Numba."""

from typing import Any

import numpy as np

from sigstats._common.compiled import compiled, inlined

from ._coded_room import Tree
from ._coded_splits import Coded


@inlined
def _next_node(tree: Tree, sample: Coded, row: Any, node: Any) -> Any:
    """Where a row goes from a node; from a leaf it does not."""
    place = np.uint64(max(node, 0))
    right = np.uint64(np.int64(sample.codes[row, np.uint64(tree.nodes[place, 0])]) > np.uint32(tree.nodes[place, 1]))
    following = np.int64(tree.nodes[place, np.uint64(2) + right])
    return node if node < 0 else following


@inlined
def _count_vote(tree: Tree, leaf: Any, votes: Any) -> None:
    """Add the shares of classes in a leaf."""
    n_classes = len(votes)
    if leaf < n_classes:
        votes[leaf] += 1.0
        return
    for own_class in range(n_classes):
        votes[own_class] += tree.shares[leaf - n_classes, own_class]


@compiled
def vote(sample: Coded, tree: Tree, tested: Any, votes: Any) -> None:
    """Add the shares of classes in the leaves of the tested rows, which go down the tree four at a time."""
    last = np.uint64(len(tested) - 1)
    for at in range(np.uint64(0), np.uint64(len(tested)), np.uint64(4)):
        i, j, k = tested[at], tested[min(at + np.uint64(1), last)], tested[min(at + np.uint64(2), last)]
        m = tested[min(at + np.uint64(3), last)]
        a = b = c = d = np.int64(tree.nodes[0, 2])
        while a & b & c & d >= 0:
            a, b = _next_node(tree, sample, i, a), _next_node(tree, sample, j, b)
            c, d = _next_node(tree, sample, k, c), _next_node(tree, sample, m, d)
        _count_vote(tree, -1 - a, votes[i])
        if at + np.uint64(1) <= last:
            _count_vote(tree, -1 - b, votes[j])
        if at + np.uint64(2) <= last:
            _count_vote(tree, -1 - c, votes[k])
        if at + np.uint64(3) <= last:
            _count_vote(tree, -1 - d, votes[m])
