"""The exact law of the spread of rank sums where the ranks within each data set can be exchanged.

The rank sums are a walk over a lattice, one step a data set, whose paths are counted in doubles: all terms are
positive, so that a count of any size keeps all but a few of its digits, and counts up to 2**53 are exact. Either the
whole lattice is an array, or the sorted rank sums are listed, since models can be exchanged. The work of both is known
before it begins.

When not to use: beyond `sigstats.many_datasets.friedman_exact.feasible`; random permutations give an interval there.
"""

import math
from collections import Counter
from itertools import permutations
from typing import TypeAlias

import numpy as np

from .._common.validation import FloatArray, IntArray

#: The most additions over the lattice and its most points, and the most transitions between listed sums: 3 seconds.
_MOST_ADDITIONS, _MOST_POINTS, _MOST_TRANSITIONS = 1.5e9, 2**23, 1.2e7
_MOST_MODELS, _CHUNK = 8, 2**18

#: The distinct orders of one data set's ranks, shape (m, k), and how often each occurs, or with what probability.
Orders: TypeAlias = tuple[IntArray, FloatArray]


def feasible(doubled: IntArray) -> bool:
    """True if `exact_pvalue` takes at most some three seconds; `doubled`, (N, k), are twice the ranks of k models."""
    return doubled.shape[1] <= _MOST_MODELS and min(_lattice_work(doubled), _listing_work(doubled)) <= 1


def exact_pvalue(doubled: IntArray) -> tuple[float, float]:
    """The share of all permutations within data sets whose rank sums spread at least as widely, and its relative error.

    >>> exact_pvalue(np.tile([2, 4, 6], (2, 1)))[0]  # two data sets in the same order: 6 of 36
    0.16666666666666666
    """
    datasets, k = doubled.shape
    step = int(np.gcd.reduce(np.diff(np.sort(doubled, axis=1), axis=1), axis=None)) or 1
    lowest = doubled.min(axis=1)
    observed = int((doubled.sum(axis=0) ** 2).sum())
    whole = datasets * math.log2(math.factorial(k)) <= 53  # then all counts are exact
    rows = [_orders(row, whole) for row in ((doubled - lowest[:, None]) // step).tolist()]
    least, total = int(lowest.sum()), int(doubled.sum())
    walk = _by_lattice if _lattice_work(doubled) <= _listing_work(doubled) else _by_listing
    sums, shares = walk(rows, k)
    sums = least + step * sums
    last = total - sums.sum(axis=-1)
    extreme = (sums**2).sum(axis=-1) + last**2 >= observed
    p = float(shares[extreme].sum())
    if whole:
        return p / math.factorial(k) ** datasets, 2.0**-53
    return min(1.0, p), (datasets * (math.factorial(k) + 2) + 100) * 2.0**-53 + 1e-300 / max(p, 1e-300)


def _orders(row: list[int], whole: bool) -> Orders:
    counted = Counter(permutations(row))
    times = np.array([*counted.values()], dtype=np.float64)
    return np.array([*counted], dtype=np.int64), times if whole else times / times.sum()


def _lattice_work(doubled: IntArray) -> float:
    """The additions over the lattice, as a share of what is affordable."""
    k = doubled.shape[1]
    step = int(np.gcd.reduce(np.diff(np.sort(doubled, axis=1), axis=1), axis=None)) or 1
    points = (1.0 + np.cumsum(np.ptp(doubled, axis=1)) / step) ** (k - 1)
    return float(max(points.sum() * math.factorial(k) / _MOST_ADDITIONS, points[-1] / _MOST_POINTS))


def _listing_work(doubled: IntArray) -> float:
    """The transitions between sorted sums, likewise: the lattice points of a permutohedron grow as k^(k-2) t^(k-1)."""
    datasets, k = doubled.shape
    step = int(np.gcd.reduce(np.diff(np.sort(doubled, axis=1), axis=1), axis=None)) or 1
    points = (k ** ((k - 2) / (k - 1)) * np.arange(datasets) * (2 / step) + 1) ** (k - 1)
    return float((points + math.factorial(k)).sum() / _MOST_TRANSITIONS)


def _by_lattice(rows: list[Orders], k: int) -> tuple[IntArray, FloatArray]:
    """The sums of all models but the last and their weights, over the lattice."""
    law = np.ones((1,) * (k - 1))
    for orders, weights in rows:
        grown = np.zeros(np.array(law.shape) + orders.max())
        for order, weight in zip(orders.tolist(), weights.tolist(), strict=True):
            grown[tuple(slice(start, start + law.shape[0]) for start in order[:-1])] += weight * law
        law = grown
    places = np.nonzero(law)
    return np.stack(places, axis=-1), law[places]


def _by_listing(rows: list[Orders], k: int) -> tuple[IntArray, FloatArray]:
    """The same by a list of sorted sums; those of all models but the last."""
    states: IntArray = np.zeros((1, k), dtype=np.int64)
    shares: FloatArray = np.ones(1)
    for orders, weights in rows:
        base = int(states.max() + orders.max()) + 1
        digits = base ** np.arange(k, dtype=np.int64)
        keys: IntArray = np.zeros(0, dtype=np.int64)
        counts: FloatArray = np.zeros(0)
        step = max(1, _CHUNK // len(orders))
        for start in range(0, len(states), step):
            moved = np.sort(states[start : start + step, None, :] + orders, axis=-1) @ digits
            mass = shares[start : start + step, None] * weights
            keys, place = np.unique(np.concatenate([keys, moved.ravel()]), return_inverse=True)
            counts = np.asarray(np.bincount(place, np.concatenate([counts, mass.ravel()])), dtype=np.float64)
        states = keys[:, None] // digits % base
        shares = counts
    return states[:, :-1], shares
