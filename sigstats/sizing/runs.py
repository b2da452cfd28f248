"""The number of runs of two recipes, such as trainings with other seeds, that show a drop of accuracy.

The accuracy of a run varies by the luck of the run and by what it says of each item: of the variance of the means of
runs over n items, e^2 / n is of the items, with the residual variance e^2 of a table of runs by items, and the rest is
of the runs. The power of the permutation test of `sigstats.comparison.runs` is that of Student's test, which it
approaches (Hoeffding 1952, Annals of Mathematical Statistics 23, 169-192), where there are divisions enough for a
p-value at the level.

When not to use: to explain after the fact why nothing was found, with the drop that the pilot itself shows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import nct, t

from .._common.numerals import significant
from .._common.tabular import Table, Tabular
from .._common.validation import as_real
from ..comparison.paired_predictions import PairedPredictions
from ..comparison.rule import ComparisonRule

#: More runs than so many are not asked for.
_MOST_RUNS = 1000
#: The items at hand, and so many times as many.
_MORE_ITEMS = 4


@dataclass(frozen=True, kw_only=True)
class DropOfRuns:
    """A drop: the runs of each recipe that show it on the items at hand, on four times as many, on any number of them.

    Each is None where more than 1,000 are needed; `power` is that of the runs at hand.
    """

    drop: float
    needed: int | None
    needed_more_items: int | None
    needed_any_items: int | None
    power: float


@dataclass(frozen=True, kw_only=True)
class SizeOfRuns(Tabular):
    """The result of `plan_runs`; the standard deviations are of one run, as shares."""

    drops: tuple[DropOfRuns, ...]
    runs: tuple[int, int]
    items: int
    #: Of the accuracy of a run, and the part of it that more items do not lessen.
    deviation: float
    luck: float
    level: float
    target: float

    def _columns(self) -> dict[str, list[Any]]:
        return {each.name: [getattr(drop, each.name) for drop in self.drops] for each in fields(DropOfRuns)}

    def _table(self) -> Table:
        def shown(runs: int | None) -> str:
            return f"over {_MOST_RUNS:,}" if runs is None else f"{runs:,}"

        columns = {
            "drop": [f"{significant(100 * each.drop, 3)} points" for each in self.drops],
            f"runs, on {self.items:,} items": [shown(each.needed) for each in self.drops],
            f"on {_MORE_ITEMS * self.items:,}": [shown(each.needed_more_items) for each in self.drops],
            "on any number": [shown(each.needed_any_items) for each in self.drops],
            "power now": [f"{100 * each.power:.1f}%" for each in self.drops],
        }
        deviation, luck = (significant(100 * each, 3) for each in (self.deviation, self.luck))
        notes = (
            (
                f"The accuracy of a run has a standard deviation of {deviation} points; that of the luck of the run, "
                f"which more items do not lessen, is {luck}."
            ),
            (
                f"The permutation test of the runs has the one-sided level {significant(self.level, 3)}, and needs "
                f"{_fewest(self.level)} runs of each recipe at least; its power is that of Student's test."
            ),
        )
        title = f"Runs of each recipe that show a drop with power {significant(100 * self.target)}%, from "
        return Table(f"{title}{self.runs[0]} and {self.runs[1]} runs", columns, notes)


def plan_runs(
    paired: PairedPredictions, rule: ComparisonRule, drops: Sequence[float], *, target: float = 0.8, tests: int = 1
) -> SizeOfRuns:
    """The runs of each recipe that show each of some drops of accuracy, by the spread of those of a pilot.

    `drops`: above 0 and below 1. `target`: the power wanted. `tests`: as many are adjusted together.

    Raises ValueError if there are no predictions, a recipe has one run alone, or a number is out of its range.
    """
    goal = as_real(target, "power", low=0, high=1, open_ends=True)
    for drop in drops:
        as_real(drop, "drop", low=0, high=1, open_ends=True)
    if paired.runs is None or not paired.predicted:
        raise ValueError("prediction: is missing; expected labels and predictions of each run, for a size by accuracy")
    sides = [(said == paired.label).astype(np.float64) for said in (paired.runs.a, paired.runs.b)]
    counts, n = (len(sides[0]), len(sides[1])), paired.n
    if min(counts) < 2:
        raise ValueError(f"run: a recipe has {min(counts)} run; expected two or more of each, whose spread is known")
    spread = sum(float(((each.mean(axis=1) - each.mean()) ** 2).sum()) for each in sides) / (sum(counts) - 2)
    rest = [each - each.mean(axis=1, keepdims=True) - each.mean(axis=0) + each.mean() for each in sides]
    residual = sum(float((each**2).sum()) for each in rest) / ((sum(counts) - 2) * max(1, n - 1))
    luck = max(0.0, spread - residual / n)
    level = rule.level_of_one(tests)

    def needed(drop: float, variance: float) -> int | None:
        enough = (k for k in range(2, _MOST_RUNS + 1) if _power((k, k), drop, variance, level, rule) >= goal)
        return next(enough, None)

    found = (
        DropOfRuns(
            drop=drop,
            needed=needed(drop, luck + residual / n),
            needed_more_items=needed(drop, luck + residual / (_MORE_ITEMS * n)),
            needed_any_items=needed(drop, luck),
            power=_power(counts, drop, luck + residual / n, level, rule),
        )
        for drop in sorted(set(drops))
    )
    return SizeOfRuns(
        drops=tuple(found),
        runs=counts,
        items=n,
        deviation=math.sqrt(luck + residual / n),
        luck=math.sqrt(luck),
        level=level,
        target=goal,
    )


def _fewest(level: float) -> int:
    """The runs of each recipe of which there are divisions enough for a p-value at the level."""
    return next(k for k in range(2, _MOST_RUNS) if math.comb(2 * k, k) * level >= 1)


def _power(runs: tuple[int, int], drop: float, variance: float, level: float, rule: ComparisonRule) -> float:
    if math.comb(sum(runs), runs[0]) * level < 1:
        return 0.0
    error = math.sqrt(variance * (1 / runs[0] + 1 / runs[1]))
    if error == 0:
        return float(drop >= rule.minimum_effect)
    freedom = sum(runs) - 2
    shown = float(nct.sf(t.isf(level, freedom), freedom, drop / error))
    return min(shown, float(ndtr((drop - rule.minimum_effect) / error)))
