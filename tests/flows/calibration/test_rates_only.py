"""Calibrations of which only rates are stored, beside those that store a row for each test set."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sigstats.flows.running.options import parse_part
from sigstats.tasks.calibration.population import Population
from sigstats.tasks.calibration.rejections import with_rows
from sigstats.tasks.calibration.work import AppliedTest, OnTestSets, Tallied
from sigstats.tasks.engine.blocks import run_block
from sigstats.tasks.engine.execute import run_cell
from sigstats.tasks.engine.pools import Serial
from sigstats.tasks.fan_out import cell_of, fanout
from sigstats.tasks.results import Results
from sigstats.tasks.storage.store import Store

from ..conftest import run_serial as run
from ..conftest import study_file

TRIALS = 20_750
STUDY = f"""\
kind = "calibration"
seed = 4
sizes = [30]
trials = {TRIALS}

[[populations]]
name = "pair"
source = "simulated"
prevalence = [0.1]
recall = [0.8]
precision = [0.8]
difference = [0.0, 0.1]

[[tests]]
test = "mcnemar"
"""
#: With few positive rows, and half of the rows in which one is right only.
SHARES = (0.02, 0.03, 0.01, 0.01, 0.4, 0.2, 0.21, 0.12)


def tally_of(test, *, trials=TRIALS, stopping=None, alpha=0.05, **options):
    population = Population(outcomes=SHARES, endless=True, swapped=False)
    applied = AppliedTest(test=test, measure="f1" if test == "bootstrap" else None, options=options)
    work = Tallied(population=population, n=25, test=applied, alpha=alpha)
    return cell_of("tally", subject={"test": test}, work=work, seed=9, replicates=trials, stopping=stopping)


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


MCNEMAR = {"method": "exact", "alternative": "two-sided"}


@pytest.mark.parametrize(
    ("trials", "of"),
    [
        (TRIALS, ("mcnemar", MCNEMAR)),
        (150, ("bootstrap", {"resamples": 99, "confidence": 0.95, "alternative": "two-sided"})),
    ],
)
def test_the_counts_are_those_of_the_rows_of_the_same_test_sets(store, trials, of):
    tally = tally_of(of[0], trials=trials, alpha=0.1, **of[1])
    run_cell(tally, store, Serial())
    counts = Results(store).table(tally)
    rows_of = with_rows(tally)
    work = OnTestSets(population=tally.work.population, n=25, test=tally.work.test)
    assert (rows_of.fanout, rows_of.work, rows_of.stream) == ("subsample", work, tally.stream)
    rows = fanout("subsample").compute(rows_of.block(0, rows_of.lanes), store, work)
    p, covers = rows.column("p_value").to_numpy(), np.array(rows.column("covers").to_pylist())
    expected = {
        "rejected": p <= 0.1 + 1e-12,
        "unanswered": np.isnan(p),
        "without_class": rows.column("no_positive").to_numpy(),
        "with_interval": covers != None,  # noqa: E711
        "covers": covers == True,  # noqa: E712
        "a_better": rows.column("advantage").to_numpy() < 0,
        "b_better": rows.column("advantage").to_numpy() > 0,
    }
    firsts = range(0, trials, 10_000)
    assert counts.column("replicate").to_pylist() == [*firsts]
    assert counts.column("span").to_pylist() == [min(10_000, trials - first) for first in firsts]
    for name, flags in expected.items():
        assert counts.column(name).to_pylist() == [int(flags[first : first + 10_000].sum()) for first in firsts]
    assert pc.sum(counts.column("without_class")).as_py() > 0


def test_parts_and_a_run_that_goes_on_give_the_same_bytes(tmp_path):
    tally, whole, parts, on = (tally_of("mcnemar", **MCNEMAR), *(Store(str(tmp_path / name)) for name in "abc"))
    run_cell(tally, whole, Serial())
    for number in (2, 1):
        run_cell(tally, parts, Serial(), lanes=parse_part(f"{number}/2").lanes([tally])[tally.name])
    run_cell(replace(tally, replicates=15_000), on, Serial())  # whose last lane is short
    run_block(tally.block(2, 3), on)
    outcome = run_cell(tally, on, Serial(), target_seconds=0)
    assert (outcome.taken_up, outcome.blocks) == (10_750, 1)
    run_cell(tally, parts, Serial())
    assert Results(parts).table(tally) == Results(whole).table(tally)
    name = f"replicates/{tally.name}/000000000-0000{TRIALS}.parquet"
    assert whole.files.read(name) == parts.files.read(name) == on.files.read(name)


def test_rows_that_miss_replicates_are_refused(store):
    tally = tally_of("mcnemar", **MCNEMAR)
    table = fanout("tally").compute(tally.block(0, 3), store, tally.work)
    short = pa.array(np.array([10_000, 9_999, 750]))
    for wrong in (table.slice(1), table.slice(0, 2), table.set_column(1, table.schema.field(1), short)):
        with pytest.raises(ValueError, match="expected 0 to 20749 in order"):
            store.write_block(tally, 0, TRIALS, wrong)


@pytest.mark.parametrize("workers", [0.0, 2.0])
def test_a_cell_ends_at_the_first_lane_with_enough_errors(store, workers):
    rule = {"rule": "precision", "exceedances": 400, "alpha": 0.05, "every": 10_000}
    tally = tally_of("mcnemar", trials=10**10, stopping=rule, **MCNEMAR)
    for lane in (3, 1):  # of another run, beyond the stop and before it
        run_block(tally.block(lane, lane + 1), store)
    assert run_cell(tally, store, Serial(), target_seconds=workers).complete
    rejected = Results(store).table(tally).column("rejected").to_pylist()
    assert sum(rejected) >= 400 > sum(rejected[:-1])
    assert len(rejected) > 1
    by_row = {"rule": "precision", "exceedances": 400, "alpha": 0.05}
    rows = replace(with_rows(tally), replicates=50_000, stopping=by_row)
    run_cell(rows, store, Serial())
    p = Results(store).table(rows).column("p_value").to_numpy()
    assert np.count_nonzero(p <= 0.05 + 1e-12) == 400
    assert p[-1] <= 0.05 + 1e-12
    assert len(rejected) == -(-len(p) // 10_000)


@pytest.mark.long
def test_a_study_of_rates_has_the_summary_of_one_with_rows(tmp_path):
    study = study_file(tmp_path, STUDY)
    assert run(study, tmp_path / "rows") == 0
    assert run(study, tmp_path / "rates", "--set", "rates_only=true") == 0
    rows, rates = (Results(Store(str(tmp_path / name))).summary.drop(["cell"]) for name in ("rows", "rates"))
    assert rows == rates
    assert run(study, tmp_path / "rates", "--set", "rates_only=true", "--set", "trials=30000") == 0
    assert set(Results(Store(str(tmp_path / "rates"))).summary.column("replicates").to_pylist()) == {30_000}
    report = (tmp_path / "rates" / "report.html").read_text()
    assert "The law of p" in (tmp_path / "rows" / "report.html").read_text()
    assert "The law of p" not in report


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (
            "trials = 200000000",
            "trials: 200000000 is not valid; expected at most 100,000,000 without rates_only",
        ),
        ("max_errors = 10", "trials: is missing; max_errors needs the greatest number of test sets"),
        ("rates_only = true\nperformance = true", "performance: true is not valid; rates_only stores no p-values"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(refusal, line, complaint):
    assert complaint in refusal(STUDY, f"trials = {TRIALS}", line)


def test_intervals_need_rows(refusal):
    said = refusal(STUDY.replace("mcnemar", "f1-interval"), "seed", "rates_only = true\nseed")
    assert "rates_only: true is not valid; difference of F1" in said
