import contextlib
import threading

import pytest

from sigstats.tasks.engine import pools
from sigstats.tasks.engine.blocks import run_block
from sigstats.tasks.engine.execute import run_cell
from sigstats.tasks.engine.pools import GrowingPool, Serial
from sigstats.tasks.storage.store import Store

from ..conftest import Drawing, make_cell, put_in_place


class Workers(Serial):
    """A cluster of this process that counts its blocks."""

    def __init__(self):
        super().__init__(workers=3)
        self.blocks, self.prepared = 0, []

    def prepare(self, *given):
        self.prepared = given

    def submit(self, block, store, done):
        self.blocks += 1
        done(run_block(block, store, engine="dask"))
        return lambda: None


@pytest.fixture
def workers():
    return Workers()


@pytest.fixture
def grown(workers):
    """A pool that starts `workers` at once, and what happened meanwhile."""
    happened = []

    @contextlib.contextmanager
    def opened():
        happened.append("started")
        yield workers
        happened.append("ended")

    pool = GrowingPool(opened, expected=3, after=0.0, stop=threading.Event(), say=happened.append)
    return pool, happened


def computed(cell, store):
    return store.read_block(cell, 0, cell.replicates)


@pytest.mark.long
def test_the_first_blocks_are_computed_here_and_the_others_by_the_workers(
    store, cell, drawing, grown, workers, monkeypatch
):
    reference = Store(f"{store.root}-reference")
    assert run_cell(cell, reference, Serial()).complete
    pool, happened = grown
    sound = drawing.compute

    def compute(block, store, work):  # the first block takes until the workers are there
        for _ in range(6000):
            if pool.workers == 3:
                break
            threading.Event().wait(0.01)
        return sound(block, store, work)

    put_in_place(monkeypatch, compute=compute)
    with pool:
        assert (pool.workers, pool.cells, pool.idle) == (1, 6, False)
        assert pool.staff == {"this process"}
        pool.prepare("a plan", 3)
        outcome = run_cell(cell, store, pool, target_seconds=0)
    assert happened == ["started", "ended"]
    assert outcome.engines == {"serial", "dask"}
    assert outcome.blocks == workers.blocks + 1
    assert workers.prepared == ("a plan", 3)
    assert computed(cell, store).equals(computed(cell, reference))


def test_where_no_block_is_needed_no_worker_is_started(grown):
    pool, happened = grown
    with pool:
        pass
    assert happened == []


def test_a_short_study_starts_no_worker(store, cell, drawing):
    started = []

    @contextlib.contextmanager
    def opened():
        started.append(True)
        yield Serial()

    with GrowingPool(opened, expected=2, after=1e6, stop=threading.Event(), say=print) as pool:
        assert run_cell(cell, store, pool).engines == {"serial"}
    assert not started


@pytest.mark.parametrize(("sending", "started"), [(0.0, ["started", "ended"]), (1e6, [])])
def test_blocks_that_take_less_than_to_send_them_stay_here(store, cell, drawing, grown, monkeypatch, sending, started):
    monkeypatch.setattr(pools, "SENDING", sending)
    pool, happened = grown
    pool.submit(cell.block(0, 1), store, lambda _: None)
    looked = threading.Semaphore(0)
    sound = pool._over.wait

    def wait(timeout=None):
        looked.release()
        return sound(timeout)

    monkeypatch.setattr(pool._over, "wait", wait)
    with pool:  # its thread looks again and again, or waits for the end once the workers are there
        assert looked.acquire(timeout=60)
        assert happened or looked.acquire(timeout=60)
    assert happened == started


def test_the_work_goes_on_here_where_the_workers_cannot_be_started(store, cell, drawing, monkeypatch):
    said, told = [], threading.Event()

    def opened():
        raise OSError("no processes are left")

    def say(line):
        said.append(line)
        told.set()

    sound = drawing.compute

    def compute(block, store, work):
        assert told.wait(60)
        return sound(block, store, work)

    put_in_place(monkeypatch, compute=compute)
    with GrowingPool(opened, expected=2, after=0.0, stop=threading.Event(), say=say) as pool:
        outcome = run_cell(cell, store, pool)
    assert outcome.complete
    assert outcome.engines == {"serial"}
    assert said == ["note: no workers could be started, so the run continues in this process (no processes are left)"]


@pytest.mark.parametrize(
    ("clock", "worked", "idle", "started"),
    [
        (9.0, 9.0, 9.0, True),  # one thread computes, and one of two processors is idle
        (4.0, 4.0, 4.0, False),  # not for long
        (9.0, 17.0, 1.0, False),  # both compute
        (9.0, 9.0, 1.0, False),  # other programs have the second one
        (9.0, 0.5, 17.0, False),  # nothing has been computed
        (9.0, 17.0, 99.0, False),  # those of this run compute, and others are idle
        (31.0, 31.0, 0.0, True),
    ],
)
def test_workers_are_started_where_processors_are_idle(clock, worked, idle, started):
    pool = GrowingPool(contextlib.nullcontext, expected=2, after=3.0, stop=threading.Event(), say=print)
    assert pool._is_useful(clock, worked, idle) is started


@pytest.mark.parametrize(("processors", "at_once"), [(1, 1), (2, 2), (3, 3), (64, pools.MOST_HERE)])
def test_blocks_that_may_run_beside_others_do_on_as_many_processors(store, monkeypatch, processors, at_once):
    inside, most, full = set(), [], threading.Event()

    def compute(block, store, work):
        inside.add(block.cell.seed)
        most.append(len(inside))
        if len(inside) == at_once:
            full.set()
        assert full.wait(60)
        inside.discard(block.cell.seed)
        return Drawing().compute(block, store, work)

    put_in_place(monkeypatch, compute=compute, is_parallel=lambda work: True)
    ended = []
    with GrowingPool(contextlib.nullcontext, expected=processors, after=1e6, stop=threading.Event(), say=print) as pool:
        of_cells = [
            threading.Thread(target=pool.submit, args=(make_cell(seed=seed).block(0, 1), store, ended.append))
            for seed in range(6)
        ]
        for each in of_cells:
            each.start()
        for each in of_cells:
            each.join(60)
    assert len(ended) == 6
    assert max(most) == at_once


def test_one_block_at_a_time_is_computed_here_and_none_after_the_stop(store, cell, drawing, monkeypatch):
    stop, entered, leave, at_once = threading.Event(), threading.Event(), threading.Event(), []
    sound = drawing.compute

    def compute(block, store, work):
        at_once.append(block.first)
        entered.set()
        assert leave.wait(60)
        return sound(block, store, work)

    put_in_place(monkeypatch, compute=compute)
    ended = []
    with GrowingPool(contextlib.nullcontext, expected=2, after=1e6, stop=stop, say=print) as pool:
        first, second = (
            threading.Thread(target=pool.submit, args=(cell.block(lane, lane + 1), store, ended.append))
            for lane in (0, 1)
        )
        first.start()
        assert entered.wait(60)
        second.start()
        stop.set()
        second.join(60)
        assert at_once == [0]
        leave.set()
        first.join(60)
    assert [receipt.first for receipt in ended] == [0]
