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

Each line is a test that injects a real fault at random moments, mostly into a run of 220 blocks, with results in a
folder unless S3 is stated. "The same bytes" means that afterwards all replicates, the summary and the report are byte
for byte those of an undisturbed run: no replicate is lost or counted twice.

`python tools/reliability.py` runs all tests and writes this page; `make check` repeats some of them fewer times.
`python tools/fuzz.py READER 100000` sends 100,000 spoiled files to a reader: those that are not read must be refused in
one line.

| fault | times | outcome | test |
|---|---|---|---|
"""

FOOT = """
## Why results survive

- A block depends only on the seed, its cell and its numbers: computing it twice gives the same bytes.
- A worker writes a block under another name and then renames it; an object store takes it whole or not at all. Every
  file has a digest of its content and its study: a file that is cut off, altered or from another study is named and
  made again.
- The store, not the engine's memory, states what is done. A run that starts again computes what is missing.
- One run writes to an output at a time, under a lock that the system releases when the process dies, or under a lease
  that expires if the store has no locks.
- A worker that dies is replaced, and its block computed again, up to 400 times if no code of another package runs in
  it. A block of such code that killed four workers is computed with no other such block under way; after twelve deaths
  it is reported as failed, the rest completes, and the exit code is 3.
- A block lost with a connection is sent again. If Prefect's server stops answering, the run says so and goes on.
- A clock that is put back delays Dask, whose connections wait by the wall clock, by as long as it went back.
- Finished cells are stored apart from blocks. A block that a cut-off worker writes late is never read as a result, and
  the next run removes it.
- Under a limit of addresses (`ulimit -v`) OpenBLAS, Arrow and the C library hang or end the process. So a command is
  refused below 512 MiB and a study below 1 GiB; above that, libraries start with one buffer and one thread.
- Ctrl-C while the program starts ends it with one line and exit code 130.
- Outputs of `compare`, `rank`, `size` and `verify` are written under another name first, too: a full disk leaves the
  old file. Simultaneous comparisons share only their inputs: twelve give the bytes of one. Two hundred take 142 s one
  after another and 103 s at once, with 9.5 GB together ([figures](../benchmarks/many_at_once.md)); one of 600 rows
  takes 57 MB.
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
        where = ", on S3" if line["where"].startswith("s3") else ""
        name = test.partition("[")[0]
        row = f"| {line['fault']}{where} | {line['count']} | {line['seen']} | [{name}](../{file}) |"
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
