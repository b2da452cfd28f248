"""How often two equally good models are told apart: accuracies and marks, several answers an item, unlike numbers.

    python benchmarks/sign_flips_level.py [TRIALS]

Prints the table of sign_flips_level.md. Two models answer the same items. The chance of a right answer differs between
items, and the models share what is hard: an item's two logits are normal about 1, of standard deviation 2 and
correlation 0.8. A mark is the mean of four right or wrong points. Where the models have unlike numbers of answers, an
item's difference is that of the means, with ``symmetric=False``. Each share is the larger one of the two one-sided
tests at the level 0.05, with 999 random changes of sign, which keep the level as all of them do.
"""

import math
import sys

import numpy as np
from scipy.special import expit

from sigstats.sign_flips.differences import score_pvalue

ITEMS = (5, 10, 20, 50, 200)
DRAWN = (0, 0)
ANSWERS = ((1, 1), (2, 2), (5, 5), (10, 10), (1, 8), (2, 3), DRAWN)
POINTS = {"accuracy": 1, "mark": 4}
DRAWS = 999


def differences(items: int, answers: tuple[int, int], points: int, rng: np.random.Generator) -> np.ndarray:
    """The mean of A less the mean of B in each item; for `DRAWN` numbers of answers from 1 to 10 for each of both."""
    shared, own = rng.normal(size=items), rng.normal(size=(2, items))
    chances = expit(1 + 2 * (math.sqrt(0.8) * shared + math.sqrt(0.2) * own))
    counts = [points * (rng.integers(1, 11, items) if answers == DRAWN else np.full(items, k)) for k in answers]
    a, b = (rng.binomial(k, p) / k for k, p in zip(counts, chances, strict=True))
    return a - b


def level(items: int, answers: tuple[int, int], points: int, trials: int) -> float:
    """The share of trials in which a one-sided test rejects, of the side that does so more often."""
    rng = np.random.default_rng([items, *answers, points])
    alike = answers[0] == answers[1] and answers != DRAWN
    rejected = {"greater": 0, "less": 0}
    for _ in range(trials):
        found = differences(items, answers, points, rng)
        sums = (rng.integers(0, 2, (DRAWS, items), dtype=np.int8) * 2 - 1) @ found
        for side, sign in (("greater", 1), ("less", -1)):
            p = (1 + np.count_nonzero(sign * sums >= sign * found.sum() - 1e-9)) / (DRAWS + 1)
            if p <= 0.05 and not alike:
                p = max(p, score_pvalue(found, np.ones(items), 1.0, side))
            rejected[side] += p <= 0.05
    return max(rejected.values()) / trials


def header(answers: tuple[int, int]) -> str:
    a, b = answers
    return "1 to 10 each" if answers == DRAWN else str(a) if a == b else f"{a} and {b}"


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| items | | " + " | ".join(map(header, ANSWERS)) + " |")
    print("|---" * (2 + len(ANSWERS)) + "|")
    for n in ITEMS:
        for kind, most in POINTS.items():
            shares = [level(n, answers, most, number) for answers in ANSWERS]
            print(f"| {n} | {kind} | " + " | ".join(f"{share:.3f}" for share in shares) + " |", flush=True)
