"""The ends of p-values and of Pearson's chi-square over all crisp readings, without listing the readings.

`greatest` and `smallest`: the class counts with the greatest, or smallest, sum of convex terms, one for each class. The
class counts of the readings are the integer points of the base polytope of a polymatroid; the rank of a set of classes
is the number of objects that may take one of them.

`lower_bound`, `upper_bound_of_fit` and `upper_bound_of_two`: certified bounds of Pearson's chi-square.

`efficiency_ends`: the efficiency test deals the assigned classes at random to the objects. If a reading gives one
object another class, true or assigned, the number correct of any deal changes by at most 1. So if the change makes one
more object correct, the p-value does not increase: P'(T >= t + 1) <= P(T >= t). The smallest p-value is therefore that
of a reading in which all objects that one step can make correct are correct, and the largest that of a reading in which
all objects that may be wrong are wrong. If these readings are too many to list, those at most m steps from one of them
have p-values between its P(T >= t + m) and its P(T >= t - m).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize

from .._common.validation import FloatArray, IntArray
from ..fixed_margins.upper_tail import correct_range, upper_tail
from .degrees import Choice, Counts, Ends, TooManyTables, limits, reachable

#: `greatest` goes through the subsets of the classes between which objects hesitate.
MOST_CLASSES = 16
#: The most steps of the Frank-Wolfe iteration.
_ITERATIONS = 300

#: A move of one object: the class that it leaves, and the class that it takes.
_Move: TypeAlias = tuple[int, int]
#: A true and an assigned class that an object may take together.
Pair: TypeAlias = tuple[int, int]


def hesitating(objects: Sequence[Choice]) -> list[int]:
    """Return the classes that ambiguous objects may take."""
    return sorted({j for choice in objects if len(choice) > 1 for j in choice})


def greatest(objects: Sequence[Choice], terms: FloatArray) -> IntArray:
    """Return the class counts that give the greatest sum of terms.

    A convex function is largest at a vertex, which an order of the classes gives (Edmonds): as many objects as possible
    take the first, then the second, and so on. The best order is found subset by subset.

    `objects`: the classes that each object may take; at most `MOST_CLASSES` may be one of several. `terms` (ndarray,
    shape (K, n + 1)): for each class the convex function of its count.
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
    subset = len(ranks) - 1
    while subset:
        bit = int(last[subset])
        before = subset & ~(1 << bit)
        counts[classes[bit]] += ranks[subset] - ranks[before]
        subset = before
    return counts


def _ranks(objects: Sequence[Choice], classes: Sequence[int]) -> IntArray:
    """Return the number of ambiguous objects that may take one of the classes of a set, for each set (as bits)."""
    place = {j: bit for bit, j in enumerate(classes)}
    within = np.zeros(1 << len(classes), dtype=np.int64)
    for choice in objects:
        if len(choice) > 1:
            within[sum(1 << place[j] for j in choice)] += 1
    for bit in range(len(classes)):
        halves = within.reshape(-1, 2, 1 << bit)
        halves[:, 1] += halves[:, 0]
    # All objects may take a class of the set, except those that may only take classes outside it.
    return np.asarray(within[-1] - within[::-1])


def smallest(objects: Sequence[Choice], terms: FloatArray) -> IntArray:
    """Return the class counts that give the smallest sum of terms, as `greatest`, for any number of classes.

    A sum of convex terms is smallest where no moves of objects along a path of classes make it smaller (Murota,
    Discrete convex analysis).
    """
    counts = _certain(objects, len(terms))
    taken: dict[Choice, Counter[int]] = {}
    for choice in objects:
        if len(choice) > 1:
            j = min(choice, key=lambda j: float(terms[j, counts[j] + 1] - terms[j, counts[j]]))
            taken.setdefault(choice, Counter())[j] += 1
            counts[j] += 1
    while path := _better_path(taken, counts, terms):
        for (start, end), choice in path.items():
            taken[choice][start] -= 1
            taken[choice][end] += 1
            counts[start] -= 1
            counts[end] += 1
    return counts


