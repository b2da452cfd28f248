"""To which blocks the deaths of workers are laid, with a scheduler in this process that kills as it is told."""

from concurrent.futures import CancelledError
from types import SimpleNamespace

import pytest
from distributed import KilledWorker

from sigstats.tasks.engine.blocks import Failure
from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.dask_staff import Submission
from sigstats.tasks.storage.store import Store

from ...cells import a_cell, retrained


class Scheduler:
    """Has four workers for each block, as Dask does; `dies` says whether a worker dies that computes a block.

    Where a worker dies, all workers of other blocks that are under way die too, as under `pkill`.
    """

    status = "running"

    def __init__(self, dies):
        self.dies = dies
        self.under_way = {}
        self.seen = []

    def map(self, _, blocks, *more, **options):
        futures = [SimpleNamespace(status="pending", outcome=None, release=lambda: None) for _ in blocks]
        for block, future in zip(blocks, futures, strict=True):
            future.add_done_callback = lambda done, future=future: setattr(future, "done", done)
            future.result = lambda future=future: _raised(future.outcome)
            future.cancel = lambda block=block: self.end(block, CancelledError())
            self.under_way[block.key] = (block, future)
        return futures

    def gather(self, futures, errors):
        return {at: future.outcome for at, future in futures.items() if future.status == "finished"}

    def end(self, block, outcome):
        _, future = self.under_way.pop(block.key)
        future.outcome, future.status = outcome, "error" if isinstance(outcome, Exception) else "finished"
        future.done(future)

    def work(self):
        """Let everything that is under way come to its end."""
        blocks = [block for block, _ in self.under_way.values()]
        self.seen.append({who(block) for block in blocks})
        struck = any(self.dies(block) for block in blocks)
        for block in blocks:
            self.end(block, KilledWorker("block", None, 3) if struck else "stored")


def who(block):
    return block.cell.subject["classifier"]


def _raised(outcome):
    raise outcome


class At(list):
    """Runs what the pool would give to its thread."""

    def submit(self, what):
        self.append(what)

    def run(self):
        while self:
            self.pop(0)()


def cell(name, *, own=True):
    code = {"package": "p", "version": "1"} if own else None
    work = retrained(learner=f"p:{name}", code=code)
    return a_cell(fanout="retrain", subject={"classifier": name}, work=work, replicates=9)


def played(dies, names, rounds=1000):
    """The outcomes of a block of each classifier, and what was under way together."""
    scheduler = Scheduler(dies)
    pool = DaskPool(scheduler)
    pool._fetching = at = At()
    outcomes = {}
    for name in names:
        block = cell(name, own=not name.startswith("ours")).block(0, 1)
        pool.submit(block, Store("/nowhere"), lambda outcome, name=name: outcomes.setdefault(name, outcome))
    for _ in range(rounds):
        if not scheduler.under_way:
            break
        scheduler.work()
        at.run()
    return outcomes, scheduler.seen


def test_a_block_is_named_and_those_beside_it_are_not():
    names = ["means", "assaults", "net", "ours"]
    outcomes, seen = played(lambda block: who(block) == "assaults", names)
    assert outcomes.keys() == set(names)
    said = "classifier assaults: it killed its worker 12 times"
    assert (outcomes["assaults"].error, outcomes["assaults"].message) == ("WorkersKilled", said)
    assert not [name for name, outcome in outcomes.items() if isinstance(outcome, Failure) and name != "assaults"]
    assert all(len(together - {"ours"}) == 1 for together in seen[1:])


@pytest.mark.parametrize(("name", "trials"), [("ours", 100), ("net", 2)])
def test_workers_that_are_taken_away_are_laid_to_no_block(name, trials):
    lost = iter([True] * trials)
    outcomes, seen = played(lambda block: next(lost, False), [name])
    assert outcomes == {name: "stored"}
    assert len(seen) == trials + 1


