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
listed in whole.

When not to use: a table beyond `STATE_LIMIT` (see `sigstats.conditional.fourier_bounds`).
"""

import math
from typing import NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray
from .exact_keys import SMALL_TOTAL
from .problem import Problem, TailSum, best_scores, none_heavier, open_volume, relative_error, worst_scores
from .states import States, join, join_last, law_of_counts, merge, most_alike, sorted_by_score

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
    tail_sum = TailSum()
    _add_terms(problem, tail_sum, limit)
    p = min(math.fsum(tail_sum.terms), 1.0)
    return ConditionalTail(p, relative_error(problem, p, tail_sum))


def _add_terms(problem: Problem, tail_sum: TailSum, limit: int) -> None:
    sizes = [len(score) for score in problem.scores]
    if math.prod(sizes) <= FEW_OUTCOMES * max(sizes):
        tail_sum.terms.append(_sum_of_all(problem))
        return
    first, second = _halves(problem)
    if open_volume(problem, first, second) > 1.05 * limit or open_volume(problem, second, first) > 4 * limit:
        raise StateLimitError
    left, _ = _list_open(problem, first, second, None, tail_sum, limit)
    if not len(left):
        return
    left = left.take(np.argsort(left.count, kind="stable"))
    right, open_counts = _list_open(problem, second, first, left, tail_sum, limit)
    if open_counts is None:
        join(problem, left, sorted_by_score(right), tail_sum)
    else:
        join_last(problem, sorted_by_score(left), right, second[-1], open_counts, tail_sum)


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


class _Completions(NamedTuple):
    """For each count that is left to the other columns: their best and worst score, and their log probability."""

    best: FloatArray
    worst: FloatArray
    log_law: FloatArray


def _list_open(
    problem: Problem, columns: list[int], others: list[int], partner: States | None, tail_sum: TailSum, limit: int
) -> tuple[States, IntArray | None]:
    """List the partial outcomes of `columns` that are still open, and add the probabilities of the settled ones.

    With a `partner`, the other half's list, settled outcomes are only combined with the partner's outcomes: the others
    were settled when the partner was listed. If the list would become long, its last column is then not added: its
    counts that can still reach the observed score are the second result.
    """
    words = problem.keys.packing.words if problem.keys is not None else 0
    states = States(np.zeros(1, np.int64), np.zeros(1), np.zeros(1), np.zeros((1, words), np.uint64))
    everything = set(range(len(problem.scores)))
    for place, j in enumerate(columns):
        rest = columns[place + 1 :]
        law = problem.masses(rest if partner is not None else rest + others)
        if partner is not None:
            tail_sum.record_additions(4 * problem.total, most_alike(partner), most_alike(states))
            law = _with_partner(law, partner, problem.total)
        best, worst = best_scores(problem, rest + others), worst_scores(problem, rest + others)
        open_counts = _window(problem, j, best_scores(problem, sorted(everything - {j})) if place else best)
        tail_sum.record_additions(2 * problem.total, most_alike(states))
        tail_sum.terms.append(_probability_outside(problem, states, j, open_counts, law))
        if partner is not None and not rest and len(states) * len(open_counts) > _CLOSED * _KEPT:
            if len(states) * len(open_counts) > _CLOSED * limit:
                raise StateLimitError
            return states, open_counts
        completions = _Completions(best, worst, law - problem.norm)
        states = _extend(problem, states, j, open_counts, completions, tail_sum, limit)
        merging = problem.keys is not None and problem.keys.merging
        earlier = [problem.parameters[i] for i in columns[:place]]
        often_equal = len(problem.scores[j]) <= SMALL_TOTAL + 1 or problem.parameters[j] in earlier
        if merging and often_equal and place:
            states = merge(states, tail_sum)
        if not len(states):
            break
    return states, None


def _with_partner(law: FloatArray, partner: States, total: int) -> FloatArray:
    """Return the log law of the sum of the remaining columns and the partner's count."""
    first, weights, log_scale = law_of_counts(partner)
    peak = float(law.max())
    out = np.full(total + 1, -np.inf)
    with np.errstate(divide="ignore"):
        spread = np.log(np.convolve(weights, np.exp(law - peak))[: total + 1 - first]) + log_scale + peak
    out[first : first + len(spread)] = spread
    return out


def _window(problem: Problem, j: int, best_others: FloatArray) -> IntArray:
    """Return the counts of column j that can still reach the observed score: consecutive, since it is concave."""
    reach = problem.scores[j] + best_others[problem.total - np.arange(len(problem.scores[j]))]
    within = np.flatnonzero(reach > problem.threshold - problem.margin)
    return np.arange(within[0], within[-1] + 1) if within.size else within


def _probability_outside(problem: Problem, states: States, j: int, open_counts: IntArray, law: FloatArray) -> float:
    """Return the probability of all completions of `states` with a count of column j outside `open_counts`."""
    low, high = (int(open_counts[0]), int(open_counts[-1])) if len(open_counts) else (0, -1)
    first, weights, log_scale = law_of_counts(states)
    out = 0.0
    for start, stop in ((0, low), (high + 1, len(problem.scores[j]))):
        mass = problem.laws[j][start:stop][: problem.total - first - start + 1]
        if not len(mass):
            continue
        sums = np.convolve(weights, np.exp(mass - mass.max()))
        left = law[: problem.total - first - start + 1][::-1][: len(sums)]
        peak = left.max()
        if peak > -np.inf:
            factor = math.exp(log_scale + mass.max() + peak - problem.norm)
            out += float(sums[: len(left)] @ np.exp(left - peak)) * factor
    return out


def _extend(
    problem: Problem,
    states: States,
    j: int,
    open_counts: IntArray,
    completions: _Completions,
    tail_sum: TailSum,
    limit: int,
) -> States:
    """Return each state extended by each open count of column j, without the states that are settled."""
    best, worst, law = completions
    mass = problem.laws[j][open_counts]
    score = problem.scores[j][open_counts]
    words = np.zeros((len(open_counts), 0), np.uint64)
    keys = words if problem.keys is None else problem.keys.table(j, open_counts)
    kept: list[States] = []
    size = 0
    step = max(1, _CHUNK // max(len(open_counts), 1))
    for start in range(0, len(states), step):
        chunk = slice(start, start + step)
        left = problem.total - states.count[chunk, None] - open_counts
        feasible = left >= 0
        left[~feasible] = 0
        total_score = states.score[chunk, None] + score
        log_mass = states.log_mass[chunk, None] + mass
        low = total_score + best[left] <= problem.threshold - problem.margin
        tail_sum.terms.append(float(np.exp((log_mass + law[left])[low & feasible]).sum()))
        is_open = feasible & ~low & (total_score + worst[left] <= problem.threshold + problem.margin)
        i, x = np.nonzero(is_open)
        size += len(i)
        if size > limit:
            raise StateLimitError
        i += start
        kept.append(
            States(states.count[i] + open_counts[x], total_score[is_open], log_mass[is_open], states.key[i] + keys[x])
        )
    if not kept:
        return states
    return States(
        count=np.concatenate([piece.count for piece in kept]),
        score=np.concatenate([piece.score for piece in kept]),
        log_mass=np.concatenate([piece.log_mass for piece in kept]),
        key=np.concatenate([piece.key for piece in kept]),
    )
