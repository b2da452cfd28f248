"""How often rank sets hold all true ranks at once, ties included, and how wide they are.

    python benchmarks/rank_sets.py [WORLDS]

Prints benchmarks/rank_sets.md. In each world six models answer the same rows. What is hard is hard for all: the models'
answers share half of their variance. Models of equal chance are tied, and each of them may have any rank of the tie: a
world is missed if the set of any model leaves out one of these. A mark is the share right of four points; where an item
is answered five times, it is the group.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sigstats.ranking.rank_sets import rank_sets

LEVEL = 0.95
TIED, LADDER = [0.7] * 6, [0.95, 0.9, 0.85, 0.8, 0.75, 0.7]
SOME_TIED, CLOSE = [0.9, 0.8, 0.8, 0.8, 0.6, 0.5], [0.84, 0.83, 0.82, 0.81, 0.8, 0.79]
CHANCES = {"all tied": TIED, "three of six tied": SOME_TIED, "close": CLOSE, "apart": LADDER}


@dataclass(frozen=True)
class Rows:
    """What a world is made of: so many items, points of a mark, and answers an item."""

    name: str
    items: int
    points: int = 1
    answers: int = 1


KINDS = (
    Rows("right or wrong", 20),
    Rows("right or wrong", 100),
    Rows("right or wrong", 1000),
    Rows("marks of four points", 30, points=4),
    Rows("five answers an item", 30, answers=5),
)


def worlds(rows: Rows, chances: np.ndarray, number: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Tables of rows and models: bool, or the mean of points."""
    limits = stats.norm.ppf(chances)
    for _ in range(number):
        shared = rng.normal(size=(rows.items, 1, 1, 1))
        own = rng.normal(size=(rows.items, rows.answers, rows.points, len(chances)))
        right = np.sqrt(0.5) * (shared + own) < limits
        table = right.reshape(rows.items * rows.answers, rows.points, len(chances))
        yield table[:, 0] if rows.points == 1 else table.mean(axis=1)


def missed_and_width(rows: Rows, chances: np.ndarray, number: int, rng: np.random.Generator) -> tuple[int, float]:
    """In how many worlds a true rank is left out, and the mean number of ranks that a model may have."""
    least = 1 + (chances[:, None] > chances).sum(axis=0)
    most = (chances[:, None] >= chances).sum(axis=0)
    groups = None if rows.answers == 1 else np.repeat(np.arange(rows.items), rows.answers)
    missed, width = 0, 0.0
    for table in worlds(rows, chances, number, rng):
        found = rank_sets(table, groups=groups, confidence_level=LEVEL)
        low, high = np.array(found.low), np.array(found.high)
        missed += bool((low > least).any() or (high < most).any())
        width += float((high - low + 1).mean())
    return missed, width / number


def main(number: int) -> None:
    """Print the page."""
    print("How often rank sets contain all true ranks at once.\n")
    error = np.sqrt(LEVEL * (1 - LEVEL) / number)
    print(f"{number:,} worlds of six models for each figure; confidence {LEVEL}, with a standard error of {error:.4f}.")
    print("In brackets: how many ranks a model may have, on average.\n")
    print("| rows | items | " + " | ".join(CHANCES) + " |")
    print("|---" * (2 + len(CHANCES)) + "|")
    for rows in KINDS:
        cells = []
        for place, chances in enumerate(CHANCES.values()):
            rng = np.random.default_rng([rows.items, rows.points, rows.answers, place])
            missed, width = missed_and_width(rows, np.array(chances), number, rng)
            cells.append(f"{1 - missed / number:.4f} ({width:.1f})")
        print(f"| {rows.name} | {rows.items} | " + " | ".join(cells) + " |", flush=True)
    print("\nMade by `python benchmarks/rank_sets.py`.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
