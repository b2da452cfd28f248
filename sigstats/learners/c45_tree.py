"""The tree of C4.5: grown by gain ratio, then pruned by estimates of the errors that it would make on new rows.

`grow` returns the nodes of a tree, after `collapse` and `prune`, and `probabilities` predicts with them. Rows are given
by their numbers, with their weights in a node. A row with a missing value goes to every branch, with its weight divided
in the proportions of the rows with known values (`divide`). Numba compiles these functions, hence the loops, and lists
of nodes to visit (`waiting`) instead of recursion.
"""

from typing import Any, NamedTuple

import numpy as np

from .c45_splits import TOLERANCE, Training, choose

#: Deeper nodes are leaves.
_DEEPEST = 400
#: The most estimated errors by which a smaller tree may seem worse and still be taken.
_SLACK = 0.1


class Nodes(NamedTuple):
    """The nodes of a tree, a parent before its children, which stand side by side."""

    #: The feature that divides the rows; -1 in a leaf; array of int64, shape (nodes,).
    feature: Any
    #: The last code of the first branch, of a number; array of int64, shape (nodes,).
    cut: Any
    #: The first child, and the number of children; arrays of int64, shape (nodes,).
    first: Any
    branches: Any
    #: The weight of each class; array of float64, shape (nodes, classes).
    counts: Any


def grow(data: Training, train: Any, pruned: bool) -> Nodes:
    """Return the nodes of the tree of the rows `train`."""
    nodes = _empty_nodes(64, data.n_classes)
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
            nodes = _enlarged(nodes, made + branches)
        nodes.feature[node], nodes.cut[node] = feature, cut
        nodes.first[node], nodes.branches[node] = made, branches
        for child, own_rows, own_weights in divide(data, nodes, node, rows, weights):
            waiting.append((child, depth + 1, own_rows, own_weights))
        made += branches
    collapse(nodes, made)
    if pruned:
        prune(data, nodes, train)
    return nodes


def _empty_nodes(size: int, n_classes: int) -> Nodes:
    """Return the memory for this many nodes."""
    whole = np.empty((4, size), dtype=np.int64)
    return Nodes(whole[0], whole[1], whole[2], whole[3], np.zeros((size, n_classes)))


def _enlarged(nodes: Nodes, wanted: int) -> Nodes:
    """Return the nodes with room for `wanted` and as many more."""
    size, n_classes = nodes.counts.shape
    made = _empty_nodes(2 * wanted, n_classes)
    made.feature[:size], made.cut[:size] = nodes.feature, nodes.cut
    made.first[:size], made.branches[:size] = nodes.first, nodes.branches
    made.counts[:size] = nodes.counts
    return made


def count_classes(data: Training, rows: Any, weights: Any, counts: Any) -> None:
    """Set `counts` to the weight of each class in the rows."""
    counts[:] = 0
    for position in range(len(rows)):
        counts[data.label[rows[position]]] += weights[position]


def divide(data: Training, nodes: Nodes, node: int, rows: Any, weights: Any) -> Any:
    """Return the children of a node, each with the rows and the weights that it gets."""
    feature, cut, branches = nodes.feature[node], nodes.cut[node], nodes.branches[node]
    codes, n_codes = data.codes[feature], data.n_codes[feature]
    branch_of_row = np.empty(len(rows), dtype=np.int64)
    known = np.zeros(branches)
    lengths = np.zeros(branches, dtype=np.int64)
    unknown, total = 0, 0.0
    for position in range(len(rows)):
        branch = branch_of(codes[rows[position]], n_codes, cut, branches)
        branch_of_row[position] = branch
        if branch >= 0:
            known[branch] += weights[position]
            total += weights[position]
            lengths[branch] += 1
        else:
            unknown += 1
    shares = known / total if total > 0 else np.full(branches, 1.0 / branches)
    # All branches share two arrays, one branch after another.
    starts = np.zeros(branches + 1, dtype=np.int64)
    for branch in range(branches):
        starts[branch + 1] = starts[branch] + lengths[branch] + (unknown if shares[branch] > TOLERANCE else 0)
    next_place = starts[:-1].copy()
    sorted_rows, sorted_weights = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    for position in range(len(rows)):
        branch = branch_of_row[position]
        if branch >= 0:
            place = next_place[branch]
            sorted_rows[place], sorted_weights[place] = rows[position], weights[position]
            next_place[branch] += 1
            continue
        for every in range(branches):
            if shares[every] > TOLERANCE:
                place = next_place[every]
                sorted_rows[place], sorted_weights[place] = rows[position], weights[position] * shares[every]
                next_place[every] += 1
    ends = [(starts[branch], starts[branch + 1]) for branch in range(branches)]
    first = nodes.first[node]
    return [(first + branch, sorted_rows[a:b], sorted_weights[a:b]) for branch, (a, b) in enumerate(ends)]


