"""The rows that a leaderboard needs, and the runs of two recipes that show a drop of accuracy.

A leaderboard: for each model and the one behind it, the rows until they are told apart.

Runs: the accuracy of a run varies by the luck of the run and by its answers to items. Of the variance of the means of
runs over n items, e^2 / n is due to the items, with the residual variance e^2 of a table of runs by items, and the rest
to the runs. The power of Welch's test of `sigstats.comparison.runs` is taken as that of Student's, which is nearly
equal for equal spreads, if there are enough divisions for a p-value at the level.

When not to use: to explain after the fact why nothing was found, with the difference that the pilot itself shows; a
pilot that is small overstates differences.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import nct, t

from .._common.extreme import span_of
from .._common.numerals import points, significant
from .._common.tabular import Table, Tabular, columns_of
from .._common.validation import FloatArray, as_real, require_squarable
from ..comparison.evidence import Values
from ..comparison.measured import evidence_of
from ..comparison.paired_predictions import PairedPredictions
from ..comparison.rows import ComparisonRow
from ..comparison.rule import ComparisonRule
from ..comparison.units import ALL_ROWS, Units
from ..mcnemar.drop_power import detectable_drop, drop_power, drop_size
from .samples import TiltedPilot
from .spread import Sampled, Spread, fewest_of

_MCNEMAR = "McNemar's exact test"
_BOUND = "a bound of the mean that allows for an unseen row (approximate power)"


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """A model and the next: their difference, the share of rows that only one gets right, and the needed rows.

    `deviation`: of scores, in place of that share, the standard deviation of a row's difference.
    `needed`: None if no number is enough, or more than 10**8. `power`: that of the rows at hand.
    """

    a: str
    b: str
    difference: float
    discordance: float | None
    needed: int | None
    power: float
    detectable: float | None
    deviation: float | None = None


@dataclass(frozen=True, kw_only=True)
class LeaderboardSize(Tabular):
    """The result of `leaderboard_size`; `level` is that of one of the ordered pairs."""

    neighbours: tuple[Neighbours, ...]
    n: int
    level: float
    target: float

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.neighbours, Neighbours)

    def _table(self) -> Table:
        wanted = significant(100 * self.target)
        pairs = self.neighbours
        marks = any(pair.discordance is None for pair in pairs)

        def amount(value: float | None) -> str:
            if value is None:
                return "none"
            return significant(value, 3) if marks else points(value)

        columns = {
            "pair": [f"{pair.a} over {pair.b}" for pair in pairs],
            "ahead by": [amount(pair.difference) for pair in pairs],
            **(
                {"standard deviation": [amount(pair.deviation) for pair in pairs]}
                if marks
                else {"one model right": [f"{significant(100 * (pair.discordance or 0), 3)}%" for pair in pairs]}
            ),
            "rows needed": ["over 100,000,000" if pair.needed is None else f"{pair.needed:,}" for pair in pairs],
            "power now": [f"{100 * pair.power:.1f}%" for pair in pairs],
            "smallest difference shown now": [amount(pair.detectable) for pair in pairs],
        }
        models = len(pairs) + 1
        notes = (
            (
                f"Each of the {models * (models - 1)} ordered pairs of {models} models is tested by "
                f"{_BOUND if marks else _MCNEMAR}, at the first level of Holm's method, {significant(self.level, 3)}."
            ),
            ("The numbers assume the differences of the pilot; no number of rows distinguishes equal models."),
        )
        return Table(f"Rows that distinguish neighbours with {wanted}% power, from {self.n:,} rows", columns, notes)


def leaderboard_size(
    scores: NDArray[np.bool_] | FloatArray,
    models: Sequence[str],
    *,
    target: float = 0.8,
    confidence_level: float = 0.95,
    lower: bool = False,
    limits: tuple[float, float] | None = (0.0, 1.0),
) -> LeaderboardSize:
    """The rows that distinguish each model from the next, by the power of the first of Holm's steps.

    `scores` (ndarray of bool or float, shape (n, k)): which of k models got each row right, with exact power; or their
    marks, with the power in samples or of a normal test (`Sampled`, `Spread`). `lower`: whether lower scores are
    better; `limits`: as in `sigstats.ranking.rank_sets.sets_of`.
    """
    n, k = scores.shape
    require_squarable(scores.astype(np.float64, copy=False), "scores")
    level = (1 - confidence_level) / (k * (k - 1))
    means = scores.mean(axis=0, dtype=np.float64) * (-1 if lower else 1)
    order = sorted(range(k), key=lambda model: (-float(means[model]), model))
    span = span_of(scores, limits)
    scores = -scores.astype(np.float64) if lower else scores
    generator = (
        _pair(scores[:, [a, b]], (models[a], models[b]), float(means[a] - means[b]), level, target, span)
        for a, b in itertools.pairwise(order)
    )
    return LeaderboardSize(neighbours=tuple(generator), n=n, level=level, target=target)


def _pair(
    pair: NDArray[Any], names: tuple[str, str], ahead: float, level: float, target: float, span: float | None
) -> Neighbours:
    (first, second), n = pair.T, len(pair)
    if pair.dtype == bool:
        ahead, share = float((first.sum() - second.sum()) / n), float(np.mean(first != second))
        entries: dict[str, Any] = {
            "discordance": share,
            "needed": drop_size(drop=ahead, discordance=share, alpha=level, target=target) if ahead else None,
            "power": drop_power(n, drop=ahead, discordance=share, alpha=level),
            "detectable": detectable_drop(n, discordance=share, alpha=level, target=target) if share else None,
        }
    else:
        deviation = float((first - second).std(ddof=1))
        if span is None:
            spread = Spread(deviation, float(np.abs(first - second).max()), fewest_of(level))
        else:
            values = Values(units=Units(n=n), values=(first, second), span=span)
            row = ComparisonRow(slice=ALL_ROWS, measure="mean-score", n=n)
            pilot = TiltedPilot(values, row, ComparisonRule(smallest_slice=1)).of_most_units()
            spread = Sampled(deviation, span, fewest_of(level), pilot)
        entries = {
            "discordance": None,
            "needed": spread.needed(ahead, level, target),
            "power": spread.power(n, ahead, level),
            "detectable": spread.detectable(n, level, target) if deviation else None,
            "deviation": deviation,
        }
    return Neighbours(a=names[0], b=names[1], difference=ahead, **entries)


#: More runs than so many are not asked for.
_MOST_RUNS = 1000
#: More divisions of runs, which no float may hold, are enough for any level.
_MOST_DIVISIONS = 10**300
#: The items at hand, and so many times as many.
_MORE_ITEMS = 4


@dataclass(frozen=True, kw_only=True)
class DropOfRuns:
    """A drop: the runs per recipe that show it on the items at hand, on four times as many, and on any number.

    Each is None if more than 1,000 are needed; `power` is that of the runs at hand.
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
    #: Of marks, which have a unit of their own, or of accuracies, in points.
    marks: bool = False

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.drops, DropOfRuns)

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
        notes = (
            (
                f"The {'mean score' if self.marks else 'accuracy'} of a run has a standard deviation of {deviation}; "
                f"the part that is due to the run, which more items do not reduce, is {luck}."
            ),
            (
                f"Welch's test of the runs is one-sided at the level {significant(self.level, 3)}, and needs "
                f"{_fewest(self.level)} runs of each recipe; its power assumes equal spreads."
            ),
        )
        title = f"Runs of each recipe that detect a drop with {significant(100 * self.target)}% power, from "
        return Table(f"{title}{self.runs[0]} and {self.runs[1]} runs", columns, notes)


