"""The runs of two recipes that show a drop of accuracy.

The accuracy of a run varies by the luck of the run and by its answers to items. Of the variance of the means of runs
over n items, e^2 / n is due to the items, with the residual variance e^2 of a table of runs by items, and the rest to
the runs. The power of Welch's test of `sigstats.comparison.row_tests.runs` is taken as that of Student's, which is
nearly equal for equal spreads, if there are enough divisions for a p-value at the level.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr
from scipy.stats import nct, t

from .._common.numerals import points, significant
from .._common.tabular import Table, Tabular
from .._common.validation import FloatArray, as_real
from ..comparison.family import blank_row
from ..comparison.measured import evidence_of
from ..comparison.paired_predictions import PairedPredictions
from ..comparison.rule import ComparisonRule
from .measures import usual_drops

#: The most runs of a recipe that are tried.
_MOST_RUNS = 1000
#: More divisions of runs, which no float may hold, are enough for any level.
_MOST_DIVISIONS = 10**300
#: The factor of the items in the second column of runs.
_MORE_ITEMS = 4


@dataclass(frozen=True, kw_only=True)
class DropOfRuns:
    """A drop, and the runs per recipe that show it on the present items, on four times as many, and on any number.

    A number of runs is None if it exceeds 1,000; `power` is that of the present runs.
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
    #: The standard deviation of the accuracy of a run, and the part of it that more items do not reduce.
    deviation: float
    luck: float
    level: float
    target: float
    #: True for marks, which have a unit of their own; False for accuracies, in points.
    marks: bool = False

    _records = "drops"

    def _table(self) -> Table:
        def shown(runs: int | None) -> str:
            return f"over {_MOST_RUNS:,}" if runs is None else f"{runs:,}"

        def amount(value: float) -> str:
            return significant(value, 3) if self.marks else points(value)

        columns = {
            "drop": [amount(drop.drop) for drop in self.drops],
            f"runs, on {self.items:,} items": [shown(drop.needed) for drop in self.drops],
            f"on {_MORE_ITEMS * self.items:,}": [shown(drop.needed_more_items) for drop in self.drops],
            "on any number": [shown(drop.needed_any_items) for drop in self.drops],
            "power now": [f"{100 * drop.power:.1f}%" for drop in self.drops],
        }
        deviation, luck = amount(self.deviation), significant((1 if self.marks else 100) * self.luck, 3)
        fewest = next(k for k in range(2, _MOST_RUNS) if math.comb(2 * k, k) * self.level >= 1)  # divisions for p
        notes = (
            (
                f"The {'mean score' if self.marks else 'accuracy'} of a run has a standard deviation of {deviation}; "
                f"the part that is due to the run, which more items do not reduce, is {luck}."
            ),
            (
                f"Welch's test of the runs is one-sided at the level {significant(self.level, 3)}, and needs "
                f"{fewest} runs of each recipe; its power assumes equal spreads."
            ),
        )
        title = f"Runs of each recipe that detect a drop with {significant(100 * self.target)}% power, from "
        return Table(f"{title}{self.runs[0]} and {self.runs[1]} runs", columns, notes)


def plan_runs(
    paired: PairedPredictions, rule: ComparisonRule, drops: Sequence[float], *, target: float = 0.8, tests: int = 1
) -> SizeOfRuns:
    """Return the runs of each recipe that show each of some drops of accuracy, by the spread of a pilot's.

    `drops`: by default those of `usual_drops`. `tests`: the number of tests that are adjusted together.

    Raises ValueError if there are no predictions, or a recipe has only one run.
    """
    goal = as_real(target, "power", low=0, high=1, open_ends=True)
    marks, scored = paired.predicted is None, paired.scored
    if paired.units.runs is None or (scored and scored.per) or (marks and scored is None):
        raise ValueError("prediction: is missing; expected predictions with labels of each run, or a score")
    row = blank_row(paired, "mean-score" if marks else "accuracy")
    high = math.inf if row.relative else row.span
    drops = [as_real(drop, "drop", low=0, high=high, open_ends=True) for drop in drops]
    evidence = evidence_of(paired, row.measure)
    # The first pairs have the runs of the baseline; the first and the others have the runs of the candidate.
    pairs = [pair.values for pair in getattr(evidence, "pairs", ())]
    runs_of_baseline = paired.units.runs[0]
    baseline_runs = np.stack([a for a, _ in pairs[:runs_of_baseline]])
    candidate_runs = np.stack([b for _, b in (pairs[0], *pairs[runs_of_baseline:])])
    runs, n = (len(baseline_runs), len(candidate_runs)), paired.n
    if min(runs) < 2:
        raise ValueError(f"run: a recipe has {min(runs)} run; expected two or more of each, to estimate the spread")
    baseline = float(baseline_runs.mean())
    effect = rule.effect_of(replace(row, baseline=baseline))
    luck, residual = _variances((baseline_runs, candidate_runs))
    level = rule.level_of_one(tests)

    def power(runs: tuple[int, int], drop: float, items: float = n) -> float:
        return _power(runs, drop, luck + residual / items, level, effect)

    def needed(drop: float, items: float) -> int | None:
        return next((k for k in range(2, _MOST_RUNS + 1) if power((k, k), drop, items) >= goal), None)

    def plan(drop: float) -> DropOfRuns:
        return DropOfRuns(
            drop=drop,
            needed=needed(drop, n),
            needed_more_items=needed(drop, _MORE_ITEMS * n),
            needed_any_items=needed(drop, math.inf),
            power=power(runs, drop),
        )

    return SizeOfRuns(
        drops=tuple(map(plan, sorted(set(drops or usual_drops(baseline, effect))))),
        runs=runs,
        items=n,
        deviation=math.sqrt(luck + residual / n),
        luck=math.sqrt(luck),
        level=level,
        target=goal,
        marks=marks,
    )


def _variances(recipes: tuple[FloatArray, FloatArray]) -> tuple[float, float]:
    """Return the variance between runs and the residual one of an item. Each recipe is a table of runs by items."""
    items, freedom = recipes[0].shape[1], sum(map(len, recipes)) - 2
    of_means = sum(float(((table.mean(axis=1) - table.mean()) ** 2).sum()) for table in recipes) / freedom
    rest = [table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean() for table in recipes]
    residual = sum(float((values**2).sum()) for values in rest) / (freedom * max(1, items - 1))
    return max(0.0, of_means - residual / items), residual


def _power(runs: tuple[int, int], drop: float, variance: float, level: float, effect: float) -> float:
    if min(math.comb(sum(runs), runs[0]), _MOST_DIVISIONS) * level < 1:
        return 0.0
    error = math.sqrt(variance * (1 / runs[0] + 1 / runs[1]))
    if error == 0:
        return float(drop >= effect)
    freedom = sum(runs) - 2
    shown = float(nct.sf(t.isf(level, freedom), freedom, drop / error))
    return min(shown, float(ndtr((drop - effect) / error)))
