"""Processor time of exact tests over a range of sizes, with its exponent and its jumps.

    python benchmarks/growth.py > benchmarks/growth.md

Each size runs in the same process, smallest first; a case ends where one size takes over ten seconds or is refused.
An exponent is the slope of the logarithms of time over those of size; a jump is a step of over ten times the time for
at most four times the size.
"""

import math
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

import sigstats

_LONGEST, _JUMP, _LEAST = 10.0, 10.0, 1e-3
RNG = np.random.default_rng(3)


def _table(classes: int, total: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(RNG.multinomial(total // 2, np.full(classes, 1 / classes)) for _ in range(2))


CASES: dict[str, tuple[Callable[[int], object], tuple[int, ...]]] = {
    "sign_flip_test, values to 10^6": (
        lambda n: sigstats.sign_flip_test(RNG.integers(-(10**6), 10**6 + 1, size=n)),
        (10, 20, 30, 35, 40, 44, 48, 100, 1000, 10_000),
    ),
    "sign_flip_test, values to 25": (
        lambda n: sigstats.sign_flip_test(RNG.integers(-25, 26, size=n)),
        (30, 100, 300, 1000, 3000, 7000, 20_000, 100_000),
    ),
    "sign_flip_test, two decimals": (
        lambda n: sigstats.sign_flip_test(RNG.uniform(-1, 1, size=n).round(2)),
        (30, 100, 300, 1000, 3000, 10_000, 100_000),
    ),
    "signed_rank_test": (
        lambda n: sigstats.signed_rank_test(RNG.normal(size=n)),
        (10, 30, 100, 300, 1000, 3000),
    ),
    "friedman_test exact, 3 models": (
        lambda n: sigstats.friedman_test(RNG.normal(size=(n, 3)), method="exact"),
        (10, 30, 100, 200, 400, 800),
    ),
    "friedman_test exact, 5 models": (
        lambda n: sigstats.friedman_test(RNG.normal(size=(n, 5)), method="exact"),
        (2, 4, 6, 8, 10, 20),
    ),
    "mcnemar_test": (lambda n: sigstats.mcnemar_test(n // 2 + n // 20, n // 2), (10**2, 10**3, 10**4, 10**5, 10**6)),
    "efficiency_test, 4 classes": (
        lambda n: sigstats.efficiency_test(np.full((4, 4), n // 20) + np.eye(4, dtype=int) * (n // 20)),
        (100, 1000, 10_000, 100_000, 10**6),
    ),
    "homogeneity_test exact, 2 x 5": (
        lambda n: sigstats.homogeneity_test(*_table(5, n)),
        (100, 1000, 10_000, 30_000),
    ),
}


def row(name: str) -> str:
    """A row of the table: the seconds at each size, the exponent of the last decade, the jumps."""
    test, sizes = CASES[name]
    seconds: dict[int, float] = {}
    ended = ""
    test(sizes[0])  # imports
    for size in sizes:
        started = time.process_time()
        try:
            test(size)
        except ValueError:
            ended = f"refused at {size:,} in {time.process_time() - started:.2f} s"
            break
        seconds[size] = time.process_time() - started
        if seconds[size] > _LONGEST:
            break
    slow = [(size, max(took, _LEAST)) for size, took in seconds.items()]
    jumps = [f"{a:,} to {b:,}: {y / x:.0f} times" for (a, x), (b, y) in pairwise(slow) if y / x > _JUMP and b <= 4 * a]
    (first, x), (last, y) = slow[len(slow) // 2 - 1], slow[-1]
    exponent = math.log(y / x) / math.log(last / first)
    times = ", ".join(f"{size:,}: {took:.2g}" for size, took in seconds.items())
    return f"| {name} | {times} | {exponent:.1f} | {'; '.join(jumps) or 'none'} | {ended} |"


if __name__ == "__main__":
    print("# Growth of cost with size\n")
    print("`python benchmarks/growth.py`: seconds at each size, the exponent over the upper half, jumps.\n")
    print("| test | seconds | exponent | jumps | ends |")
    print("|---|---|---:|---|---|", flush=True)
    for each in CASES:
        print(row(each), flush=True)
