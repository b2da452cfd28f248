import threading
import time
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigstats.tasks.engine import execute
from sigstats.tasks.engine.blocks import BlockSizer, Receipt, run_block
from sigstats.tasks.engine.execute import Interrupted, has_room, run_cell
from sigstats.tasks.engine.pools import RoutedPool, Serial
from sigstats.tasks.plan import Needs
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ...examples import examples
from ..conftest import make_cell, put_in_place


def whole(store, cell):
    return store.read_block(cell, 0, cell.replicates)


@pytest.mark.long
@settings(
    derandomize=True,
    deadline=None,
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    target=st.sampled_from([0.0, 1e-6, 2.0]), ready=st.sets(st.integers(0, 9), max_size=5), workers=st.integers(1, 4)
)
def test_bytes_do_not_depend_on_block_size_workers_or_what_was_there(tmp_path_factory, drawing, target, ready, workers):
    cell = make_cell()
    plain, other = (Store(str(tmp_path_factory.mktemp(name))) for name in ("plain", "other"))
    for lane in range(cell.lanes):
        run_block(cell.block(lane, lane + 1), plain)
    plain.finish(cell)
    for lane in ready:
        run_block(cell.block(lane, lane + 1), other)
    assert run_cell(cell, other, Serial(workers), target_seconds=target).complete
    name = f"replicates/{cell.name}/000000000-000000095.parquet"
    assert plain.files.read(name) == other.files.read(name)


@pytest.mark.long
def test_a_failing_block_is_a_record_and_what_is_done_stays(store, cell, drawing):
    drawing.fail[3] = ZeroDivisionError("a classifier's trouble")
    outcome = run_cell(cell, store, Serial(), target_seconds=0)
    assert not outcome.complete
    (failure,) = outcome.failures
    assert (failure.error, failure.message) == ("ZeroDivisionError", "a classifier's trouble")
    assert "raise self.fail" in failure.traceback
    assert len(drawing.calls) == 3
    assert store.find(cell).done == ((0, 10), (10, 20))
    drawing.fail.clear()
    assert run_cell(cell, store, Serial()).complete
    assert (0, 10) not in drawing.calls[3:]


@pytest.mark.long
@pytest.mark.parametrize("lost", [1, 5])
def test_blocks_that_are_lost_before_they_are_joined_are_made_again(store, cell, drawing, monkeypatch, lost):
    sound, reference = drawing.compute, Store(f"{store.root}-reference")
    assert run_cell(cell, reference, Serial()).complete
    names = [f"blocks/{cell.name}/{10 * lane:09d}-{10 * lane + 10:09d}.parquet" for lane in range(lost)]
    drawing.calls.clear()

    def compute(block, store, work):
        if len(drawing.calls) == 9:
            for name in names:
                store.files.remove(name)
        return sound(block, store, work)

    put_in_place(monkeypatch, compute=compute)
    told = []
    outcome = run_cell(cell, store, Serial(), target_seconds=0, progress=lambda replicates, _: told.append(replicates))
    assert outcome.complete
    assert outcome.notes == [f"replicates/{cell.name} is not complete"]
    assert drawing.calls[10:] == [(10 * lane, 10 * lane + 10) for lane in range(lost)]
    assert (outcome.taken_up, outcome.stored, outcome.blocks, sum(told)) == (0, 95, 10 + lost, 95)
    assert whole(store, cell).equals(whole(reference, cell))


def test_a_store_that_loses_everything_is_not_tried_for_ever(store, cell, drawing, monkeypatch):
    monkeypatch.setattr(Store, "write_block", lambda *block: b"")
    with pytest.raises(Damaged, match="not complete"):
        run_cell(cell, store, Serial(), target_seconds=0)
    assert len(drawing.calls) == 30


def test_trouble_with_the_store_is_no_fault_of_the_block(store, cell, drawing):
    drawing.fail[2] = PermissionError(13, "Permission denied")
    with pytest.raises(PermissionError):
        run_cell(cell, store, Serial(), target_seconds=0)


def test_a_damaged_block_is_named_and_made_again(store, cell, drawing):
    run_block(cell.block(0, 1), store)
    name = f"blocks/{cell.name}/000000000-000000010.parquet"
    content = store.files.read(name)
    store.files.write(name, content[:-50])
    outcome = run_cell(cell, store, Serial())
    assert outcome.complete
    assert name in outcome.notes[0]
    reference = make_cell()
    assert whole(store, reference).num_rows == 95


def test_a_stopped_run_leaves_and_is_taken_up(store, cell, drawing):
    stop = threading.Event()

    def progress(replicates, seconds):
        if seconds is not None:
            stop.set()

    with pytest.raises(Interrupted):
        run_cell(cell, store, Serial(), stop=stop, progress=progress, target_seconds=0)
    assert len(drawing.calls) == 1
    assert run_cell(cell, store, Serial(), target_seconds=0).complete
    assert len(drawing.calls) == cell.lanes


