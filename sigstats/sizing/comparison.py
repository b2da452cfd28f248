"""The number of rows that a comparison needs to show a drop of accuracy, and the power of the rows at hand.

The rule is that of `sigstats.compare`: one-sided, adjusted over all tests, with a smallest drop that counts. The power
is that of the hardest case, in which no other test rejects. It is exact for one answer per row. For several answers to
an item, or rows in groups, it is estimated from simulated groups, each tested as in `compare`
(`sigstats.sizing.samples`).

When not to use: for measures other than accuracy; to explain afterwards why the pilot found nothing, with the drop that
the pilot itself shows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._common.validation import FloatArray, IntArray, as_real, refuse
from ..anytime.bets import expected_rows
from ..comparison.paired_predictions import PairedPredictions
from ..comparison.rule import ComparisonRule
from ..comparison.units import ALL_ROWS
from ..mcnemar.power import VerdictChances, drop_power, verdict_chances
from ..mcnemar.sample_size import detectable_drop, drop_size, passing_size
from .samples import GroupTest, Sizes, sizes_of, sizes_of_averages

#: With fewer differing rows than this, a slice is assumed to have the discordance of all rows.
_FEW_DIFFERING = 10


@dataclass(frozen=True)
class PilotPart:
    """A slice of a pilot, or all rows: its name, number of units, and share of rows that only one model gets right."""

    name: str
    n: int
    discordance: float


@dataclass(frozen=True)
class Pilot:
    """Data for planning a comparison."""

    #: All rows first. `n` counts units: rows, or the items or groups of several rows each; 0 if there are none yet.
    parts: tuple[PilotPart, ...]
    #: The number of tests that are adjusted together.
    tests: int
    #: The accuracy of the baseline.
    accuracy: float | None = None
    #: The rows of a unit, on average.
    answers: int = 1
    #: The correlation of two rows of one unit, each of which counts 1, 0 or -1 for the baseline.
    correlation: float = 0.0
    #: "rows", "items" or "groups".
    unit: str = "rows"
    #: The numbers of rows of units; None if all have `answers`.
    sizes: Sizes | None = None

    def discordance(self, drop: float) -> float:
        """Return the share of rows that only one model gets right: the nearest to the pilot's that allows the drop."""
        most = 2 * (1.0 if self.accuracy is None else self.accuracy) - drop
        return max(min(self.parts[0].discordance, most), drop)


@dataclass(frozen=True)
class DropPlan:
    """A drop of accuracy: the number of units that shows it, and the power of those available.

    `needed` is None if no number is enough, or more than 10**8; `power` if there are no units yet. `arriving`: the
    expected number of rows until a test that is looked at any time shows it; None for rows in groups, or if no number
    or a very large one is enough.
    """

    drop: float
    needed: int | None
    power: float | None
    arriving: int | None = None


@dataclass(frozen=True)
class AnswersPlan:
    """The numbers of items with this many answers each that show each of the drops; None as in `DropPlan`."""

    answers: int
    needed: tuple[int | None, ...]


@dataclass(frozen=True)
class PartPlan:
    """The smallest drop that the units of a part show; None if they show none."""

    part: PilotPart
    detectable: float | None


@dataclass(frozen=True)
class SizePlan:
    """The result of `plan_size`; `level` is that of one test of the family."""

    pilot: Pilot
    rule: ComparisonRule
    level: float
    target: float
    drops: tuple[DropPlan, ...]
    parts: tuple[PartPlan, ...]
    answers: tuple[AnswersPlan, ...] = ()
    #: The chances of verdicts by the number of rows, for an equal candidate and each drop; empty for rows in groups.
    chances: tuple[VerdictChances, ...] = ()
    #: The number of rows with which an equal candidate passes with the power `target`; None if none is enough.
    passing: int | None = None


def pilot_of(paired: PairedPredictions, rule: ComparisonRule, *, tests: int) -> Pilot:
    """Return the data for planning a comparison, from the predictions of two models.

    Raises ValueError if there are no predictions, or both models are right on the same rows.
    """
    if (predicted := paired.predicted) is None:
        raise ValueError("prediction: is missing; expected labels and predictions, for a size by accuracy")
    ahead = predicted.right[0].astype(np.int64) - predicted.right[1]
    if not ahead.any():
        raise ValueError(
            "power: both models are right on the same rows, which do not show how many will differ; "
            "use other files, or sigstats size --discordance"
        )
    overall = float(np.mean(ahead != 0))
    group = paired.units.group
    parts = []
    for name, where in paired.units.parts:
        share = float(np.mean(ahead[where] != 0))
        few = np.count_nonzero(ahead[where]) < _FEW_DIFFERING
        units = len(where) if group is None else len(np.unique(group[where]))
        if name == ALL_ROWS or units >= rule.smallest_slice:
            parts.append(PilotPart(name, units, overall if few else share))
    accuracy = float(np.mean(predicted.right[0]))
    pilot = Pilot(tuple(parts), tests, accuracy)
    if group is None:
        return pilot
    unit = "groups" if paired.units.items is None else "items"
    counts = np.unique(group, return_counts=True)[1]
    answers, sizes = round(float(counts.mean())), sizes_of(counts, rule.unseen_group)
    if predicted.totals is not None:
        sizes = sizes_of_averages(np.subtract(*predicted.totals.means), float(np.var(ahead)))
    return replace(pilot, answers=answers, correlation=_correlation(ahead, group), unit=unit, sizes=sizes)


