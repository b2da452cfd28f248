"""Short blocks that go to a worker as one task."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from distributed import KilledWorker

from sigstats.tasks.engine import dask_pool, submissions
from sigstats.tasks.engine.blocks import Receipt
from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.submissions import RecentMean, Submission, blocks_per_task, run_together
from sigstats.tasks.storage.block_files import block_name
from sigstats.tasks.storage.store import Store

from .test_suspects import At, cell


@pytest.fixture
def blocks(cell, monkeypatch):
    monkeypatch.setattr(submissions, "_MOST_SECONDS", 600.0)
    return [cell.block(lane, lane + 1) for lane in range(4)]


def run(blocks, store):
    return run_together(blocks, store, False, engine="dask")


def test_a_block_that_a_dead_worker_has_stored_is_not_computed_again(store, blocks, drawing):
    stored = run(blocks[:2], store)
    outcomes = run(blocks, store)
    assert drawing.calls == [(0, 10), (10, 20), (20, 30), (30, 40)]
    measured = {"seconds": 0.0, "overhead": 0.0, "memory": 0}  # the peak of this process may have grown
    assert [(each.seconds, each.overhead) for each in outcomes[:2]] == [(0.0, 0.0)] * 2
    assert [replace(each, **measured) for each in outcomes[:2]] == [replace(each, **measured) for each in stored]
    assert [each.last for each in outcomes] == [10, 20, 30, 40]


def test_a_block_whose_file_is_damaged_is_computed_again(store, blocks, drawing):
    run(blocks[:1], store)
    folder = f"blocks/{blocks[0].cell.name}"
    (file,) = store.files.names(folder)
    store.files.write(f"{folder}/{file}", store.files.read(f"{folder}/{file}")[:-1])
    run(blocks[:2], store)
    assert drawing.calls == [(0, 10), (0, 10), (10, 20)]


def test_a_block_whose_file_holds_another_one_is_computed_again(store, blocks, drawing):
    (receipt,) = run(blocks[:1], store)
    first, second = (block_name(each.cell, each.first, each.last) for each in blocks[:2])
    store.files.write(second, store.files.read(first))
    assert [each.first for each in run(blocks[:2], store)] == [receipt.first, 10]
    assert drawing.calls == [(0, 10), (10, 20)]


def test_a_block_that_fails_leaves_those_beside_it(store, blocks, drawing):
    drawing.fail = {2: ArithmeticError("no root")}
    outcomes = run(blocks, store)
    assert [each.last for each in outcomes] == [10, 20, 30, 40]
    assert [getattr(each, "message", None) for each in outcomes] == [None, "no root", None, None]


def test_where_the_store_fails_what_is_done_is_told_before(store, blocks, drawing):
    drawing.fail = {3: OSError("the disk is gone"), 4: OSError("the disk is gone")}
    assert [each.last for each in run(blocks, store)] == [10, 20]
    with pytest.raises(OSError, match="the disk is gone"):
        run(blocks[2:], store)


def test_no_block_is_begun_after_the_time_of_a_task(store, blocks, drawing, monkeypatch):
    monkeypatch.setattr(submissions, "_MOST_SECONDS", -1.0)
    assert [each.last for each in run(blocks, store)] == [10]


def test_blocks_are_together_once_they_are_known_to_be_short():
    lately = RecentMean(0.9)
    assert blocks_per_task(lately) == 1
    lately.add(5.0)  # the first one imports
    assert blocks_per_task(lately) == 1
    for _ in range(200):
        lately.add(0.11)
    assert blocks_per_task(lately) == 4
    for _ in range(200):
        lately.add(0.0)
    assert blocks_per_task(lately) == 16


class Workers:
    """Computes nothing: `outcome` says how a task ends, given the names in it."""

    status = "running"

    def __init__(self, outcome):
        self.outcome, self.tasks, self.under_way = outcome, [], []

    def nthreads(self):
        return {"a": 1}

    def map(self, _, tasks, stores, apart, **options):
        futures = []
        for blocks, alone in zip(tasks, apart, strict=True):
            names = "".join(block.cell.subject["classifier"] for block in blocks)
            future = SimpleNamespace(names=names, status="pending", cancelled=False, release=lambda: None)
            future.add_done_callback = lambda done, future=future: setattr(future, "done", done)
            future.cancel = lambda future=future: setattr(future, "cancelled", True)
            self.tasks.append((names, alone))
            futures.append(future)
        self.under_way += futures
        return futures

    def gather(self, futures, errors):
        return {at: future.outcome for at, future in futures.items() if future.status == "finished"}

    def work(self):
        ended, self.under_way = self.under_way, []
        for future in ended:
            try:
                future.outcome, future.status = self.outcome(future.names), "finished"
            except Exception as error:
                future.status, future.result = "error", lambda error=error: _raised(error)
            future.done(future)


def _raised(error):
    raise error


def receipt(name, seconds=0.001):
    return Receipt(first=0, last=1, seconds=seconds, overhead=0.0, bytes=1, host=name)


def submitted(outcome, names):
    """A pool that has these short blocks, and its workers; the blocks in upper case run code of other packages."""
    workers, outcomes = Workers(outcome), {}
    pool = DaskPool(workers)
    pool._fetching = At()
    pool._recent.add(0.001)
    for name in names:
        given = Submission(
            cell(name, own=name.isupper()).block(0, 1),
            Store("/nowhere"),
            lambda one, name=name: outcomes.setdefault(name, one),
        )
        pool._submitted.add(given)
        pool._to_send.append(given)
    pool._send()
    return pool, workers, outcomes


def played(outcome, names):
    """What becomes of blocks, and the tasks in which they were sent, with whether in processes of their own."""
    pool, workers, outcomes = submitted(outcome, names)
    while workers.under_way:
        workers.work()
        pool._fetching.run()
    assert not pool._submitted
    return {name: getattr(one, "host", one) for name, one in outcomes.items()}, workers.tasks


def test_a_task_that_took_its_workers_is_sent_block_by_block_each_apart():
    def outcome(names):
        if "c" in names:
            raise KilledWorker("task", None, 3)
        return [receipt(name) for name in names]

    ends, tasks = played(outcome, "abcd")
    assert tasks[:5] == [("abcd", False), *((name, True) for name in "abcd")]
    assert ends.pop("c").error == "WorkersKilled"
    assert ends == {name: name for name in "abd"}
    assert set(tasks[5:]) == {("c", True)}


def test_a_task_whose_error_is_that_of_one_block_is_sent_block_by_block():
    def outcome(names):
        if "b" in names:
            raise OSError("the disk is gone")
        return [receipt(name) for name in names]

    ends, tasks = played(outcome, "abc")
    assert tasks == [("abc", False), ("a", False), ("b", False), ("c", False)]
    assert (ends["b"].error, ends["b"].message) == ("OSError", "the disk is gone")
    assert (ends["a"], ends["c"]) == ("a", "c")


def test_blocks_that_were_not_begun_are_sent_again():
    ends, tasks = played(lambda names: [receipt(name) for name in names[:2]], "abcde")
    assert [names for names, _ in tasks] == ["abcde", "cde", "e"]
    assert ends == {name: name for name in "abcde"}


def test_code_of_other_packages_has_a_task_of_its_own():
    ends, tasks = played(lambda names: [receipt(name) for name in names], "abXcY")
    assert sorted(names for names, _ in tasks) == ["X", "Y", "abc"]
    assert ends == {name: name for name in "abXcY"}


def test_long_blocks_have_a_task_each_again():
    pool, workers, _ = submitted(lambda names: [receipt(name, seconds=9.0) for name in names], "ab")
    workers.work()
    pool._fetching.run()
    pool.submit(cell("c", own=False).block(0, 1), Store("/nowhere"), print)
    assert [names for names, _ in workers.tasks] == ["ab", "c"]
    assert pool.cells == 2


def test_a_task_is_cancelled_once_none_of_its_blocks_is_wanted(monkeypatch):
    monkeypatch.setattr(dask_pool, "HOLD", 0.0)
    pool, workers, _ = submitted(lambda names: [], "")
    with monkeypatch.context() as patched:
        patched.setattr(pool, "_send", lambda: None)
        cancels = [pool.submit(cell(name, own=False).block(0, 1), Store("/nowhere"), print) for name in "ab"]
    pool._send()
    (task,) = workers.under_way
    for cancel, cancelled in zip(cancels, (False, True), strict=True):
        cancel()
        assert (task.names, task.cancelled) == ("ab", cancelled)


def test_blocks_that_begin_their_cells_wait_for_each_other(monkeypatch):
    ends = threading.Barrier(3)
    monkeypatch.setattr(dask_pool.time, "sleep", lambda seconds: ends.wait(60))
    pool, workers, _ = submitted(lambda names: [], "")
    begun = [
        threading.Thread(target=pool.submit, args=(cell(name, own=False).block(0, 1), Store("/nowhere"), print))
        for name in "ab"
    ]
    for each in begun:
        each.start()
    ends.wait(60)
    for each in begun:
        each.join(60)
    ((names, _),) = workers.tasks
    assert sorted(names) == ["a", "b"]
    pool.submit(cell("c", own=False).block(1, 2), Store("/nowhere"), print)
    assert workers.tasks[1:] == [("c", False)]