def branch_of(code: int, n_codes: int, cut: int, branches: int) -> int:
    """Return the branch of a code; -1 if it is missing, -2 if no branch has its category."""
    if code < 0:
        return -1
    if n_codes:
        return code if code < branches else -2
    return 1 if code > cut else 0


def collapse(nodes: Nodes, made: int) -> None:
    """Replace nodes by leaves if their branches have at least as many training errors."""
    errors = np.empty(made)
    for node in range(made - 1, -1, -1):
        errors[node] = _training_errors(nodes.counts[node]) if nodes.feature[node] < 0 else 0.0
        for child in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
            errors[node] += errors[child]
    for node in range(made):
        if nodes.feature[node] >= 0 and errors[node] >= _training_errors(nodes.counts[node]) - 1e-3:
            nodes.feature[node], nodes.branches[node] = -1, 0


def _training_errors(counts: Any) -> Any:
    """Return the weight of the rows that are not of the commonest class."""
    return counts.sum() - counts.max()


def prune(data: Training, nodes: Nodes, train: Any) -> None:
    """Prune from below: a node waits until its branches are pruned (`ready`), and again if one replaces it."""
    waiting = [(0, False, train, np.ones(len(train)))]
    while len(waiting):
        node, ready, rows, weights = waiting.pop()
        if nodes.feature[node] < 0:
            continue
        if ready:
            if _replace_node(data, nodes, node, rows, weights):
                waiting.append((node, False, rows, weights))
            continue
        waiting.append((node, True, rows, weights))
        for child, own_rows, own_weights in divide(data, nodes, node, rows, weights):
            waiting.append((child, False, own_rows, own_weights))


def _replace_node(data: Training, nodes: Nodes, node: int, rows: Any, weights: Any) -> bool:
    """Replace a node by a leaf or by its largest branch if fewer errors are expected; True for a branch."""
    first, branches = nodes.first[node], nodes.branches[node]
    most = 0.0
    for child in range(first, first + branches):
        most = max(most, nodes.counts[child].sum())
    largest = first  # the first branch with the largest weight
    while nodes.counts[largest].sum() <= most - TOLERANCE:
        largest += 1
    of_leaf = _leaf_errors(data, nodes.counts[node])
    of_tree = _errors_of_leaves(data, nodes, node) + _SLACK
    of_branch = _errors_as_branch(data, nodes, largest, rows, weights)
    if of_leaf < of_tree + TOLERANCE and of_leaf < of_branch + _SLACK + TOLERANCE:
        nodes.feature[node], nodes.branches[node] = -1, 0
        return False
    if of_branch >= of_tree + TOLERANCE:
        return False
    nodes.feature[node], nodes.cut[node] = nodes.feature[largest], nodes.cut[largest]
    nodes.first[node], nodes.branches[node] = nodes.first[largest], nodes.branches[largest]
    _recount(data, nodes, node, rows, weights)
    return True


def _leaf_errors(data: Training, counts: Any) -> float:
    """Return the estimated errors of a leaf with these class counts."""
    n, wrong = counts.sum(), _training_errors(counts)
    return float(wrong + added_errors(n, wrong, data.confidence, data.z)) if n >= TOLERANCE else 0.0