def _better_path(taken: Mapping[Choice, Counter[int]], counts: IntArray, terms: FloatArray) -> dict[_Move, Choice]:
    """Return the path of moves that reduces the sum most, with the choice of each moved object; empty if none does."""
    moves = {(u, v): choice for choice, places in taken.items() for u in +places for v in choice if u != v}
    best, best_path = -1e-12 * max(1.0, float(np.abs(terms).max())), []
    for start in {u for u, _ in moves}:
        without = float(terms[start, counts[start] - 1] - terms[start, counts[start]])
        for end, path in _paths(start, moves).items():
            change = without + float(terms[end, counts[end] + 1] - terms[end, counts[end]])
            if change < best:
                best, best_path = change, path
    return {move: moves[move] for move in best_path}


def _paths(start: int, moves: Collection[_Move]) -> dict[int, list[_Move]]:
    """Return the shortest path of moves to every other class that can be reached."""
    paths: dict[int, list[_Move]] = {start: []}
    waiting = [start]
    for at in waiting:
        for u, v in moves:
            if u == at and v not in paths:
                paths[v] = [*paths[u], (u, v)]
                waiting.append(v)
    del paths[start]
    return paths


def _certain(objects: Sequence[Choice], n_classes: int) -> IntArray:
    """Return the class counts of the unambiguous objects."""
    return np.bincount([choice[0] for choice in objects if len(choice) == 1], minlength=n_classes).astype(np.int64)


def lower_bound(
    value: Callable[[FloatArray], float],
    slope: Callable[[FloatArray], FloatArray],
    samples: Sequence[Sequence[Choice]],
    k: int,
) -> float:
    """Return a lower bound of a convex function of one or two samples' class counts, by tangents (Frank and Wolfe)."""
    at = np.concatenate([_spread(objects, k) for objects in samples])
    objects_of_choice = [*map(Counter, samples)]
    bound = 0.0
    for iteration in range(_ITERATIONS):
        gradient = slope(at)
        gradients = np.split(gradient, len(samples))
        corner = np.concatenate([*map(_corner, objects_of_choice, gradients)])
        here = value(at)
        bound = max(bound, here + float(gradient @ (corner - at)))
        if here - bound <= 1e-9 * max(here, 1.0):
            break
        steps = np.append(np.linspace(0, 1, 21)[1:-1], 2 / (iteration + 2))
        tried = [value(at + step * (corner - at)) for step in steps]
        at = at + steps[int(np.argmin(tried))] * (corner - at)
    # Rounding may raise the bound above the minimum by less than is subtracted here.
    return max(0.0, bound * (1 - 1e-9) - 1e-9)


def _corner(objects: Mapping[Choice, int], gradient: FloatArray) -> FloatArray:
    """Return the counts of the reading in which the linear function with this gradient is smallest."""
    counts, slopes = np.zeros_like(gradient), gradient.tolist()
    for choice, times in objects.items():
        counts[min(choice, key=slopes.__getitem__)] += times
    return counts


def _spread(objects: Sequence[Choice], n_classes: int) -> FloatArray:
    """Return the class counts if every object is divided equally among its classes."""
    counts = np.zeros(n_classes)
    for choice in objects:
        counts[list(choice)] += 1 / len(choice)
    return counts


def upper_bound_of_fit(objects: Sequence[Choice], expected: FloatArray) -> float:
    """Return an upper bound of the chi-square statistic of class counts and expected counts.

    The sum of the counts is known, so multiples of them may be subtracted from the terms before these are maximised.
    """
    low, high = limits(objects, len(expected))

    def bound(multiplier: FloatArray) -> float:
        ends = np.array([(end - expected) ** 2 / expected - multiplier[0] * end for end in (low, high)])
        return float(ends.max(axis=0).sum() + multiplier[0] * len(objects))

    return _least_bound(bound, 1)


def upper_bound_of_two(first: Sequence[Choice], second: Sequence[Choice], k: int) -> float:
    """Return an upper bound of the chi-square of two samples' class counts, with a multiplier for each sample."""
    n, m = len(first), len(second)
    corners = list(product(limits(first, k), limits(second, k)))

    def bound(multiplier: FloatArray) -> float:
        ends = np.array([two_samples(a, b, n, m) - multiplier[0] * a - multiplier[1] * b for a, b in corners])
        return float(ends.max(axis=0).sum() + multiplier @ [n, m])

    return _least_bound(bound, 2)


