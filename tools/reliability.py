"""Run all fault tests and write their outcomes to docs/reliability.md.

python tools/reliability.py [RECORD]

RECORD is a file to which tests or `tools/fuzz.py` wrote, because SIGSTATS_FAULT_RECORD named it. The rows of these
tests are replaced (those of `tools/fuzz.py` all together), and the rows of other tests stay. Without RECORD all tests
are run, which takes more than half an hour.
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

Each row is a test that injects a fault at random moments, mostly into a run of 220 blocks, with results in a folder
unless S3 is stated. "The same bytes" means that all replicates, the summary and the report are afterwards those of an
undisturbed run: no replicate is lost or counted twice.

`python tools/reliability.py` runs all tests and writes this page; `make check` repeats some of them fewer times.

| fault | times | outcome | test |
|---|---|---|---|
"""

FOOT = """
## Why results survive

- A block depends only on the seed, its cell and its numbers: computing it twice gives the same bytes.
- A worker writes a block under another name and then renames it; an object store stores it whole or not at all. Every
  file has a digest of its content and its study: a file that is cut off, altered or from another study is named and
  computed again.
- The store, not the engine's memory, states which blocks are done. A run that starts again computes the missing ones.
- One run writes to an output at a time, under a lock that the system releases when the process dies, or under a lease
  that expires if the store has no locks.
- A worker that dies is replaced, and its block computed again, up to 400 times if no code of another package runs in
  it. A block of such code is [given up](own-models.md#classifiers-that-misbehave) after twelve deaths.
- A block lost with a connection is sent again. If Prefect's server stops answering, the run reports this and continues.
- If the clock is put back, Dask's connections wait for as long as it went back.
- Finished cells are stored apart from blocks. A block that a cut-off worker writes late is never read as a result, and
  the next run removes it.
- Under a limit of addresses (`ulimit -v`) OpenBLAS, Arrow and the C library hang or end the process. So a command is
  refused below 512 MiB and a study below 1 GiB; above that, libraries start with one buffer and one thread.
- Ctrl-C while the program starts ends it with one line and exit code 130.
- Outputs of `compare`, `rank`, `size` and `verify` are written under another name first, too: a full disk leaves the
  old file. Simultaneous comparisons share only their inputs ([two hundred at once](../benchmarks/many_at_once.md)).
"""


def recorded() -> list[dict[str, str]]:
    """Run the tests and return the lines that they recorded."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record")
        command = [sys.executable, "-m", "pytest", "-q", "tests/faults", "tests/flows/clusters", _UNRULY]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "SIGSTATS_FAULT_RECORD": str(record)}, check=True)
        return read(record)


def read(record: Path) -> list[dict[str, str]]:
    """The lines of a record."""
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def merged(rows: list[tuple[str, str, int, str]]) -> list[list[str]]:
    """One row for the rows of a test with the same outcome: their faults, places, numbers and outcome."""
    faults: dict[str, dict[str, None]] = {}
    places: dict[str, set[bool]] = {}
    counts: dict[str, list[int]] = {}
    for fault, where, count, seen in rows:
        faults.setdefault(seen, {})[fault] = None
        places.setdefault(seen, set()).add(where.startswith("s3"))
        counts.setdefault(seen, []).append(count)
    out = []
    for seen, names in faults.items():
        first, *others = names
        shared = os.path.commonprefix([*names]).rpartition(" ")[0] if others else ""  # noqa: RUF071
        fault = "; ".join([first, *(name[len(shared) :].strip() for name in others)])
        where = ", in a folder and on S3" if len(places[seen]) > 1 else ", on S3" if True in places[seen] else ""
        alike = len(counts[seen]) > 1 and len({*counts[seen]}) == 1
        out.append([fault + where, f"{counts[seen][0]:,} each" if alike else f"{sum(counts[seen]):,}", seen])
    return out


def page(lines: list[dict[str, str]], before: str = "") -> str:
    """The page, in the order of the tests. Tests without a new line keep their rows of the page before."""
    records: dict[str, list[tuple[str, str, int, str]]] = {}
    for line in sorted(lines, key=lambda line: line["test"]):
        file, _, test = line["test"].partition("::")
        fuzz = file.endswith("fuzz.py")
        link = f"[{'fuzz.py' if fuzz else test.partition('[')[0]}](../{file})"
        seen = "read, or refused in one line" if fuzz else line["seen"]
        records.setdefault(link, []).append((line["fault"], line["where"], int(line["count"]), seen))
    tests = {link: merged(rows) for link, rows in records.items()}
    new = frozenset(tests)
    for row in before.splitlines():
        cells = row.strip("| ").split(" | ")
        if cells[-1].endswith(".py)") and cells[-1] not in new:
            tests.setdefault(cells[-1], []).append(cells[:3])
    order = sorted(tests, key=lambda link: link[1:-1].split("](")[::-1])
    return HEAD + "".join(f"| {' | '.join(row)} | {link} |\n" for link in order for row in tests[link]) + FOOT


if __name__ == "__main__":
    lines = read(Path(sys.argv[1])) if len(sys.argv) > 1 else recorded()
    PAGE.write_text(page(lines, PAGE.read_text(encoding="utf-8") if sys.argv[1:] else ""), encoding="utf-8")
    print(f"{PAGE}: {len(lines)} records")
