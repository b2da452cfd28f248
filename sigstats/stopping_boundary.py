"""The boundaries of Gandy's sequential Monte-Carlo test, and the probability of every way to meet them.

The number of exceedances after n replicates is a path that starts at 0 and goes up by 1 or stays. It ends where it
meets the lower boundary (p is certainly small), the upper one (p is certainly large), or the last replicate.

Not for a fixed number of replicates, where the count is all there is to know: see `sigstats.extreme`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from .checks import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Exits:
    """Ways in which a path ends, from the one with the fewest exceedances a replicate on.

    Attributes
    ----------
    replicates, exceedances : ndarray of int64
        Where the path ends.
    mass : ndarray of float64
        The probability of ending there when the p-value is uniform between 0 and 1: that of a null hypothesis, without
        ties.
    """

    replicates: IntArray
    exceedances: IntArray
    mass: FloatArray

    def probability(self, p: float) -> float:
        """The probability of ending in one of these ways when each replicate exceeds with probability `p`.

        All paths with equal ends are equally likely, for a uniform p as for a fixed one, so the two probabilities of an
        end are in the ratio of those of one path: B(s + 1, n - s + 1) to p^s (1 - p)^(n - s).
        """
        n, s = self.replicates, self.exceedances
        return float(self.mass @ np.exp(xlogy(s, p) + xlog1py(n - s, -p) - betaln(s + 1, n - s + 1)))

    @property
    def total(self) -> float:
        """The probability of ending in one of these ways when the p-value is uniform."""
        return float(self.mass.sum())

    def first(self, size: int) -> "Exits":
        """The first `size` of them."""
        return Exits(self.replicates[:size], self.exceedances[:size], self.mass[:size])

    def after(self, size: int) -> "Exits":
        """All but the first `size` of them."""
        return Exits(self.replicates[size:], self.exceedances[size:], self.mass[size:])


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Both boundaries up to some number of replicates.

    Attributes
    ----------
    lower, upper : ndarray of int64, shape (size,)
        After n replicates a path ends if its exceedances are at most ``lower[n - 1]`` or at least ``upper[n - 1]``.
        Both rise by 0 or 1 a replicate, so that it meets them exactly.
    low, high : Exits
        Ends at the lower and at the upper boundary, each in the order of time.
    inside : Exits
        Where the paths are that met neither in `size` replicates.
    """

    lower: IntArray
    upper: IntArray
    low: Exits
    high: Exits
    inside: Exits


def boundaries(*, reject_at: float, keep_at: float, risk: float, half_spent: int, size: int) -> Boundaries:
    """The boundaries of Gandy (2009, section 2), by his recursion over the paths that have not ended.

    With each replicate the boundaries move as far in as the risk that may be spent by then allows,
    ``risk * n / (n + half_spent)``: the upper one where p is `keep_at`, the lower one where p is `reject_at`. For equal
    levels this is Gandy's construction.

    Parameters
    ----------
    reject_at, keep_at : float
        ``0 < reject_at <= keep_at < 1``.
    risk : float
        The risk spent by infinitely many replicates, at each boundary.
    half_spent : int
        After how many replicates half of the risk may be spent.
    size : int
        For how many replicates.

    Returns
    -------
    Boundaries

    Examples
    --------
    >>> from sigstats.stopping_boundary import boundaries
    >>> found = boundaries(reject_at=0.05, keep_at=0.05, risk=1e-3, half_spent=1000, size=200)
    >>> int((found.lower < 0).sum()), found.upper[4:9].tolist()  # 0 of 173 is the first end below, 5 of 5 above
    (172, [5, 5, 5, 6, 6])
    """
    lower, upper = np.empty((2, size), dtype=np.int64)
    below, above = -1, 1
    low: list[tuple[int, int, float]] = []
    high: list[tuple[int, int, float]] = []
    # The probability of the paths inside by their exceedances, below + 1 to above - 1: for p = keep_at, p = reject_at,
    # and p uniform (Polya's urn, in which the next replicate exceeds with probability (s + 1) / (n + 1)).
    inside = np.ones((3, 1))
    chance = np.empty((3, size + 2))
    chance[0], chance[1] = keep_at, reject_at
    spent_high = spent_low = 0.0
    successes = np.arange(1.0, size + 3)
    for n in range(1, size + 1):
        width = inside.shape[1]
        chance[2, :width] = successes[below + 1 : below + 1 + width] / (n + 1)
        up = inside * chance[:, :width]
        inside = np.concatenate([inside - up, np.zeros((3, 1))], axis=1)
        inside[:, 1:] += up
        allowed = risk * n / (n + half_spent)
        if inside.shape[1] > 1 and spent_high + inside[0, -1] <= allowed:
            spent_high += inside[0, -1]
            high.append((n, above, inside[2, -1]))
            inside = inside[:, :-1]
        else:
            above += 1
        if inside.shape[1] > 1 and spent_low + inside[1, 0] <= allowed:
            spent_low += inside[1, 0]
            below += 1
            low.append((n, below, inside[2, 0]))
            inside = inside[:, 1:]
        lower[n - 1], upper[n - 1] = below, above
    left = [(size, below + 1 + i, mass) for i, mass in enumerate(inside[2])]
    return Boundaries(lower, upper, _exits(low), _exits(high), _exits(left))


def _exits(ends: list[tuple[int, int, float]]) -> Exits:
    n, s, mass = zip(*ends, strict=True) if ends else ((), (), ())
    return Exits(np.array(n, dtype=np.int64), np.array(s, dtype=np.int64), np.array(mass, dtype=np.float64))
