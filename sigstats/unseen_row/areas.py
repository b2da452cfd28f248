r"""Bounds of the difference of two areas under the ROC curve that remain valid with one more row.

The difference is the mean over positives, and over negatives, of their gains (DeLong's placements). With weights
:math:`w` it is, except for products of two small terms, :math:`\bar U_w + \bar V_w - D`, of the weighted means of both
classes and the observed difference D. The probability that this is at most t is computed, as for means, from the
distribution of one sum of exponential variables: where :math:`t_1 + t_2 = t + D`, of :math:`\sum E_i (u_i - t_1) / m +
\sum E_j (v_j - t_2) / n`.

One more row (or group) is completely lost: a positive that A ranks first and B last, or a negative likewise, from the
class with fewer rows. If one more group is like those seen, it loses only the share of its rows that moves the
difference as far as the same number of rows of any group seen, or one row (`sigstats.unseen_row.means`).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.validation import Alternative, FloatArray, IntArray
from ..intervals import Interval
from ..measures.score_formulas import pair_wins
from .law import MOST_ATOMS, tails
from .means import Start, UnseenGroup, combined, distinct, find_quantiles, missed, row_of_groups, shares_beyond, sums_by

#: Share of the law below which a bound is set to its limit, -1 or 1.
_LEAST_SHARE = 1e-14


class Gains(NamedTuple):
    """Gains of units (rows or groups) from A to B, summed over the positives and over the negatives of a unit.

    `positives` and `negatives` are how many of each it has, and `counts` how often such a unit occurs. `row` is as in
    `sigstats.unseen_row.means.Units`.
    """

    of_positives: FloatArray
    positives: FloatArray
    of_negatives: FloatArray
    negatives: FloatArray
    counts: FloatArray
    row: float = math.inf

    @property
    def mirrored(self) -> "Gains":
        """The gains with A and B exchanged."""
        return self._replace(of_positives=-self.of_positives, of_negatives=-self.of_negatives)

    @property
    def missed(self) -> float:
        """The chance that the rarest kind of group is not seen."""
        return float(missed(self.counts.sum(), self.row))


def gains_of(
    positive: NDArray[np.bool_],
    scores: tuple[FloatArray, FloatArray],
    groups: IntArray | None = None,
    unseen_group: UnseenGroup = "auto",
) -> Gains:
    """Return the gains of rows, or of groups of rows, with some of each class.

    `scores` (pair of array of float, shape (n,)): of A and of B.
    """
    (above_a, below_a), (above_b, below_b) = (pair_wins(positive, score) for score in scores)
    u, v = (above_b - above_a) / len(below_a), (below_b - below_a) / len(above_a)
    if groups is None:
        (u, counts_u), (v, counts_v) = (distinct(gains, MOST_ATOMS // 2) for gains in (u, v))
        is_positive = np.repeat([1.0, 0.0], [len(u), len(v)])
        counts = np.append(counts_u, counts_v)
        return Gains(np.append(u, 0 * v), is_positive, np.append(0 * u, v), 1 - is_positive, counts)
    codes = np.unique(groups, return_inverse=True)[1]
    size = int(codes.max()) + 1
    group_u, group_v = codes[positive], codes[~positive]
    rows_u, rows_v = (np.bincount(group, minlength=size).astype(np.float64) for group in (group_u, group_v))
    row = row_of_groups(size, unseen_group)
    return Gains(sums_by(group_u, u, size), rows_u, sums_by(group_v, v, size), rows_v, np.ones(size), row)


def area_interval(gains: Gains, confidence_level: float = 0.95) -> Interval:
    """Return the interval of the area of B minus that of A."""
    share, strict = shares_beyond((1 - confidence_level) / 2, gains.missed)
    gains = gains._replace(row=math.inf) if strict else gains
    low, high = (_Law(value).lower_bound(float(share)) for value in (gains, gains.mirrored))
    return Interval(low, -high, confidence_level)


def area_pvalue(gains: Gains, alternative: Alternative = "two-sided") -> float:
    """Return the p-value of equal areas; ``"greater"``: that of A is larger."""
    if alternative == "two-sided":
        return min(1.0, 2 * min(area_pvalue(gains, "greater"), area_pvalue(gains, "less")))
    return _pvalue(gains if alternative == "less" else gains.mirrored, 0.0)


def area_equivalence(gains: Gains, margin: float) -> float:
    """Return the p-value of two one-sided tests of areas that differ by at least the margin."""
    return max(_pvalue(value, -min(margin, 1.0)) for value in (gains, gains.mirrored))


def _pvalue(gains: Gains, at: float) -> float:
    """Return the p-value of the null hypothesis that the difference is at most `at`."""

    def share_below(gains: Gains) -> float:
        return float(_Law(gains).shares_below(np.array([at]))[0])

    like_seen = share_below(gains)
    strict = share_below(gains._replace(row=math.inf)) if gains.missed else like_seen
    return max(float(combined(like_seen, strict, gains.missed)), math.ulp(0.0))


class _Law:
    """The law of the weighted difference, including one more unit that is entirely lost."""

    def __init__(self, gains: Gains) -> None:
        u, m, v, n, counts, row = gains
        self._gains = gains
        self._m, self._n = float(counts @ m), float(counts @ n)
        self.seen = float(counts @ u) / self._m
        weight = m / self._m + n / self._n
        worst = int(np.argmax(weight))
        self._unseen = float(m[worst]), float(n[worst])
        if row < math.inf:
            moved = u / self._m + v / self._n
            centred = moved - self.seen * weight
            one_row = row * (1 + self.seen) / min(self._m, self._n)
            farthest = max(one_row, *(float(weight[worst] * np.abs(move / weight).max()) for move in (moved, centred)))
            all_lost = (1 + self.seen) * (self._unseen[0] / self._m + self._unseen[1] / self._n)
            share = farthest / all_lost if farthest < all_lost else 1.0
            self._unseen = share * self._unseen[0], share * self._unseen[1]
        # Each class's part of the variance, and its mean with the unseen unit.
        of_classes = [(u, m, self._m, self._unseen[0]), (v, n, self._n, self._unseen[1])]
        self._centres = [(self.seen * total - added) / (total + added) for _, _, total, added in of_classes]
        self._variances = [
            (float(counts @ (sums - self.seen * sizes) ** 2) + (added * (1 + self.seen)) ** 2) / total**2
            for sums, sizes, total, added in of_classes
        ]

    def shares_below(self, differences: FloatArray) -> FloatArray:
        """Return the probabilities that the weighted difference is at most these."""
        u, m, v, n, counts, _ = self._gains
        away = differences[:, np.newaxis] + self.seen - sum(self._centres)
        at = [
            centre + away * variance / sum(self._variances)
            for centre, variance in zip(self._centres, self._variances, strict=True)
        ]
        factors = (u - at[0] * m) / self._m + (v - at[1] * n) / self._n
        unseen = -self._unseen[0] * (1 + at[0]) / self._m - self._unseen[1] * (1 + at[1]) / self._n
        return tails(np.hstack([factors, unseen]), np.append(counts, 1.0)[np.newaxis])

    def lower_bound(self, share: float) -> float:
        """Return the point below which the weighted difference lies with this probability."""
        if share < _LEAST_SHARE:
            return -1.0
        spread = math.sqrt(sum(self._variances))
        start = Start(*(np.array([value]) for value in (sum(self._centres) - self.seen, spread, 0.0)))
        ends = np.array([-1.0]), np.array([1.0])
        points = find_quantiles(lambda at, _: self.shares_below(at), share, ends=ends, start=start)
        return float(points[0])
