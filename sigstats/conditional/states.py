"""Partial outcomes of `sigstats.conditional.tail`: lists of them, and the pairs from two lists that belong to the tail.

A partial outcome (a state) has the counts of some columns. Only what matters for its completions is kept: the sum of
these counts, the score, the probability and the integer key.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray
from .exact_keys import Words
from .problem import Problem, TailSum, keys_of, no_heavier

#: Odd constants that spread the words of a key over 64 bits: the last for the count, the others for the words.
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
#: Products of longer arrays are spread over threads by BLAS, which then wait for each other.
_BLOCK = 2**13


@dataclass(frozen=True)
class States:
    """Partial outcomes, one per row: count so far, score, log probability, key."""

    count: IntArray
    score: FloatArray
    log_mass: FloatArray
    key: Words

    def __len__(self) -> int:
        return len(self.count)

    def take(self, index: IntArray | slice) -> "States":
        """Return some of the states."""
        return States(self.count[index], self.score[index], self.log_mass[index], self.key[index])


class CountLaw(NamedTuple):
    """Probabilities of the counts `first`, `first` + 1, ..., divided by the exponential of `log_scale`."""

    first: int
    weights: FloatArray
    log_scale: float


def law_of_counts(states: States) -> CountLaw:
    """Return the total probability of the states with each count."""
    first, log_scale = int(states.count.min()), float(states.log_mass.max())
    weights = np.bincount(states.count - first, weights=np.exp(states.log_mass - log_scale))
    return CountLaw(first, weights.astype(np.float64), log_scale)


def most_alike(states: States) -> int:
    """Return the largest number of states that have the same count."""
    return int(np.bincount(states.count).max())


def sorted_by_score(states: States) -> States:
    """Return the states sorted by count, then by score."""
    return states.take(np.lexsort((states.score, states.count)))


def merge(states: States, tail_sum: TailSum) -> States:
    """Merge states of equal count and key; a hash collision only leaves two of them separate."""
    mixed = states.count.astype(np.uint64) * np.uint64(_MULTIPLIERS[-1])
    for word in range(states.key.shape[1]):
        mixed = (mixed ^ (mixed >> np.uint64(29))) + states.key[:, word] * np.uint64(_MULTIPLIERS[word % 3])
    order = np.argsort(mixed, kind="stable")
    count, key = states.count[order], states.key[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (count[1:] != count[:-1]) | (key[1:] != key[:-1]).any(axis=1)
    first = np.flatnonzero(fresh)
    if len(first) == len(order):
        return states
    tail_sum.merged += int(np.diff(first, append=len(order)).max())
    log_mass = np.logaddexp.reduceat(states.log_mass[order], first)
    return States(count[first], states.score[order][first], log_mass, key[first])


def join(problem: Problem, left: States, right: States, tail_sum: TailSum) -> None:
    """Add the probabilities of pairs, one from each half, that make up the total with a low enough score.

    Both halves are sorted as by `sorted_by_score`; `left` may have any order within a count.
    """
    counts, starts = np.unique(left.count, return_index=True)
    ends = np.append(starts[1:], len(left))
    lows, highs = (np.searchsorted(right.count, problem.total - counts + more) for more in (0, 1))
    for start, end, low, high in np.transpose([starts, ends, lows, highs]).tolist():
        if low < high:
            _add_pairs(problem, left.take(slice(start, end)), right.take(slice(low, high)), tail_sum)


def join_last(
    problem: Problem, left: States, rest: States, column: int, open_counts: IntArray, tail_sum: TailSum
) -> None:
    """Join the left half, as `join` does, with `rest` and one more column, added for each count of the left half."""
    first, stop = int(open_counts[0]), int(open_counts[-1]) + 1
    states = rest.take(np.argsort(rest.count, kind="stable"))
    keys = problem.keys.table(column, open_counts) if problem.keys is not None else None
    counts, starts = np.unique(left.count, return_index=True)
    ends = np.append(starts[1:], len(left))
    remainders = problem.total - counts
    lows, highs = (np.searchsorted(states.count, remainders - x + 1) for x in (stop, first))
    for start, end, low, high, remainder in np.transpose([starts, ends, lows, highs, remainders]).tolist():
        for low_of_block in range(low, high, _BLOCK):
            block = states.take(slice(low_of_block, min(low_of_block + _BLOCK, high)))
            x = remainder - block.count
            right = States(
                block.count + x,
                block.score + problem.scores[column][x],
                block.log_mass + problem.laws[column][x],
                block.key + keys[x - first] if keys is not None and problem.margin else block.key,
            )
            _add_pairs(problem, right, left.take(slice(start, end)), tail_sum)


def _add_pairs(problem: Problem, one: States, other: States, tail_sum: TailSum) -> None:
    """Add the probabilities of pairs of `one` and `other` with a low enough score; `other` is sorted by score."""
    tail_sum.record_additions(len(one), len(other))
    room = problem.threshold - one.score
    top = float(other.log_mass.max())
    prefix = np.zeros(len(other) + 1)
    np.cumsum(np.exp(other.log_mass - top), out=prefix[1:])
    scale = np.exp(one.log_mass + (top - problem.norm))
    sure = np.searchsorted(other.score, room - problem.margin, side="right")
    if problem.margin:  # pairs whose scores are too close to the observed one are compared by keys
        observed = keys_of(problem, np.array([problem.observed]))[0]
        upto = np.searchsorted(other.score, room + problem.margin, side="right")
        for i in np.flatnonzero(upto > sure).tolist():
            near = np.arange(sure[i], upto[i])
            keys = one.key[i] + other.key[near]
            tied = (keys == observed).all(axis=1)
            tied[~tied] = [no_heavier(problem, key, observed) for key in keys[~tied]]
            tail_sum.terms.extend((float(scale[i]) * np.exp(other.log_mass[near[tied]] - top)).tolist())
    tail_sum.terms.append(float(scale @ prefix[sure]))
