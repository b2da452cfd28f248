"""What the machinery costs: useful time over worker time, and two workers beside one, on a study of retrains.

Each run is the whole program with its Dask cluster and Prefect; its events say when the first block came in and when
the last cell ended, its receipts how long the workers computed.

python benchmarks/machinery.py [PERMUTATIONS [WORKERS ...]]
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

PERMUTATIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 1999
WORKERS = [int(number) for number in sys.argv[2:]] or [1, 2]

STUDY = """\
kind = "benchmark"
datasets = ["breast-cancer", "wine"]
classifiers = ["decision-tree", "linear-svm"]
[permutation]
resamples = {permutations}
"""


@dataclass(frozen=True)
class Measured:
    """A run: its seconds in all and from the first block to the last cell, the workers' seconds of work, its blocks."""

    whole: float
    seconds: float
    useful: float
    blocks: int


def measured(folder: Path, workers: int) -> Measured:
    """Run the study with so many workers."""
    study, output = folder / "study.toml", folder / str(workers)
    study.write_text(STUDY.format(permutations=PERMUTATIONS))
    command = [sys.executable, "-c", "import sys; from flows.cli import main; sys.exit(main())", "run", str(study)]
    options = ["--workers", str(workers), "--output", str(output), "--log-format", "json"]
    start = time.perf_counter()
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    whole = time.perf_counter() - start
    events = [json.loads(line) for line in done.stderr.splitlines()]
    blocks = [event for event in events if event["event"] == "block"]
    first, last = (
        datetime.fromisoformat(moment)
        for moment in (blocks[0]["time"], [e for e in events if e["event"] == "cell"][-1]["time"])
    )
    useful = sum(block["seconds"] for block in blocks[1:])
    return Measured(whole, (last - first).total_seconds(), useful, len(blocks))


def main() -> None:
    """Print the table."""
    print("# What the machinery costs\n")
    command = " ".join(map(str, ["python benchmarks/machinery.py", PERMUTATIONS, *sys.argv[2:]]))
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, which workers, scheduler, client and Prefect's "
        f"server share. `{command}`;\ntwo data sets, two classifiers, {PERMUTATIONS:,} permutations of labels and of "
        "features each, Dask and Prefect\non. The whole run begins with Prefect's start and ends with the report.\n"
    )
    print("| workers | seconds | useful seconds | blocks | useful over worker time | of the whole run | speed |")
    print("|---|---|---|---|---|---|---|")
    first: Measured | None = None
    with tempfile.TemporaryDirectory() as name:
        for workers in WORKERS:
            one = measured(Path(name), workers)
            first = first or one
            print(
                f"| {workers} | {one.seconds:.0f} | {one.useful:.0f} | {one.blocks} "
                f"| {one.useful / (workers * one.seconds):.3f} | {one.useful / (workers * one.whole):.3f} "
                f"| {first.seconds / one.seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
