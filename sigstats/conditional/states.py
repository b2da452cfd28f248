"""Partial outcomes of `sigstats.conditional.tail`: lists of them, and pairs, one from each half, that are counted.

Not part of the public names.
"""

from dataclasses import dataclass

import numpy as np

from .._common.validation import FloatArray, IntArray
from .exact_keys import Words
from .problem import Parts, Problem, keys_of, no_heavier

_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
#: Products of longer arrays are spread over threads by BLAS, which then wait for each other.
_BLOCK = 2**13


@dataclass(frozen=True)
class States:
    """Partial outcomes: count so far, score, log probability, key."""

    count: IntArray
    score: FloatArray
    log_mass: FloatArray
    key: Words

    def __len__(self) -> int:
        return len(self.count)

    def take(self, index: IntArray | slice) -> "States":
        """Return some of the states."""
        return States(self.count[index], self.score[index], self.log_mass[index], self.key[index])

    def part(self, start: int, stop: int) -> "States":
        """Return the states from `start` up to, but not including, `stop`."""
        return self.take(slice(start, stop))


def most_alike(states: States) -> int:
    """Return the largest number of partial outcomes that have the same count."""
    return int(np.bincount(states.count).max())


def by_count(states: States) -> tuple[FloatArray, float]:
    """Return the probabilities of the counts, the least first, in units of the exponential of a number."""
    first, top = int(states.count.min()), float(states.log_mass.max())
    held = np.bincount(states.count - first, weights=np.exp(states.log_mass - top))
    return held.astype(np.float64), top


def merge(states: States, parts: Parts) -> States:
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
    parts.merged += int(np.diff(first, append=len(order)).max())
    log_mass = np.logaddexp.reduceat(states.log_mass[order], first)
    return States(count[first], states.score[order][first], log_mass, key[first])


def in_order(states: States) -> States:
    """Return the states by count, and those of a count by score."""
    return states.take(np.lexsort((states.score, states.count)))


def join(problem: Problem, left: States, right: States, settled: Parts) -> list[float]:
    """Return the probabilities of pairs, one from each half, that make up the total with a low enough score."""
    parts: list[float] = []
    counts, starts = np.unique(left.count, return_index=True)
    ends = np.append(starts[1:], len(left))
    lows, highs = (np.searchsorted(right.count, problem.total - counts + more) for more in (0, 1))
    for start, end, low, high in np.transpose([starts, ends, lows, highs]).tolist():
        if low < high:
            parts += _matches(problem, left.part(start, end), right.part(low, high), settled)
    return parts


def join_last(
    problem: Problem, left: States, rest: States, column: int, open_x: IntArray, settled: Parts
) -> list[float]:
    """Join the left half, as `join` does, with `rest` and one more column, added for each count of the left half."""
    parts: list[float] = []
    first, stop = int(open_x[0]), int(open_x[-1]) + 1
    states = rest.take(np.argsort(rest.count, kind="stable"))
    keys = problem.keys.table(column, open_x) if problem.keys is not None else None
    counts, starts = np.unique(left.count, return_index=True)
    ends = np.append(starts[1:], len(left))
    wanted = problem.total - counts
    lows, highs = (np.searchsorted(states.count, wanted - x + 1) for x in (stop, first))
    for start, end, low, high, want in np.transpose([starts, ends, lows, highs, wanted]).tolist():
        for low_of_block in range(low, high, _BLOCK):
            few = states.part(low_of_block, min(low_of_block + _BLOCK, high))
            x = want - few.count
            right = States(
                few.count + x,
                few.score + problem.scores[column][x],
                few.log_mass + problem.laws[column][x],
                few.key + keys[x - first] if keys is not None and problem.margin else few.key,
            )
            parts += _matches(problem, right, left.part(start, end), settled)
    return parts


def _matches(problem: Problem, one: States, other: States, settled: Parts) -> list[float]:
    """Return the probabilities of pairs of `one` and `other`, both sorted by score, with a score that is low enough."""
    settled.count(len(one), len(other))
    parts: list[float] = []
    room = problem.threshold - one.score
    top = float(other.log_mass.max())
    prefix = np.zeros(len(other) + 1)
    np.cumsum(np.exp(other.log_mass - top), out=prefix[1:])
    scale = np.exp(one.log_mass + (top - problem.norm))
    sure = np.searchsorted(other.score, room - problem.margin, side="right")
    if problem.margin:
        observed = keys_of(problem, np.array([problem.observed]))[0]
        upto = np.searchsorted(other.score, room + problem.margin, side="right")
        for i in np.flatnonzero(upto > sure).tolist():
            near = np.arange(sure[i], upto[i])
            keys = one.key[i] + other.key[near]
            tied = (keys == observed).all(axis=1)
            tied[~tied] = [no_heavier(problem, key, observed) for key in keys[~tied]]
            parts.extend((float(scale[i]) * np.exp(other.log_mass[near[tied]] - top)).tolist())
    parts.append(float(scale @ prefix[sure]))
    return parts
