"""Partial outcomes of `sigstats.conditional.tail`, and what is done with a list of them.

Not part of the public names.
"""

from dataclasses import dataclass

import numpy as np

from .._common.validation import FloatArray, IntArray
from .exact_keys import Words
from .rounding import Parts

_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


@dataclass(frozen=True)
class States:
    """Partial outcomes: count so far, score, log probability, key."""

    count: IntArray
    score: FloatArray
    log_mass: FloatArray
    key: Words

    def __len__(self) -> int:
        return len(self.count)

    def take(self, index: IntArray) -> "States":
        """Some of them."""
        return States(self.count[index], self.score[index], self.log_mass[index], self.key[index])

    def part(self, start: int, stop: int) -> "States":
        """Those from `start` to before `stop`."""
        part = slice(start, stop)
        return States(self.count[part], self.score[part], self.log_mass[part], self.key[part])


def most_alike(states: States) -> int:
    """How many partial outcomes have the same count, at most."""
    return int(np.bincount(states.count).max())


def by_count(states: States) -> tuple[FloatArray, float]:
    """The probabilities of the counts, from the least to the largest, in units of the exponential of a number."""
    first, top = int(states.count.min()), float(states.log_mass.max())
    held = np.bincount(states.count - first, weights=np.exp(states.log_mass - top))
    return held.astype(np.float64), top


def merge(states: States, parts: Parts) -> States:
    """States of equal count and key as one. A clash of the hash only leaves two of them apart."""
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
    """The states by count, and those of a count by score."""
    return states.take(np.lexsort((states.score, states.count)))
