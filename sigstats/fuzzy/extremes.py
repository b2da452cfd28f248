"""Readings at the two ends of a sum of convex terms, one for each class count, without listing the readings.

The class counts that readings give are the whole points of the base polytope of a polymatroid, whose rank of a set of
classes is the number of objects that may take one of them. A convex function is greatest at a vertex of it, which an
order of the classes gives (Edmonds): as many objects as may take the first, then the second, and so on. A sum of convex
terms is least where no exchange of one object along a path of classes makes it less (Murota, Discrete convex analysis).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from .._common.validation import FloatArray, IntArray
from .memberships import Choice

#: Orders are searched over subsets of the classes that objects hesitate between.
MOST_CLASSES = 16


def hesitating(objects: Sequence[Choice]) -> list[int]:
    """The classes that are one of several for some object."""
    return sorted({j for own in objects if len(own) > 1 for j in own})


def greatest(objects: Sequence[Choice], terms: FloatArray) -> IntArray:
    """The class counts of the greatest sum of terms.

    `objects`: the classes that each object may take; at most `MOST_CLASSES` may be one of several. `terms` (ndarray,
    shape (K, n + 1)): for each class what each of its counts adds: convex.

    >>> greatest([(0,), (0, 1), (0, 1)], np.array([[0, 1, 4, 9], [0, 2, 5, 9]])).tolist()
    [3, 0]
    """
    counts, classes = _certain(objects, len(terms)), hesitating(objects)
    ranks = _ranks(objects, classes)
    best, last = np.full(len(ranks), -np.inf), np.zeros(len(ranks), dtype=np.int64)
    best[0] = 0.0
    for subset in range(1, len(ranks)):
        for bit, j in enumerate(classes):
            before = subset & ~(1 << bit)
            if before == subset:
                continue
            value = best[before] + terms[j, counts[j] + ranks[subset] - ranks[before]]
            if value > best[subset]:
                best[subset], last[subset] = value, bit
    moved, subset = counts.copy(), len(ranks) - 1
    while subset:
        before = subset & ~(1 << int(last[subset]))
        moved[classes[int(last[subset])]] += ranks[subset] - ranks[before]
        subset = before
    return moved


def smallest(objects: Sequence[Choice], terms: FloatArray) -> IntArray:
    """The class counts of the smallest sum of terms, as for `greatest`, of any number of classes.

    >>> smallest([(0,), (0, 1), (0, 1)], np.array([[0, 1, 4, 9], [0, 2, 5, 9]])).tolist()
    [2, 1]
    """
    counts = _certain(objects, len(terms))
    taken: dict[Choice, Counter[int]] = {}
    for own in objects:
        if len(own) > 1:
            j = min(own, key=lambda j: float(terms[j, counts[j] + 1] - terms[j, counts[j]]))
            taken.setdefault(own, Counter())[j] += 1
            counts[j] += 1
    while (path := _better_exchange(taken, counts, terms)) is not None:
        for (start, end), own in path:
            taken[own][start] -= 1
            taken[own][end] += 1
        counts[path[0][0][0]] -= 1
        counts[path[-1][0][1]] += 1
    return counts


_Path: TypeAlias = list[tuple[tuple[int, int], Choice]]


def _better_exchange(taken: Mapping[Choice, Counter[int]], counts: IntArray, terms: FloatArray) -> _Path | None:
    """The path of classes along which one object each moves on that makes the sum smallest; None if none does."""
    edges = {
        (u, v): own for own, places in taken.items() for u, count in places.items() if count for v in own if u != v
    }
    best, best_path = -1e-12 * max(1.0, float(np.abs(terms).max())), None
    for start in {u for u, _ in edges}:
        without = float(terms[start, counts[start] - 1] - terms[start, counts[start]])
        for end, path in _paths(start, edges).items():
            change = without + float(terms[end, counts[end] + 1] - terms[end, counts[end]])
            if change < best:
                best, best_path = change, path
    return None if best_path is None else [(edge, edges[edge]) for edge in best_path]


def _paths(start: int, edges: Mapping[tuple[int, int], Choice]) -> dict[int, list[tuple[int, int]]]:
    """The shortest path to every class that can be reached."""
    paths: dict[int, list[tuple[int, int]]] = {start: []}
    waiting = [start]
    for at in waiting:
        for u, v in edges:
            if u == at and v not in paths:
                paths[v] = [*paths[u], (u, v)]
                waiting.append(v)
    del paths[start]
    return paths


def _certain(objects: Sequence[Choice], n_classes: int) -> IntArray:
    """The counts of the objects that do not hesitate."""
    return np.bincount([own[0] for own in objects if len(own) == 1], minlength=n_classes).astype(np.int64)


def _ranks(objects: Sequence[Choice], classes: Sequence[int]) -> IntArray:
    """For each set of classes, as bits, how many hesitating objects may take one of them."""
    place = {j: bit for bit, j in enumerate(classes)}
    within = np.zeros(1 << len(classes), dtype=np.int64)
    for own in objects:
        if len(own) > 1:
            within[sum(1 << place[j] for j in own)] += 1
    for bit in range(len(classes)):
        halves = within.reshape(-1, 2, 1 << bit)
        halves[:, 1] += halves[:, 0]
    # Those that may take one of a set are all but those that may take of the other classes alone.
    return np.asarray(within[-1] - within[::-1])
