"""Power of the test of `sigstats.compare` by its results on samples: of a pilot's rows, or of groups without a pilot.

Samples like a pilot are drawn from its rows, or groups of rows, after an exponential tilt that gives the pilot a drop:
a unit (row or group) is drawn with a probability proportional to exp(t z). The influence z of a unit is the change in
the difference of the measure when copies of the unit are added; t is chosen so that the tilted pilot has the drop. For
a quantile, which a tilt changes only by the rows near it, and for a mean if no t gives the drop, all values of the
candidate are shifted by the same amount instead. Each sample is tested as in `compare`. It counts if it is significant
and its observed drop is at least the minimum. `at_drop` gives a `TiltedPilot` the drop, and `TiltedPilot.detected` is
then the power.

Without a pilot's rows, `GroupTest` draws groups with Dirichlet-multinomial numbers of rows that favour the baseline,
neither or the candidate. Any two rows of a group have a given correlation, such as that of a pilot, and sizes may be
those of the pilot. A sample is tested as in `compare` (`sigstats.unseen_row.means`), and fails by the same rule.

When not to use: for single rows, whose power is exact (`sigstats.mcnemar.power.drop_power`); for rows unlike those of
the pilot, since the samples lack rare rows that the pilot lacks.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from ..comparison.deciding import fewest_rows
from ..comparison.evidence import Evidence, Judged, Runs, Values
from ..comparison.row_tests import test_part
from ..comparison.row_tests.mean_tests import Pending, Tested
from ..comparison.rows import ComparisonRow
from ..comparison.rule import ComparisonRule
from ..measures.table import MEASURES
from ..sign_flips.power_of_flips import item_law
from ..unseen_row.means import Units, UnseenGroup, row_of_groups, shown_below_zero

#: Number of samples from which a power is estimated.
SAMPLES: Final = 200
#: Largest number of units that are tilted; this many are drawn from a larger pilot.
_MOST_UNITS: Final = 2000
#: Number of units that represent a tilted pilot, tilts that are tried, and steps of the search between two of them.
_REPRESENTED, _TILTS, _STEPS = 10_000, [0.5 * 2**k for k in range(11)], 30


def can_be_sampled(evidence: Evidence | None, measure: str) -> bool:
    """Return True unless rows have weights, an order in time, runs or judges, or the measure is slow."""
    if evidence is None or isinstance(evidence, Judged | Runs) or MEASURES[measure].is_slow:
        return False
    units = evidence.units
    unlike = getattr(evidence, "totals", None)  # answers to items that are not among the rows
    return unlike is None and not units.in_time and units.weights is None and units.candidates is None


@dataclass(frozen=True, eq=False)
class TiltedPilot:
    """Evidence of a pilot, the result row that its test will complete, and the rule."""

    evidence: Evidence
    row: ComparisonRow
    rule: ComparisonRule

    def detected(self, n: int, chances: FloatArray, level: float, minimum: float) -> float:
        """Return the share of samples of n rows that detect a drop, of units drawn with these chances."""
        units = max(2, round(n * self.units / self.evidence.units.n))
        ends = np.cumsum(chances)
        samples = np.searchsorted(ends, as_generator(0).random((SAMPLES, units)) * ends[-1], "right")
        results = [self._tested(self._drawn(sample)) for sample in samples]
        rows = [result.row if isinstance(result, Pending) else result for result in results]
        pvalues = [1.0 if row.difference is None else row.pvalue or 0.0 for row in rows]
        significant = np.array(pvalues) <= level
        # Means, whose rows have no p-value yet, are tested together.
        means = {place: result for place, result in enumerate(results) if isinstance(result, Pending)}
        limits = np.array([mean.limit for mean in means.values()])
        significant[[*means]] &= shown_below_zero([mean.units for mean in means.values()], limits, level)
        dropped = [-(row.difference or 0.0) >= minimum * (1 - 1e-12) for row in rows]
        return float(np.count_nonzero(significant & dropped) / SAMPLES)

    def _tested(self, sample: Evidence) -> Tested:
        """Return the tested row of a sample; means are still to be tested."""
        items = None if self.row.items is None else sample.units.n_items()
        return test_part(replace(self.row, n=sample.units.n, items=items), sample, None, rule=self.rule)

    @property
    def units(self) -> int:
        """The number of rows or groups."""
        return len(self._units)

    @cached_property
    def _units(self) -> list[IntArray]:
        """The rows of each unit."""
        group = self.evidence.units.group
        if group is None:
            return list(np.arange(self.evidence.units.n)[:, np.newaxis])
        order = np.argsort(group, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)

    def _drawn(self, places: IntArray) -> Evidence:
        """Return the rows of these units; a unit that is drawn twice is two units."""
        if self.evidence.units.group is None:
            return self.evidence.take(places)
        rows = [self._units[place] for place in places.tolist()]
        drawn = self.evidence.take(np.concatenate(rows))
        group = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        items: Any = drawn.units.items
        if items is not None:
            items = np.unique(np.stack([group, items]), axis=1, return_inverse=True)[1].reshape(-1)
        return replace(drawn, units=replace(drawn.units, group=group, items=items))

    def chances(self, drop: float) -> FloatArray | None:
        """Return the relative chances of units at which the pilot has the drop; None if no tilt has it."""

        def weights(tilt: float) -> FloatArray:
            logs = tilt * self._influences
            return np.asarray(np.exp(logs - logs.max()))

        def dropped(tilt: float) -> bool:
            ends = np.cumsum(weights(tilt))
            places = np.searchsorted(ends, (np.arange(_REPRESENTED) + 0.5) / _REPRESENTED * ends[-1], "right")
            return bool(self.difference(places) <= -drop)

        low = next((-tilt for tilt in _TILTS if dropped(-tilt)), None)
        high = next((tilt for tilt in _TILTS if not dropped(tilt)), None)
        if low is None or high is None:
            return None
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if dropped(middle) else (low, middle)
        return weights(low)

    @cached_property
    def _influences(self) -> FloatArray:
        """The influence of each unit, from -1 to 1, by the change that copies of it make."""
        pilot = np.arange(self.units)
        distinct, distinct_of = pilot, pilot
        if self.evidence.units.group is None:  # equal rows have the same influence
            values = [getattr(self.evidence, name) for name in self.evidence._columns]
            columns = np.vstack([value for value in values if value is not None])
            _, distinct, distinct_of = np.unique(columns, axis=1, return_index=True, return_inverse=True)
        copies = math.ceil(math.sqrt(len(pilot)))
        observed = self.difference(pilot)
        changes = [self.difference(np.append(pilot, [unit] * copies)) - observed for unit in distinct.tolist()]
        scale = np.abs(changes).max() or 1.0
        return np.asarray((np.array(changes) / scale)[distinct_of.reshape(-1)])

    def difference(self, places: IntArray) -> float:
        """Return the difference of the measure in these units, candidate minus baseline."""
        rows = self._drawn(places)
        return rows.measure_of(1) - rows.measure_of(0)

    def of_most_units(self) -> "TiltedPilot":
        """Return the pilot, or a random part of it with 2,000 units if it is larger."""
        if self.units <= _MOST_UNITS:
            return self
        return replace(self, evidence=self._drawn(as_generator(0).permutation(self.units)[:_MOST_UNITS]))


@lru_cache(maxsize=64)
def at_drop(pilot: TiltedPilot, drop: float) -> tuple[TiltedPilot, FloatArray | None]:
    """Return the pilot, tilted or shifted to a drop, and the relative chances of its units, None if impossible."""
    evidence = pilot.evidence
    chances = None if isinstance(evidence, Values) and evidence.share else pilot.chances(drop)
    if chances is not None or not isinstance(evidence, Values) or evidence.answers:
        return pilot, chances
    baseline, candidate = evidence.values
    limit = math.inf if evidence.span is None else evidence.span
    observed = pilot.difference(np.arange(pilot.units))
    shifted = baseline + (candidate - baseline - observed - drop).clip(-limit, limit)
    return replace(pilot, evidence=replace(evidence, values=(baseline, shifted))), np.ones(pilot.units)


#: Number of samples for a power; its standard error is 0.02 at a power of 0.8.
_GROUP_SAMPLES = 400
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
        drawn = as_generator(0).multinomial(n, chances, _GROUP_SAMPLES).astype(np.float64)
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
