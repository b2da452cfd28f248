"""What a block costs in Dask's scheduler, and whether a run of a million blocks stays within its memory.

A real scheduler and real workers, each in a process of its own, take blocks through the product's own fan-out; the work
of a block is nothing, so that everything that is measured is machinery.

python benchmarks/scheduler.py [BLOCKS [PLOT.svg]]
"""

import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask
import distributed
import psutil

from sigstats.tasks.engine import dask_pool, execute
from sigstats.tasks.engine.blocks import Receipt
from sigstats.tasks.fan_out import FAN_OUTS
from sigstats.tasks.plan import Block, Cell
from sigstats.tasks.significance import TableTested
from sigstats.tasks.storage.store import CellFiles, Store

BLOCKS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
CELLS, WORKERS, THREADS = 1000, 1, 32
MARKS = 20


def nothing(code: str, block: Block, store: Any, apart: bool, *, engine: str) -> Receipt:  # noqa: ARG001 (as a task is called)
    """The receipt of a block that costs nothing."""
    return Receipt(first=block.first, last=block.last, seconds=0.0, overhead=0.0, bytes=0, host="")


class Empty(Store):
    """A store that has no file."""

    def find(self, cell: Cell) -> CellFiles:  # noqa: D102, ARG002
        return CellFiles((), ())

    def finish(self, cell: Cell, last: int | None = None) -> Any:  # noqa: D102, ARG002
        return None


class Started:
    """A scheduler and workers of many threads, as stand-ins for as many workers of one."""

    def __init__(self, folder: Path) -> None:
        file = folder / "scheduler.json"
        dask_command = [sys.executable, "-m", "dask"]
        local = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.scheduler = subprocess.Popen([*dask_command, "scheduler", *local, "--port", "0"], **quiet)
        threads = ["--nthreads", str(THREADS), "--no-nanny", "--local-directory", str(folder)]
        self.workers = [subprocess.Popen([*dask_command, "worker", *local, *threads], **quiet) for _ in range(WORKERS)]
        self.file = file

    def end(self) -> None:
        """Ask all of them to end, and wait."""
        for process in (*self.workers, self.scheduler):
            process.terminate()
            process.wait(60)


def mebibytes(pid: int) -> float:
    """Resident memory."""
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def plot(rows: list[tuple[float, ...]]) -> str:
    """Memory of scheduler, client and worker against the blocks that are done, as SVG."""
    width, height, left, base, top = 640.0, 300.0, 56.0, 250.0, 20.0
    colours = {"scheduler": "#0b5cad", "client": "#b3340b", "worker": "#1b7837"}
    most, highest = rows[-1][0], 1.15 * max(max(row[2:5]) for row in rows)

    def x(count: float) -> float:
        return left + count / most * (width - left - 90)

    def y(memory: float) -> float:
        return base - memory / highest * (base - top)

    frame = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/><path d="M{left} {top}V{base}H{x(most):.1f}" '
        f'fill="none" stroke="#59636e"/><text x="{x(most / 2):.1f}" y="{base + 38}" text-anchor="middle">blocks done'
        f'</text><text x="{left}" y="{top - 6}" text-anchor="middle">MiB</text>'
    )
    parts = [frame]
    for number, (name, colour) in enumerate(colours.items(), start=2):
        line = "L".join(f"{x(row[0]):.1f} {y(row[number]):.1f}" for row in rows)
        parts.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{x(most) + 6:.1f}" y="{y(rows[-1][number]) + 4:.1f}" fill="{colour}">{name}</text>')
    for share in (0, 0.5, 1):
        parts.append(f'<text x="{x(share * most):.1f}" y="{base + 18}" text-anchor="middle">{share * most:,.0f}</text>')
        memory = share * highest / 1.15
        parts.append(f'<text x="{left - 6}" y="{y(memory) + 4:.1f}" text-anchor="end">{memory:,.0f}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Print the table, and draw it where a file is named."""
    vars(dask_pool)["run_with"] = nothing
    FAN_OUTS["nothing"] = FAN_OUTS["replicate"]
    each = BLOCKS // CELLS
    common: dict[str, Any] = {"fanout": "nothing", "version": 1, "stream": {}, "seed": 0, "lane_size": 1}
    cells = [
        Cell(
            subject={"cell": str(number)},
            work=TableTested(test="none", data={"cell": number}),
            replicates=each,
            **common,
        )
        for number in range(CELLS)
    ]
    done = [0] * CELLS
    with tempfile.TemporaryDirectory() as name, dask.config.set({"distributed.scheduler.worker-saturation": 1.0}):
        started = Started(Path(name))
        try:
            client = distributed.Client(scheduler_file=str(started.file), set_as_default=False)
            client.wait_for_workers(WORKERS, timeout=60)
            store, pool = Empty(name), dask_pool.DaskPool(client)
            begun = time.perf_counter()
            rows: list[tuple[float, ...]] = []
            ended = threading.Event()

            def note() -> None:
                rows.append(
                    (
                        sum(done),
                        time.perf_counter() - begun,
                        mebibytes(started.scheduler.pid),
                        mebibytes(os.getpid()),
                        mebibytes(started.workers[0].pid),
                        len(pool._submitted),
                    )
                )

            def watch() -> None:
                while not ended.wait(0.5):
                    if sum(done) >= len(rows) * BLOCKS / MARKS:
                        note()

            def one(number: int) -> None:
                def progress(replicates: int, receipt: Receipt | None) -> None:
                    if receipt is not None:
                        done[number] += replicates

                # Lanes that cost nothing would be cut into one block, so a block is held to one lane.
                execute.run_cell(cells[number], store, pool, progress=progress, target_seconds=0.0)

            watcher = threading.Thread(target=watch)
            watcher.start()
            with ThreadPoolExecutor(pool.cells) as threads:
                list(threads.map(one, range(CELLS)))
            total = time.perf_counter() - begun
            ended.set()
            watcher.join()
            note()
            scheduler = psutil.Process(started.scheduler.pid).cpu_times()
            mine = psutil.Process().cpu_times()
            client.close()
        finally:
            started.end()
    print(f"# {BLOCKS:,} blocks through one scheduler\n")
    print(
        f"Python {platform.python_version()}, Dask {version('distributed')}, {os.cpu_count()} cores, "
        f"{psutil.virtual_memory().total / 2**30:.0f} GiB. `python benchmarks/scheduler.py {BLOCKS}`;\n"
        f"{CELLS:,} cells, a worker process of {THREADS} threads, blocks that do nothing. All share the cores.\n"
    )
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(plot(rows), encoding="utf-8")
    print("| blocks done | seconds | scheduler, MiB | client, MiB | worker, MiB | on their way |")
    print("|---|---|---|---|---|---|")
    for count, seconds, *memory, outstanding in rows:
        print(f"| {count:,.0f} | {seconds:.0f} | {' | '.join(f'{one:.0f}' for one in memory)} | {outstanding:.0f} |")
    print(
        f"\n{BLOCKS / total:.0f} blocks a second. A block costs {1e6 * sum(scheduler[:2]) / BLOCKS:.0f} microseconds "
        f"of processor time in the scheduler\nand {1e6 * sum(mine[:2]) / BLOCKS:.0f} in the client."
    )


if __name__ == "__main__":
    main()
