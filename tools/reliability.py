"""Run every test of faults and write what was seen to docs/reliability.md.

python tools/reliability.py [RECORD]

RECORD is what tests, or `tools/fuzz.py`, left in the file that SIGSTATS_FAULT_RECORD named: their lines of the page are
written anew, those of all other tests stay. Without it all tests are run now, which takes more than half an hour.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reliability.md"
_UNRULY = "tests/flows/own_models/test_unruly.py"

HEAD = """\
# What happens when something dies

Each line is a test of `tests/faults/`, `tests/flows/clusters/` or `tests/flows/own_models/` that does the thing for
real to a run, most of 220 blocks, many times where it says so, at random moments. "The same bytes" means that
afterwards every file of replicates, the summary and the report are byte for byte those of a run that nothing happened
to: no replicate is lost, none is counted twice.

`python tools/reliability.py` runs them all and writes this page; `make check` repeats some of them fewer times.
`python tools/fuzz.py READER 100000` gives a reader so many spoiled files.

| what happens | times | results in | what is seen | test |
|---|---|---|---|---|
"""

FOOT = """
## Why it holds

- A block is computed from the seed, its cell and its numbers alone: doing it twice gives the same bytes twice.
- A worker writes a block to a file of another name first and then renames it; on an object store, where nothing can
  be renamed, it is put whole or not at all. Every file bears a digest of its content and of the study it belongs to,
  and is checked when it is read: one that is cut off, altered or another study's is named and made again.
- What is done is asked of the store, never of the engine's memory. A run that begins again computes what is missing.
- One run writes to an output at a time: a lock that the system takes back when the process dies, or a lease that
  runs out where the store has no locks.
- A worker that dies is replaced, and its block computed anew, up to 400 times where no code of another package runs in
  it. A block of such code, of which four workers died, is computed with no other block of such code under way; after
  twelve it is named as failed, the rest completes, and the exit code is 3.
- A block that a broken connection to the scheduler has cost is sent again. Prefect is a view of the run: where its
  server no longer answers, the run says so and goes on without it.
- A clock that is put back holds up Dask, not the store: its connections wait by the wall clock, for as long as the
  clock went back. Nothing is lost by that; a run that is interrupted then goes on where it was.
- Finished cells lie apart from blocks. What a worker writes late, because it was cut off, or computed again a block
  whose receipt was lost, lies where no result is read, and is removed by the next run.
- Under a limit of addresses (`ulimit -v`) OpenBLAS asks without end or ends the process, Arrow waits for a thread that
  never began, and the C library ends the process with its own code. So a command is refused below 512 MiB, a study
  below 1 GiB; above that libraries take their buffers and threads at the start, one of each.
- Ctrl-C while the program starts ends it with one line and exit code 130, also where a package that is being imported
  would take the signal for a failure of its own (`tests/sigstats/test_main.py`).
- Outputs of one command (`compare`, `rank`, `size`, `verify`) are written under another name first too: a full disk
  leaves the file that was there. Many comparisons at once share nothing but their inputs: a test holds that twelve
  give the bytes of one, and `python benchmarks/many_at_once.py` measures two hundred
  ([figures](../benchmarks/many_at_once.md)): 142 s one after another, 103 s at once, 9.5 GB together. One of 600 rows
  takes 57 MB for itself.
"""


def recorded() -> list[dict[str, str]]:
    """What the tests say they saw, by running them."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record")
        command = [sys.executable, "-m", "pytest", "-q", "tests/faults", "tests/flows/clusters", _UNRULY]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "SIGSTATS_FAULT_RECORD": str(record)}, check=True)
        return read(record)


def read(record: Path) -> list[dict[str, str]]:
    """The lines of a record."""
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def page(lines: list[dict[str, str]], before: str = "") -> str:
    """The page, in the order of the tests; those that no line is about keep their lines of the page before."""
    rows: dict[str, list[str]] = {}
    for line in sorted(lines, key=lambda line: line["test"]):
        file, _, test = line["test"].partition("::")
        where = "an S3 bucket" if line["where"].startswith("s3") else "a folder"
        name = test.partition("[")[0].removeprefix("test_").replace("_", " ")
        row = f"| {line['fault']} | {line['count']} | {where} | {line['seen']} | [{name}](../{file}) |"
        rows.setdefault(f"[{name}](../{file})", []).append(row)
    new = frozenset(rows)
    for row in before.splitlines():
        link = row.rpartition("| [")[2].removesuffix(" |")
        if row.endswith(".py) |") and f"[{link}" not in new:
            rows.setdefault(f"[{link}", []).append(row)
    found = sorted(rows, key=lambda link: link[1:-1].split("](")[::-1])
    return HEAD + "\n".join(row for link in found for row in rows[link]) + "\n" + FOOT


if __name__ == "__main__":
    found = read(Path(sys.argv[1])) if len(sys.argv) > 1 else recorded()
    PAGE.write_text(page(found, PAGE.read_text(encoding="utf-8") if sys.argv[1:] else ""), encoding="utf-8")
    print(f"{PAGE}: {len(found)} lines")
