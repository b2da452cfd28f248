"""The rows that a comparison by any measure needs: marks, ratios of sums, areas, F1, by the spread of a pilot.

When not to use: for the accuracy, whose power is exact (`sigstats.sizing.comparison`); to explain after the fact why
nothing was found, with the drop that the pilot itself shows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .._common.numerals import points, significant
from .._common.tabular import Table, Tabular
from .._common.validation import as_real, shown
from ..comparison.cells import in_points
from ..comparison.compare import compare_pair
from ..comparison.family import evidence_for, tests_of
from ..comparison.paired_predictions import PairedPredictions
from ..comparison.rule import ComparisonRule
from .samples import SAMPLES
from .spread import MOST, Sampled, fewest_of, planners_of, spread_of

#: The default drops: hundredths of the baseline's value, or multiples of twice the smallest drop that counts.
_DROPS = (1, 2, 5, 10)


def usual_drops(baseline: float, minimum: float) -> list[float]:
    """Return the default drops of a measure, given the baseline's value and the smallest drop that counts."""
    hundredth = 0.01 * abs(baseline)
    unit = hundredth if hundredth > minimum else 2 * minimum
    return [float(f"{times * unit:.2g}") for times in _DROPS]


@dataclass(frozen=True, kw_only=True)
class DropOfMeasure:
    """A drop: the rows that show it, and the power of those available; `needed` is None if none is enough."""

    drop: float
    needed: int | None
    power: float


@dataclass(frozen=True, kw_only=True)
class PartOfMeasure:
    """A slice: its rows, the standard deviation of a row's difference, and the smallest drop that it shows."""

    slice: str
    n: int
    deviation: float | None
    detectable: float | None


@dataclass(frozen=True, kw_only=True)
class SizeOfMeasure(Tabular):
    """The result of `plan_measure`; `passing`: the rows on which an equal candidate passes.

    `margin`: the drop that a pass excludes; None if values have no known limits, so that nothing passes.
    """

    measure: str
    unit: str
    in_points: bool
    drops: tuple[DropOfMeasure, ...]
    parts: tuple[PartOfMeasure, ...]
    passing: int | None
    margin: float | None
    level: float
    target: float
    rise: bool
    #: The power of up to this many rows is estimated from samples of the pilot; 0 if samples are not possible.
    sampled: int = 0

    _records = "drops"

    def _shown(self, value: float) -> str:
        return points(value) if self.in_points else f"{significant(value, 3)} {self.unit}".strip()

    def _table(self) -> Table:
        change, wanted = "rise" if self.rise else "drop", f"{significant(100 * self.target)}%"
        columns = {
            change: [self._shown(drop.drop) for drop in self.drops],
            "needed": ["–" if drop.needed is None else f"{drop.needed:,} rows" for drop in self.drops],
            "power now": [f"{100 * drop.power:.1f}%" for drop in self.drops],
        }

        def smallest(part: PartOfMeasure) -> str:
            size = f"no {change}" if part.detectable is None else f"a {change} of {self._shown(part.detectable)}"
            return f"{part.n:,} rows detect {size} of {self.measure} with {wanted} power"

        if self.margin is None:
            equal = (
                "No equally good candidate can pass on any number of rows: scores have no known limits (--score-range)."
            )
        else:
            often = f"{wanted} of the time at a margin of {self._shown(self.margin)}."
            equal = f"With about {self.passing or 0:,} rows, an equally good candidate passes {often}"
            if self.passing is None:
                equal = f"{MOST:,} rows are not enough for an equally good candidate to pass {often}"
        notes = (
            *(f"{part.slice}: {smallest(part)}" for part in self.parts[1:]),
            equal,
            "The number of rows that compare suggests assumes that the observed difference is the true one.",
            f"Each test is one-sided at the level {significant(self.level, 3)}.",
            f"Up to {self.sampled:,} rows, the power comes from testing {SAMPLES} samples of these rows with compare "
            "(standard error up to 4 points); for more it is approximate."
            if self.sampled
            else "The power is approximate: a normal test with the present spread and one more row, the worst one.",
        )
        return Table(smallest(self.parts[0]), columns, notes)


def plan_measure(
    paired: PairedPredictions,
    measure: str,
    rule: ComparisonRule,
    drops: Sequence[float] = (),
    *,
    target: float = 0.8,
    tests: int | None = None,
    positive: str | None = None,
) -> SizeOfMeasure:
    """Return the rows that show each of some drops of a measure, by the spread of a pilot.

    `drops`: in the unit of the measure, above 0; by default shares of the baseline's value, or more if these do not
    count. `tests`: the number of tests that are adjusted together; by default those of the measure.

    Raises ValueError as `sigstats.comparison.compare.compare_pair`, or if both models are alike.
    """
    goal = as_real(target, "power", low=0, high=1, open_ends=True)
    drops = [as_real(drop, "drop", low=0, high=math.inf, open_ends=True) for drop in drops]
    rows = compare_pair(paired, replace(rule, adjust="none"), [measure], positive=positive, alone=True).rows
    evidence = evidence_for(paired, [measure], positive).get(measure)
    level = rule.level_of_one(tests_of(paired, [measure], rule) if tests is None else tests)
    spreads = planners_of(paired, rows, evidence, rule, level)
    first, spread = rows[0], spreads[0]
    if spread is None or first.differing == 0 or first.baseline is None:
        why = first.note or "both models are alike"
        raise ValueError(f"power: {shown(measure)} has no known spread ({why}); expected other files")
    spread = replace(spread, fewest=max(spread.fewest, rule.smallest_slice, fewest_of(level)))
    minimum = rule.effect_of(first)
    planned = (
        DropOfMeasure(
            drop=drop,
            needed=spread.needed(drop, level, goal, minimum),
            power=spread.power(first.n, drop, level, minimum),
        )
        for drop in sorted(set(drops or usual_drops(first.baseline, minimum)))
    )
    parts = (
        PartOfMeasure(
            slice=row.slice,
            n=row.n,
            deviation=None if value is None else value.deviation,
            detectable=None if value is None else value.detectable(row.n, level, goal, minimum),
        )
        for row, value in zip(rows, spreads, strict=True)
        if row.pvalue is not None
    )
    margin = None if first.without_limits else rule.margin_of(first)
    spread_of_pass = spread_of(first, passing=True)
    passing = None
    if margin is not None and spread_of_pass is not None:
        passing = spread_of_pass.needed(margin, (1 - rule.confidence_level) / 2, goal)
    return SizeOfMeasure(
        measure=first.name,
        unit=first.unit,
        in_points=in_points(first),
        drops=tuple(planned),
        parts=tuple(parts),
        passing=passing,
        margin=margin,
        level=level,
        target=goal,
        rise=first.lower_is_better,
        sampled=spread.most if isinstance(spread, Sampled) else 0,
    )
