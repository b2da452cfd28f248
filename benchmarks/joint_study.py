"""A whole study of 240 permutation tests that stop together, beside the same study that draws all permutations.

OMP_NUM_THREADS=1 python benchmarks/joint_study.py [--permutations 999]
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

STUDY = """\
kind = "benchmark"
seed = 1
adjust = "benjamini-hochberg"
tests = ["permutation"]
classifiers = ["naive-bayes", "lda", "ridge", "1-nn"]
cross_validation = {{ folds = 5 }}
permutation = {{ nulls = ["labels"], resamples = {permutations}, stopping = "{stopping}" }}
datasets = [
{datasets}
]
"""
HEAD = """\
# A whole study of tests that stop together

`OMP_NUM_THREADS=1 python benchmarks/joint_study.py`: 60 generated data sets of 60 rows, four learners, permutations of
labels; by the plain loop, on a busy machine. A retrain takes less than 0.1 ms here, so what a cell and a block cost
outweighs the permutations that are saved; the saving in time is that of learners whose retrains take longer than some
milliseconds.

"""
DATASET = (
    '{{ name = "set {number}", source = "generated", generator = "correlated", seed = {number}, rows = 60{more} }},'
)


def run(study, output):
    """Run a study by the plain loop; return its processor-seconds and the summary of its permutation tests."""
    program = "import sys; from sigstats.flows.cli import main; sys.exit(main())"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", program, "run", study, "--output", output, "--cluster", "serial"]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rows = pq.read_table(output / "summary.parquet").to_pylist()
    return seconds, [row for row in rows if row["test"] == "permutation-labels"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--permutations", type=int, default=999)
    options = parser.parse_args()
    print(HEAD, end="")
    print("| stopping | permutations a test | rejected | decided differently | processor-seconds |")
    print("|---|---:|---:|---:|---:|")
    found = {}
    for stopping in ("none", "joint"):
        sets = "\n".join(
            DATASET.format(number=number, more=f", separation = {number % 10 / 5}") for number in range(60)
        )
        with tempfile.TemporaryDirectory() as folder:
            study = Path(folder, "study.toml")
            study.write_text(STUDY.format(permutations=options.permutations, stopping=stopping, datasets=sets))
            seconds, rows = run(study, Path(folder, "output"))
        found[stopping] = [row["decision"] for row in rows]
        mean = sum(row["replicates"] for row in rows) / len(rows)
        other = sum(a != b for a, b in zip(found["none"], found[stopping], strict=True))
        rejected = found[stopping].count("reject")
        print(f"| {stopping} | {mean:,.0f} | {rejected} of {len(rows)} | {other} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
