"""A population of rows on disk counted by Dask workers, compared with only reading it.

python benchmarks/counting.py [ROWS] > benchmarks/counting.md
"""

import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from sigstats.tasks.calibration.populations.prediction_files import scan_footers
from sigstats.tasks.calibration.work import Counted
from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.execute import run_cell
from sigstats.tasks.fan_out import cell_of
from sigstats.tasks.record import Named
from sigstats.tasks.storage.data import write_data
from sigstats.tasks.storage.store import Store

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000_000
FILES, CLASSES, WORKERS, REPEATS = 40, 10, 2, 5
COLUMNS = {"label": "label", "a": "pred_a", "b": "pred_b"}


def write(folder: Path, kind: str) -> None:
    """Labels, and the predictions of two classifiers that are right on four rows of five and a little more."""
    rng = np.random.default_rng(2)
    rows = ROWS // FILES
    for file in range(FILES):
        truth = rng.integers(0, CLASSES, rows, dtype=np.int8)
        guesses = (
            np.where(rng.random(rows, dtype=np.float32) < right, truth, rng.integers(0, CLASSES, rows, dtype=np.int8))
            for right in (0.8, 0.82)
        )
        columns = [_typed(column, kind) for column in (truth, *guesses)]
        pq.write_table(pa.table(columns, names=list(COLUMNS.values())), folder / f"{file:03d}.parquet")


def _typed(column: Any, kind: str) -> Any:
    if kind == "string":
        return pa.array([f"class {number}" for number in range(CLASSES)]).take(pa.array(column))
    return pa.array(column.astype(kind))


def scan(file: str, coded: bool) -> int:
    """Read a file in batches, its strings as codes where it has any, and drop them."""
    columns = list(COLUMNS.values())
    opened = pq.ParquetFile(file, read_dictionary=columns if coded else [])
    batches = opened.iter_batches(2**16, columns=columns, use_threads=False)
    return sum(batch.num_rows for batch in batches)


def peak() -> float:
    """The largest memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seconds(work: Callable[[], int]) -> float:
    """How long it takes over all rows."""
    start = time.perf_counter()
    rows = work()
    taken = time.perf_counter() - start
    if rows != ROWS // FILES * FILES:
        raise SystemExit(f"{rows} rows of {ROWS}")
    return taken


def counted(folder: Path, scratch: Path, client: Client, repeat: int) -> int:
    """Count as a study does: a cell with a replicate a file; how many rows that was."""
    files = scan_footers("rows", str(folder), Path(), **COLUMNS)
    store = Store(str(scratch / f"{folder.name}-{repeat}"))
    write_data(store, files)
    work = Counted(files=Named(name=files.name, digest=files.digest()), positive=None)
    counting = cell_of("count", subject={"dataset": "rows"}, work=work, seed=1, replicates=len(files.files))
    outcome = run_cell(counting, store, DaskPool(client))
    if not outcome.complete:
        raise SystemExit(outcome.failures[0].message)
    table = store.read_block(counting, 0, counting.replicates).drop_columns("replicate")
    return sum(sum(column.to_pylist()) for column in table.columns)


def main() -> None:
    """Print the table."""
    print(f"# {ROWS:,} rows in {FILES} files, counted by {WORKERS} workers\n")
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, PyArrow {pa.__version__}"
    print(f"{versions}, {os.cpu_count()} cores, {platform.machine()}. `python benchmarks/counting.py {ROWS}`;")
    print(
        f"{CLASSES} classes, workers of one thread with a limit of 1 GiB, files in the cache of the file system, best"
    )
    print(f"of {REPEATS} runs by turns. The scan reads the same columns in the same batches on the same workers.\n")
    print("| columns | scan, rows/s | counted, rows/s | counted / scan, time | peak memory of a worker |")
    print("|---|---:|---:|---:|---:|")
    for kind in ("int8", "int64", "string"):
        bare, ours, most = measured(kind)
        print(f"| {kind} | {ROWS / bare:,.0f} | {ROWS / ours:,.0f} | {ours / bare:.2f} | {most:,.0f} MiB |", flush=True)


def measured(kind: str) -> tuple[float, float, float]:
    """Seconds of the fastest scan and of the fastest count, by turns, and the memory of a worker."""
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, memory_limit="1GiB", dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        folder, scratch = Path(name) / "rows", Path(name) / "store"
        folder.mkdir()
        write(folder, kind)
        paths = [str(path) for path in sorted(folder.iterdir())]

        def scanned() -> int:
            return sum(client.gather(client.map(scan, paths, coded=kind == "string", pure=False)))

        times = [
            (seconds(scanned), seconds(partial(counted, folder, scratch, client, repeat))) for repeat in range(REPEATS)
        ]
        bare, ours = map(min, zip(*times, strict=True))
        return bare, ours, max(client.run(peak).values())


if __name__ == "__main__":
    main()