def receipt(cell, block, seconds_a_lane):
    lanes = block.last_lane - block.first_lane
    return Receipt(first=block.first, last=block.last, seconds=lanes * seconds_a_lane, overhead=0, bytes=0, host="")


@settings(derandomize=True)
@given(st.integers(1, 3000), st.integers(1, 8), st.floats(1e-6, 10))
def test_cutting_covers_every_lane_once_and_aims_at_the_target(replicates, workers, seconds):
    cell = make_cell(replicates)
    sizer = BlockSizer(cell, [(0, cell.lanes)], 2.0)
    assert sizer.window(workers) == 1
    blocks = []
    while (block := sizer.next_block(workers)) is not None:
        blocks.append(block)
        sizer.learn(receipt(cell, block, seconds))
    assert blocks[0].last_lane == 1
    assert [block.first for block in blocks[1:]] == [block.last for block in blocks[:-1]]
    assert blocks[-1].last == replicates
    for block in blocks:
        lanes = block.last_lane - block.first_lane
        assert lanes == 1 or lanes * seconds <= 2.0 * (1 + 1e-9)


@settings(derandomize=True)
@given(
    st.lists(st.integers(200, 4000), min_size=1, max_size=4),
    st.integers(2, 8),
    st.floats(1e-4, 0.2),
    st.randoms(use_true_random=False),
)
def test_workers_end_together(replicates, workers, seconds, random):
    """Each block to the worker that is free first: the last one ends soon after the first, although costs differ."""
    cells = [make_cell(number) for number in replicates]
    sizers = [BlockSizer(cell, [(0, cell.lanes)], 2.0) for cell in cells]
    ends = [0.0] * workers
    while left := [sizer for sizer in sizers if sizer.gaps]:
        sizer = random.choice(left)
        others = sum(other.seconds_left for other in sizers if other is not sizer)
        block = sizer.next_block(workers, others)
        each = seconds * random.uniform(0.75, 1.25)
        sizer.learn(receipt(sizer.cell, block, each))
        ends[ends.index(min(ends))] += each * (block.last_lane - block.first_lane)
    # A block at the end is a quarter of the target or one lane, if every lane costs what those before have cost.
    assert max(ends) - min(ends) <= 1.25 / 0.75 * max(2.0 / 4, 1.25 * seconds)


class Idle(Serial):
    """Blocks wait until there is one for every worker."""

    def __init__(self, workers):
        super().__init__(workers)
        self.waiting = []
        self.most = 0

    @property
    def idle(self):
        return len(self.waiting) < self.workers

    @idle.setter
    def idle(self, value):
        pass

    def submit(self, block, store, done):
        self.waiting.append((block, done))
        self.most = max(self.most, len(self.waiting))
        if not self.idle:
            self.end(store)
        return lambda: None

    def end(self, store):
        waiting, self.waiting = self.waiting, []
        for block, done in waiting:
            done(run_block(block, store))


def test_idle_workers_are_kept_busy_while_a_cell_learns(store, drawing, monkeypatch):
    monkeypatch.setattr(execute, "LEARNING_SECONDS", 0.0)
    cell, pool = make_cell(80), Idle(4)
    assert run_cell(cell, store, pool, target_seconds=0).complete
    assert drawing.calls[:4] == [(0, 10), (10, 20), (20, 30), (30, 40)]
    assert pool.most == 4


def test_idle_workers_of_other_needs_are_not_filled(store, drawing):
    """Of a cell of unknown cost one block goes to a busy pool, however many workers of another pool are idle."""
    busy = Idle(4)
    busy.waiting = [(None, print)] * 4
    pool = RoutedPool(busy, {Needs(gpu=1): Idle(4)})
    sizer = BlockSizer(make_cell(80), [(0, 8)], 2.0)
    assert pool.idle
    assert [has_room(sizer, running, pool, begun=0.0) for running in (0, 1)] == [True, False]
    needy = BlockSizer(replace(make_cell(80), limits={"gpu": 1}), [(0, 8)], 2.0)
    assert has_room(needy, 1, pool, begun=0.0)


def test_idle_workers_wait_a_second_for_the_cost_of_the_first_lane():
    pool, now = Idle(17), time.monotonic()
    sizer = BlockSizer(make_cell(80), [(0, 8)], 2.0)
    pool.open[sizer] = 0.0
    assert [has_room(sizer, 1, pool, begun) for begun in (now + 60, now - 1)] == [False, True]
    sizer.learn(receipt(sizer.cell, sizer.next_block(17), 0.1))
    assert has_room(sizer, 40, pool, now + 60)
