"""Exact power of McNemar's test beside a simulation of it and beside the sum over all tables.

OMP_NUM_THREADS=1 python benchmarks/paired_power.py > benchmarks/paired_power.md
"""

import os
import platform
import time

import numpy as np
import scipy
from scipy.stats import binom

from sigstats.sign_flips.power import paired_power as power
from sigstats.sign_flips.power import paired_sample_size as sample_size

DISCORDANCE, REPLICATES = 0.36, 4000


def probabilities(n):
    """A difference that shrinks as n grows, so that the power stays between 0 and 1."""
    gap = 1 / n**0.5
    return (DISCORDANCE - gap) / 2, (DISCORDANCE + gap) / 2


def pvalues(a, m):
    """Exact two-sided p-values of vectors."""
    low = np.minimum(a, m - a)
    return np.where(2 * a == m, 1.0, 2 * binom.cdf(low, m, 0.5))


def simulated(n):
    rng = np.random.default_rng(1)
    draws = rng.multinomial(n, [*probabilities(n), 1 - DISCORDANCE], size=REPLICATES)
    return np.mean(pvalues(draws[:, 0], draws[:, 0] + draws[:, 1]) <= 0.05)


def full_sum(n):
    total, (p_a, _) = 0.0, probabilities(n)
    for m in range(n + 1):
        a = np.arange(m + 1)
        split = binom.pmf(a, m, p_a / DISCORDANCE)
        total += binom.pmf(m, n, DISCORDANCE) * split[pvalues(a, m) <= 0.05].sum()
    return total


def best(function, *arguments, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        value = function(*arguments)
        times.append(time.perf_counter() - start)
    return value, min(times)


def main():
    print("Power of the exact two-sided McNemar test; discordance 0.36, difference of the accuracies 1 / sqrt(n).\n")
    print("Command: `OMP_NUM_THREADS=1 python benchmarks/paired_power.py`. Python", platform.python_version() + ",")
    print(f"NumPy {np.__version__}, SciPy {scipy.__version__}, {os.cpu_count()} cores, one thread.\n")
    print("| n | power | ms | error of 4000 simulations | their time / ours | full sum less ours | its time / ours |")
    print("|---|---|---|---|---|---|---|")
    for n in (200, 1000, 10_000, 100_000):
        value, ours = best(power, n, *probabilities(n), repeats=7)
        drawn, slow = best(simulated, n, repeats=3)
        row = f"| {n:,} | {value:.6f} | {1000 * ours:.2f} | {drawn - value:+.4f} | {slow / ours:.1f} |"
        if n <= 1000:
            whole, slower = best(full_sum, n, repeats=1)
            print(row, f"{whole - value:.0e} | {slower / ours:.0f} |")
        else:
            print(row, "- | - |")
    print("\n| smallest n for power 0.8 | n | ms |\n|---|---|---|")
    for p_a, p_b in ((0.10, 0.05), (0.105, 0.10), (0.0255, 0.0245)):
        n, seconds = best(lambda a=p_a, b=p_b: sample_size(only_a=a, only_b=b), repeats=3)
        print(f"| P(only A) = {p_a}, P(only B) = {p_b} | {n:,} | {1000 * seconds:.0f} |")


if __name__ == "__main__":
    main()
