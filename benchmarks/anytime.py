"""What it costs to look at any time, and what it costs to look without saying so.

    python benchmarks/anytime.py [STREAMS]

Prints the tables of docs/methods.md. A stream has 300 looks, with 200 new rows each. Right and wrong: 10% of the rows
are discordant. Marks: the difference of two marks between 0 and 1 that have the same mean and unlike laws, 20 rows a
look, 60 looks. The e-value of right and wrong is computed by its closed form, which the tests compare with
`sigstats.anytime_test`.
"""

import math
import sys

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm, t

import sigstats
from sigstats.anytime.wealth import log_wealth

LOOKS, NEW, DISCORDANCE, ALPHA = 300, 200, 0.1, 0.05


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


def false_alarms(streams: int) -> list[str]:
    """The share of streams of equal models with an alarm at any look."""
    rng = np.random.default_rng(1)
    fixed = anytime = 0
    for part in np.array_split(np.arange(streams), max(1, streams // 1000)):
        a, b = counts(len(part), 0.0, rng)
        fixed += ((np.abs(a - b) - 1) / np.sqrt(np.maximum(a + b, 1)) > norm.isf(ALPHA / 2)).any(axis=1).sum()
        anytime += (log_evalues(a, b) >= -math.log(ALPHA)).any(axis=1).sum()
    marks = np.zeros(2)
    for _ in range(streams // 10):
        differences = rng.beta(0.2, 0.1, size=1200) - rng.beta(8, 4, size=1200)
        ends = np.arange(20, 1201, 20)
        means = differences.cumsum()[ends - 1] / ends
        spreads = np.sqrt((differences**2).cumsum()[ends - 1] / ends - means**2) / np.sqrt(ends - 1)
        marks[0] += (np.abs(means) > t.isf(ALPHA / 2, ends - 1) * spreads).any()
        marks[1] += any(two_sided(differences[:end]) >= -math.log(ALPHA) for end in ends)
    shares = marks / (streams // 10)
    return [
        f"| right and wrong, {LOOKS} looks | {fixed / streams:.3f} | {anytime / streams:.4f} |",
        f"| marks, 60 looks | {shares[0]:.3f} | {shares[1]:.4f} |",
    ]


def two_sided(differences: np.ndarray) -> float:
    """The logarithm of the e-value of differences of marks."""
    sides = [log_wealth(sign * differences, np.ones(len(differences)), least=-1, mean=0) for sign in (1, -1)]
    return float(np.logaddexp(*sides)) - math.log(2)


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
            planned = sigstats.paired_sample_size(only_a=only_a, only_b=only_b, target=power)
            cells += [f"{planned:,}", f"{np.quantile(rows, power, method='higher'):,.0f}"]
        cells.append(f"{rows.mean():,.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print("| equal models | fixed test at each look | anytime test |\n|---|---|---|")
    print("\n".join(false_alarms(number)))
    print("\n| B is worse by | planned, power 0.8 | anytime, 0.8 | planned, 0.9 | anytime, 0.9 | anytime, mean |")
    print("|---|---|---|---|---|---|")
    print("\n".join(costs(number)))
