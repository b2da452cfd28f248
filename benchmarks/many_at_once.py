"""Many comparisons started at once beside as many one after another: wall time, and memory of them all.

Each is the whole program with its four outputs, as the jobs of a pipeline start it. The bytes of all must be equal.
The memory is the system's, so that pages shared between processes count once.

python benchmarks/many_at_once.py [--processes 200] [--rows 600]
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

FORMS = ("json", "markdown", "report", "junit")
PROGRAM = [sys.executable, "-c", "import sys; from sigstats.flows.commands import main; sys.exit(main())"]


def write_predictions(folder: Path, rows: int) -> None:
    """Write a baseline and a candidate of so many rows, three classes and four regions."""
    for name, period in (("a", 9), ("b", 7)):
        lines = (f"{row},{row % 3},{(row + (row % period == 0)) % 3},{row % 4}\n" for row in range(rows))
        Path(folder, f"{name}.csv").write_text("id,label,prediction,region\n" + "".join(lines), encoding="utf-8")


def begin(folder: Path, number: int) -> subprocess.Popen[bytes]:
    """Start a comparison that writes files of this number."""
    outputs = [f"--{form}={number}.{form}" for form in FORMS]
    command = [*PROGRAM, "compare", "a.csv", "b.csv", "--slice", "region", *outputs]
    log = Path(folder, f"{number}.log")
    with log.open("wb") as file:
        return subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT)


def available() -> int:
    """Bytes of memory that the system could still give."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) * 1024


def results(folder: Path, number: int) -> tuple[bytes, ...]:
    """The bytes of what a comparison wrote and printed."""
    return tuple(Path(folder, f"{number}.{form}").read_bytes() for form in (*FORMS, "log"))


def at_once(folder: Path, processes: int) -> tuple[float, int, set[int]]:
    """Seconds until all that started together have ended, the memory they took at most, and their exit codes."""
    before = least = available()
    ended = threading.Event()

    def watch() -> None:
        nonlocal least
        while not ended.wait(0.1):
            least = min(least, available())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    codes = {process.wait() for process in [begin(folder, number) for number in range(processes)]}
    seconds = time.perf_counter() - start
    ended.set()
    watcher.join()
    return seconds, before - least, codes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Many comparisons at once, compared with one after another.")
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--rows", type=int, default=600)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_predictions(folder, options.rows)
        begin(folder, 0).wait()
        start = time.perf_counter()
        codes = {begin(folder, number).wait() for number in range(options.processes)}
        one_by_one = time.perf_counter() - start
        alone = results(folder, 0)
        seconds, memory, codes_at_once = at_once(folder, options.processes)
        same = sum(results(folder, number) == alone for number in range(options.processes))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores\n")
    print("| comparisons | one after another, s | at once, s | ratio | memory, GB | exit codes | same bytes |")
    print("|---|---|---|---|---|---|---|")
    ended = " ".join(map(str, sorted(codes | codes_at_once)))
    print(
        f"| {options.processes} | {one_by_one:.0f} | {seconds:.0f} | {seconds / one_by_one:.2f} |"
        f" {memory / 1e9:.1f} | {ended} | {same} of {options.processes} |"
    )


if __name__ == "__main__":
    main()
