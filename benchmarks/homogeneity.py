"""The exact homogeneity test compared with R's `fisher.test`, and certified bounds for larger tables.

Run as ``OMP_NUM_THREADS=1 python benchmarks/homogeneity.py > benchmarks/homogeneity.md``. All contenders run in one
run, one thread, best of several repeats; R times itself around a loop, so that its start does not count. Without
``Rscript`` on the path R's columns say so.
"""

import os
import platform
import re
import shutil
import subprocess
import timeit
from functools import cache, partial

import numpy as np
import scipy

from sigstats.homogeneity.homogeneity_test import homogeneity_test

TIME_LIMIT = 60  # seconds for one case in R
WORKSPACES = (200_000, 200_000_000)  # fisher.test's default, in units of 4 bytes, and a thousand times that

Table = tuple[list[int], list[int]]
EXACT: dict[str, Table] = {
    "2 x 5, N = 58": ([12, 7, 9, 0, 2], [4, 9, 8, 6, 1]),
    "2 x 4, N = 200 (Hryniewicz, Table 6)": ([18, 27, 45, 10], [20, 30, 50, 0]),
    "2 x 5, N = 892 (Hryniewicz, Table 9)": ([55, 48, 112, 90, 141], [46, 55, 86, 84, 175]),
    "2 x 10, N = 200": ([12, 8, 13, 9, 5, 15, 7, 10, 13, 8], [7, 10, 6, 16, 9, 8, 15, 12, 6, 11]),
    "2 x 8, N = 500": ([33, 35, 43, 26, 36, 36, 20, 21], [31, 40, 32, 33, 23, 30, 31, 30]),
    "2 x 8, N = 1000": ([66, 70, 86, 52, 72, 72, 40, 42], [62, 80, 64, 66, 46, 60, 62, 60]),
    "2 x 6, N = 2000": ([170, 160, 190, 140, 165, 175], [150, 185, 160, 175, 180, 150]),
    "2 x 4, N = 5000": ([560, 553, 834, 553], [626, 539, 835, 500]),
    "2 x 4, N = 5000, nearly equal": ([588, 553, 834, 525], [598, 539, 835, 528]),
}
TEN: Table = ([39, 44, 68, 39, 62, 63, 37, 55, 47, 46], [34, 41, 38, 54, 71, 50, 34, 60, 61, 57])
# A user's table (maclandrol/FisherExact on GitHub, issue 4), on which wrappers of R's algorithm crash.
WIDE_A = [89, 66, 33, 32, 28, 15, 16, 21, 12, 20, 17, 0, 3, 6, 3, 1, 7, 7, 10, 7, 6, 6, 5, 3, 2, 1, 0, 13, 7, 5, 0, 11]
WIDE_A += (
    [3, 3, 1, 1, 0, 0, 0, 6, 5, 3, 3, 2, 2, 2, 2] + [1] * 15 + [0] * 17 + [10, 4, 3, 3, 3, 2, 2, 2, 2, 2] + [1] * 24
)
WIDE_B = [90, 58, 44, 22, 18, 17, 15, 14, 13, 12, 12, 10, 9, 8, 6, 6, 5, 5] + [4] * 9 + [3] * 4 + [2] * 8 + [1] * 40
WIDE: Table = (WIDE_A, WIDE_B + [0] * 34)

R_SCRIPT = """
m <- rbind(c(%s), c(%s))
once <- system.time(r <- try(fisher.test(m, workspace = %d)$p.value, silent = TRUE))[["elapsed"]]
if (inherits(r, "try-error")) { cat("error", once, gsub("\\\\s+", " ", r), sep = "\\t"); quit() }
n <- max(1, ceiling(0.2 / max(once, 1e-3)))
loops <- replicate(3, system.time(for (i in 1:n) fisher.test(m, workspace = %d))[["elapsed"]])
cat("p", min(once, loops / n), format(r, digits = 12), sep = "\\t")
"""