def test_what_killed_workers_is_computed_apart_from_then_on():
    apart = {}

    class Seen(Scheduler):
        def map(self, function, blocks, stores, aparts, **options):
            apart.update({who(block): how for block, how in zip(blocks, aparts, strict=True)})
            return super().map(function, blocks, stores, aparts, **options)

    deaths = iter([True])
    pool = DaskPool(scheduler := Seen(lambda block: next(deaths, False)))
    pool._fetching = at = At()
    for name, expected in (("ours", False), ("ours, later", True)):
        pool.submit(cell(name, own=False).block(0, 1), Store("/nowhere"), lambda outcome: None)
        assert apart[name] == expected
        scheduler.work()
        at.run()
    assert apart == {"ours": True, "ours, later": True}


def test_each_of_several_is_named():
    names = ["assaults", "means", "assaults too", "assaults again", "ours"]
    outcomes, _ = played(lambda block: "assaults" in who(block), names)
    assert outcomes.keys() == set(names)
    failed = {name for name, outcome in outcomes.items() if isinstance(outcome, Failure)}
    assert failed == {name for name in names if "assaults" in name}


def test_a_scheduler_that_goes_leaves_no_block_waiting():
    scheduler = Scheduler(lambda block: True)
    pool = DaskPool(scheduler)
    pool._fetching = at = At()
    outcomes = []
    for name in ("net", "means", "trees"):
        pool.submit(cell(name).block(0, 1), Store("/nowhere"), outcomes.append)
    scheduler.work()
    at.run()
    assert len(scheduler.under_way) == 1
    scheduler.status = "closed"
    scheduler.work()
    at.run()
    assert [outcome.error for outcome in outcomes] == ["ConnectionError"] * 3


def test_a_block_ends_once_though_memory_is_short_meanwhile(monkeypatch):
    deaths = iter([True])
    scheduler = Scheduler(lambda block: next(deaths, False))
    pool = DaskPool(scheduler)
    pool._fetching = at = At()
    outcomes = []

    def short(*_):
        raise MemoryError

    pool.submit(cell("ours", own=False).block(0, 1), Store("/nowhere"), outcomes.append)
    with monkeypatch.context() as patched:
        patched.setattr(pool, "_send", short)  # of a block whose worker died
        scheduler.work()
        at.run()
    pool.submit(cell("net").block(0, 1), Store("/nowhere"), outcomes.append)
    scheduler.work()
    at.run()
    assert [getattr(outcome, "error", outcome) for outcome in outcomes] == ["MemoryError", "stored"]


def test_a_block_whose_end_cannot_be_watched_ends_at_once():
    class Unwatched(Scheduler):
        def map(self, *given, **options):
            *others, last = super().map(*given, **options)
            last.add_done_callback = None  # as where no thread can start
            return [*others, last]

    scheduler = Unwatched(lambda block: False)
    pool = DaskPool(scheduler)
    pool._fetching = at = At()
    outcomes = []
    pool._to_send.extend(Submission(cell(name).block(0, 1), None, outcomes.append) for name in ("net", "means"))
    pool._submitted.update(pool._to_send)
    pool._send()
    scheduler.end(next(iter(scheduler.under_way.values()))[0], "stored")
    at.run()
    assert [outcome.error for outcome in outcomes] == ["TypeError"] * 2


def test_the_error_of_a_block_ends_it_and_one_that_is_not_wanted_is_cancelled():
    scheduler, outcomes = Scheduler(lambda block: False), []
    pool = DaskPool(scheduler)
    pool._fetching = at = At()
    cancel, *_ = [pool.submit(cell(n, own=False).block(0, 1), Store("/nowhere"), outcomes.append) for n in "abc"]
    (first, _), (second, _), _ = scheduler.under_way.values()
    cancel()
    assert first.key not in scheduler.under_way
    scheduler.end(second, OSError("the disk is gone"))
    scheduler.work()
    at.run()
    assert [getattr(outcome, "message", outcome) for outcome in outcomes] == ["the disk is gone", "stored"]
    assert not pool._submitted
