"""A stopping rule ends a cell at the same replicate, with the same bytes, however its blocks came in."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.rules import BesagCliffordRule, FixedRule
from sigstats.tasks.engine import blocks as work
from sigstats.tasks.engine.blocks import run_block
from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.execute import Interrupted, run_cell
from sigstats.tasks.engine.pools import Serial
from sigstats.tasks.fan_out import cell_of
from sigstats.tasks.plan import Plan
from sigstats.tasks.results import Results, read_plan, write_plan
from sigstats.tasks.significance import TableTested
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary import fingerprint

from ...examples import examples
from ..conftest import make_cell, put_in_place

GANDY = {"rule": "gandy", "alpha": 0.3, "reject_at": 0.2, "risk": 0.2, "half_spent": 10}
SETTINGS = {"seed": 1, "replicates": 30_000}
BESAG_CLIFFORD = {"rule": "besag-clifford", "exceedances": 12}


@pytest.fixture
def compared(drawing, monkeypatch):
    """Replicates are as extreme as observed where they drew at most what a cell of one replicate drew."""

    def exceeds(table, observed):
        return table.column("drawn").to_numpy() <= observed.column("drawn").to_numpy()[0]

    put_in_place(monkeypatch, compute=drawing.compute, exceeds=exceeds, observed=observed_of)
    return drawing


def observed_of(cell):
    return replace(cell, fanout="observing", stream={"draws": "observed"}, replicates=1, lane_size=1, stopping=None)


def make_stopping(seed, rule=GANDY, replicates=395):
    return replace(make_cell(replicates, seed), stopping=rule)


def truth(cell, folder):
    """Where the rule stops, from all replicates computed without any rule."""
    store = Store(str(folder))
    plain = replace(cell, stopping=None)
    for one in (observed_of(cell), plain):
        assert run_cell(one, store, Serial()).complete
    (observed,) = store.read_block(observed_of(cell), 0, 1).column("drawn").to_pylist()
    drawn = store.read_block(plain, 0, plain.replicates).column("drawn").to_numpy()
    return cell.rule.test(drawn <= observed), drawn


def files(store, cell):
    names = store.files.names(f"replicates/{cell.name}")
    return {name: store.files.read(f"replicates/{cell.name}/{name}") for name in names}


class Shuffled:
    """Blocks end in any order, some long after later ones."""

    def __init__(self, workers, seed):
        self.workers = self.cells = workers
        self.open, self.seconds_a_block = {}, 0.0
        self.idle = False
        self.random = random.Random(seed)
        self.waiting = []
        self.lock = threading.Lock()
        self.threads = ThreadPoolExecutor(1)

    def submit(self, block, store, done):
        with self.lock:
            self.waiting.append((block, done))
        self.threads.submit(self.one, store)
        return lambda: None

    def one(self, store):
        with self.lock:
            block, done = self.waiting.pop(self.random.randrange(len(self.waiting)))
        done(run_block(block, store))


@pytest.mark.long
@pytest.mark.parametrize("rule", [GANDY, BESAG_CLIFFORD], ids=["gandy", "besag-clifford"])
def test_it_stops_where_the_rule_does_on_all_replicates(compared, tmp_path, rule):
    stops = set()
    for seed in range(12):
        cell = make_stopping(seed, rule)
        expected, drawn = truth(cell, tmp_path / f"all{seed}")
        store = Store(str(tmp_path / f"out{seed}"))
        outcome = run_cell(cell, store, Serial(), target_seconds=0)
        assert outcome.complete
        (name,) = files(store, cell)
        kept = min(-(-expected.n_resamples // 10) * 10, 395)
        assert name == f"000000000-{kept:09d}.parquet"
        assert outcome.wanted == kept
        results = Results(store)
        assert results.count(cell) == expected
        np.testing.assert_array_equal(results.table(cell).column("drawn"), drawn[: expected.n_resamples])
        stops.add(expected.n_resamples)
        # Nothing was computed beyond the lane in which it stopped, by a plain loop of single lanes.
        assert max(last for _, last in compared.calls[-kept // 10 :]) == kept
    assert min(stops) < 60
    assert max(stops) > 150


@pytest.mark.long
@settings(
    derandomize=True,
    deadline=None,
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 30),
    target=st.sampled_from([0.0, 1e-6, 1e-3, 2.0]),
    ready=st.sets(st.integers(0, 39), max_size=8),
    workers=st.integers(1, 6),
    rule=st.sampled_from([GANDY, BESAG_CLIFFORD]),
)
def test_bytes_do_not_depend_on_blocks_order_or_what_was_there(
    tmp_path_factory, compared, seed, target, ready, workers, rule
):
    cell = make_stopping(seed, rule)
    plain, other = (Store(str(tmp_path_factory.mktemp(name))) for name in ("plain", "other"))
    run_cell(cell, plain, Serial(), target_seconds=0)
    for lane in ready:
        run_block(cell.block(lane, lane + 1), other)
    outcome = run_cell(cell, other, Shuffled(workers, seed), target_seconds=target)
    assert outcome.complete
    assert not outcome.failures
    assert files(plain, cell) == files(other, cell)
    assert Results(plain).count(cell) == Results(other).count(cell)


@pytest.mark.long
@pytest.mark.parametrize("rule", [None, GANDY], ids=["all replicates", "gandy"])
def test_two_runs_that_meet_in_a_cell_both_end_with_its_bytes(compared, tmp_path, monkeypatch, rule):
    """As where a lease ran out: each cuts the cell in its own way, joins it, and removes the blocks of both."""
    moments = random.Random(3)

    def compute(block, store, work):
        time.sleep(moments.random() / 500)  # to mix their steps; the test holds for any
        return compared.compute(block, store, work)

    for seed in range(25):
        cell = make_stopping(seed, rule)
        plain, shared = Store(str(tmp_path / f"plain{seed}")), Store(str(tmp_path / f"shared{seed}"))
        run_cell(cell, plain, Serial())
        run_cell(observed_of(cell), shared, Serial())
        with monkeypatch.context() as patch, ThreadPoolExecutor(2) as runs:
            patch.setattr(work, "fanout", lambda name: SimpleNamespace(compute=compute))
            both = [runs.submit(run_cell, cell, shared, Serial(workers), target_seconds=2.0) for workers in (1, 3)]
            assert all(run.result(120).complete for run in both)
        assert files(plain, cell) == files(shared, cell)
        assert shared.files.folders("blocks") == []


@pytest.mark.long
def test_a_dask_pool_gives_the_bytes_of_the_plain_loop(compared, tmp_path):
    from distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=3, dashboard_address="127.0.0.1:0") as client:
        for seed in range(6):
            cell = make_stopping(seed)
            plain, other = Store(str(tmp_path / f"plain{seed}")), Store(str(tmp_path / f"dask{seed}"))
            run_cell(cell, plain, Serial(), target_seconds=0)
            assert run_cell(cell, other, DaskPool(client), target_seconds=0.0).complete
            assert files(plain, cell) == files(other, cell)


@pytest.mark.long
@pytest.mark.parametrize("after", [1, 5])
def test_an_interrupted_run_stops_at_the_same_place_and_computes_nothing_twice(compared, tmp_path, after):
    cell = make_stopping(seed=4)
    expected, _ = truth(cell, tmp_path / "all")
    assert expected.n_resamples > 60
    store, stop = Store(str(tmp_path / "out")), threading.Event()
    came = []

    def progress(replicates, seconds):
        came.append(replicates)
        if len(came) > after:
            stop.set()

    compared.calls.clear()
    with pytest.raises(Interrupted):
        run_cell(cell, store, Serial(), stop=stop, progress=progress, target_seconds=0)
    assert run_cell(cell, store, Serial(), target_seconds=0).complete
    assert sorted(compared.calls) == sorted(set(compared.calls))
    whole = Store(str(tmp_path / "whole"))
    run_cell(cell, whole, Serial())
    assert files(store, cell) == files(whole, cell)
    calls = len(compared.calls)
    again = run_cell(cell, store, Serial())
    assert again.complete
    assert len(compared.calls) == calls


def test_progress_counts_what_was_spared(compared, store):
    seen = []
    outcome = run_cell(make_stopping(1), store, Serial(), progress=lambda n, receipt: seen.append((n, receipt)))
    assert outcome.wanted < 395
    assert sum(n for n, _ in seen) == 395
    assert seen[-1] == (395 - outcome.stored, None)


@pytest.mark.long
def test_more_replicates_go_on_from_where_the_fewer_were(compared, tmp_path):
    for seed in range(12):
        store = Store(str(tmp_path / str(seed)))
        few, many = make_stopping(seed, replicates=60), make_stopping(seed, replicates=395)
        run_cell(few, store, Serial())
        first = Results(store).count(few)
        compared.calls.clear()
        run_cell(many, store, Serial(), target_seconds=0)
        assert all(start >= 60 or (start, stop) == (0, 1) for start, stop in compared.calls)
        if first.verdict != "undecided":
            assert (Results(store).count(many).n_resamples, compared.calls) == (first.n_resamples, [])


def test_a_run_without_the_rule_takes_up_a_stopped_one_and_the_other_way_round(compared, tmp_path):
    cell = make_stopping(1)
    store = Store(str(tmp_path))
    stopped = run_cell(cell, store, Serial(), target_seconds=0)
    before = files(store, cell)
    assert cell.fingerprint == replace(cell, stopping=None).fingerprint
    whole = run_cell(replace(cell, stopping=None), store, Serial())
    assert (whole.taken_up, whole.complete) == (stopped.wanted, True)
    assert Results(store).count(cell).n_resamples <= stopped.wanted
    assert run_cell(cell, store, Serial()).complete
    assert files(store, cell) == before


def test_a_lane_that_fails_beyond_the_stop_fails_nothing(compared, tmp_path):
    cell = make_stopping(1)
    plain = Store(str(tmp_path / "plain"))
    stop = run_cell(cell, plain, Serial()).wanted
    good = compared.compute

    def compute(block, store, work):
        if block.cell.fanout == "drawing" and block.last > fails:
            raise ZeroDivisionError
        return good(block, store, work)

    compared_fanout = SimpleNamespace(compute=compute)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sigstats.tasks.engine.blocks.fanout", lambda name: compared_fanout)
        for fails in (stop, stop - 10):
            for workers, target in [(1, 0), (1, 2), (4, 0), (4, 2)]:
                store = Store(str(tmp_path / f"{fails}-{workers}-{target}"))
                outcome = run_cell(cell, store, Shuffled(workers, 1), target_seconds=target)
                assert outcome.complete == (fails == stop)
                assert bool(outcome.failures) == (fails < stop)
                if outcome.complete:
                    assert files(store, cell) == files(plain, cell)


def test_an_observed_run_that_fails_fails_the_cell_before_it_begins(compared, store):
    compared.fail[1] = ZeroDivisionError("no observed run")
    outcome = run_cell(make_stopping(1), store, Serial())
    assert not outcome.complete
    assert outcome.failures[0].message == "no observed run"
    assert len(compared.calls) == 1
    assert Results(store).count(make_stopping(1)) is None


def test_an_unfinished_cell_has_no_result(compared, store):
    cell = make_stopping(4)
    run_cell(observed_of(cell), store, Serial())
    run_block(cell.block(0, 1), store)
    run_block(cell.block(2, 20), store)
    assert Results(store).table(cell) is None
    assert Results(store).count(cell) is None


def test_the_plan_keeps_the_rule(store):
    cells = (make_stopping(1), make_stopping(2, BESAG_CLIFFORD), make_cell(seed=3))
    plan = Plan(study="s", kind="k", cells=cells, analyses=(), alpha=0.05, adjust="holm")
    write_plan(store, plan)
    assert read_plan(store) == plan
    assert [type(cell.rule) for cell in read_plan(store).cells] == [GandyRule, BesagCliffordRule, FixedRule]
    assert cells[0].rule == GandyRule(maximum=395, alpha=0.3, reject_at=0.2, risk=0.2, half_spent=10)
    others = replace(plan, cells=tuple(replace(cell, stopping=None) for cell in cells))
    assert fingerprint(plan) != fingerprint(others)


def test_a_larger_number_of_workers_computes_little_in_vain(compared, tmp_path):
    """A block is no longer than all blocks before it together."""
    for seed in range(10):
        cell = make_stopping(seed)
        store = Store(str(tmp_path / str(seed)))
        compared.calls.clear()
        outcome = run_cell(cell, store, Serial(workers=4), target_seconds=2)
        computed = sum(last - first for first, last in compared.calls) - 1
        assert computed <= min(2 * outcome.wanted, 395)


@pytest.mark.long
@pytest.mark.parametrize("diagonal", [5, 9])
def test_a_monte_carlo_cell_stops_inside_a_lane(store, diagonal):
    """The real fan-out of 10,000 replicates a lane: what comes after the stop is kept on disk and never counted."""
    table = [[diagonal, 10 - diagonal], [10 - diagonal, diagonal]]
    plain = cell_of(
        "replicate",
        subject={"test": "efficiency"},
        work=TableTested(test="efficiency", data={"table": table}),
        **SETTINGS,
    )
    ruled = replace(plain, stopping={"rule": "gandy", "alpha": 0.05})
    run_cell(ruled, store, Serial())
    count = Results(store).count(ruled)
    assert store.find(ruled).done == ((0, 10_000),)
    run_cell(plain, store, Serial())
    flags = Results(store).table(plain).column("exceeds").to_numpy()
    assert count == GandyRule(maximum=30_000, alpha=0.05).test(flags)
    assert count.verdict == ("reject" if flags.mean() < 0.05 else "keep")
    assert Results(store).count(plain).exceedances == flags.sum()
    assert Results(store).table(ruled).num_rows == count.n_resamples < 1000
