"""Test sets drawn as counts beside test sets drawn as rows, and Parquet files counted beside Parquet files read.

OMP_NUM_THREADS=1 python benchmarks/subsampling.py > benchmarks/subsampling.md
"""

import os
import platform
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import scipy

from sigstats.subsampling import draw_subsamples
from tasks.label_files import read_counts

SIZE = 7_909
#: Shares of the eight joint outcomes.
SHARES = (30, 6, 4, 5, 2, 10, 12, 931)
FILES, ROWS, CLASSES = 20, 2_000_000, 10


def counts(total):
    found = [total * share // 1000 for share in SHARES]
    return np.array([*found[:-1], total - sum(found[:-1])])


def best(function, repeats):
    return min(timeit.repeat(function, number=1, repeat=repeats))


def best_of_both(function, repeats):
    """The least wall time and the least processor time."""
    times = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        function()
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    return [min(each) for each in zip(*times, strict=True)]


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
        "\nNumPy draws below 10^9 rows; from there on the tabulated laws do, whose cost grows with the square root of"
    )
    print("the subset and not with the population.\n")


def write(folder, kind):
    rng = np.random.default_rng(2)
    for file in range(FILES):
        truth = rng.integers(0, CLASSES, ROWS)
        guesses = [np.where(rng.random(ROWS) < p, truth, rng.integers(0, CLASSES, ROWS)) for p in (0.8, 0.82)]
        columns = [truth, *guesses]
        arrays = [pa.array(column.astype(np.int8)) for column in columns]
        if kind == "strings":
            names = pa.array([f"class {i}" for i in range(CLASSES)])
            arrays = [names.take(array.cast(pa.int32())) for array in arrays]
        elif kind == "int64":
            arrays = [array.cast(pa.int64()) for array in arrays]
        pq.write_table(pa.table(arrays, names=["label", "pred_a", "pred_b"]), Path(folder) / f"{file:03d}.parquet")


def scan(folder, kind):
    columns = ["label", "pred_a", "pred_b"] if kind == "strings" else None  # else the scan would copy every string
    form = ds.ParquetFileFormat(dictionary_columns=columns)
    return sum(batch.num_rows for batch in ds.dataset(folder, format=form).to_batches())


def count(folder):
    return read_counts(str(folder), label="label", a="pred_a", b="pred_b").rows


def peak(folder):
    """The largest memory of a process of its own that counts, in MB."""
    code = (
        "import resource, sys; from benchmarks.subsampling import count; count(sys.argv[1]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def reading():
    total = FILES * ROWS
    print(f"## {total:,} rows in {FILES} files, ten classes, reduced to counts\n")
    print(
        "| columns | bare scan, rows/s | counted, rows/s | wall time, counted / scan | processor time | peak memory |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for kind in ("int8", "int64", "strings"):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, kind)
            assert scan(folder, kind) == count(folder) == total
            bare = best_of_both(lambda f=folder, k=kind: scan(f, k), 5)
            ours = best_of_both(lambda f=folder: count(f), 5)
            rates = f"{total / bare[0]:,.0f} | {total / ours[0]:,.0f}"
            ratios = f"{ours[0] / bare[0]:.2f} | {ours[1] / bare[1]:.2f}"
            print(f"| {kind} | {rates} | {ratios} | {peak(folder):,.0f} MB |")


def main():
    print("# Test sets as counts beside test sets as rows\n")
    print("    OMP_NUM_THREADS=1 python benchmarks/subsampling.py > benchmarks/subsampling.md\n")
    versions = f"NumPy {np.__version__}, SciPy {scipy.__version__}, PyArrow {pa.__version__}"
    print(f"Python {platform.python_version()}, {versions}, {os.cpu_count()} cores, {platform.machine()}.")
    print("Best of several repeats, on a machine with other work. Drawing uses one thread, reading all.\n")
    subsets()
    growth()
    reading()


if __name__ == "__main__":
    main()
