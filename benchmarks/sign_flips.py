"""How often the sign-flip test rejects a true null hypothesis, and how often its interval contains the truth.

    python benchmarks/sign_flips.py [TRIALS] > benchmarks/sign_flips.md

Two models answer the same items K times each. The chance of a right answer differs between items, and the models share
what is hard: an item's two logits are normal, of standard deviation 2 and correlation 0.8. Beside the sign-flip test
stands what is often done instead: McNemar's test on the rows, as if the answers of an item were independent of each
other, and Student's t of the items' differences.
"""

import math
import sys

import numpy as np
from scipy import stats
from scipy.special import expit

from sigstats import mcnemar_test, sign_flip_test

ITEMS, ANSWERS, UNEQUAL = (5, 10, 20, 50, 200), (1, 2, 5, 10), 0
SHIFT = 0.4


def answers(items: int, k: int, rng: np.random.Generator, shift: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right answers of A and of B for each item, and how many answers there were; `k` 0 draws from 1 to 10."""
    shared, own = rng.normal(size=items), rng.normal(size=(2, items))
    logits = 2 * (math.sqrt(0.8) * shared + math.sqrt(0.2) * own)
    size = np.full(items, k) if k else rng.integers(1, 11, items)
    return rng.binomial(size, expit(logits[0] + shift)), rng.binomial(size, expit(logits[1])), size


def truth(shift: float) -> float:
    """The difference of the two models' chances, over all items."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return float((weights * (expit(2 * nodes + shift) - expit(2 * nodes))).sum() / weights.sum())


def rows(items: int, k: int, trials: int) -> str:
    rng = np.random.default_rng([items, k])
    rejected, by_rows, by_t, power, covered, student = 0, 0, 0, 0, 0, 0
    for _ in range(trials):
        a, b, size = answers(items, k, rng, 0.0)
        rejected += sign_flip_test((a - b).tolist()).pvalue <= 0.05
        # Each item's answers in any order: how many rows only one got right.
        pairs = [rng.hypergeometric(one, n - one, other) for one, other, n in zip(a, b, size, strict=True)]
        both = np.array(pairs)
        by_rows += mcnemar_test(int((a - both).sum()), int((b - both).sum())).pvalue <= 0.05
        if np.ptp(a - b):
            by_t += stats.ttest_1samp(a - b, 0).pvalue <= 0.05
        a, b, size = answers(items, k, rng, SHIFT)
        found = sign_flip_test((a - b).tolist(), sizes=size, limit=1)
        power += found.pvalue <= 0.05
        low, high = found.confidence_interval
        covered += low <= truth(SHIFT) <= high
        reach = stats.t.ppf(0.975, items - 1) * found.standard_error
        student += abs(found.estimate - truth(SHIFT)) <= reach
    shares = [each / trials for each in (rejected, by_t, by_rows, power, covered, student)]
    return f"| {items} | {k or '1 to 10'} | " + " | ".join(f"{share:.3f}" for share in shares) + " |"


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    error = math.sqrt(0.05 * 0.95 / number)
    print(__doc__.partition("\n\n")[0] + "\n")
    print(f"{number:,} trials; a rate of 0.05 has a standard error of {error:.4f}. Level 0.05, intervals of 95%.")
    print(f"Power and coverage where A is better by {100 * truth(SHIFT):.1f} points.\n")
    print(
        "| items | answers an item | level | level, Student's t | level, McNemar on rows | power | coverage | ", end=""
    )
    print("coverage, Student's t |")
    print("|---" * 8 + "|")
    for n in ITEMS:
        for k in (*ANSWERS, UNEQUAL):
            print(rows(n, k, number), flush=True)
    print("\nMade by `python benchmarks/sign_flips.py`.")
