"""The rows that a leaderboard needs: for each model and the one behind it, until they are told apart.

When not to use: to explain after the fact why two models were not told apart, with the difference that the pilot itself
shows; a pilot that is small overstates differences.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.numerals import significant
from .._common.tabular import Table, Tabular
from ..mcnemar.drop_power import detectable_drop, drop_power, drop_size


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """A model and the one behind it: by how much, the share of rows that one alone gets right, the rows needed.

    `needed` is None where no number is enough or more than 10**8; `power` is that of the rows at hand.
    """

    a: str
    b: str
    difference: float
    discordance: float
    needed: int | None
    power: float
    detectable: float | None


@dataclass(frozen=True, kw_only=True)
class LeaderboardSize(Tabular):
    """The result of `leaderboard_size`; `level` is that of one of the ordered pairs."""

    neighbours: tuple[Neighbours, ...]
    n: int
    level: float
    target: float

    def _columns(self) -> dict[str, list[Any]]:
        return {each.name: [getattr(pair, each.name) for pair in self.neighbours] for each in fields(Neighbours)}

    def _table(self) -> Table:
        wanted = significant(100 * self.target)
        pairs = self.neighbours
        columns = {
            "pair": [f"{each.a} over {each.b}" for each in pairs],
            "ahead by": [f"{significant(100 * each.difference, 3)} points" for each in pairs],
            "one alone right": [f"{significant(100 * each.discordance, 3)}%" for each in pairs],
            "rows needed": ["over 100,000,000" if each.needed is None else f"{each.needed:,}" for each in pairs],
            "power now": [f"{100 * each.power:.1f}%" for each in pairs],
            "smallest difference shown now": [
                "none" if each.detectable is None else f"{significant(100 * each.detectable, 3)} points"
                for each in pairs
            ],
        }
        models = len(pairs) + 1
        notes = (
            (
                f"Each of the {models * (models - 1)} ordered pairs of {models} models is tested at the level "
                f"{significant(self.level, 3)}, by McNemar's exact test, as the first of Holm's steps."
            ),
            ("The differences are those of the pilot; of equal models no number of rows tells one from the other."),
        )
        return Table(f"Rows that tell neighbours apart with power {wanted}%, from {self.n:,} rows", columns, notes)


def leaderboard_size(
    right: NDArray[np.bool_], models: Sequence[str], *, target: float = 0.8, confidence_level: float = 0.95
) -> LeaderboardSize:
    """The rows that tell each model from the one behind it, by the exact power of the first of Holm's steps.

    `right` (ndarray of bool, shape (n, k)): which of k models got each row right.

    >>> rng = np.random.default_rng(0)
    >>> right = rng.random((500, 2)) < [0.9, 0.8]
    >>> (pair,) = leaderboard_size(right, ["a", "b"]).neighbours
    >>> pair.a, pair.needed, round(pair.power, 2)
    ('a', 361, 0.92)
    """
    n, k = right.shape
    level = (1 - confidence_level) / (k * (k - 1))
    order = sorted(range(k), key=lambda model: (-int(right[:, model].sum()), model))
    found = []
    for a, b in itertools.pairwise(order):
        share = float(np.mean(right[:, a] != right[:, b]))
        ahead = float((right[:, a].sum() - right[:, b].sum()) / n)
        found.append(
            Neighbours(
                a=models[a],
                b=models[b],
                difference=ahead,
                discordance=share,
                needed=drop_size(drop=ahead, discordance=share, alpha=level, target=target) if ahead else None,
                power=drop_power(n, drop=ahead, discordance=share, alpha=level),
                detectable=detectable_drop(n, discordance=share, alpha=level, target=target) if share else None,
            )
        )
    return LeaderboardSize(neighbours=tuple(found), n=n, level=level, target=target)
