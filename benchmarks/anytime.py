"""What it costs to look at any time, and what it costs to look without saying so.

    python benchmarks/anytime.py [STREAMS] > benchmarks/anytime.md

A stream has 300 looks, with 200 new rows each. Right and wrong: 10% of the rows are discordant. Slices: a fifth, a
third and the rest of the same rows, by e-Holm with all rows. Marks: the difference of two marks between 0 and 1 that
have the same mean and unlike laws, 20 rows a look, 60 looks. The e-values of right and wrong are computed by their
closed forms, which the tests compare with `sigstats.anytime_test`.
"""

import math
import sys

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm, t

import sigstats
from sigstats.anytime import bets
from sigstats.anytime.bets import log_wealth

LOOKS, NEW, DISCORDANCE, ALPHA = 300, 200, 0.1, 0.05
SHARES = (0.2, 0.35, 0.45)


def counts(
    streams: int, difference: float, rng: np.random.Generator, looks: int = LOOKS
) -> tuple[np.ndarray, np.ndarray]:
    """The rows that favour A and those that favour B, so far, at each look."""
    law = [(DISCORDANCE + difference) / 2, (DISCORDANCE - difference) / 2, 1 - DISCORDANCE]
    drawn = rng.multinomial(NEW, law, size=(streams, looks)).cumsum(axis=1)
    return drawn[..., 0], drawn[..., 1]


def log_evalues(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The logarithm of 2^(a + b) B(a + 1/2, b + 1/2) / B(1/2, 1/2)."""
    beta = gammaln(a + 0.5) + gammaln(b + 0.5) - gammaln(a + b + 1) - math.log(math.pi)
    return (a + b) * math.log(2) + beta


def slices(streams: int, rng: np.random.Generator) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The same for all rows, and for three slices of them."""
    parts = [rng.multinomial(round(NEW * share), [0.05, 0.05, 0.9], size=(streams, LOOKS)) for share in SHARES]
    totals = [each.cumsum(axis=1) for each in [sum(parts), *parts]]
    return [each[..., 0] for each in totals], [each[..., 1] for each in totals]


def false_alarms(streams: int) -> list[str]:
    """The share of streams of equal models with an alarm at any look."""
    rng = np.random.default_rng(1)
    found = np.zeros((2, 3))
    for part in np.array_split(np.arange(streams), max(1, streams // 1000)):
        a, b = counts(len(part), 0.0, rng)
        spread = np.sqrt(np.maximum(a + b, 1))
        found[0] += [
            np.any(np.abs(a - b) > norm.isf(ALPHA / 2) * spread, axis=1).sum(),
            np.any(np.abs(a - b) - 1 > norm.isf(ALPHA / 2) * spread, axis=1).sum(),
            np.any(log_evalues(a, b) >= -math.log(ALPHA), axis=1).sum(),
        ]
        ahead, behind = slices(len(part), rng)
        tests = list(zip(ahead, behind, strict=True))  # Holm's first step decides whether there is any false alarm
        level = norm.isf(ALPHA / len(tests))
        found[1] += [
            np.any([(x - y > level * np.sqrt(np.maximum(x + y, 1))).any(axis=1) for x, y in tests], axis=0).sum(),
            np.any([(x - y - 1 > level * np.sqrt(np.maximum(x + y, 1))).any(axis=1) for x, y in tests], axis=0).sum(),
            np.any(
                [(bets.log_evalues(x, y) >= -math.log(ALPHA / len(tests))).any(axis=1) for x, y in tests], axis=0
            ).sum(),
        ]
    marks, few = np.zeros(3), max(1, streams // 20)
    for _ in range(few):
        differences = rng.beta(0.2, 0.1, size=1200) - rng.beta(8, 4, size=1200)
        ends = np.arange(20, 1201, 20)
        means = differences.cumsum()[ends - 1] / ends
        spreads = np.sqrt((differences**2).cumsum()[ends - 1] / ends - means**2) / np.sqrt(ends - 1)
        for column, point in enumerate((norm.isf(ALPHA / 2), t.isf(ALPHA / 2, ends - 1))):
            marks[column] += (np.abs(means) > point * spreads).any()
        marks[2] += any(two_sided(differences[:end]) >= -math.log(ALPHA) for end in ends)
    return [
        _line(f"right and wrong, {LOOKS} looks, two-sided ({streams:,} streams)", found[0] / streams),
        _line(f"all rows and three slices by Holm, {LOOKS} looks, one-sided ({streams:,})", found[1] / streams),
        _line(f"marks, 60 looks, two-sided ({few:,})", marks / few),
    ]


def _line(name: str, shares: np.ndarray) -> str:
    return f"| {name} | " + " | ".join(f"{100 * share:.1f}%" for share in shares) + " |"


def two_sided(differences: np.ndarray) -> float:
    """The logarithm of the e-value of differences of marks."""
    sides = [log_wealth(sign * differences, np.ones(len(differences)), least=-1, mean=0) for sign in (1, -1)]
    return float(np.logaddexp(sides[0], sides[1])) - math.log(2)


def costs(streams: int) -> list[str]:
    """The rows of a planned test, and those after which the anytime test has decided."""
    rng = np.random.default_rng(2)
    lines = []
    for difference in (0.05, 0.03, 0.02):
        a, b = counts(streams // 10, difference, rng)
        decided = log_evalues(a, b) >= -math.log(ALPHA)
        rows = np.where(decided.any(axis=1), (decided.argmax(axis=1) + 1) * NEW, np.inf)
        cells = [f"{100 * difference:g} points"]
        for power in (0.8, 0.9):
            only_a, only_b = (DISCORDANCE + difference) / 2, (DISCORDANCE - difference) / 2
            planned = sigstats.paired_sample_size(only_a=only_a, only_b=only_b, power=power)
            cells += [f"{planned:,}", f"{np.quantile(rows, power, method='higher'):,.0f}"]
        cells.append(f"{rows.mean():,.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print("# Tests that may be looked at any time\n")
    print("`python benchmarks/anytime.py` makes both tables; the nominal level is 5%.\n")
    print("## Any false alarm of equal models at any look\n")
    print("| streams | a fixed interval at each look | the same, corrected | anytime |\n|---|---|---|---|")
    print("\n".join(false_alarms(number)))
    print("\n## The rows that the freedom costs\n")
    print("With 10% discordant rows, 200 new ones at each look, two-sided.\n")
    print("| B is worse by | planned, power 0.8 | anytime, 0.8 | planned, 0.9 | anytime, 0.9 | anytime, mean |")
    print("|---|---|---|---|---|---|")
    print("\n".join(costs(number)))
