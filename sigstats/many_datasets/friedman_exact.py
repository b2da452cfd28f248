"""The exact law of Friedman's statistic: of the spread of the models' rank sums if all orders are equally likely.

The rank sums are a walk over a lattice, one step a data set, whose paths are counted in doubles: all terms are
positive, so that a count of any size keeps all but a few of its digits, and counts up to 2**53 are exact. Either the
whole lattice is an array, or the sorted rank sums are listed, since models can be exchanged. Rank sums that spread less
than the observed ones even if all further data sets agree are left out of the list, so that a far tail is short.

When not to use: where `sigstats.many_datasets.friedman_exact.exact_pvalue` finds too many; random permutations give an
interval there.
"""

import math
from collections import Counter
from functools import cache
from itertools import permutations
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln

from .._common.validation import FloatArray, IntArray

#: The work of 3 seconds: additions over the lattice, points of the lattice, and transitions between listed sums.
_MOST_ADDITIONS, _MOST_POINTS, _MOST_TRANSITIONS = 1.5e9, 2**23, 1.2e7
_MOST_MODELS, _CHUNK = 8, 2**18
#: The distinct orders of one data set's ranks, shape (m, k), and how often each occurs, or with what probability.
Orders: TypeAlias = tuple[IntArray, FloatArray]


def exact_pvalue(doubled: IntArray, *, rare: bool = False) -> tuple[float, float] | None:
    """Return the share of permutations whose rank sums spread at least as widely, and its relative error.

    `doubled`, (N, k), are twice the ranks of k models. None if the work would take more than about three seconds; for
    `rare` outcomes this is known only after trying.

    >>> exact_pvalue(np.tile([2, 4, 6], (2, 1)))[0]  # two data sets in the same order: 6 of 36
    0.16666666666666666
    """
    datasets, k = doubled.shape
    step = int(np.gcd.reduce(np.diff(np.sort(doubled, axis=1), axis=1), axis=None)) or 1
    steps = (doubled - doubled.min(axis=1)[:, None]) // step
    lattice, listing = _lattice_work(steps), _listing_work(datasets, k, step)
    if k > _MOST_MODELS or (min(lattice, listing) > 1 and not rare):
        return None
    observed = int((steps.sum(axis=0) ** 2).sum())
    whole = datasets * math.log2(math.factorial(k)) <= 53  # then all counts are exact
    orders = cache(lambda row: _orders(row, whole))
    rows = [orders(tuple(row)) for row in np.sort(steps, axis=1).tolist()]
    shares: FloatArray | None
    if lattice <= min(listing, 1):
        sums, shares = _by_lattice(rows, k)
        last = int(steps.sum()) - sums.sum(axis=-1)
        shares = shares[(sums**2).sum(axis=-1) + last**2 >= observed]
    else:
        shares = _by_listing(rows, np.sort(steps, axis=1), observed, known=listing <= 1)
        if shares is None:
            return None
    p = float(shares.sum())
    if whole:
        return p / math.factorial(k) ** datasets, 2.0**-53
    return min(1.0, p), (datasets * (math.factorial(k) + 2) + 100) * 2.0**-53 + 1e-300 / max(p, 1e-300)


def least_pvalue(doubled: IntArray) -> float:
    """Return the probability of the observed ranks with the models in any order: a lower bound of p at any size."""
    k = doubled.shape[1]
    ties = [np.unique(row, return_counts=True)[1] for row in doubled]
    alike = np.unique(doubled, axis=1, return_counts=True)[1]  # models with the same ranks throughout
    log = math.lgamma(k + 1) * (1 - len(doubled)) + float(gammaln(np.concatenate(ties) + 1).sum())
    return min(1.0, math.exp(log - float(gammaln(alike + 1).sum())))


def _orders(row: tuple[int, ...], whole: bool) -> Orders:
    counted = Counter(permutations(row))
    times = np.array([*counted.values()], dtype=np.float64)
    return np.array([*counted], dtype=np.int64), times if whole else times / times.sum()


def number_of_orders(k: int) -> float:
    """Return k!, infinite where it exceeds a float."""
    return float(math.factorial(k)) if k <= 170 else math.inf


@np.errstate(over="ignore")  # infinite work is too much
def _lattice_work(steps: IntArray) -> float:
    """Return the number of additions over the lattice, as a share of the affordable number."""
    k = steps.shape[1]
    points = (1.0 + np.cumsum(steps.max(axis=1))) ** (k - 1)
    return float(max(points.sum() * number_of_orders(k) / _MOST_ADDITIONS, points[-1] / _MOST_POINTS))


@np.errstate(over="ignore")
def _listing_work(datasets: int, k: int, step: int) -> float:
    """Return the transitions between sorted rank sums, as a share of the affordable number.

    After t data sets the sums are the lattice points of a permutohedron, about k^(k-2) (2 t / step)^(k-1) of them. One
    in k! is sorted, and has k! successors.
    """
    points = (k ** ((k - 2) / (k - 1)) * np.arange(datasets) * (2 / step) + 1) ** (k - 1)
    return float((points + number_of_orders(k)).sum() / _MOST_TRANSITIONS)


def _by_lattice(rows: list[Orders], k: int) -> tuple[IntArray, FloatArray]:
    """Return the sums of all models but the last and their weights, over the lattice."""
    law = np.ones((1,) * (k - 1))
    for orders, weights in rows:
        grown = np.zeros(np.array(law.shape) + orders.max())
        for order, weight in zip(orders.tolist(), weights.tolist(), strict=True):
            grown[tuple(slice(start, start + law.shape[0]) for start in order[:-1])] += weight * law
        law = grown
    places = np.nonzero(law)
    return np.stack(places, axis=-1), law[places]


def _by_listing(rows: list[Orders], ascending: IntArray, observed: int, *, known: bool) -> FloatArray | None:
    """Return the shares of the sorted sums with this sum of squares or more; None if they are not `known` to be few."""
    k, transitions = ascending.shape[1], 0
    states: IntArray = np.zeros((1, k), dtype=np.int64)
    shares: FloatArray = np.ones(1)
    base = int(ascending.max(axis=1).sum()) + 1
    if base**k >= 2**63:
        return None
    digits = base ** np.arange(k, dtype=np.int64)
    left = ascending.sum(axis=0) - np.cumsum(ascending, axis=0)  # the widest sums of the data sets still to come
    for (orders, weights), rest in zip(rows, left, strict=True):
        transitions += len(states) * len(orders)
        if transitions > _MOST_TRANSITIONS and not known:
            return None
        keys: IntArray = np.zeros(0, dtype=np.int64)
        counts: FloatArray = np.zeros(0)
        step = max(1, _CHUNK // len(orders))
        for start in range(0, len(states), step):
            moved = np.sort(states[start : start + step, None, :] + orders, axis=-1)
            open_ = ((moved + rest) ** 2).sum(axis=-1) >= observed
            mass = (shares[start : start + step, None] * weights)[open_]
            keys, place = np.unique(np.concatenate([keys, moved[open_] @ digits]), return_inverse=True)
            counts = np.asarray(np.bincount(place, np.concatenate([counts, mass])), dtype=np.float64)
        states = keys[:, None] // digits % base
        shares = counts
    return shares
