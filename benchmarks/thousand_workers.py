"""A study on a thousand workers, simulated: blocks take drawn times, and a real scheduler and client send them.

A virtual worker is a thread that sleeps for as long as the replicates of a block would take, so that two cores carry
the scheduler, the client and all workers; blocks are cut, sent and answered as in any run, and nothing is stored. The
costs of replicates are lognormal, from cell to cell and from block to block. Simulated, not measured on machines: there
is no network, and all processes share the cores, which makes the scheduler slower than it would be.

With ``--milliseconds``, which a scheduler and client on cores of their own are taken to need for a block, nothing runs:
the events of the same study are computed in one process, with the same sizes of blocks.

python benchmarks/thousand_workers.py [WORKERS] [--milliseconds 2 ...]
"""

import argparse
import heapq
import itertools
import os
import platform
import random
import tempfile
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import distributed
import psutil
import scheduler
from scheduler import Empty, Started, mebibytes

from sigstats.tasks.engine import dask_pool
from sigstats.tasks.engine.blocks import BlockSizer, Receipt
from sigstats.tasks.engine.execute import LEARNING_SECONDS, run_cell
from sigstats.tasks.engine.pools import MOST_CELLS
from sigstats.tasks.fan_out import FAN_OUTS
from sigstats.tasks.plan import Block, Cell
from sigstats.tasks.significance import TableTested

#: The virtual workers of a process.
THREADS = 250
#: Of each study the cells, the replicates of a cell, those of a lane, and the median of their seconds and how far they
#: vary (sigma of the logarithm) from cell to cell.
STUDIES = {
    "100 cells of 10^6 cheap replicates": (100, 10**6, 1000, 5e-4, 0.5),
    "2,000 retrained cells of 999 permutations": (2000, 999, 1, 0.03, 1.2),
}


def sleep(code: str, block: Block, store: Any, apart: bool, *, engine: str) -> Receipt:  # noqa: ARG001 (as a task is called)
    """Take the time of a block."""
    seconds = seconds_of(block)
    time.sleep(seconds)
    return Receipt(first=block.first, last=block.last, seconds=seconds, overhead=0.0, bytes=0, host=str(os.getpid()))


def seconds_of(block: Block) -> float:
    """The time that a block takes."""
    drawn = random.Random(f"{block.cell.name} {block.first}").lognormvariate(0, 0.2)
    return (block.last - block.first) * float(block.cell.subject["seconds"]) * drawn


def cells_of(study: str) -> list[Cell]:
    """The cells of a study, with their seconds a replicate in their subject."""
    count, replicates, lane, median, spread = STUDIES[study]
    drawn = random.Random(study)
    return [
        Cell(
            fanout="nothing",
            version=1,
            stream={},
            seed=0,
            lane_size=lane,
            subject={"cell": str(number), "seconds": repr(median * drawn.lognormvariate(0, spread))},
            work=TableTested(test="none", data={"cell": number}),
            replicates=replicates,
        )
        for number in range(count)
    ]


