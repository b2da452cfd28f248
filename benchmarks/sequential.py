"""Stopping rules of Monte-Carlo tests: replicates they need and decisions they change, computed exactly.

OMP_NUM_THREADS=1 python benchmarks/sequential.py > benchmarks/sequential.md
"""

import os
import platform
import time
from dataclasses import dataclass, replace

import numpy as np
import scipy
from scipy.stats import binom

from sigstats.multiplicity import adjust_pvalues
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.rules import BesagCliffordRule, deciding_exceedances

ALPHA, TESTS, NEVER = 0.05, 20, 2**40
GRID = (0.0001, 0.001, 0.01, 0.03, 0.045, 0.055, 0.07, 0.1, 0.2, 0.5)
READING = """
Reading. Besag and Clifford's rule at the deciding number takes no risk and changes no decision of all replicates, but
saves only where p is well above alpha. Among the rules with a bound on the risk, Gandy's saves most, on both sides of
alpha; with Holm's adjustment it ends a rejection only if p is below alpha / 20, which 999 replicates cannot show, but
it still ends tests that are kept.
Stopped at 10 exceedances, p is only as good as 10 exceedances make it: near alpha it is on the wrong side most often.
Betting needs the fewest replicates and is valid at any look, but gives up at an early exceedance (at p = 0.01 in one
test of a hundred, where Gandy's rule errs in 3 of 10^9), and its p-value is never below c = 0.045, so that no adjusted
test could be rejected. It has no advantage here and is left out."""
UNIFORM = (np.arange(400) + 0.5) / 400


@dataclass
class Design:
    """Where a rule stops after each replicate, and what it then decides: low is always to reject."""

    lower: np.ndarray
    upper: np.ndarray
    rejects_high: np.ndarray  # after each replicate
    rejects_inside: np.ndarray  # for each number of exceedances, after all
    smallest_p: float


def fixed(maximum):
    ends = (np.arange(maximum + 1) + 1) / (maximum + 1)
    none = np.zeros(maximum, dtype=bool)
    return Design(np.full(maximum, -1), np.full(maximum, NEVER), none, ends <= ALPHA, 1 / (maximum + 1))


def besag_clifford(maximum, exceedances):
    stopped = exceedances / np.arange(1, maximum + 1) <= ALPHA
    return replace(fixed(maximum), upper=np.full(maximum, exceedances), rejects_high=stopped)


def gandy(maximum, reject_at):
    rule = GandyRule(maximum=maximum, alpha=ALPHA, reject_at=reject_at)
    found = rule.boundaries(maximum)
    ends = np.zeros(maximum + 1, dtype=bool)
    ends[found.inside.exceedances] = found.low.total + np.cumsum(found.inside.weight) / (maximum + 1) <= ALPHA
    smallest = rule.test([0] * maximum).pvalue
    return replace(fixed(maximum), lower=found.lower, upper=found.upper, rejects_inside=ends, smallest_p=smallest)


def betting(maximum):
    """The binomial mixture of Fischer and Ramdas, c = 0.9 alpha: reject at wealth 1 / alpha, give up below alpha."""
    c = 0.9 * ALPHA
    lower, upper = np.empty((2, maximum), dtype=np.int64)
    for n in range(1, maximum + 1):
        s = np.arange(-1, int(binom.isf(1e-12, n + 1, c)) + 3)
        wealth = binom.sf(s, n + 1, c) / c  # falls with the number of exceedances
        lower[n - 1], upper[n - 1] = s[wealth >= 1 / ALPHA].max(), s[wealth < ALPHA].min()
    never = np.zeros(maximum + 1, dtype=bool)
    return replace(fixed(maximum), lower=lower, upper=upper, rejects_inside=never, smallest_p=c)


