"""Bootstrap of the difference of F1: replicates on counts compared with replicates on rows.

Run as ``OMP_NUM_THREADS=1 python benchmarks/bootstrap.py > benchmarks/bootstrap.md``. All contenders draw in one run,
one thread. Those that draw rows draw fewer replicates, and their time is multiplied up: it is proportional to the
number of replicates; ``--full`` draws all of them.
"""

import os
import platform
import sys
import time
from collections.abc import Callable

import numpy as np
import scipy
import scipy.stats

from sigstats.bootstrap.bootstrap_test import bootstrap_test
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes

REPLICATES = 10_000
SIZES = (7_909, 790_900)  # the test set of Keller et al., and the rest of theirs
SHARES = [0.031, 0.006, 0.004, 0.009, 0.003, 0.002, 0.004, 0.941]
CELLS = 2**24  # rows of a batch of scipy.stats.bootstrap, all replicates together


def seconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def difference_of_f1(e: np.ndarray) -> np.ndarray:
    b, a = 2 * (e[0] + e[1]), 2 * (e[0] + e[2])
    return b / (b + e[2] + e[3] + e[4] + e[5]) - a / (a + e[1] + e[3] + e[4] + e[6])


def by_rows(codes: np.ndarray, replicates: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    values = np.empty(replicates)
    for i in range(replicates):
        drawn = codes[rng.integers(codes.size, size=codes.size)]
        values[i] = difference_of_f1(np.bincount(drawn, minlength=8))
    return np.quantile(values, [0.025, 0.975])


def by_scipy(codes: np.ndarray, replicates: int) -> object:
    def statistic(drawn: np.ndarray, axis: int = -1) -> np.ndarray:
        return difference_of_f1(np.stack([np.count_nonzero(drawn == j, axis=axis) for j in range(8)]))

    batch = max(1, CELLS // codes.size)
    return scipy.stats.bootstrap(
        (codes,), statistic, n_resamples=replicates, batch=batch, method="percentile", vectorized=True, rng=1
    )


def two_classes(full: bool) -> list[str]:
    times: dict[str, list[float]] = {}
    for n in SIZES:
        codes = np.random.default_rng(5).choice(8, p=SHARES, size=n).astype(np.int8)
        y, a, b = (codes >= 4).astype(np.int8), codes & 1, codes >> 1 & 1
        few = REPLICATES if full else min(REPLICATES, 2 * 10**8 // n)
        scale = REPLICATES / few

        def count(y: np.ndarray = y, a: np.ndarray = a, b: np.ndarray = b) -> JointOutcomes:
            return JointOutcomes.from_predictions(y, a, b, positive=0)

        outcomes = count()
        contenders: dict[str, tuple[Callable[[], object], float, int]] = {
            "sigstats, percentile": (lambda o=outcomes: bootstrap_test(o, n_resamples=REPLICATES, rng=1), 1, 15),
            "sigstats, BCa": (lambda o=outcomes: bootstrap_test(o, n_resamples=REPLICATES, rng=1, method="bca"), 1, 15),
            "sigstats, percentile, counting the rows included": (
                lambda count=count: bootstrap_test(count(), n_resamples=REPLICATES, rng=1),
                1,
                15,
            ),
            "NumPy, row by row": (lambda c=codes, few=few: by_rows(c, few), scale, 2),
            "`scipy.stats.bootstrap`, percentile": (lambda c=codes, few=few: by_scipy(c, few), scale, 2),
        }
        for name, (work, factor, repeats) in contenders.items():
            times.setdefault(name, []).append(factor * seconds(work, repeats))
    return table(times, "sigstats, percentile")


def ten_classes() -> list[str]:
    numbers = []
    times: dict[str, list[float]] = {}
    for n in SIZES:
        rng = np.random.default_rng(6)
        y = rng.integers(10, size=n)
        a, b = (np.where(rng.random(n) < 0.9, y, rng.integers(10, size=n)) for _ in range(2))
        events = JointEvents.from_predictions(y, a, b)
        few = max(4, 2 * 10**7 // n)

        def rows(y: np.ndarray = y, a: np.ndarray = a, b: np.ndarray = b, few: int = few) -> None:
            rng = np.random.default_rng(1)
            for _ in range(few):
                drawn = rng.integers(y.size, size=y.size)
                truth = y[drawn]
                for assigned in (a[drawn], b[drawn]):
                    counts = np.bincount(10 * truth + assigned, minlength=100).reshape(10, 10)
                    np.mean(2 * counts.diagonal() / (counts.sum(0) + counts.sum(1)))

        name = "sigstats"
        work = seconds(lambda e=events: bootstrap_test(e, measure="macro-f1", n_resamples=REPLICATES, rng=1), 3)
        times.setdefault(name, []).append(work)
        times.setdefault("NumPy, row by row", []).append(REPLICATES / few * seconds(rows, 2))
        numbers.append(f"{len(events.counts)} at n = {n:,}")
    return [f"Distinct joint events: {', '.join(numbers)}.\n", *table(times, "sigstats")]


def table(times: dict[str, list[float]], ours: str) -> list[str]:
    lines = [
        "| | n = 7,909 | n = 790,900 | large / small | times ours at n = 7,909 | times ours at n = 790,900 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, (small, large) in times.items():
        ratios = f"{small / times[ours][0]:,.1f} | {large / times[ours][1]:,.1f}"
        lines.append(f"| {name} | {small:,.4f} s | {large:,.4f} s | {large / small:,.2f} | {ratios} |")
    return lines


def main() -> None:
    full = "--full" in sys.argv
    print("# Bootstrap on counts compared with bootstrap on rows\n")
    print("    OMP_NUM_THREADS=1 python benchmarks/bootstrap.py > benchmarks/bootstrap.md\n")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, ", end="")
    print(f"{os.cpu_count()} cores (one thread used), {platform.machine()}. Best of several repeats.")
    if not full:
        print(
            "Where 10,000 replicates would be more than 2e8 rows (macro-F1: 2e7), contenders that draw rows drew only"
        )
        print("as many as that makes, and their time is multiplied up to 10,000 replicates.")
        print("Rare events make the smaller n more expensive: NumPy's binomial inverts the law below a mean of 30.")
    print("\n## 10,000 replicates of the difference of F1, two classes\n")
    print("\n".join(two_classes(full)))
    print("\n## 10,000 replicates of the difference of macro-F1, ten classes\n")
    print("\n".join(ten_classes()))


if __name__ == "__main__":
    main()