def _least_bound(bound: Callable[[FloatArray], float], size: int) -> float:
    """Return the least bound that a search over this many multipliers finds."""
    start = np.zeros(size)
    optimum = minimize(bound, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-8, "maxiter": 2000})
    return min(bound(start), float(optimum.fun)) * (1 + 1e-9)


def two_samples(a: FloatArray, b: FloatArray, n: int, m: int) -> FloatArray:
    """Return the term of each class in the chi-square of two samples of sizes n and m."""
    both = a + b
    return np.asarray((m * a - n * b) ** 2 / (n * m * np.where(both > 0, both, 1)))


def slopes_of_two(a: FloatArray, b: FloatArray, n: int, m: int) -> FloatArray:
    """Return the derivatives of the sum of the terms of `two_samples`."""
    both = np.where(a + b > 0, a + b, 1)
    difference = (m * a - n * b) / (n * m * both)
    square = n * m * difference**2
    return np.concatenate([2 * m * difference - square, -2 * n * difference - square])


def efficiency_ends(true: Sequence[Choice], assigned: Sequence[Choice], k: int, most: int) -> Ends:
    """Return the ends of the p-values of the efficiency test; bounds if readings give more than `most` tables."""
    pairs = list(zip(true, assigned, strict=True))
    correct, wrong = [_most_correct(*pair) for pair in pairs], [_most_wrong(*pair) for pair in pairs]
    try:
        (lowest,) = reachable(_cells(correct, k), size=2 * k + 1, most=most)
        (highest,) = reachable(_cells(wrong, k), size=2 * k + 1, most=most)
    except TooManyTables:
        return Ends(_bound(correct, k, 1), _bound(wrong, k, -1), False)
    return Ends(min(_pvalues(lowest, k, max)), max(_pvalues(highest, k, min)), True)


def _most_correct(true: Choice, assigned: Choice) -> list[Pair]:
    """Return the readings of an object, except wrong ones that a single step makes correct."""
    return [(t, a) for t, a in product(true, assigned) if t == a or (t not in assigned and a not in true)]


def _most_wrong(true: Choice, assigned: Choice) -> list[Pair]:
    """Return the wrong readings of an object, or its only reading."""
    return [(t, a) for t, a in product(true, assigned) if t != a] or [(true[0], assigned[0])]


def _cells(options: Sequence[Sequence[Pair]], k: int) -> Iterable[list[Counts]]:
    """Yield the counts that each reading of an object adds: true and assigned classes, and the number correct."""
    for choice in options:
        yield [(*(int(j == t) for j in range(k)), *(int(j == a) for j in range(k)), int(t == a)) for t, a in choice]


def _pvalues(tables: Iterable[Counts], k: int, end: Callable[[int, int], int]) -> Iterable[float]:
    """Yield the p-value of each pair of margins, with the largest (`end` is max) or smallest number correct."""
    correct: dict[Counts, int] = {}
    for table in tables:
        margins, number = table[:-1], table[-1]
        correct[margins] = end(correct.get(margins, number), number)
    for margins, number in correct.items():
        yield _tail(margins[:k], margins[k:], number)


def _bound(options: Sequence[Sequence[Pair]], k: int, sign: int) -> float:
    """Return a lower (sign 1) or upper (-1) bound of the p-values of all these readings, from one of them."""
    reading, steps, correct = [], 0, 0
    for choice in options:
        # For each pair of classes, the steps to the farthest other pair of this object.
        farthest = [max((t != true) + (a != assigned) for true, assigned in choice) for t, a in choice]
        reading.append(choice[int(np.argmin(farthest))])
        steps += min(farthest)
        correct += (max if sign > 0 else min)(int(t == a) for t, a in choice)
    rows, columns = (np.bincount([pair[side] for pair in reading], minlength=k) for side in (0, 1))
    return _tail(tuple(rows.tolist()), tuple(columns.tolist()), correct + sign * steps)


def _tail(rows: Counts, columns: Counts, correct: int) -> float:
    """Return the probability of at least this number correct, for any number."""
    least, most = correct_range(np.array(rows), np.array(columns))
    if correct <= least:
        return 1.0
    return 0.0 if correct > most else float(upper_tail(rows, columns, correct).pvalue)
