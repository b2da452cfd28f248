"""The pairs of partial outcomes, one from each half, that are counted by `sigstats.conditional.tail`.

Not part of the public names.
"""

import numpy as np

from .._common.validation import IntArray
from .problem import Problem, keys_of, no_heavier
from .rounding import Parts
from .states import States

#: Products of longer arrays are spread over threads by BLAS, which then wait for each other.
_BLOCK = 2**13


def join(problem: Problem, left: States, right: States, norm: float, settled: Parts) -> list[float]:
    """The probabilities of the pairs, one from each half, that make up the total and whose score is low enough."""
    parts: list[float] = []
    counts, starts = np.unique(left.count, return_index=True)
    ends = np.append(starts[1:], len(left))
    lows, highs = (np.searchsorted(right.count, problem.total - counts + more) for more in (0, 1))
    for start, end, low, high in np.transpose([starts, ends, lows, highs]).tolist():
        if low < high:
            parts += _matches(problem, left.part(start, end), right.part(low, high), norm, settled)
    return parts


def join_last(
    problem: Problem, left: States, rest: States, column: int, open_x: IntArray, norm: float, settled: Parts
) -> list[float]:
    """As `join`, where the right half is `rest` with one more column, added for each count of the left half anew."""
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
            parts += _matches(problem, right, left.part(start, end), norm, settled)
    return parts


def _matches(problem: Problem, one: States, other: States, norm: float, settled: Parts) -> list[float]:
    """The probabilities of the pairs whose score is low enough: all of `one` with all of `other`, sorted by score."""
    settled.count(len(one), len(other))
    parts: list[float] = []
    room = problem.threshold - one.score
    top = float(other.log_mass.max())
    prefix = np.zeros(len(other) + 1)
    np.cumsum(np.exp(other.log_mass - top), out=prefix[1:])
    scale = np.exp(one.log_mass + (top - norm))
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
