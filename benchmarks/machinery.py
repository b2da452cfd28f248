"""What the machinery costs: useful time over worker time, and two workers beside one, on a study of retrains.

Each run is the whole program with its Dask cluster and Prefect; its events say when the first block was given out and
when the last cell ended, its receipts how long the workers computed.

python benchmarks/machinery.py [PERMUTATIONS]
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

PERMUTATIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 1999

STUDY = """\
kind = "benchmark"
datasets = ["breast-cancer", "wine"]
classifiers = ["decision-tree", "linear-svm"]
[permutation]
resamples = {permutations}
"""


def measured(folder: Path, workers: int) -> tuple[float, float, int]:
    """Seconds from the start to the end of the last cell, seconds of work in them, and the number of blocks."""
    study, output = folder / "study.toml", folder / str(workers)
    study.write_text(STUDY.format(permutations=PERMUTATIONS))
    command = [sys.executable, "-c", "import sys; from flows.cli import main; sys.exit(main())", "run", str(study)]
    options = ["--workers", str(workers), "--output", str(output), "--log-format", "json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in done.stderr.splitlines()]
    blocks = [event for event in events if event["event"] == "block"]
    # From the first block that came in to the last cell: Prefect's start is paid once, whatever the study's length.
    first, last = (
        datetime.fromisoformat(time)
        for time in (blocks[0]["time"], [e for e in events if e["event"] == "cell"][-1]["time"])
    )
    useful = sum(block["seconds"] for block in blocks[1:])
    return (last - first).total_seconds(), useful, len(blocks)


def main() -> None:
    """Print the table."""
    print("# What the machinery costs\n")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, which workers, scheduler, client and Prefect's "
        f"server share. `python benchmarks/machinery.py {PERMUTATIONS}`;\ntwo data sets, two classifiers, "
        f"{PERMUTATIONS:,} permutations of labels and of features each, Dask and Prefect on.\n"
    )
    print("| workers | seconds | useful seconds | blocks | useful over worker time | times one worker |")
    print("|---|---|---|---|---|---|")
    alone = 0.0
    with tempfile.TemporaryDirectory() as name:
        for workers in (1, 2):
            seconds, useful, blocks = measured(Path(name), workers)
            alone = alone or seconds
            print(
                f"| {workers} | {seconds:.0f} | {useful:.0f} | {blocks} | {useful / (workers * seconds):.3f} "
                f"| {alone / seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
