"""The boundaries of Gandy's sequential Monte-Carlo test, and the probability of every way to meet them.

The number of exceedances after n replicates is a path that starts at 0 and goes up by 1 or stays. It ends where it
meets the lower boundary (p is certainly small), the upper one (p is certainly large), or the last replicate.

Not for a fixed number of replicates, where the count is all there is to know: see `sigstats._common.extreme`.
"""

import numpy as np

from .._common.validation import FloatArray
from .exits import Boundaries, exits


def boundaries(*, reject_at: float, keep_at: float, risk: float, half_spent: int, size: int) -> Boundaries:
    """The boundaries of Gandy (2009, section 2), by his recursion over the paths that have not ended.

    With each replicate the boundaries move as far in as the risk that may be spent by then allows,
    ``risk * n / (n + half_spent)``: the upper one where p is `keep_at`, the lower one where p is `reject_at`. For equal
    levels this is Gandy's construction.

    `reject_at` and `keep_at`: ``0 < reject_at <= keep_at < 1``.
    `risk`: the risk spent by infinitely many replicates, at each boundary.
    `half_spent`: after how many replicates half of the risk may be spent.
    `size`: for how many replicates.

    >>> found = boundaries(reject_at=0.05, keep_at=0.05, risk=1e-3, half_spent=1000, size=200)
    >>> int((found.lower < 0).sum()), found.upper[4:9].tolist()  # 0 of 173 is the first end below, 5 of 5 above
    (172, [5, 5, 5, 6, 6])
    """
    lower, upper = np.empty((2, size), dtype=np.int64)
    low: list[tuple[int, int, float]] = []
    high: list[tuple[int, int, float]] = []
    below, above = -1, 1
    spent_low = spent_high = 0.0
    # Of the paths inside, with exceedances below + 1 to above - 1: their probability if p is reject_at or keep_at, and
    # their share of all paths to the same place.
    chance = np.array([[reject_at], [keep_at]])
    inside, weight = np.ones((2, 1)), np.ones(1)
    for n in range(1, size + 1):
        s = np.arange(below + 1, above + 1)
        up = inside * chance
        inside = np.concatenate([inside - up, np.zeros((2, 1))], axis=1)
        inside[:, 1:] += up
        # Of the paths to s after n, the share (n - s) / n comes from s, the rest from s - 1; 1 stays 1 exactly.
        came: FloatArray = np.append(weight, 0.0) * (n - s)
        came[1:] += weight * s[1:]
        weight = came / n
        allowed = risk * n / (n + half_spent)
        if inside.shape[1] > 1 and spent_high + inside[1, -1] <= allowed:
            spent_high += inside[1, -1]
            high.append((n, above, weight[-1]))
            inside, weight = inside[:, :-1], weight[:-1]
        else:
            above += 1
        if inside.shape[1] > 1 and spent_low + inside[0, 0] <= allowed:
            spent_low += inside[0, 0]
            below += 1
            low.append((n, below, weight[0]))
            inside, weight = inside[:, 1:], weight[1:]
        lower[n - 1], upper[n - 1] = below, above
    left = [(size, below + 1 + i, float(share)) for i, share in enumerate(weight)]
    return Boundaries(lower, upper, exits(low), exits(high), exits(left))