@cache
def in_r(a: tuple[int, ...], b: tuple[int, ...], workspace: int) -> tuple[str, float, str]:
    """What R says of a table: ("p" or "error", seconds, the p-value or why there is none)."""
    if shutil.which("Rscript") is None:
        return "error", 0.0, "no Rscript on the path"
    script = R_SCRIPT % (",".join(map(str, a)), ",".join(map(str, b)), workspace, workspace)
    command = ["Rscript", "--vanilla", "-e", script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return "error", float(TIME_LIMIT), f"no answer within {TIME_LIMIT} s"
    if done.returncode or not done.stdout:
        return "error", 0.0, f"R ended with code {done.returncode}"
    kind, took, said = done.stdout.split("\t", 2)
    return kind, float(took), " ".join(said.split())


def shown(kind: str, took: float, said: str) -> str:
    """A cell of the table: milliseconds, or R's error up to the sizes it names."""
    if kind == "p":
        return f"{1e3 * took:.2f}"
    error = re.search(r"FEXACT error.*?(?=[,(] ?\(?pastp|is too small|$)", said)
    return f"{error[0].strip()} after {took:.1f} s" if error else said


def main() -> None:
    print("Homogeneity of two samples: the exact Fisher-Freeman-Halton p-value of 2 x K tables.\n")
    version = "R absent"
    if shutil.which("Rscript"):
        asked = ["Rscript", "-e", "cat(R.version.string)"]
        version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    print("Command: `OMP_NUM_THREADS=1 python benchmarks/homogeneity.py`. Python", platform.python_version() + ",")
    print(f"NumPy {np.__version__}, SciPy {scipy.__version__}, {version}, {os.cpu_count()} cores, one thread.\n")

    print(
        "## Exact\n\nMilliseconds a test; R's `fisher.test` with its default workspace, and with `workspace = 2e8`.\n"
    )
    print("| table | p | p by R | ours | R, default | R, 2e8 | R's better time / ours |")
    print("|---|---|---|---|---|---|---|")
    for name, (a, b) in EXACT.items():
        p = homogeneity_test(a, b).pvalue
        ours = min(timeit.repeat(partial(homogeneity_test, a, b), number=1, repeat=20))
        theirs = [in_r(tuple(a), tuple(b), w) for w in WORKSPACES]
        answers = [(took, said) for kind, took, said in theirs if kind == "p"]
        ratio = f"{float(f'{min(took for took, _ in answers) / ours:.2g}'):g}" if answers else "-"
        said = answers[0][1] if answers else "-"
        print(
            f"| {name} | {p:.12g} | {said} | {1e3 * ours:.2f} | {shown(*theirs[0])} | {shown(*theirs[1])} | {ratio} |"
        )
    print("\nThe larger workspace costs R about 10 ms a call. For small tables the time is the fixed cost of a call,")
    print("which is less in compiled code. R's p-values of large tables differ in the seventh digit, since its network")
    print("merges paths of nearly equal lengths.\n")

    print("## Certified bounds, for tables too large for the exact method (except the last)\n")
    print("| table | lower bound of p | upper bound of p | width / p | ours, s | R, default | R, 2e8 |")
    print("|---|---|---|---|---|---|---|")
    bounded = {
        "2 x 10, N = 1000": TEN,
        "2 x 113, N = 1025, a user's": WIDE,
        "2 x 8, N = 1000": EXACT["2 x 8, N = 1000"],
    }
    for name, (a, b) in bounded.items():
        bound = partial(homogeneity_test, a, b, method="bounds")
        took = min(timeit.repeat(bound, number=1, repeat=2))
        low, high = bound().pvalue_interval or (float("nan"),) * 2
        theirs = [shown(*in_r(tuple(a), tuple(b), w)) for w in WORKSPACES]
        print(
            f"| {name} | {low:.9f} | {high:.9f} | {(high - low) / low:.1e} | {took:.1f} | {theirs[0]} | {theirs[1]} |"
        )

    print("\nMessages of R:\n")
    for name, (a, b) in (EXACT | bounded).items():
        for workspace in WORKSPACES:
            kind, _, said = in_r(tuple(a), tuple(b), workspace)
            if kind == "error":
                print(f"- {name}, `workspace = {workspace:.0e}`: {said}")


if __name__ == "__main__":
    main()
