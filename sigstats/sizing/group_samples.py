"""Power of the test of `sigstats.compare` for items with several answers, or groups of rows, without a pilot's rows.

Groups are drawn with Dirichlet-multinomial numbers of rows that favour the baseline, neither or the candidate. Any two
rows of a group have a given correlation, such as that of a pilot, and sizes may be those of the pilot. Each sample is
tested as in `compare` (`sigstats.unseen_row.means`), and fails by the same rule.

When not to use: for single rows, whose power is exact (`sigstats.mcnemar.power.drop_power`).
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from ..comparison.deciding import fewest_rows
from ..sign_flips.power_of_flips import item_law
from ..unseen_row.means import Units, UnseenGroup, row_of_groups, shown_below_zero

#: Number of samples for a power; its standard error is 0.02 at a power of 0.8.
_SAMPLES = 400
#: Number of classes of sizes, of about equally many rows each.
_SIZES = 4
#: Number of steps between the drops 0 and 1 that are tried.
_DROPS = 1000


@dataclass(frozen=True)
class Sizes:
    """Sizes of groups, their shares, the unseen group (`ComparisonRule`), and the correlation of rows."""

    rows: tuple[int, ...]
    shares: tuple[float, ...] = (1.0,)
    unseen_group: UnseenGroup = "auto"
    correlation: float | None = None


def sizes_of_averages(means: FloatArray, row_variance: float) -> Sizes:
    """Return the fewest rows per item, and a correlation, with which items' means vary as these averages do."""
    share = float(np.clip(np.var(means, ddof=1) / row_variance, 0.01, 1.0)) if row_variance else 1.0
    rows = math.ceil(1 / share)
    return Sizes((rows,), unseen_group="any", correlation=(rows * share - 1) / (rows - 1) if rows > 1 else 0.0)


def sizes_of(counts: IntArray, unseen_group: UnseenGroup) -> Sizes:
    """Return the sizes of groups with these numbers of rows, as a few classes with mean sizes."""
    sizes, n_groups = np.unique(counts, return_counts=True)
    n_rows = sizes * n_groups
    middles = (np.cumsum(n_rows) - n_rows / 2) / n_rows.sum()
    classes = np.unique((_SIZES * middles).astype(np.int64), return_inverse=True)[1]
    rows, groups = np.bincount(classes, n_rows), np.bincount(classes, n_groups)
    shares = groups / len(counts)
    return Sizes(tuple(np.rint(rows / groups).astype(int).tolist()), tuple(shares.tolist()), unseen_group)


@dataclass(frozen=True)
class GroupTest:
    """The test of groups of these sizes at a level, with the smallest drop that counts."""

    sizes: Sizes
    correlation: float
    level: float
    minimum: float

    def power(self, n: int, drop: float, discordance: float) -> float:
        """Return the share of samples of n groups that fail."""
        sums, sizes, chances = _law(self.sizes, self.correlation, drop, max(discordance, drop))
        row = row_of_groups(n, self.sizes.unseen_group)
        drawn = as_generator(0).multinomial(n, chances, _SAMPLES).astype(np.float64)
        samples = [Units(sums[counts > 0], sizes[counts > 0], counts[counts > 0], row) for counts in drawn]
        dropped = np.array([units.mean for units in samples]) <= -self.minimum * (1 - 1e-12)
        return float(np.mean(shown_below_zero(samples, 1.0, self.level) & dropped))

    def needed(self, drop: float, discordance: float, target: float) -> int | None:
        """Return the number of groups needed to fail this often, at most 1% too large; None if no number suffices."""
        if drop <= self.minimum:
            return None
        return fewest_rows(1, lambda n: self.power(n, drop, discordance) >= target, one_in=100)

    def detectable(self, n: int, discordance: float, target: float) -> float | None:
        """Return the smallest drop that n groups show this often; None if there is none."""
        step = bisect_left(range(_DROPS + 1), True, 1, key=lambda k: self.power(n, k / _DROPS, discordance) >= target)
        return None if step > _DROPS else step / _DROPS


@lru_cache(maxsize=64)
def _law(
    sizes: Sizes, correlation: float, drop: float, discordance: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the possible sums of groups, their sizes, and the probability of each sum with its size."""
    p_a, p_b = (discordance + drop) / 2, max(0.0, (discordance - drop) / 2)
    # The law is that of the advantage of A, the baseline; sums are those of the candidate.
    laws = [item_law(p_a, p_b, None, None, None, answers, correlation)[::-1] for answers in sizes.rows]
    sums = np.concatenate([np.arange(-rows, rows + 1.0) for rows in sizes.rows])
    rows_of_sums = np.concatenate([np.full(2 * rows + 1, float(rows)) for rows in sizes.rows])
    chances = np.concatenate([share * law for share, law in zip(sizes.shares, laws, strict=True)])
    return sums, rows_of_sums, chances / math.fsum(chances)
