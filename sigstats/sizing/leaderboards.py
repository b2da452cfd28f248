"""The number of rows that a leaderboard needs to distinguish each model from the next.

When not to use: to explain after the fact why nothing was found, with the difference that the pilot itself shows; a
pilot that is small overstates differences.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import span_of
from .._common.numerals import points, significant
from .._common.tabular import Table, Tabular
from .._common.validation import FloatArray, Limits, require_squarable
from ..comparison.evidence import Values
from ..comparison.rows import ComparisonRow
from ..comparison.rule import ComparisonRule
from ..comparison.units import ALL_ROWS, Units
from ..mcnemar.power import drop_power
from ..mcnemar.sample_size import detectable_drop, drop_size
from .samples import TiltedPilot
from .spread import Sampled, Spread, fewest_of

_MCNEMAR = "McNemar's exact test"
_BOUND = "a bound of the mean that allows for an unseen row (approximate power)"


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """A model and the next: their difference, the share of rows that only one gets right, and the needed rows.

    `deviation`: of scores, in place of that share, the standard deviation of a row's difference.
    `needed`: None if no number is enough, or more than 10**8. `power`: that of the rows at hand. `detectable`: the
    smallest difference that they detect with the target power; None if there is none, or the rows do not vary.
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

    _records = "neighbours"

    def _table(self) -> Table:
        wanted = significant(100 * self.target)
        pairs = self.neighbours
        marks = any(pair.discordance is None for pair in pairs)

        def amount(value: float | None) -> str:
            if value is None:
                return "none"
            return significant(value, 3) if marks else points(value)

        spread = {"one model right": [f"{significant(100 * (pair.discordance or 0), 3)}%" for pair in pairs]}
        if marks:
            spread = {"standard deviation": [amount(pair.deviation) for pair in pairs]}
        columns = {
            "pair": [f"{pair.a} over {pair.b}" for pair in pairs],
            "ahead by": [amount(pair.difference) for pair in pairs],
            **spread,
            "rows needed": ["over 100,000,000" if pair.needed is None else f"{pair.needed:,}" for pair in pairs],
            "power now": [f"{100 * pair.power:.1f}%" for pair in pairs],
            "smallest difference detected now": [amount(pair.detectable) for pair in pairs],
        }
        models = len(pairs) + 1
        notes = (
            (
                f"Each of the {models * (models - 1)} ordered pairs of {models} models is tested by "
                f"{_BOUND if marks else _MCNEMAR}, at the first level of Holm's method, {significant(self.level, 3)}."
            ),
            "The numbers assume that these are the true differences; no number of rows distinguishes equal models.",
        )
        return Table(f"Rows that distinguish neighbours with {wanted}% power, from {self.n:,} rows", columns, notes)


def leaderboard_size(
    scores: NDArray[np.bool_] | FloatArray,
    models: Sequence[str],
    *,
    target: float = 0.8,
    confidence_level: float = 0.95,
    lower: bool = False,
    limits: Limits = (0.0, 1.0),
) -> LeaderboardSize:
    """Compute the rows that distinguish each model from the next, at the level of Holm's first step.

    `scores` (ndarray of bool or float, shape (n, k)): which of k models got each row right, with exact power; or their
    marks, with the power in samples or of a normal test (`Sampled`, `Spread`). `lower`: whether lower scores are
    better; `limits`: as in `sigstats.ranking.rank.rank_table`.
    """
    n, k = scores.shape
    require_squarable(scores.astype(np.float64, copy=False), "scores")
    level = (1 - confidence_level) / (k * (k - 1))
    means = scores.mean(axis=0, dtype=np.float64) * (-1 if lower else 1)
    order = sorted(range(k), key=lambda model: (-float(means[model]), model))
    span = span_of(scores, limits)
    scores = -scores.astype(np.float64) if lower else scores
    neighbours = [
        _neighbours(scores[:, [a, b]], (models[a], models[b]), float(means[a] - means[b]), level, target, span)
        for a, b in itertools.pairwise(order)
    ]
    return LeaderboardSize(neighbours=tuple(neighbours), n=n, level=level, target=target)


def _neighbours(
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
        if span is None:  # no limits are known: the power of a normal test, otherwise that in samples
            spread = Spread(deviation, float(np.abs(first - second).max()), fewest_of(level))
        else:
            evidence = Values(units=Units(n=n), values=(first, second), span=span)
            row = ComparisonRow(slice=ALL_ROWS, measure="mean-score", n=n)
            # The pilot, or a random part of it if it is large.
            pilot = TiltedPilot(evidence, row, ComparisonRule(smallest_slice=1)).of_most_units()
            spread = Sampled(deviation, span, fewest_of(level), pilot)
        entries = {
            "discordance": None,
            "needed": spread.needed(ahead, level, target),
            "power": spread.power(n, ahead, level),
            "detectable": spread.detectable(n, level, target) if deviation else None,
            "deviation": deviation,
        }
    return Neighbours(a=names[0], b=names[1], difference=ahead, **entries)