def run(study: str, client: Any, started: Started, workers: int) -> str:
    """Compute the cells of a study, and return a row of the table."""
    cells, store = cells_of(study), Empty("nowhere")
    pool = dask_pool.DaskPool(client, expected=workers)
    useful, blocks, first, peaks = [0.0], [0], [0.0], {"scheduler": 0.0, "client": 0.0}
    lock, ended, begun = threading.Lock(), threading.Event(), time.perf_counter()

    def progress(replicates: int, receipt: Receipt | None) -> None:  # noqa: ARG001
        with lock:
            if receipt is not None:
                first[0] = first[0] or time.perf_counter() - begun
                useful[0], blocks[0] = useful[0] + receipt.seconds, blocks[0] + 1

    def watch() -> None:
        while not ended.wait(1.0):
            for name, pid in (("scheduler", started.scheduler.pid), ("client", os.getpid())):
                peaks[name] = max(peaks[name], mebibytes(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    of_scheduler = psutil.Process(started.scheduler.pid)
    before = sum(of_scheduler.cpu_times()[:2]), sum(psutil.Process().cpu_times()[:2])
    with ThreadPoolExecutor(pool.cells) as threads:
        outcomes = list(threads.map(lambda cell: run_cell(cell, store, pool, progress=progress), cells))
    if failures := [failure for outcome in outcomes for failure in outcome.failures]:
        raise RuntimeError(failures[0].message)
    seconds = time.perf_counter() - begun
    ended.set()
    watcher.join()
    spent = sum(of_scheduler.cpu_times()[:2]) - before[0], sum(psutil.Process().cpu_times()[:2]) - before[1]
    idle = 1 - useful[0] / (seconds * workers)
    best = useful[0] / workers
    return (
        f"| {study} | {useful[0]:,.0f} | {best:.0f} | {seconds:.0f} | {idle:.0%} | {blocks[0]:,} | "
        f"{blocks[0] / seconds:.0f} | {first[0]:.1f} | {peaks['scheduler']:.0f} | {peaks['client']:.0f} | "
        f"{spent[0] / seconds:.2f} | {spent[1] / seconds:.2f} |"
    )


class Events:
    """A study on workers that a scheduler feeds, one block after another, by the rules of `execute`.

    `sending`: the seconds that a block takes the scheduler.
    """

    def __init__(self, study: str, workers: int, sending: float) -> None:
        self.workers, self.sending = workers, sending
        self.target = 5 * workers * 0.002
        self.waiting, self.open = deque(cells_of(study)), dict[BlockSizer, list[Any]]()
        self.queue, self.free, self.sent, self.under_way = deque[Any](), workers, 0.0, 0
        self.now = self.useful = self.first = 0.0
        self.blocks = 0
        self.events: list[Any] = []
        self.numbers = itertools.count()

    def at(self, when: float, *what: Any) -> None:
        """Let something happen."""
        heapq.heappush(self.events, (when, next(self.numbers), what))

    def fill(self, sizer: BlockSizer) -> None:
        """Send the blocks of a cell for which there is room."""
        state = self.open[sizer]  # the blocks under way, the seconds left, and when it was begun
        while True:
            known = bool(sizer.lanes) or self.now - state[2] >= LEARNING_SECONDS
            if not (known and self.under_way < self.workers) and state[0] >= sizer.window(self.workers, len(self.open)):
                return
            others = sum(item[1] for item in self.open.values()) - state[1]
            block = sizer.next_block(self.workers, others, self.target)
            state[1] = sizer.seconds_left
            if block is None:
                return
            state[0] += 1
            self.under_way += 1
            self.sent = max(self.sent, self.now) + self.sending
            self.at(self.sent, "sent", sizer, block)

    def begin(self) -> None:
        """Open cells, and give blocks that have been sent to free workers."""
        while self.waiting and len(self.open) < min(2 * self.workers, MOST_CELLS):
            cell = self.waiting.popleft()
            sizer = BlockSizer(cell, [(0, cell.lanes)], 2.0)
            self.open[sizer] = [0, 0.0, self.now]
            self.fill(sizer)
        while self.free and self.queue:
            sizer, block = self.queue.popleft()
            self.free -= 1
            self.at(self.now + seconds_of(block), "done", sizer, block)

    def run(self) -> None:
        """Let all happen."""
        self.begin()
        self.at(0.2, "look", None, None)
        while self.open:
            self.now, _, (what, sizer, block) = heapq.heappop(self.events)
            if what == "sent":
                self.queue.append((sizer, block))
            elif what == "look":
                for some in list(self.open):
                    self.fill(some)
                self.at(self.now + 0.2, "look", None, None)
            else:
                seconds = seconds_of(block)
                self.first = self.first or self.now
                self.useful, self.blocks = self.useful + seconds, self.blocks + 1
                self.free, self.under_way = self.free + 1, self.under_way - 1
                self.open[sizer][0] -= 1
                made = {"seconds": seconds, "overhead": 0.0, "bytes": 0, "host": ""}
                sizer.learn(Receipt(first=block.first, last=block.last, **made))
                self.fill(sizer)
                if not self.open[sizer][0]:
                    del self.open[sizer]
            self.begin()


def without_processes(workers: int, milliseconds: list[float]) -> None:
    """Print the table of computed events."""
    print("| study | a block, ms | at best, s | whole, s | idle | blocks | blocks a second | first result, s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for study, sending in itertools.product(STUDIES, milliseconds):
        events = Events(study, workers, sending / 1000)
        events.run()
        best = events.useful / workers
        print(
            f"| {study} | {sending:g} | {best:.0f} | {events.now:.0f} | {1 - best / events.now:.0%} | "
            f"{events.blocks:,} | {events.blocks / events.now:.0f} | {events.first:.1f} |",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workers", nargs="?", type=int, default=1000)
    parser.add_argument("--milliseconds", nargs="+", type=float)
    workers, milliseconds = vars(parser.parse_args()).values()
    if milliseconds:
        without_processes(workers, milliseconds)
        return
    cloudpickle.register_pickle_by_value(scheduler)  # workers cannot import it
    vars(dask_pool)["run_with"] = sleep
    FAN_OUTS["nothing"] = FAN_OUTS["replicate"]
    scheduler.WORKERS, scheduler.THREADS = -(-workers // THREADS), min(THREADS, workers)
    print(f"## {workers:,} virtual workers\n")
    print(
        f"Python {platform.python_version()}, Dask {version('distributed')}, {os.cpu_count()} cores for all processes. "
        f"`python benchmarks/thousand_workers.py {workers}`\n"
    )
    print(
        "| study | useful seconds | at best, s | whole, s | idle | blocks | blocks a second | first result, s | "
        "scheduler, MiB | client, MiB | scheduler, cores | client, cores |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name, dask.config.set({"distributed.scheduler.worker-saturation": 1.0}):
        started = Started(Path(name))
        try:
            with distributed.Client(scheduler_file=str(started.file), set_as_default=False) as client:
                client.wait_for_workers(scheduler.WORKERS, timeout=300)
                for study in STUDIES:
                    print(run(study, client, started, workers), flush=True)
        finally:
            started.end()


if __name__ == "__main__":
    main()
