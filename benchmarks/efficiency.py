"""The exact efficiency test compared with enumeration and Monte-Carlo, and its growth with the number of objects.

Run as ``OMP_NUM_THREADS=1 python benchmarks/efficiency.py > benchmarks/efficiency.md``. All contenders run in one
run, one thread, best of several repeats. Row shuffles run a tenth of the replicates, and their time is multiplied up.
"""

import math
import os
import platform
import time
from collections.abc import Callable

import flint
import numpy as np
import scipy
from scipy.stats import random_table

from sigstats.fixed_margins.distribution import number_correct
from sigstats.fixed_margins.upper_tail import random_number_correct, upper_tail

REPLICATES = 30_000  # Nyssen's f


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def enumerated(rows: list[int], columns: list[int], correct: int) -> tuple[float, int]:
    """Nyssen's equation (4): every table with these margins and at least `correct` on the diagonal, row by row."""
    k, total = len(rows), sum(rows)
    unit = math.prod(map(math.factorial, rows + columns))
    weights = [1 / math.factorial(n) for n in range(max(rows) + 1)]
    terms, mass = 0, 0.0

    def descend(i: int, j: int, row_left: int, free: list[int], trace: int, weight: float) -> None:
        nonlocal terms, mass
        if j == k:
            if row_left == 0:
                if i == k - 1:
                    if trace >= correct:
                        terms, mass = terms + 1, mass + weight
                elif trace + sum(map(min, rows[i + 1 :], free[i + 1 :])) >= correct:
                    descend(i + 1, 0, rows[i + 1], free, trace, weight)
            return
        room = sum(free[j + 1 :])
        for n in range(max(0, row_left - room), min(row_left, free[j]) + 1):
            free[j] -= n
            descend(i, j + 1, row_left - n, free, trace + n * (i == j), weight * weights[n])
            free[j] += n

    descend(0, 0, rows[0], list(columns), 0, 1.0)
    return mass * unit / math.factorial(total), terms


def shuffled(rng: np.random.Generator, margin: list[int], size: int) -> np.ndarray:
    truth = np.repeat(np.arange(len(margin), dtype=np.int8), margin)
    return np.array([np.count_nonzero(rng.permutation(truth) == truth) for _ in range(size)])


def traces(rng: np.random.Generator, margin: list[int], size: int) -> np.ndarray:
    return np.trace(random_table(margin, margin).rvs(size, random_state=rng), axis1=1, axis2=2)


def main() -> None:
    print("Efficiency of a confusion table: the exact test of the number correct under fixed margins.\n")
    print("Command: `OMP_NUM_THREADS=1 python benchmarks/efficiency.py`. Python", platform.python_version() + ",")
    print(f"NumPy {np.__version__}, SciPy {scipy.__version__}, python-flint {flint.__version__}, ", end="")
    print(f"{os.cpu_count()} cores, one thread.\n")
    rng = np.random.default_rng(1)

    print("## Compared with enumeration: five classes of 5, 10 of 25 right\n")
    start = time.perf_counter()
    p, terms = enumerated([5] * 5, [5] * 5, 10)
    plain = time.perf_counter() - start
    ours = seconds(lambda: upper_tail([5] * 5, [5] * 5, 10))
    exact = upper_tail([5] * 5, [5] * 5, 10).pvalue
    print("| contender | p | ms | time / ours |\n|---|---|---|---|")
    print(f"| exact | {exact:.12f} | {1e3 * ours:.2f} | 1 |")
    print(f"| enumeration, {terms:,} terms | {p:.12f} | {1e3 * plain:.0f} | {plain / ours:,.0f} |\n")

    print("## Compared with Monte-Carlo: ten classes of 1000, 30,000 replicates\n")
    margin = [1000] * 10
    print("| contender | p for 1050 right | p for 1100 right | ms | time / exact |\n|---|---|---|---|---|")
    ours = seconds(lambda: upper_tail(margin, margin, 1050), 20)
    values = [upper_tail(margin, margin, t).pvalue for t in (1050, 1100)]
    print(f"| exact | {values[0]:.10f} | {values[1]:.4e} | {1e3 * ours:.1f} | 1 |")
    contenders = [
        ("replicates from margins", lambda: random_number_correct(margin, margin, size=REPLICATES, rng=rng), 1, 3),
        ("`scipy.stats.random_table`", lambda: traces(rng, margin, REPLICATES), 1, 3),
        ("row shuffles", lambda: shuffled(rng, margin, REPLICATES // 10), 10, 1),
    ]
    for name, work, factor, repeats in contenders:
        best, draws = factor * seconds(work, repeats), work()
        estimates = [((draws >= t).sum() + 1) / (len(draws) + 1) for t in (1050, 1100)]
        print(f"| {name} | {estimates[0]:.4f} | {estimates[1]:.1e} | {1e3 * best:.0f} | {best / ours:.0f} |")

    print("\n## Growth with N: ten classes, 2 standard deviations above the mean\n")
    print("| N | ms, equal classes | ms, ten unequal classes | ms, share 0.91 right |\n|---|---|---|---|")
    shares = np.arange(1, 11) ** 2 / 385
    for n in (10**3, 10**4, 10**5, 10**6, 10**7):
        equal, unequal = [n // 10] * 10, np.floor(n * shares).astype(int)
        unequal[-1] += n - unequal.sum()
        times = []
        for rows, columns in ((equal, equal), (unequal, unequal[::-1])):
            expected = float((np.asarray(rows) / n * np.asarray(columns)).sum())
            correct = round(expected + 2 * math.sqrt(expected * (1 - expected / n)))
            times.append(seconds(lambda r=rows, c=columns, t=correct: upper_tail(r, c, t)))
        times.append(seconds(lambda e=equal, t=n * 91 // 100: upper_tail(e, e, t)))
        print(f"| {n:,} | " + " | ".join(f"{1e3 * t:.1f}" for t in times) + " |")

    print("\n## The whole null distribution: equal classes\n")
    print("| N | k | numbers listed | ms |\n|---|---|---|---|")
    for n, k in ((10**3, 10), (10**4, 10), (10**5, 10), (10**6, 10)):
        listed = len(number_correct([n // k] * k, [n // k] * k).numbers)
        print(f"| {n:,} | {k} | {listed:,} | {1e3 * seconds(lambda m=[n // k] * k: number_correct(m, m), 2):.0f} |")

    print("\n## Monte-Carlo replicates: `scipy.stats.random_table` with the trace, compared with ours\n")
    print("| N | k | ours, microseconds a replicate | `random_table` / ours |\n|---|---|---|---|")
    for n, k in (
        (15, 5),
        (25, 5),
        (102, 3),
        (200, 4),
        (200, 5),
        (1000, 2),
        (1000, 5),
        (1000, 10),
        (10_000, 3),
        (10_000, 10),
        (10**6, 10),
        (10_000, 100),
    ):
        equal = [n // k] * k
        size = 20_000 if k < 100 else 1_000
        # In turn, so that what else the machine does falls on both.
        times = [
            (
                seconds(lambda m=equal, s=size: random_number_correct(m, m, size=s, rng=rng), 1),
                seconds(lambda m=equal, s=size: traces(rng, m, s), 1),
            )
            for _ in range(20)
        ]
        own, theirs = map(min, zip(*times, strict=True))
        print(f"| {n:,} | {k} | {1e6 * own / size:.2f} | {theirs / own:.2f} |")


if __name__ == "__main__":
    main()