def plan_runs(
    paired: PairedPredictions, rule: ComparisonRule, drops: Sequence[float], *, target: float = 0.8, tests: int = 1
) -> SizeOfRuns:
    """The runs of each recipe that show each of some drops of accuracy, by the spread of a pilot's.

    `tests`: the number of tests that are adjusted together. Raises ValueError if there are no predictions, or a recipe
    has only one run.
    """
    goal = as_real(target, "power", low=0, high=1, open_ends=True)
    for drop in drops:
        as_real(drop, "drop", low=0, high=1, open_ends=True)
    marks, scored = paired.predicted is None, paired.scored
    if paired.units.runs is None or (scored and scored.per) or (marks and scored is None):
        raise ValueError("prediction: is missing; expected predictions with labels of each run, or a score")
    runs = evidence_of(paired, "mean-score" if marks else "accuracy")
    of_a, pairs = paired.units.runs[0], [pair.values for pair in getattr(runs, "pairs", ())]
    sides = [np.stack([a for a, _ in pairs[:of_a]]), np.stack([b for _, b in (pairs[0], *pairs[of_a:])])]
    counts, n = (len(sides[0]), len(sides[1])), paired.n
    if min(counts) < 2:
        raise ValueError(f"run: a recipe has {min(counts)} run; expected two or more of each, to estimate the spread")
    spread = sum(float(((side.mean(axis=1) - side.mean()) ** 2).sum()) for side in sides) / (sum(counts) - 2)
    rest = [side - side.mean(axis=1, keepdims=True) - side.mean(axis=0) + side.mean() for side in sides]
    residual = sum(float((value**2).sum()) for value in rest) / ((sum(counts) - 2) * max(1, n - 1))
    luck = max(0.0, spread - residual / n)
    level = rule.level_of_one(tests)

    def needed(drop: float, variance: float) -> int | None:
        enough = (k for k in range(2, _MOST_RUNS + 1) if _power((k, k), drop, variance, level, rule) >= goal)
        return next(enough, None)

    generator = (
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
        drops=tuple(generator),
        runs=counts,
        items=n,
        deviation=math.sqrt(luck + residual / n),
        luck=math.sqrt(luck),
        level=level,
        target=goal,
        marks=marks,
    )


def _fewest(level: float) -> int:
    """The fewest runs per recipe with enough divisions for a p-value at the level."""
    return next(k for k in range(2, _MOST_RUNS) if math.comb(2 * k, k) * level >= 1)


def _power(runs: tuple[int, int], drop: float, variance: float, level: float, rule: ComparisonRule) -> float:
    if min(math.comb(sum(runs), runs[0]), _MOST_DIVISIONS) * level < 1:
        return 0.0
    error = math.sqrt(variance * (1 / runs[0] + 1 / runs[1]))
    if error == 0:
        return float(drop >= rule.minimum_effect)
    freedom = sum(runs) - 2
    shown = float(nct.sf(t.isf(level, freedom), freedom, drop / error))
    return min(shown, float(ndtr((drop - rule.minimum_effect) / error)))
