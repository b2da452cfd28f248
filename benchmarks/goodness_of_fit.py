"""The exact multinomial goodness-of-fit test compared with full enumeration, and its growth with the number of objects.

Run as ``OMP_NUM_THREADS=1 python benchmarks/goodness_of_fit.py > benchmarks/goodness_of_fit.md``. All contenders run in
one run, one thread, best of several repeats. The enumeration is a good one: NumPy over the last three classes, whose
probabilities are computed once for each number of objects left to them.
"""

import math
import os
import platform
import timeit
from functools import partial
from itertools import product

import numpy as np
import scipy
from scipy.special import gammaln

from sigstats._common.extreme import TIE_TOLERANCE
from sigstats.goodness_of_fit.goodness_of_fit_test import goodness_of_fit_test

MOST_OUTCOMES = 3 * 10**9  # that the enumeration is made to list

UNEQUAL = (0.05, 0.10, 0.13, 0.19, 0.22, 0.31)
PAIR = (0.05, 0.10, 0.15, 0.20, 0.20, 0.30)
EQUAL = (1 / 6,) * 6
PEAS = (9 / 16, 3 / 16, 3 / 16, 1 / 16)


def enumerated(counts: list[int], probabilities: tuple[float, ...]) -> float:
    """The sum over all outcomes that are no likelier than the observed one (Hryniewicz, eq. 14 and 15)."""
    n = sum(counts)
    x = np.arange(n + 1)
    laws = [x * math.log(n * p) - gammaln(x + 1) for p in probabilities]  # Poisson, but for a common factor
    observed = sum(law[c] for law, c in zip(laws, counts, strict=True)) + TIE_TOLERANCE
    lasts = []
    for m in range(n + 1):
        i, j = np.nonzero(np.add.outer(x[: m + 1], x[: m + 1]) <= m)
        lasts.append(laws[-3][i] + laws[-2][j] + laws[-1][m - i - j])
    masses = [np.exp(last) for last in lasts]
    out = 0.0
    for head in product(range(n + 1), repeat=len(counts) - 3):
        left = n - sum(head)
        if left >= 0:
            log_mass = sum(law[c] for law, c in zip(laws, head, strict=False))
            out += math.exp(log_mass) * float(masses[left] @ (lasts[left] <= observed - log_mass))
    return out * math.exp(gammaln(n + 1) - n * math.log(n))


def drawn(n: int, probabilities: tuple[float, ...], p_near: float) -> list[int]:
    """Random counts whose chi-square p-value lies near the one wanted."""
    rng = np.random.default_rng(n)
    best: tuple[float, list[int]] = (math.inf, [])
    for counts in rng.multinomial(n, probabilities, size=300).tolist():
        p = goodness_of_fit_test(counts, probabilities, method="chi2").pvalue
        best = min(best, (abs(math.log(max(p, 1e-300) / p_near)), counts))
    return best[1]


def main() -> None:
    print("Goodness of fit: the exact multinomial p-value, outcomes ordered by their probability.\n")
    print("Command: `OMP_NUM_THREADS=1 python benchmarks/goodness_of_fit.py`. Python", platform.python_version() + ",")
    print(f"NumPy {np.__version__}, SciPy {scipy.__version__}, {os.cpu_count()} cores, one thread.\n")
    print(f"Enumeration lists every outcome, up to {MOST_OUTCOMES:,} of them.\n")
    print("| probabilities | n | outcomes | p | p, enumerated | ours, ms | enumeration, ms | enumeration / ours |")
    print("|---|---|---|---|---|---|---|---|")
    cases = [("six, unequal", UNEQUAL, n) for n in (25, 50, 100, 200, 300, 500, 1000)]
    cases += [("six, two of them equal", PAIR, n) for n in (50, 100, 300, 1000)]
    cases += [("six equal ones", EQUAL, n) for n in (50, 100, 300, 1000)]
    cases += [("9 : 3 : 3 : 1", PEAS, n) for n in (100, 556, 5000)]
    for name, probabilities, n in cases:
        counts = [315, 108, 101, 32] if n == 556 else drawn(n, probabilities, 0.05)
        outcomes = math.comb(n + len(counts) - 1, n)
        p = goodness_of_fit_test(counts, probabilities).pvalue
        ours = min(timeit.repeat(partial(goodness_of_fit_test, counts, probabilities), number=1, repeat=9))
        cells = ["-", f"{1e3 * ours:.1f}", "not run", "-"]
        if outcomes <= MOST_OUTCOMES:
            start = timeit.default_timer()
            found = enumerated(counts, probabilities)
            theirs = timeit.default_timer() - start
            cells = [f"{found:.10f}", cells[1], f"{1e3 * theirs:.0f}", f"{theirs / ours:,.0f}"]
        print(f"| {name} | {n} | {outcomes:,} | {p:.10f} | " + " | ".join(cells) + " |")
    print("\nThe peas are Mendel's for n = 556; all other counts are random ones with p near 0.05.")


if __name__ == "__main__":
    main()