def _correlation(values: IntArray, group: IntArray) -> float:
    """Return the correlation between two rows of one group, averaged over all pairs and clipped to [0, 1]."""
    codes = np.unique(group, return_inverse=True)[1]
    sizes = np.bincount(codes)
    pairs = int((sizes * (sizes - 1)).sum())
    centred: FloatArray = values - values.mean()
    variance = float(np.mean(centred**2))
    if not pairs or not variance:
        return 0.0
    sums = np.bincount(codes, weights=centred)
    together = float((sums**2).sum() - (centred**2).sum()) / pairs
    return min(1.0, max(0.0, together / variance))


def plan_size(pilot: Pilot, *, rule: ComparisonRule, drops: Sequence[float], target: float = 0.8) -> SizePlan:
    """Return the numbers of units that show each drop with the power `target`, and the power of those available.

    `rule`: what counts as a regression. Raises ValueError if a number is out of its range, or a drop is larger than
    the share of discordant rows allows.
    """
    goal = as_real(target, "power", low=0, high=1, open_ends=True)
    for drop in drops:
        as_real(drop, "drop", low=0, high=1, open_ends=True)
    level = rule.level_of_one(pilot.tests)
    if not level < 0.5:
        raise refuse("alpha", level, "a level below 1/2")
    whole, planner = pilot.parts[0], _Planner(pilot, rule, level, goal)
    planned = [planner.of_drop(drop) for drop in sorted(set(drops))]
    parts = (PartPlan(part, planner.detectable(part)) for part in pilot.parts if part.n)
    answers = tuple(planner.other_answers(planned))
    plan = SizePlan(pilot, rule, level, goal, tuple(planned), tuple(parts), answers)
    return plan if pilot.unit != "rows" or not 0 < whole.discordance < 1 else _with_chances(plan)


def _with_chances(plan: SizePlan) -> SizePlan:
    """Return the plan with the chances of each verdict, on the rows at hand and on the numbers that are needed."""
    rule, share = plan.rule, plan.pilot.parts[0].discordance
    rule_values = {"margin": rule.margin, "confidence_level": rule.confidence_level, "minimum": rule.minimum_effect}
    passing = passing_size(discordance=share, target=plan.target, alpha=plan.level, **rule_values)
    sizes = {n for n in (plan.pilot.parts[0].n, passing, *(drop.needed for drop in plan.drops)) if n}
    chances = (
        verdict_chances(n, drop=drop, discordance=plan.pilot.discordance(drop), alpha=plan.level, **rule_values)
        for n in sorted(sizes)
        for drop in (0.0, *(drop_plan.drop for drop_plan in plan.drops))
    )
    return replace(plan, chances=tuple(chances), passing=passing)


@dataclass(frozen=True)
class _Planner:
    """Computes a plan from a pilot, a rule, the level of one test and the target power."""

    pilot: Pilot
    rule: ComparisonRule
    level: float
    goal: float

    @property
    def has_single_rows(self) -> bool:
        """True if units are single rows."""
        return self.pilot.sizes is None and self.pilot.answers == 1

    @property
    def group_test(self) -> GroupTest:
        """The test of units of several rows."""
        sizes = self.pilot.sizes or Sizes((self.pilot.answers,), unseen_group=self.rule.unseen_group)
        correlation = self.pilot.correlation if sizes.correlation is None else sizes.correlation
        return GroupTest(sizes, correlation, self.level, self.rule.minimum_effect)

    def _rates(self, drop: float) -> dict[str, float]:
        discordance = self.pilot.discordance(drop)
        return {"drop": drop, "discordance": discordance, "alpha": self.level, "minimum": self.rule.minimum_effect}

    def needed(self, drop: float) -> int | None:
        if self.has_single_rows:
            return drop_size(**self._rates(drop), target=self.goal)
        return self.group_test.needed(drop, self.pilot.discordance(drop), self.goal)

    def other_answers(self, drops: Sequence[DropPlan]) -> Iterator[AnswersPlan]:
        """Yield the plans for other numbers of answers to an item."""
        if self.pilot.unit == "items":
            for answers in sorted({1, 2, 5, 10, self.pilot.answers}):
                other = replace(self, pilot=replace(self.pilot, answers=answers, sizes=None))
                yield AnswersPlan(answers, tuple(other.needed(drop.drop) for drop in drops))

    def of_drop(self, drop: float) -> DropPlan:
        arriving = expected_rows(**self._rates(drop)) if self.has_single_rows else None
        power = self.power(self.pilot.parts[0].n, drop) if self.pilot.parts[0].n else None
        return DropPlan(drop, self.needed(drop), power, arriving=None if arriving is None else math.ceil(arriving))

    def power(self, units: int, drop: float) -> float:
        if self.has_single_rows:
            return drop_power(units, **self._rates(drop))
        return self.group_test.power(units, drop, self.pilot.discordance(drop))

    def detectable(self, part: PilotPart) -> float | None:
        if not self.has_single_rows:
            return self.group_test.detectable(part.n, part.discordance, self.goal)
        rates = {"discordance": part.discordance, "alpha": self.level, "minimum": self.rule.minimum_effect}
        drop = detectable_drop(part.n, **rates, target=self.goal)
        # Over all rows, accuracy cannot drop by more than the accuracy of the baseline.
        accuracy = self.pilot.accuracy
        possible = part.name != ALL_ROWS or accuracy is None or (drop or 0.0) <= accuracy
        return drop if possible else None
