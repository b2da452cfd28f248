"""What the machinery costs: useful time over worker time, and two workers compared with one, on a study of retrains.

Each run is the whole program with its Dask cluster and Prefect; it records when each block came in and
how long its worker computed it. Processors of a shared host change their pace within
minutes, so the numbers of workers take turns, and each round's speed is beside its own first run.

python benchmarks/machinery.py [--permutations 1999] [--workers 1 2] [--rounds 3]
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

STUDY = """\
kind = "benchmark"
datasets = ["breast-cancer", "wine"]
classifiers = ["decision-tree", "linear-svm"]
[permutation]
resamples = {permutations}
"""


@dataclass(frozen=True)
class Measured:
    """A run: its seconds in all and from the first block to the last, the workers' seconds of work, its blocks."""

    whole: float
    seconds: float
    useful: float
    blocks: int


#: Runs the program, and prints when it took in each block and the seconds that the block took.
PROGRAM = """
import json, sys, time
from sigstats.flows.commands import main
from sigstats.flows.running.progress import Display

blocks, advance = [], Display.advance

def recorded(self, cell, replicates, receipt):
    if receipt is not None:
        blocks.append((time.monotonic(), receipt.seconds))
    advance(self, cell, replicates, receipt)

Display.advance = recorded
code = main()
print(json.dumps(blocks))
sys.exit(code)
"""


def measured(study: Path, output: Path, workers: int) -> Measured:
    """Run the study with so many workers."""
    options = ["--workers", str(workers), "--output", str(output), "--quiet"]
    command = [sys.executable, "-c", PROGRAM, "run", str(study), *options]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    whole = time.perf_counter() - start
    blocks = json.loads(done.stdout)
    useful = sum(seconds for _, seconds in blocks[1:])
    return Measured(whole, blocks[-1][0] - blocks[0][0], useful, len(blocks))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What the machinery costs.")
    parser.add_argument("--permutations", type=int, default=1999)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    command = " ".join(["python benchmarks/machinery.py", *sys.argv[1:]])
    print("# What the machinery costs\n")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, which workers, scheduler, client and Prefect's "
        f"server share. `{command}`;\ntwo data sets, two classifiers, {options.permutations:,} permutations of labels "
        "and of features each, Dask and Prefect\non. The whole run begins with Prefect's start and ends with the "
        "report.\n"
    )
    print(
        "| round | workers | seconds | useful seconds | blocks | useful over worker time | of the whole run | speed |"
    )
    print("|---|---|---|---|---|---|---|---|")
    speeds: dict[int, list[float]] = {workers: [] for workers in options.workers}
    with tempfile.TemporaryDirectory() as name:
        study = Path(name, "study.toml")
        study.write_text(STUDY.format(permutations=options.permutations))
        for number in range(1, options.rounds + 1):
            first: Measured | None = None
            for workers in options.workers:
                one = measured(study, Path(name, f"{number}-{workers}"), workers)
                first = first or one
                speeds[workers].append(first.seconds / one.seconds)
                print(
                    f"| {number} | {workers} | {one.seconds:.0f} | {one.useful:.0f} | {one.blocks} "
                    f"| {one.useful / (workers * one.seconds):.3f} | {one.useful / (workers * one.whole):.3f} "
                    f"| {speeds[workers][-1]:.2f} |",
                    flush=True,
                )
    for workers in options.workers[1:]:
        median = statistics.median(speeds[workers])
        print(f"\nMedian speed of {workers} workers: {median:.2f} times that of {options.workers[0]}.")


if __name__ == "__main__":
    main()
