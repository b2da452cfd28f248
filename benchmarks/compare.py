"""`sigstats compare` on files of 100,000 rows, beside a script of pandas, statsmodels and scipy.stats.bootstrap.

Both are timed as whole programs, imports and files included, the quickest of several runs.
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


def seconds(command: list[str]) -> float:
    """The quickest of several runs; exit code 1 is a verdict."""

    def once() -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)

    return min(timeit.repeat(once, number=1, repeat=REPEATS))


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
    program = [sys.executable, "-c", "import sys; from sigstats.flows.cli import main; sys.exit(main())", "compare"]
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
                ours = seconds([*program, *paths, *options])
                print(f"| {form} | {what} | {script:.2f} | {ours:.2f} | {script / ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