def added_errors(n: float, wrong: float, confidence: float, z: float) -> float:
    """Return the estimated errors of a leaf in addition to its training errors.

    The upper bound of a binomial proportion of `wrong` of `n` at `confidence`, times n, minus `wrong`: exact without
    errors, by the normal approximation with continuity correction from one error on, and interpolated linearly in
    between (Quinlan 1993, chapter 4, and his program). `z` is the normal quantile of the confidence.
    """
    at_one = max(wrong, 1.0)
    if at_one + 0.5 >= n:
        added = max(n - at_one, 0.0)
    else:
        share = (at_one + 0.5) / n
        spread = np.sqrt(share / n - share * share / n + z**2 / (4 * n * n))
        added = (share + z**2 / (2 * n) + z * spread) / (1 + z**2 / n) * n - at_one
    if wrong >= 1:
        return float(added)
    none = n * (1 - confidence ** (1 / n))
    return float(none if wrong == 0 else none + wrong * (added - none))


def _errors_of_leaves(data: Training, nodes: Nodes, node: int) -> float:
    """Return the estimated errors of the leaves of a subtree."""
    errors = 0.0
    waiting = [node]
    while len(waiting):
        inner = waiting.pop()
        if nodes.feature[inner] < 0:
            errors += _leaf_errors(data, nodes.counts[inner])
        waiting.extend(range(nodes.first[inner], nodes.first[inner] + nodes.branches[inner]))
    return errors


def _errors_as_branch(data: Training, nodes: Nodes, node: int, rows: Any, weights: Any) -> float:
    """Return the estimated errors of a subtree that gets these rows."""
    errors, counts = 0.0, np.empty(data.n_classes)
    waiting = [(node, rows, weights)]
    while len(waiting):
        inner, own_rows, own_weights = waiting.pop()
        if nodes.feature[inner] < 0:
            count_classes(data, own_rows, own_weights, counts)
            errors += _leaf_errors(data, counts)
            continue
        waiting.extend(divide(data, nodes, inner, own_rows, own_weights))
    return errors


def _recount(data: Training, nodes: Nodes, node: int, rows: Any, weights: Any) -> None:
    """Count the classes in a subtree that gets other rows than it was grown from."""
    waiting = [(node, rows, weights)]
    while len(waiting):
        inner, own_rows, own_weights = waiting.pop()
        count_classes(data, own_rows, own_weights, nodes.counts[inner])
        if nodes.feature[inner] < 0:
            continue
        waiting.extend(divide(data, nodes, inner, own_rows, own_weights))


def probabilities(data: Training, nodes: Nodes, rows: Any) -> Any:
    """Return the shares of the classes in the leaves that rows of `data` reach, shape (rows, classes)."""
    counts = np.zeros((len(rows), data.n_classes))
    for position in range(len(rows)):
        _add_leaf_shares(data, nodes, rows[position], counts[position])
        counts[position] /= counts[position].sum()
    return counts


def _add_leaf_shares(data: Training, nodes: Nodes, row: int, shares: Any) -> None:
    """Add to `shares` the class probabilities of the leaves that a row reaches, by its weight in each."""
    waiting = [(0, 1.0)]
    while len(waiting):
        node, weight = waiting.pop()
        total = nodes.counts[node].sum()
        first, branch = nodes.first[node], -2
        feature = nodes.feature[node]
        if feature >= 0:
            branch = branch_of(data.codes[feature, row], data.n_codes[feature], nodes.cut[node], nodes.branches[node])
        if branch == -1:
            for child in range(first + nodes.branches[node] - 1, first - 1, -1):
                own = nodes.counts[child].sum()
                if own >= TOLERANCE:
                    waiting.append((child, weight * (own / total)))
        elif branch >= 0 and nodes.counts[first + branch].sum() >= TOLERANCE:
            waiting.append((first + branch, weight))
        else:
            for label in range(len(shares)):
                shares[label] += weight * (nodes.counts[node, label] / total)
