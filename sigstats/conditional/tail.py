"""The exact tail of a sum of scores of independent counts, given the total of the counts.

Both exact tests of this package are one problem: counts x_1, ..., x_K are independent (binomial or Poisson) given
nothing but their sum, each outcome has a score sum_j s_j(x_j) with every s_j concave, and the p-value is the
probability that the score is at most the observed one. Listing the outcomes takes time exponential in K. Here

1. the columns are split into two halves, and each half is listed column by column;
2. a partial outcome none of whose completions can exceed the observed score is counted at once, by the law of the
   sum of the remaining columns (Mehta and Patel 1983, longest path), so that only those near the middle are kept;
3. partial outcomes with equal count and equal integer key are merged (the nodes of their network);
4. the two lists are sorted by score and joined: each entry of one meets a prefix of the other. A long second list is
   never kept: its last column is added while it meets the first.

So the work grows with the square root of the number of outcomes inside the acceptance region. Every term is positive:
small p-values lose no accuracy to cancellation (`sigstats.conditional.problem` bounds their error). Scores are compared
as floats only where they differ by more than their rounding; the rest is settled by integers. A handful of outcomes is
listed in whole. Not part of the public names.

When not to use: a table beyond `STATE_LIMIT` (see `sigstats.conditional.fourier_bounds`).
"""

import math
from typing import NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray
from .exact_keys import SMALL_TOTAL
from .problem import Parts, Problem, best_scores, none_heavier, open_volume, relative_error, worst_scores
from .states import States, by_count, in_order, join, join_last, merge, most_alike

#: The longest list of partial outcomes: some seconds.
STATE_LIMIT = 2**23
#: The same where another method is at hand: a second or two.
QUICK_LIMIT = 2**20
TOO_LARGE = "Monte-Carlo, since the exact p-value would take long; method='exact' insists on it"
#: A second list that may become longer than this is not kept.
_KEPT = 2**20
#: The most outcomes to examine for each open one, among those that a last column extends.
_CLOSED = 6
#: Below this many outcomes, plain enumeration is faster.
FEW_OUTCOMES = 2**15
_CHUNK = 2**20


class StateLimitError(Exception):
    """The lists would become longer than the limit."""


class ConditionalTail(NamedTuple):
    """A probability and a bound on its relative error."""

    pvalue: float
    error: float


def tail(problem: Problem, *, limit: int = STATE_LIMIT) -> ConditionalTail:
    """P(score <= threshold | sum of counts = total); StateLimitError if more than `limit` outcomes had to be kept."""
    if len(problem.scores) == 1:
        return ConditionalTail(1.0, 0.0)
    parts = Parts()
    _add_up(problem, parts, limit)
    p = min(math.fsum(parts), 1.0)
    return ConditionalTail(p, relative_error(problem, p, parts))


def _add_up(problem: Problem, parts: Parts, limit: int) -> None:
    sizes = [len(score) for score in problem.scores]
    if math.prod(sizes) <= FEW_OUTCOMES * max(sizes):
        parts.append(_sum_of_all(problem))
        return
    first, second = _halves(problem)
    if open_volume(problem, first, second) > 1.05 * limit or open_volume(problem, second, first) > 4 * limit:
        raise StateLimitError
    left, _ = _list_open(problem, first, second, None, parts, limit)
    if not len(left):
        return
    left = left.take(np.argsort(left.count, kind="stable"))
    right, last = _list_open(problem, second, first, left, parts, limit)
    if last is None:
        parts.extend(join(problem, left, in_order(right), parts))
    else:
        parts.extend(join_last(problem, in_order(left), right, *last, parts))


def _sum_of_all(problem: Problem) -> float:
    """Return the tail from the list of all outcomes; the largest column takes what the others leave."""
    *columns, last = sorted(range(len(problem.scores)), key=lambda j: len(problem.scores[j]))
    sizes = [len(problem.scores[j]) for j in columns]
    left = np.array([problem.total])
    tables = [problem.scores] if problem.laws is problem.scores else [problem.scores, problem.laws]
    sums, place = [np.zeros(1) for _ in tables], np.zeros(1, np.int64)
    room = sum(len(problem.scores[j]) - 1 for j in columns) + len(problem.scores[last]) - 1
    for j, size in zip(columns, sizes, strict=True):
        room -= size - 1
        x = np.arange(size)
        left = left[:, None] - x
        feasible = (left >= 0) & (left <= room)
        left = left[feasible]
        sums = [(total[:, None] + table[j])[feasible] for total, table in zip(sums, tables, strict=True)]
        place = (place[:, None] * size + x)[feasible]
    sums = [total + table[last][left] for total, table in zip(sums, tables, strict=True)]
    score, log_mass = sums[0], sums[-1]
    counted = score <= problem.threshold + problem.margin
    if problem.margin:
        near = np.flatnonzero(counted & (score > problem.threshold - problem.margin))
        outcomes = np.empty((len(near), len(problem.scores)), dtype=np.int64)
        outcomes[:, columns] = np.transpose(np.unravel_index(place[near], sizes))
        outcomes[:, last] = left[near]
        counted[near] = none_heavier(problem, outcomes)
    return float(np.exp(log_mass[counted] - problem.norm).sum())


def _halves(problem: Problem) -> tuple[list[int], list[int]]:
    """Return the columns in two lists of about equally many partial outcomes."""
    halves: tuple[list[int], list[int]] = ([], [])
    sizes = [0.0, 0.0]
    spread = [math.log(3 + math.sqrt(parameter)) for parameter in problem.parameters]
    merging = problem.keys is not None and problem.keys.merging
    for j in sorted(range(len(spread)), key=lambda j: -problem.parameters[j]):
        side = 0 if sizes[0] <= sizes[1] else 1
        twins = sum(problem.parameters[i] == problem.parameters[j] for i in halves[side]) if merging else 0
        halves[side].append(j)
        sizes[side] += spread[j] - math.log(1 + twins)
    return halves


