"""What a plan says of the cost: what was timed, what was guessed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from sigstats._common.numerals import duration
from sigstats.flows.benchmark.plan import KIND
from sigstats.flows.running import timing
from sigstats.flows.running.costs import CostModel
from sigstats.flows.running.estimate import Estimate, count, counts_in_words, render
from sigstats.flows.running.kind import kind_of, parse_study
from sigstats.flows.running.timing import estimate
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.tasks.benchmark.fan_outs import ways_of_fitting
from sigstats.tasks.engine.blocks import Receipt
from sigstats.tasks.engine.execute import run_cell
from sigstats.tasks.engine.pools import Serial
from sigstats.tasks.storage.data import write_data
from sigstats.tasks.storage.files import RemoteFiles
from sigstats.tasks.storage.store import Store

STUDY = {
    "kind": "benchmark",
    "name": "s",
    "adjust": "none",
    "datasets": ["iris", "wine", "digits"],
    "classifiers": ["1-nn", "naive-bayes"],
    "permutation": {"resamples": 999},
}


def prepared(**more):
    study = parse_study({**STUDY, **more}, source="study")
    return study, KIND.prepare(study, Path())


def test_cells_beyond_the_budget_are_guessed_and_said_to_be(tmp_path):
    _, ready = prepared()
    counted = count(ready.plan, str(tmp_path / "output"))
    assert counts_in_words(ready.plan, counted) == "s: 18 computations (cells), 11,994 replicates: 11,994 to do, 0 done"
    said = []
    found = estimate(ready, counted, scratch=Store(str(tmp_path / "scratch")), say=said.append, budget=0)
    assert [one.timed for one in found] == [True] + [False] * 17
    observed = [one for one in found if one.cell.fanout == "crossval"]
    assert all(one.seconds and one.seconds > 0 for one in observed)
    # Of data sets that were not timed the larger costs more
    of = {
        one.cell.subject["dataset"]: one.per_replicate for one in observed if one.cell.subject["classifier"] == "1-nn"
    }
    assert of["iris"] < of["wine"] < of["digits"]
    text = render(ready.plan, found, workers=2)
    assert "5 of 18 cells (~) were not timed, but estimated from the others: a cell may take several" in text


class Machine:
    """What a machine would take for each block: a preparation the first time, then so many seconds a replicate."""

    def __init__(self, monkeypatch, each, once=0.0, imports=0.0, importer="crossval", compiling=0.0):
        self.imports = {(importer, apart): imports for apart in (False, True)}  # in a process's first block of these
        self.compiling = {importer: compiling}  # whichever process is the first
        self.each, self.once, self.blocks, self.now, self.prepared = each, once, [], 0.0, set()
        monkeypatch.setattr(timing, "run_guarded", self.run)
        monkeypatch.setattr(timing.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(timing.time, "process_time", lambda: self.now)

    def run(self, block, scratch, apart=False):
        self.blocks.append(block)
        seconds = self.each(block.cell) * (block.last - block.first) + self.compiling.pop(block.cell.fanout, 0.0)
        seconds += self.imports.pop((block.cell.fanout, apart), 0.0)
        if (block.cell.name, scratch) not in self.prepared:
            seconds += self.once
            self.prepared.add((block.cell.name, scratch))
        self.now += seconds
        size = 3000 + 20 * (block.last - block.first)
        return Receipt(first=block.first, last=block.last, seconds=seconds, overhead=0.0, bytes=size, host="h")


def timed_by(monkeypatch, tmp_path, each, once=0.0, budget=30.0, **more):
    _, ready = prepared(**more)
    machine = Machine(monkeypatch, each, once)
    scratch = Store(str(tmp_path / "scratch"))
    return machine, estimate(ready, count(ready.plan, str(tmp_path / "output")), scratch=scratch, budget=budget)


def test_each_kind_is_first_timed_on_its_smallest_data_set(tmp_path, monkeypatch):
    machine, found = timed_by(monkeypatch, tmp_path, lambda cell: 0.001)
    assert all(one.timed for one in found)
    first = list(dict.fromkeys(block.cell.name for block in machine.blocks))[:6]
    assert all("iris" in name for name in first)


def test_what_all_replicates_share_is_counted_once(tmp_path, monkeypatch):
    more = {"permutation": {"resamples": 9999}}
    _, found = timed_by(monkeypatch, tmp_path, lambda cell: 0.01, once=2.0, budget=1000.0, **more)
    retrains = [one for one in found if one.cell.fanout == "retrain"]
    assert all(one.per_replicate == pytest.approx(0.01) for one in retrains)
    # Of the first of a kind too, which a block that warms up has prepared before
    assert [round(one.once, 6) for one in retrains] == [2.0] * 12
    assert {round(one.seconds, 6) for one in retrains} == {101.99}
    assert {one.bytes for one in retrains} == {3000 + 20 * 9999}


@pytest.mark.long
@pytest.mark.parametrize("imports", [0.05, 0.8, 100.0])
@pytest.mark.parametrize("compiling", [0.0, 30.0])
@pytest.mark.parametrize("importer", ["crossval", "retrain"])
def test_a_run_imports_once_more_but_does_not_compile_again(tmp_path, monkeypatch, compiling, imports, importer):
    """The first block compiles what later processes read, whatever fan-out it is of."""
    _, ready = prepared()
    Machine(monkeypatch, lambda cell: 0.001, imports=imports, importer=importer, compiling=compiling)
    scratch = Store(str(tmp_path / "scratch"))
    found = estimate(ready, count(ready.plan, str(tmp_path / "output")), scratch=scratch)
    assert sum(one.seconds for one in found) == pytest.approx(0.001 * sum(one.left for one in found) + imports)
    first = next(one for one in found if one.cell.fanout == importer)
    assert first.starting == pytest.approx(imports)
    assert all(one.timed for one in found)  # imports and compilation take nothing from the seconds for timing


def test_other_programs_take_nothing_from_the_seconds_for_timing(tmp_path, monkeypatch):
    """Of the seconds by the clock, 100 of them for imports, other programs use two thirds."""
    _, ready = prepared(datasets=["iris", "wine"])
    machine = Machine(monkeypatch, lambda cell: 0.3, imports=100.0, importer="retrain")
    monkeypatch.setattr(timing.time, "process_time", lambda: machine.now / 3)
    found = estimate(
        ready, count(ready.plan, str(tmp_path / "output")), scratch=Store(str(tmp_path / "scratch")), budget=12.0
    )
    assert all(one.timed for one in found)
    assert machine.now > 100 + 2 * 12


def test_cells_that_were_not_timed_prepare_what_the_nearest_of_their_kind_does(tmp_path, monkeypatch):
    _, found = timed_by(monkeypatch, tmp_path, lambda cell: 0.01, once=2.0, budget=20.0)
    guessed = {one.cell.subject["dataset"]: one.once for one in found if one.cell.fanout == "retrain" and not one.timed}
    assert 2.0 <= guessed["wine"] < guessed["digits"]
    assert guessed["wine"] < 5.0


def test_no_lane_of_long_replicates_is_waited_for(tmp_path, monkeypatch):
    machine, found = timed_by(monkeypatch, tmp_path, lambda cell: 20.0, budget=1000.0)
    assert all(block.last - block.first == 1 for block in machine.blocks)
    assert all(one.per_replicate == pytest.approx(20.0) for one in found if one.timed)
    assert machine.now < 1000


def test_a_block_of_several_lanes_is_timed_if_replicates_cost_less_together(tmp_path, monkeypatch):
    """Equal test sets of a block are tested once: here only three replicates of a block differ."""
    more = {"permutation": {"resamples": 9999}}
    machine, found = timed_by(monkeypatch, tmp_path, lambda cell: 0.01 * min(1, 3 / cell.replicates), **more)
    timed = [one for one in found if one.timed and one.cell.fanout == "retrain"]
    assert max(block.last for block in machine.blocks) == 999
    assert timed
    assert max(one.seconds for one in timed) < 0.3  # a line through a lane of ten predicts 22


def test_the_fixed_cost_of_a_block_is_no_cost_of_a_replicate(tmp_path, monkeypatch):
    """However few replicates there are: a run computes these in two blocks, of a lane and of the rest."""
    _, found = timed_by(
        monkeypatch, tmp_path, lambda cell: 0.001 + 0.009 / cell.replicates, permutation={"resamples": 19}
    )
    assert all(one.timed for one in found)
    seconds = [one.seconds for one in found if one.cell.fanout == "retrain"]
    assert seconds == [pytest.approx(0.009 + 19 * 0.001)] * 12  # one replicate alone predicts 0.19


def test_a_kind_of_few_long_replicates_is_timed_after_the_others(tmp_path, monkeypatch):
    def each(cell):
        return 5.0 if cell.fanout == "retrain" else 0.001

    more = {"permutation": {"resamples": 40}}
    machine, found = timed_by(monkeypatch, tmp_path, each, budget=10.0, **more)
    names = list(dict.fromkeys((block.cell.fanout, block.cell.subject["dataset"]) for block in machine.blocks))
    first = names.index(("retrain", "iris"))
    assert {("crossval", "wine"), ("crossval", "digits")} <= set(names[:first])
    # One kind after the other until twice the budget is spent
    assert 20 < machine.now < 30
    assert sum(one.timed for one in found if one.cell.fanout == "retrain") == 2


SIZES = {"iris": (150, 4, 3), "wine": (178, 13, 3), "digits": (1797, 64, 10)}


def test_the_whole_is_near_though_most_was_not_timed(tmp_path, monkeypatch):
    # 1-nn grows as n^2 d and naive Bayes as n d: the factors of the data sets differ
    def each(cell):
        n, d, _ = SIZES[cell.subject["dataset"]]
        cost = 2e-7 * n * n * d if cell.subject["classifier"] == "1-nn" else 1e-6 * n * d
        return cost * (0.3 if cell.fanout == "retrain" else 1.0)

    _, found = timed_by(monkeypatch, tmp_path, each, budget=600.0)
    truth = sum(each(one.cell) * one.left for one in found)
    assert sum(one.seconds for one in found) == pytest.approx(truth, rel=0.3)
    assert all(one.seconds is not None for one in found)


def test_the_cost_is_that_of_the_nearest_size_of_its_kind():
    rows = {f"d{n}": (n, 10, 2) for n in (100, 200, 400, 800, 1600, 3200, 6400, 12800)}
    first = prepared()[1].plan.cells[0]
    cells = [
        replace(first, subject={"dataset": name, "classifier": classifier})
        for classifier in ("slow", "fast", "unseen")
        for name in rows
    ]
    truth = [
        1e-6 * n**1.7 if cell.subject["classifier"] == "slow" else 1e-3 * n**0.5
        for cell in cells
        for n in [rows[cell.subject["dataset"]][0]]
    ]
    model = CostModel(cells, rows)
    for at, cell in enumerate(cells[:16]):
        if rows[cell.subject["dataset"]][0] in (100, 400, 1600, 6400):
            model.learn(at, truth[at])
    ratios = model.per_replicate()[:16] / truth[:16]
    assert ratios.min() > 0.5
    assert ratios.max() < 2
    assert np.isfinite(model.per_replicate()).all()


def test_timing_takes_a_quarter_of_the_work(tmp_path, monkeypatch):
    more = {"permutation": {"resamples": 2}, "alpha": 0.45, "datasets": ["iris", "wine"]}
    machine, found = timed_by(monkeypatch, tmp_path, lambda cell: 4.0, budget=1000.0, **more)
    work = sum(one.seconds for one in found)
    assert 0.25 * work < machine.now < 0.25 * work + 4.0 * 6  # the cell that passes the limit is timed to its end
    assert not all(one.timed for one in found)
    assert all(one.per_replicate == pytest.approx(4.0) for one in found if one.timed)


def test_cells_of_a_short_study_are_all_timed(tmp_path, monkeypatch):
    """Timing takes more than a tenth of the work there, but few seconds."""
    machine, found = timed_by(monkeypatch, tmp_path, lambda cell: 0.02, permutation={"resamples": 99})
    assert machine.now < 10
    assert all(one.timed for one in found)
    assert [one.seconds for one in found] == [pytest.approx(0.02 * one.left) for one in found]


def test_a_cell_may_take_the_share_of_the_time_that_it_has_in_what_is_not_known(tmp_path, monkeypatch):
    def each(cell):
        large = cell.subject["dataset"] == "digits" and cell.fanout == "retrain"
        return (0.2 if cell.subject["classifier"] == "1-nn" else 0.001) * (80 if large else 1)

    _, found = timed_by(monkeypatch, tmp_path, each, budget=100.0)
    slow = [one for one in found if one.cell.subject.get("classifier") == "1-nn" and one.cell.fanout == "retrain"]
    assert any(one.timed for one in slow if one.cell.subject["dataset"] == "digits")


@pytest.mark.long
def test_a_rate_is_expected_to_stop_where_its_rejections_say(tmp_path):
    """All cells have a rule that counts rejections, those that were not timed too; whole lanes are computed."""
    rates = {"prevalence": [0.4], "recall": [0.7], "precision": [0.7], "difference": [0.0, 0.2], "dependence": [0.3]}
    study = parse_study(
        {
            "kind": "calibration",
            "name": "rates",
            "sizes": [50, 100],
            "precision": 0.02,
            "populations": [{"name": "simulated", "source": "simulated", **rates}],
            "tests": [{"test": "mcnemar"}],
        },
        source="study",
    )
    ready = kind_of(study).prepare(study, Path())
    counted = count(ready.plan, str(tmp_path / "output"))
    found = estimate(ready, counted, scratch=Store(str(tmp_path / "scratch")), budget=0)
    assert [one.timed for one in found].count(True) == 1
    for one in found:
        assert one.left == 625
        replicates = (one.expected - one.starting - one.once) / one.per_replicate
        assert replicates == pytest.approx(-(-one.cell.rule.stops_at(one.share) // 100) * 100)
        assert replicates < 625


def test_ways_of_fitting_are_listed(tmp_path):
    _, ready = prepared()
    found = [replace(one, per_replicate=1.0, timed=True) for one in count(ready.plan, str(tmp_path / "output"))]
    scratch = Store(str(tmp_path / "scratch"))
    for dataset in ready.datasets:
        write_data(scratch, dataset)
    (line,) = ways_of_fitting([one.cell for one in found], scratch)
    assert line.startswith("shared: ")


def test_what_a_rule_spares_is_expected_and_the_most_is_said(tmp_path):
    _, ready = prepared(permutation={"resamples": 999, "stopping": "gandy"})
    counted = count(ready.plan, str(tmp_path / "output"))
    found = [replace(one, per_replicate=1.0, timed=True, share=0.5 if one.cell.stopping else None) for one in counted]
    rule = GandyRule(maximum=999, alpha=0.05, reject_at=0.05, risk=1e-3)
    stops = -(-rule.stops_at(0.5) // 10) * 10  # to the end of the lane
    assert [one.expected for one in found] == [1.0] * 6 + [stops] * 12
    assert f"about {duration(6 + 12 * stops)} of work" in (text := render(ready.plan, found, workers=2))
    assert f"(at most {duration(6 + 12 * 999)} if no rule stops)" in text


def test_a_finished_study_has_nothing_left(tmp_path):
    _, ready = prepared()
    done = [replace(one, done=one.left, left=0) for one in count(ready.plan, str(tmp_path / "output"))]
    assert "0 to do, 11,994 done" in counts_in_words(ready.plan, done)


def test_cells_are_not_asked_for_one_by_one(monkeypatch):
    """On a bucket a cell would be two requests, and a study has thousands of them."""
    _, ready = prepared()
    store, listed, find = Store("memory://counted-by-a-plan"), [], MemoryFileSystem.find
    write_data(store, ready.datasets[0])
    finished = next(cell for cell in ready.plan.cells if cell.fanout == "crossval")
    assert run_cell(finished, store, Serial()).complete
    monkeypatch.setattr(MemoryFileSystem, "find", lambda *of, **how: listed.append(of) or find(*of, **how))
    monkeypatch.setattr(RemoteFiles, "_entries", None)
    counted = {one.cell: (one.done, one.left) for one in count(ready.plan, store.root)}
    assert len(listed) == 1
    assert counted.pop(finished) == (1, 0)
    assert counted == {cell: (0, cell.replicates) for cell in ready.plan.cells if cell != finished}


def test_many_cells_are_not_all_listed():
    _, ready = prepared()
    (first, *_) = ready.plan.cells
    many = [
        Estimate(replace(first, subject={"dataset": f"d{n}", "classifier": "c"}), 0, 1, per_replicate=n, timed=True)
        for n in range(150)
    ]
    lines = render(ready.plan, many, workers=1).splitlines()
    assert len(lines) < 30
    assert "d149 / c" in lines[1]
    assert any("and 130 cells, each of which costs less" in line for line in lines)