def evaluate(design, p):
    """Expected replicates, and the probability to decide p <= ALPHA, for each true p: one walk over all paths."""
    p = np.asarray(p, dtype=float)[:, None]
    inside, first, expected, rejected = np.ones((len(p), 1)), 0, np.zeros(len(p)), np.zeros(len(p))
    for lower, upper, rejects in zip(design.lower, design.upper, design.rejects_high, strict=True):
        expected += inside.sum(axis=1)
        after = np.concatenate([inside * (1 - p), np.zeros((len(p), 1))], axis=1)
        after[:, 1:] += inside * p
        s = first + np.arange(after.shape[1])
        rejected += after[:, s <= lower].sum(axis=1) + rejects * after[:, s >= upper].sum(axis=1)
        inside, first = after[:, (s > lower) & (s < upper)], max(first, int(lower) + 1)
        while inside.shape[1] > 1 and inside[:, -1].max() < 1e-18:
            inside = inside[:, :-1]
        if not inside.shape[1]:
            break
    rejected += inside[:, design.rejects_inside[first : first + inside.shape[1]]].sum(axis=1)
    return expected, rejected


def designs(maximum):
    smallest = 2.0**-40
    reject_at = ALPHA * smallest / adjust_pvalues([smallest, *[1.0] * (TESTS - 1)], method="holm")[0]
    number = deciding_exceedances(ALPHA, maximum)
    return {
        "all replicates": fixed(maximum),
        "Besag-Clifford, 10": besag_clifford(maximum, 10),
        f"Besag-Clifford, {number} (deciding)": besag_clifford(maximum, number),
        "Gandy": gandy(maximum, ALPHA),
        f"Gandy, Holm of {TESTS}": gandy(maximum, reject_at),
        "betting": betting(maximum),
    }


def microseconds(rule, p):
    flags, times = np.random.default_rng(1).random(rule.maximum) < p, []
    for _ in range(20):
        start = time.perf_counter()
        rule.test(flags)
        times.append(time.perf_counter() - start)
    return 1e6 * min(times)


def main():
    print("Stopping rules at alpha = 0.05, Gandy's with risk 0.001: exact, by a walk over all paths.\n")
    print("Command: `OMP_NUM_THREADS=1 python benchmarks/sequential.py`. Python", platform.python_version() + ",")
    print(f"NumPy {np.__version__}, SciPy {scipy.__version__}, {os.cpu_count()} cores, one thread.\n")
    for maximum in (999, 9999):
        found = {name: (design, *evaluate(design, GRID)) for name, design in designs(maximum).items()}
        print(f"Expected replicates of {maximum:,}, by true p; the column *uniform* is a true null hypothesis.\n")
        print("| rule | " + " | ".join(f"{p:g}" for p in GRID) + " | uniform | smallest p |")
        print("|---" * (len(GRID) + 3) + "|")
        for name, (design, expected, _) in found.items():
            null = evaluate(design, UNIFORM)[0].mean()
            numbers = " | ".join(f"{n:,.0f}" for n in [*expected, null])
            print(f"| {name} | {numbers} | {design.smallest_p:.2g} |")
        print(f"\nProbability of the wrong side of alpha, with {maximum:,} replicates at most.\n")
        print("| rule | " + " | ".join(f"{p:g}" for p in GRID) + " |")
        print("|---" * (len(GRID) + 1) + "|")
        for name, (_, _, rejected) in found.items():
            wrong = np.where(np.array(GRID) <= ALPHA, 1 - rejected, rejected)
            print(f"| {name} | " + " | ".join(f"{abs(w):.1g}" if w > 1e-9 else "0" for w in wrong) + " |")
        print()
    print("Time to query a rule with stored boundaries, microseconds (once per block of replicates):\n")
    print("| maximum | Besag-Clifford | Gandy, stopped | Gandy, undecided |\n|---|---|---|---|")
    for maximum in (999, 9999, 99_999):
        rules = BesagCliffordRule(maximum=maximum, exceedances=50), GandyRule(maximum=maximum, alpha=ALPHA)
        asked = [microseconds(rules[0], 0.5), microseconds(rules[1], 0.5), microseconds(rules[1], ALPHA)]
        print(f"| {maximum:,} | " + " | ".join(f"{t:,.0f}" for t in asked) + " |")
    print(READING)


if __name__ == "__main__":
    main()
