"""Test sets drawn as counts compared with test sets drawn as rows.

OMP_NUM_THREADS=1 python benchmarks/subsampling.py > benchmarks/subsampling.md
"""

import os
import platform
import timeit

import numpy as np
import scipy

from sigstats.subsampling import draw_subsamples

SIZE = 7_909
#: Shares of the eight joint outcomes.
SHARES = (30, 6, 4, 5, 2, 10, 12, 931)


def counts(total):
    found = [total * share // 1000 for share in SHARES]
    return np.array([*found[:-1], total - sum(found[:-1])])


def best(function, repeats):
    return min(timeit.repeat(function, number=1, repeat=repeats))


def by_row(rows, draws):
    rng = np.random.default_rng(1)
    drawn = (rng.choice(rows.size, SIZE, replace=False, shuffle=False) for _ in range(draws))
    return [np.bincount(rows[each], minlength=8) for each in drawn]


def by_permutation(rows, draws):
    rng = np.random.default_rng(1)
    return [np.bincount(rng.permutation(rows)[:SIZE], minlength=8) for _ in range(draws)]


def subsets():
    population = counts(790_900)
    rows = np.repeat(np.arange(8, dtype=np.int8), population)
    ours = best(lambda: draw_subsamples(population, SIZE, rng=1, size=1000), 7)
    print("## 1,000 subsets of 7,909 from 790,900 rows, eight joint outcomes\n")
    print("| | seconds | times ours |\n|---|---:|---:|")
    print(f"| sigstats, counts | {ours:.5f} | 1.0 |")
    for name, function, draws in (
        ("NumPy, `choice` without replacement", by_row, 1000),
        ("NumPy, `permutation`", by_permutation, 50),
    ):
        slow = best(lambda f=function, m=draws: f(rows, m), 2) * 1000 / draws
        print(f"| {name} | {slow:.2f} | {slow / ours:,.0f} |")
    print()


def growth():
    print("## A subset of 7,909 against the size of the population\n")
    print("| rows of the population | microseconds a subset | over that of 10,000 rows |\n|---:|---:|---:|")
    first = None
    for power in (4, 5, 6, 7, 8, 9, 10, 12, 15):
        population = counts(10**power)
        seconds = best(lambda p=population: draw_subsamples(p, SIZE, rng=1, size=1000), 5) / 1000
        first = first or seconds
        print(f"| 10^{power} | {1e6 * seconds:.1f} | {seconds / first:.1f} |")
    print(
        "\nNumPy draws below 10^9 rows. From there on tabulated laws are used; their cost grows with the square root of"
    )
    print("the size of the subset, not with the population.\n")


def main():
    print("# Test sets as counts compared with test sets as rows\n")
    print("    OMP_NUM_THREADS=1 python benchmarks/subsampling.py > benchmarks/subsampling.md\n")
    versions = f"NumPy {np.__version__}, SciPy {scipy.__version__}"
    print(f"Python {platform.python_version()}, {versions}, {os.cpu_count()} cores, {platform.machine()}.")
    print("Best of several repeats, one thread.\n")
    subsets()
    growth()


if __name__ == "__main__":
    main()