def _list_open(
    problem: Problem, columns: list[int], others: list[int], partner: States | None, parts: Parts, limit: int
) -> tuple[States, tuple[int, IntArray] | None]:
    """List the partial outcomes of `columns` that are still open, and add the probabilities of settled ones to `parts`.

    With a `partner`, the other half's list, settled outcomes are only combined with the partner's outcomes (the others
    were settled when the partner was listed), and the last column of a long list, with its open counts, is still to be
    added.
    """
    words = problem.keys.packing.words if problem.keys is not None else 0
    states = States(np.zeros(1, np.int64), np.zeros(1), np.zeros(1), np.zeros((1, words), np.uint64))
    everything = set(range(len(problem.scores)))
    for place, j in enumerate(columns):
        rest = columns[place + 1 :]
        law = problem.masses(rest if partner is not None else rest + others)
        if partner is not None:
            parts.count(4 * problem.total, most_alike(partner), most_alike(states))
            law = _with_partner(law, partner, problem.total)
        best, worst = best_scores(problem, rest + others), worst_scores(problem, rest + others)
        open_x = _window(problem, j, best_scores(problem, sorted(everything - {j})) if place else best)
        parts.count(2 * problem.total, most_alike(states))
        parts.append(_probability_outside(problem, states, j, open_x, law))
        if partner is not None and not rest and len(states) * len(open_x) > _CLOSED * _KEPT:
            if len(states) * len(open_x) > _CLOSED * limit:
                raise StateLimitError
            return states, (j, open_x)
        states = _extend(problem, states, j, open_x, (best, worst, law - problem.norm), parts, limit)
        merging = problem.keys is not None and problem.keys.merging
        small = len(problem.scores[j]) <= SMALL_TOTAL + 1 or problem.parameters[j] in [
            problem.parameters[i] for i in columns[:place]
        ]
        if merging and small and place:
            states = merge(states, parts)
        if not len(states):
            break
    return states, None


def _with_partner(law: FloatArray, partner: States, total: int) -> FloatArray:
    """Return the log law of the sum of the remaining columns and the partner's count."""
    low, (held, top) = int(partner.count.min()), by_count(partner)
    peak = float(law.max())
    out = np.full(total + 1, -np.inf)
    with np.errstate(divide="ignore"):
        spread = np.log(np.convolve(held, np.exp(law - peak))[: total + 1 - low]) + top + peak
    out[low : low + len(spread)] = spread
    return out


def _window(problem: Problem, j: int, best_others: FloatArray) -> IntArray:
    """Return the counts of column j that can still reach the observed score: consecutive, since it is concave."""
    reach = problem.scores[j] + best_others[problem.total - np.arange(len(problem.scores[j]))]
    within = np.flatnonzero(reach > problem.threshold - problem.margin)
    return np.arange(within[0], within[-1] + 1) if within.size else within


def _probability_outside(problem: Problem, states: States, j: int, open_x: IntArray, law: FloatArray) -> float:
    """Return the probability of all completions of `states` with a count of column j outside `open_x`."""
    low, high = (int(open_x[0]), int(open_x[-1])) if len(open_x) else (0, -1)
    first, held = int(states.count.min()), by_count(states)
    out = 0.0
    for start, stop in ((0, low), (high + 1, len(problem.scores[j]))):
        mass = problem.laws[j][start:stop][: problem.total - first - start + 1]
        if not len(mass):
            continue
        sums = np.convolve(held[0], np.exp(mass - mass.max()))
        left = law[: problem.total - first - start + 1][::-1][: len(sums)]
        peak = left.max()
        if peak > -np.inf:
            out += float(sums[: len(left)] @ np.exp(left - peak)) * math.exp(held[1] + mass.max() + peak - problem.norm)
    return out


def _extend(
    problem: Problem,
    states: States,
    j: int,
    open_x: IntArray,
    rest: tuple[FloatArray, FloatArray, FloatArray],
    parts: Parts,
    limit: int,
) -> States:
    """Return each state extended by each open count of column j, without the states that are settled."""
    best, worst, law = rest
    mass = problem.laws[j][open_x]
    score = problem.scores[j][open_x]
    keys = problem.keys.table(j, open_x) if problem.keys is not None else np.zeros((len(open_x), 0), np.uint64)
    kept: list[States] = []
    size = 0
    step = max(1, _CHUNK // max(len(open_x), 1))
    for start in range(0, len(states), step):
        part = slice(start, start + step)
        left = problem.total - states.count[part, None] - open_x
        feasible = left >= 0
        left[~feasible] = 0
        total_score = states.score[part, None] + score
        log_mass = states.log_mass[part, None] + mass
        low = total_score + best[left] <= problem.threshold - problem.margin
        parts.append(float(np.exp((log_mass + law[left])[low & feasible]).sum()))
        is_open = feasible & ~low & (total_score + worst[left] <= problem.threshold + problem.margin)
        i, x = np.nonzero(is_open)
        size += len(i)
        if size > limit:
            raise StateLimitError
        i += start
        kept.append(
            States(states.count[i] + open_x[x], total_score[is_open], log_mass[is_open], states.key[i] + keys[x])
        )
    pieces = kept or [states]  # without states there are no pieces
    return States(
        count=np.concatenate([piece.count for piece in pieces]),
        score=np.concatenate([piece.score for piece in pieces]),
        log_mass=np.concatenate([piece.log_mass for piece in pieces]),
        key=np.concatenate([piece.key for piece in pieces]),
    )
