"""`sigstats compare` on files of 100,000 rows, compared with a script of pandas, statsmodels and scipy.stats.bootstrap.

Both are timed as whole programs, imports and files included, the quickest of several runs, with the bytecode that an
installed package has. ``--scale`` times it on five million rows beside pyarrow's reading of both files, and on 5,000
slices, in its stead.
"""

import os
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path

import numpy as np
import pandas as pd

ROWS, REPEATS = 100_000, 5
#: Without it each run would compile the sources of this package, and of no other, anew.
WITH_BYTECODE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
PROGRAM = [sys.executable, "-c", "import sys; from sigstats.flows.commands import main; sys.exit(main())", "compare"]

SCRIPT = """
import sys
import numpy as np, pandas as pd
from scipy.stats import bootstrap
from statsmodels.stats.contingency_tables import mcnemar
read = pd.read_parquet if sys.argv[1].endswith("parquet") else pd.read_csv
both = read(sys.argv[1]).merge(read(sys.argv[2]), on=["id", "label"], validate="one_to_one")
a, b = both["prediction_x"] == both["label"], both["prediction_y"] == both["label"]
print(mcnemar(pd.crosstab(a, b), exact=True).pvalue)
difference = b.to_numpy().astype(float) - a.to_numpy()
options = {"n_resamples": int(sys.argv[3]), "method": "percentile", "batch": 100}
print(bootstrap((difference,), np.mean, **options).confidence_interval)
"""


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two models that differ on a tenth of the rows."""
    rng = np.random.default_rng(1)
    names = np.array(["cat", "dog", "owl", "pig"])
    label = rng.integers(4, size=ROWS)
    first = np.where(rng.random(ROWS) < 0.8, label, rng.integers(4, size=ROWS))
    second = np.where(rng.random(ROWS) < 0.9, first, rng.integers(4, size=ROWS))
    base = pd.DataFrame({"id": np.arange(ROWS), "label": names[label], "prediction": names[first]})
    return base, base.assign(prediction=names[second])


def seconds(command: list[str], repeat: int = REPEATS) -> float:
    """The quickest of several runs; exit code 1 is a verdict."""

    def once() -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=WITH_BYTECODE)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)

    return min(timeit.repeat(once, number=1, repeat=repeat))


def largest(command: list[str]) -> float:
    """The peak memory of a command, in megabytes."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], capture_output=True); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    return float(done.stdout)


def scale() -> None:
    """Print the table of many rows and of many slices."""
    reading = [
        sys.executable,
        "-c",
        "import sys, pyarrow.parquet as pq; [pq.read_table(each) for each in sys.argv[1:]]",
    ]
    print("# `sigstats compare` at scale\n")
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores. `python benchmarks/compare.py --scale`; seconds of "
        "the whole program, the best of 3\nruns, on Parquet with whole-number ids and classes.\n"
    )
    print("| rows | slices | pyarrow reads both | sigstats | ratio | peak memory (MB) |\n|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for rows, slices in ((100_000, 20), (100_000, 5_000), (5_000_000, 20)):
            paths = [str(Path(folder, f"{name}.parquet")) for name in ("base", "cand")]
            label, part = rng.integers(3, size=rows), rng.integers(slices, size=rows).astype(str)
            for path in paths:
                said = np.where(rng.random(rows) < 0.8, label, rng.integers(3, size=rows))
                frame = pd.DataFrame({"id": np.arange(rows), "label": label, "prediction": said, "part": part})
                frame.to_parquet(path, index=False)
            ours = [*PROGRAM, *paths, "--slice", "part"]
            read, taken = (seconds(command, repeat=3) for command in ([*reading, *paths], ours))
            print(
                f"| {rows:,} | {slices:,} | {read:.2f} | {taken:.2f} | {taken / read:.1f} | {largest(ours):,.0f} |",
                flush=True,
            )


def main() -> None:
    """Print the table."""
    print(f"# `sigstats compare` on {ROWS:,} rows\n")
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores. `python benchmarks/compare.py`; seconds of the "
        f"whole program, the best of {REPEATS} runs.\nThe script reads with pandas, and takes McNemar's test from "
        "statsmodels and the interval of the difference of accuracies\nfrom `scipy.stats.bootstrap`; sigstats gives "
        "that of F1 too.\n"
    )
    print("| files | what | script | sigstats | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for form in ("csv", "parquet"):
            paths = [str(Path(folder, f"{name}.{form}")) for name in ("base", "cand")]
            for path, frame in zip(paths, frames(), strict=True):
                frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path, index=False)
            for what, resamples, options in (
                ("accuracy", "1", []),
                ("accuracy, 10,000 resamples of F1", "10000", ["--measure", "accuracy", "--measure", "macro-f1"]),
            ):
                script = seconds([sys.executable, "-c", SCRIPT, *paths, resamples])
                ours = seconds([*PROGRAM, *paths, *options])
                print(f"| {form} | {what} | {script:.2f} | {ours:.2f} | {script / ours:.1f} |", flush=True)


if __name__ == "__main__":
    (scale if "--scale" in sys.argv else main)()
