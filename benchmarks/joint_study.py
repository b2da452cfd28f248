"""A whole study of 240 permutation tests that stop together, beside the same study that draws all permutations, twice.

OMP_NUM_THREADS=1 python benchmarks/joint_study.py [--permutations 9999] [--output FOLDER]

An output that exists is taken up, so that an interrupted study goes on.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from sigstats.multiplicity import adjust_family
from sigstats.sequential.joint_rule import JointRule
from sigstats.tasks.engine.stopping import exceeds
from sigstats.tasks.fan_out import observed_cell
from sigstats.tasks.results import Results
from sigstats.tasks.storage.store import Store

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
labels; by the plain loop. Fixed numbers of permutations are drawn twice for the same hypotheses, one after the other.
"""
DATASET = (
    '{{ name = "set {number}", source = "generated", generator = "correlated", seed = {number}, rows = 60{more} }},'
)
DRAWS = 1000


def run(permutations, stopping, output):
    """Run a study by the plain loop."""
    sets = "\n".join(DATASET.format(number=number, more=f", separation = {number % 10 / 5}") for number in range(60))
    output.mkdir(parents=True, exist_ok=True)
    study = output / "study.toml"
    study.write_text(STUDY.format(permutations=permutations, stopping=stopping, datasets=sets))
    program = "import sys; from sigstats.flows.commands import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "run", study, "--output", output / "output", "--cluster", "serial"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def flags_of(output):
    """Whether each permutation is as extreme as observed: a row for each test."""
    found = Results(Store(str(output / "output")))
    cells = found.cells("retrain", null="labels")
    return np.array([exceeds(cell, found.table(cell), found.table(observed_cell(cell))) for cell in cells])


def rejections(exceedances, permutations):
    return np.array(adjust_family(((exceedances + 1) / (permutations + 1)).tolist(), "benjamini-hochberg")) <= 0.05


def stopped_again(share, n, rng):
    """Permutations a test, and decisions that differ from all of these permutations and from others; drawn again."""
    flags = rng.random((share.size, n)) < share[:, None]
    stops = JointRule(maximum=n, alpha=0.05).stops(list(flags))
    joint = np.array([stop.rejected for stop in stops])
    fixed = [rejections(exceedances, n) for exceedances in (flags.sum(axis=1), rng.binomial(n, share))]
    return np.mean([stop.replicates for stop in stops]), *(np.count_nonzero(joint != one) for one in fixed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--permutations", type=int, default=9999)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    n = options.permutations
    with tempfile.TemporaryDirectory() as folder:
        place = options.output or Path(folder)
        run(2 * (n + 1), "none", place / "all")
        flags = flags_of(place / "all")
        run(n, "joint", place / "joint")
        rows = pq.read_table(place / "joint" / "output" / "summary.parquet").to_pylist()
    tests = [row for row in rows if row["test"] == "permutation-labels"]
    joint = np.array([row["decision"] == "reject" for row in tests])
    fixed = [rejections(part.sum(axis=1), n) for part in (flags[:, :n], flags[:, n : 2 * n])]
    every = rejections(flags.sum(axis=1), flags.shape[1])
    print(HEAD)
    print("| permutations a test | rejected | differ from the first | from the second | from both together |")
    print("|---|---:|---:|---:|---:|")
    used = sum(row["replicates"] for row in tests) / len(tests)
    named = [(f"{n:,}", fixed[0]), (f"the next {n:,}", fixed[1]), (f"both, {flags.shape[1]:,}", every)]
    for name, found in [*named, (f"joint, at most {n:,}: {used:,.0f}", joint)]:
        differ = " | ".join(str(np.count_nonzero(found != other)) for other in (*fixed, every))
        print(f"| {name} | {found.sum()} of {found.size} | {differ} |")
    rng, share = np.random.default_rng(1), flags.mean(axis=1)
    drawn_again = [rejections(rng.binomial(n, share), n) for _ in range(2 * DRAWS)]
    apart = [np.count_nonzero(a != b) for a, b in zip(drawn_again[:DRAWS], drawn_again[DRAWS:], strict=True)]
    print(
        f"\nTwo fixed runs of {n:,} that are drawn again from these shares differ in {np.mean(apart):.2f} decisions on "
        f"average\n(at most {max(apart)} in {DRAWS:,} tries)."
    )
    tries = np.array([stopped_again(share, n, rng) for _ in range(DRAWS // 5)])
    mean, own, other = tries.mean(axis=0)
    print(
        f"The joint rule, drawn again {len(tries)} times, needs {mean:.0f} permutations a test on average "
        f"({tries[:, 0].min():.0f} to {tries[:, 0].max():.0f}),\nand differs in {own:.2f} decisions from all {n:,} "
        f"permutations that it could have used, and in {other:.2f} from another {n:,}."
    )
    print("\nThe tests with different decisions:\n")
    print("| p of both | permutations, joint | joint p | joint | fixed, twice |")
    print("|---:|---:|---:|---|---|")
    words = {True: "reject", False: "keep"}
    for at in np.flatnonzero((joint != fixed[0]) | (joint != fixed[1]) | (joint != every)):
        twice = ", ".join(words[bool(one[at])] for one in fixed)
        row = tests[at]
        p = (flags[at].sum() + 1) / (flags.shape[1] + 1)
        print(f"| {p:.4f} | {row['replicates']:,} | {row['p_value']:.4f} | {words[bool(joint[at])]} | {twice} |")


if __name__ == "__main__":
    main()
