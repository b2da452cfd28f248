"""Calibration studies: Sturm's experiment, populations of rows, what all tests share, bad input, the report."""

import re
from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigstats.flows.calibration.populations import rows as sources
from sigstats.flows.calibration.report import null_p_values
from sigstats.flows.commands import main
from sigstats.flows.report.evidence import Evidence
from sigstats.flows.running import timing
from sigstats.intervals import clopper_pearson
from sigstats.mcnemar.mcnemar_test import mcnemar_test
from sigstats.sign_flips.power import paired_power as power
from sigstats.tasks.calibration.computed import total_outcomes
from sigstats.tasks.calibration.population import Population
from sigstats.tasks.calibration.populations import prediction_files
from sigstats.tasks.results import Results
from sigstats.tasks.storage.store import Store

from ...tasks.calibration.test_prediction_files import alike
from ..conftest import results, study_file
from ..conftest import run_serial as run

STURM = Path(__file__).parents[3] / "configs" / "studies" / "sturm.toml"

#: Rows by their right answers: both, only B, only A, neither; the labels x and y stand for right and wrong.
ROWS = (300, 160, 120, 20)

STUDY = """\
kind = "calibration"
seed = 4
sizes = [40, 120, 600]
trials = 150

[[populations]]
name = "rows"
source = "parquet"
path = "data"
positive = "x"

[[tests]]
test = "mcnemar"

[[tests]]
test = "proportion"

[[tests]]
test = "bootstrap"
measure = "f1"
resamples = 199

[[tests]]
test = "dcf"
"""


def rows(output):
    return pq.read_table(Path(output) / "summary.parquet").to_pylist()


def rates_of(output):
    return [row for row in rows(output) if row["test"] == "calibration"]


@pytest.fixture(scope="module")
def sturm(tmp_path_factory):
    output = tmp_path_factory.mktemp("sturm") / "out"
    assert run(STURM, output) == 0
    return output


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    (folder / "data").mkdir()
    rng = np.random.default_rng(5)
    kinds = rng.permutation(np.repeat(np.arange(4), ROWS))
    y = np.array(["x", "y"])[rng.integers(0, 2, kinds.size)]
    other = np.where(y == "x", "y", "x")
    a, b = np.where(np.isin(kinds, [0, 2]), y, other), np.where(kinds < 2, y, other)
    for part, chosen in enumerate(np.array_split(np.arange(kinds.size), 3)):
        columns = [pa.array(side[chosen]) for side in (y, a, b)]
        pq.write_table(pa.table(columns, names=["label", "pred_a", "pred_b"]), folder / "data" / f"{part}.parquet")
    return study_file(folder, STUDY)


@pytest.fixture(scope="module")
def done(study, tmp_path_factory):
    output = tmp_path_factory.mktemp("done") / "out"
    assert run(study, output) == 0
    return output


def enumerated_power(n, right, classes=10, alpha=0.05):
    """Sturm's test on every number of successes and failures, with its trinomial probability."""
    b = right + (1 - right) / classes
    only_a, only_b = (1 - b) / classes, b * (1 - 1 / classes)
    found = 0.0
    for f in range(n + 1):
        for s in range(n - f + 1):
            if sum(comb(s + f, k) for k in range(s, s + f + 1)) <= alpha * 2 ** (s + f):
                rest = n - f - s
                found += comb(n, f) * comb(n - f, s) * only_a**f * only_b**s * (1 - only_a - only_b) ** rest
    return found


@pytest.mark.long
def test_sturms_claims_hold(sturm):
    rates = {(row["slice"], row["n"]): row for row in rates_of(sturm)}
    assert {n for _, n in rates} >= {25, 300, 750, 1000}
    for (r, n), row in rates.items():
        assert row["replicates"] == 1000
        exact = row["statistic"]
        if r == "r = 0%":
            assert exact < 0.05
            assert row["estimate_low"] < 0.05
        if r == "r = 10%" and n > 300:
            assert min(exact, row["estimate"]) > 0.5
        if r == "r = 5%" and n > 300:  # not yet at 300, where it is 0.467
            assert min(exact, row["estimate"]) > 0.5
        if r == "r = 3%" and n <= 750:
            assert max(exact, row["estimate"]) < 0.5
    assert rates["r = 3%", 900]["statistic"] > 0.5
    for r in ("r = 3%", "r = 5%", "r = 10%"):
        exact = [
            row["statistic"] for (label, _), row in sorted(rates.items(), key=lambda item: item[0][1]) if label == r
        ]
        assert exact == sorted(exact)


@pytest.mark.long
def test_what_sturm_reads_off_his_figure_stands_beside_the_exact_number_of_rows(sturm):
    sizes = {row["slice"]: row for row in rows(sturm) if row["test"] == "sample-size"}
    assert [row["estimate"] for row in sizes.values()] == [818, 330, 102]
    # 818 rows are the first at which the power is one half, by the power itself and not by what searches it.
    assert power(817, only_a=0.1 * 0.873, only_b=0.127 * 0.9, alternative="less") < 0.5
    assert power(818, only_a=0.1 * 0.873, only_b=0.127 * 0.9, alternative="less") >= 0.5
    assert power(750, only_a=0.1 * 0.873, only_b=0.127 * 0.9, alternative="less") == pytest.approx(0.469, abs=5e-4)
    page = (sturm / "report.html").read_text()
    assert "0 of 2 printed numbers agree in value, 2 in order of magnitude." in page
    assert (
        "r = 3%, sample-size, McNemar (exact, less): rows for half of the time 750 is printed, 818 recomputed" in page
    )
    assert "Reliability of the confidence" not in page  # of a one-sided exact test, 1 - p is not p of the other side


@pytest.mark.parametrize(("key", "value"), [("slice", "r = 4%"), ("test", "proportion"), ("population", "11 classes")])
def test_a_printed_number_of_what_is_not_tested_is_refused(tmp_path, capsys, key, value):
    text = STURM.read_text()
    there = re.search(f'{key} = "([^"]*)"', text.partition("[[published]]")[2])[1]
    before, mark, after = text.partition("[[published]]")
    study = study_file(tmp_path, before + mark + after.replace(f'"{there}"', f'"{value}"', 1))
    assert run(study, tmp_path / "out") == 2
    assert re.search(
        rf"published\[0\]: .*{re.escape(value)}.* is not valid; expected one of .*r = 3%", capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.parametrize(("n", "right"), [(25, 0.0), (50, 0.03), (75, 0.1)])
def test_exact_rates_are_those_of_all_outcomes(sturm, n, right):
    (row,) = [row for row in rates_of(sturm) if row["n"] == n and row["slice"] == f"r = {100 * right:g}%"]
    assert row["statistic"] == pytest.approx(enumerated_power(n, right), rel=1e-9)


@pytest.mark.long
def test_simulated_rates_agree_with_the_exact_ones(sturm):
    found = rates_of(sturm)
    # The chance that any of 68 rates is rejected is below 0.05 by Holm; the seed is fixed.
    assert {row["decision"] for row in found} == {"keep", "none"}  # of the level, and of the power
    for row in found:
        count = round(row["estimate"] * 1000)
        assert (row["estimate_low"], row["estimate_high"]) == tuple(clopper_pearson(count, 1000))
        inside = row["estimate_low"] <= row["statistic"] <= row["estimate_high"]
        assert inside == (row["p_value"] > 0.05)


@pytest.mark.long
def test_all_tests_see_the_same_test_sets(done):
    stored = Results(Store(str(done)))
    assert len({cell.stream["n"] for cell in stored.plan.cells}) == 3
    for n in (40, 120, 600):
        cells = stored.cells("subsample", n=str(n), slice="as they are")
        assert len(cells) == 4
        assert len({str(cell.stream) for cell in cells}) == 1
        missed = [stored.table(cell).column("no_positive").to_pylist() for cell in cells]
        assert missed.count(missed[0]) == 4
        mcnemar, proportion = (stored.table(cell).column("p_value").to_numpy() for cell in cells[:2])
        if n == 600:
            assert set(mcnemar) == {mcnemar_test(120, 160).pvalue}
        else:  # both p-values fall with |only_a - only_b| / sqrt(only_a + only_b), one of them in steps
            assert np.corrcoef(mcnemar, proportion)[0, 1] > 0.95


@pytest.mark.long
def test_a_population_of_rows_has_errors_power_and_coverage(done):
    found = {(row["slice"], row["method"], row["measure"], row["n"]): row for row in rows(done)}
    assert len(found) == 2 * 3 * (4 + 1)
    for (part, method, measure, n), row in found.items():
        assert row["dataset"] == "rows"
        if measure == "coverage":
            assert row["null_mean"] == pytest.approx(0.95)
        else:
            assert measure == ("type I error" if part == "outputs swapped" else "power")
        if method.startswith("McNemar"):
            assert row["decision"] == ("none" if measure == "power" else "keep")  # of 6 exact rates; the seed is fixed
            assert row["p_value"] > 0.001
        if n == 600 and part == "as they are" and "bootstrap" not in method:  # every test set is the population
            assert row["estimate"] in (0.0, 1.0)
    whole = found["as they are", "McNemar (exact)", "power", 600]
    assert whole["statistic"] == pytest.approx(float(mcnemar_test(120, 160).pvalue <= 0.05), abs=1e-12)
    assert found["outputs swapped", "McNemar (exact)", "type I error", 120]["statistic"] < 0.05


@pytest.mark.long
def test_the_curves_are_the_rates(sturm):
    evidence = Evidence(Results(Store(str(sturm))))
    (figure,) = [figure for figure in evidence.figures if "against the size" in figure.title]
    body = str(figure.body)
    assert re.findall(r'class="value">([^<]*)<', body) == [f"r = {r}%" for r in (0, 3, 5, 10)]
    heights = [float(y) for y in re.findall(r'class="dot" cx="[^"]*" cy="([^"]*)"', body)]
    found = rates_of(sturm)
    assert len(heights) == len(found) == 68
    top, base = 12.0, 284.0
    for y, row in zip(heights, found, strict=True):
        assert y == pytest.approx(base - row["estimate"] * (base - top), abs=0.06)
    assert body.count('class="mean"') == 4
    report = (sturm / "report.html").read_text()
    assert "All 68 rates with an expected value agree with it" in report
    # Sturm: "When r = 3, we reject the null hypothesis a majority of the time only when N > 750". Exactly, from 818 on.
    for r, half, wanted in ((0.03, 818, 1777), (0.05, 330, 697), (0.1, 102, 207)):
        of_two = 0.1 + 0.9 * r
        options = {"only_a": 0.1 * (1 - of_two), "only_b": 0.9 * of_two, "alternative": "less"}
        assert power(half, **options) >= 0.5 > power(half - 1, **options)
        assert power(wanted, **options) >= 0.8 > power(wanted - 1, **options)
        assert f"{half:,} rows are needed for half of the time, {wanted:,} for four times in five." in report
    headline = re.search('class="headline">([^<]*)<', report)[1]
    assert headline.startswith(
        "No fault was shown: at worst McNemar (exact, less) rejects without a difference on 4.3%"
    )
    said = (
        "10 classes, r = 3%: 1,000 rows find a difference in accuracy of 2.7 points 57.6% of the time by McNemar (exact"
    )
    assert f"<b>Power, {said.replace(': ', ':</b> ', 1)}" in report


def test_the_achieved_error_is_that_of_every_level(done):
    p_values = np.array([0.005, 0.05, 0.05, 0.0500001, 0.2, 0.3, 1.0, 1.0])
    rates = null_p_values.achieved(p_values)
    assert rates[[0, 9, 10, 39], 0].tolist() == [1 / 8, 3 / 8, 4 / 8, 5 / 8]  # at 0.005, 0.05, 0.055 and 0.2
    assert rates[9, 1:].tolist() == list(clopper_pearson(3, 8))
    stored = Results(Store(str(done)))
    drawn = [figure for figure in Evidence(stored).figures if figure.title.startswith("Stated and achieved")]
    assert len(drawn) == 4
    cells = stored.cells("subsample", slice="outputs swapped", test="McNemar (exact)")
    for n, panel in zip((40, 120, 600), re.findall(r"<figure>.*?</figure>", str(drawn[0].body)), strict=True):
        (cell,) = [cell for cell in cells if cell.work.n == n]
        share = np.mean(stored.table(cell).column("p_value").to_numpy() <= 0.05)
        assert f"<strong>{n} rows</strong>" in panel
        assert f"{100 * share:.1f}% at 5.0%" in panel


DCF = 'test = "dcf"'


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("120, 600]", "601]", "sizes: 601 is not valid; expected at most 600, the rows of"),
        ("120, 600]", "40]", "sizes: 40 is not valid; expected each size once"),
        (DCF, f"{DCF}\n[[tests]]\n{DCF}", "tests: 'DCF' is not valid; expected each test once"),
        (DCF, 'test = "corrected-t"', "tests: corrected t is not valid; expected a test that fits"),
        (DCF, 'test = "dfc"', "dfc"),
        ('positive = "x"', 'positive = "z"', "rows: positive: no row has the label 'z'; name a label that"),
        ('positive = "x"', "", "tests: bootstrap (f1, percentile, resamples = 199): rows is not valid"),
        ('path = "data"', 'path = "dat"', "there is no such file or folder"),
        ('measure = "f1"', 'measure = "f3"', "tests: bootstrap"),
        ("resamples = 199", "resamples = 9", "tests: bootstrap (f1, percentile, resamples = 9): resamples: 9"),
        ("seed = 4", "alpha = 0.5", "alpha: 0.5 is not valid"),
        ('"parquet"', '"sturm"', "populations.0.path: unknown key; expected one of 'classes', 'name', 'right'"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(study, refusal, old, new, complaint):
    assert complaint in refusal(STUDY, old, new, study.parent)


LISTS = """\
kind = "calibration"
seed = 6
sizes = [40, 80]
trials = 60

[[populations]]
name = "news"
source = "parquet"
path = "lists.parquet"

[[tests]]
test = "mcnemar"

[[tests]]
test = "bootstrap"
measure = "macro-f1"
resamples = 199
"""


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    rng = np.random.default_rng(3)
    truth = rng.random((700, 6)) < 0.4
    sides = [truth, truth ^ (rng.random(truth.shape) < 0.04), truth ^ (rng.random(truth.shape) < 0.1)]
    names = np.array(["corn", "crude", "grain", "ship", "sugar", "wheat"])
    columns = [pa.array([names[row].tolist() for row in side], pa.list_(pa.string())) for side in sides]
    pq.write_table(pa.table(columns, names=["label", "pred_a", "pred_b"]), folder / "lists.parquet")
    return folder


@pytest.mark.long
def test_rows_of_many_labels_are_drawn_by_their_events(lists, tmp_path):
    assert run(study_file(lists, LISTS), tmp_path / "out") == 0
    found = rows(tmp_path / "out")
    assert {row["measure"] for row in found} == {"power", "type I error", "coverage"}
    for row in found:
        if row["statistic"] is not None:  # McNemar's test of answers that are wholly right
            low, high = clopper_pearson(round(row["estimate"] * 60), 60, confidence_level=0.999)
            assert low <= row["statistic"] <= high
    power = {(row["n"], row["method"][:9]): row["estimate"] for row in found if row["measure"] == "power"}
    assert power[80, "bootstrap"] > power[40, "bootstrap"]
    again = tmp_path / "again"
    assert run(study_file(lists, LISTS), again) == 0
    assert results(again) == results(tmp_path / "out")


def test_a_cost_of_two_classes_is_refused_for_many_labels(lists, refused_study):
    text = LISTS.replace('test = "mcnemar"', 'test = "dcf"')
    assert "expected a population with rows of both classes (positive)" in refused_study(study_file(lists, text))


SCORES = """\
kind = "calibration"
seed = 9
sizes = [60, 150]
trials = 200

[[populations]]
name = "patients"
source = "scores"
path = "scores"
positive = 1

[[tests]]
test = "scores"
measure = "auc"

[[tests]]
test = "scores"
measure = "neg-log-loss"
"""


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    rng = np.random.default_rng(2)
    label = (rng.random(3000) < 0.4).astype(np.int8)
    centre = 1.2 * (label - 0.5)
    a, b = (1 / (1 + np.exp(-(centre + rng.normal(0, spread, 3000)))) for spread in (1.0, 1.3))
    (folder / "scores").mkdir()
    for part, rows_ in enumerate(np.array_split(np.arange(3000), 3)):
        columns = {"label": label[rows_], "score_a": a[rows_], "score_b": b[rows_]}
        pq.write_table(pa.table(columns), folder / "scores" / f"{part}.parquet", row_group_size=300)
    return folder


@pytest.mark.long
def test_tests_of_scores_are_calibrated_on_rows(scored, tmp_path):
    assert run(study_file(scored, SCORES), tmp_path / "out") == 0
    found = rows(tmp_path / "out")
    assert len(found) == 16
    for row in found:
        if row["measure"] == "type I error":
            assert row["estimate_low"] < 0.05
        if row["measure"] == "coverage":
            assert row["estimate_high"] > 0.95
    power = {
        (row["n"], row["method"]): row["estimate"]
        for row in found
        if row["measure"] == "power" and row["slice"] == "as they are"
    }
    assert power[150, "test of scores (auc)"] > power[60, "test of scores (auc)"]
    again = tmp_path / "again"
    assert run(study_file(scored, SCORES), again, "--set", "sizes=[150, 60]") == 0
    by_cell = {row["cell"]: row["p_value"] for row in found}
    assert {row["cell"]: row["p_value"] for row in rows(again)} == by_cell


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("[60, 150]", "[60, 3001]", "sizes: 3001 is not valid; expected at most 3000"),
        ('measure = "auc"', 'measure = "auk"', "expected one of auc, neg-log-loss, neg-brier"),
        ("positive = 1", "positive = 7", "positive: 7 is not valid; expected a label that some but not all rows have"),
        ('path = "scores"', 'path = "scores"\nb = "score"', "column 'score' was not found; expected one of"),
        (
            SCORES.partition("tests")[2],
            ']]\ntest = "mcnemar"',
            "no test applies to patients; expected a test of",
        ),
    ],
)
def test_bad_settings_of_scores_are_named(scored, refusal, old, new, wanted):
    assert wanted in refusal(SCORES, old, new, scored)


@pytest.fixture
def by_workers(monkeypatch):
    """Any data set is one that is too large to be counted before the study starts."""
    monkeypatch.setattr(sources, "MANY", 0)


@pytest.mark.long
def test_large_populations_are_counted_file_by_file(by_workers, study, done, tmp_path):
    output = tmp_path / "out"
    assert run(study, output) == 0
    stored = Results(Store(str(output)))
    (counting,) = stored.cells("count")
    assert counting.replicates == 3
    table = stored.table(counting)
    sizes = [pq.read_metadata(path).num_rows for path in sorted((study.parent / "data").iterdir())]
    assert [sum(row[f"e{number}"] for number in range(1, 9)) for row in table.to_pylist()] == sizes
    cells = Results(Store(str(done))).cells("subsample")
    at_once = next(cell for cell in cells if isinstance(cell.work.population, Population))
    assert total_outcomes(table) == at_once.work.population.outcomes
    exact = {(row["slice"], row["n"]): row["statistic"] for row in rows(done) if row["statistic"] is not None}
    for row in rows(output):
        if row["statistic"] is not None:
            assert row["statistic"] == exact[row["slice"], row["n"]]


@pytest.mark.long
def test_files_that_were_written_anew_are_counted_again(by_workers, tmp_path):
    """With equal footers, which do not tell the old predictions from the new ones; and copies give the same results."""
    path, output = tmp_path / "data.parquet", tmp_path / "out"
    text = STUDY.replace('path = "data"', 'path = "data.parquet"').replace('positive = "x"', "positive = 1")
    study = study_file(tmp_path, text)

    def found(output):
        assert run(study, output) == 0
        shown = ("slice", "method", "measure", "n", "estimate", "statistic", "p_value", "decision")
        return [{key: row[key] for key in shown} for row in rows(output)]

    alike(path, "a is better")
    before = found(output)
    assert run(study, output) == 0
    assert sum(1 for _ in (output / "replicates").glob("count*")) == 1
    path.write_bytes(path.read_bytes())  # a copy with a new time
    assert found(output) == before
    assert sum(1 for _ in (output / "replicates").glob("count*")) == 2
    alike(path, "b is better")
    after = found(output)
    assert after == found(tmp_path / "fresh")
    assert after != before


@pytest.mark.long
def test_of_a_population_that_has_grown_only_the_new_files_are_counted(by_workers, tmp_path, monkeypatch, capsys):
    rng, counted = np.random.default_rng(7), []
    count = prediction_files.LabelFiles.count
    monkeypatch.setattr(
        prediction_files.LabelFiles,
        "count",
        lambda self, at, *more: counted.append(Path(self.files[at]).name) or count(self, at, *more),
    )

    def add(name, n=300):
        truth = rng.integers(0, 2, n)
        sides = {side: np.where(rng.random(n) < 0.8, truth, 1 - truth) for side in ("pred_a", "pred_b")}
        pq.write_table(pa.table({"label": truth, **sides}), tmp_path / "data" / name)

    def ran(output):
        counted.clear()
        code = run(path_of_study, output)
        return code, sorted(counted)

    (tmp_path / "data").mkdir()
    path_of_study = study_file(tmp_path, STUDY.replace('positive = "x"', "positive = 1"))
    for name in ("2.parquet", "3.parquet"):
        add(name)
    assert ran(tmp_path / "out") == (0, ["2.parquet", "3.parquet"])
    add("1.parquet")
    assert ran(tmp_path / "out") == (0, ["1.parquet"])
    assert ran(tmp_path / "fresh") == (0, ["1.parquet", "2.parquet", "3.parquet"])
    cells, fresh = (
        {row.pop("cell"): row for row in sorted(rows(tmp_path / name), key=lambda row: row["cell"])}
        for name in ("out", "fresh")
    )
    assert cells == fresh
    add("2.parquet", 200)
    assert ran(tmp_path / "out") == (2, [])
    assert "contains another study" in capsys.readouterr().err


@pytest.mark.long
def test_a_plan_counts_each_file_that_it_times(by_workers, study, monkeypatch, tmp_path):
    """Counts that an earlier block kept would make a file of 10^7 rows look free."""
    read, blocks = [], []
    count, run_block = prediction_files.LabelFiles.count, timing.run_guarded
    monkeypatch.setattr(
        prediction_files.LabelFiles, "count", lambda self, at, *more: read.append(at) or count(self, at, *more)
    )

    def run(block, store, apart):
        blocks.extend([] if apart else [block])  # another process reads the file of a block that runs apart
        return run_block(block, store, apart)

    monkeypatch.setattr(timing, "run_guarded", run)
    assert main(["plan", str(study), "--output", str(tmp_path / "out")]) == 0
    timed = [at for block in blocks if block.cell.fanout == "count" for at in range(block.first, block.last)]
    assert len(timed) > 1
    assert read == timed


def test_a_file_that_cannot_be_counted_fails_its_population_and_is_named(by_workers, study, tmp_path, capsys):
    (tmp_path / "data").mkdir()
    for path in (study.parent / "data").iterdir():
        table = pq.read_table(path)
        if path.name == "1.parquet":
            column = table.column("pred_a").to_pylist()
            table = table.set_column(1, "pred_a", pa.array([None, *column[1:]]))
        pq.write_table(table, tmp_path / "data" / path.name)
    assert run(study_file(tmp_path, STUDY), tmp_path / "out") == 3
    said = capsys.readouterr().err
    assert "1.parquet, row group 0: column 'pred_a': a label is missing (null)" in said
    assert {row["decision"] for row in rows(tmp_path / "out")} == {"missing"}


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('path = "data"', 'path = "data"\na = "prd_a"', "column 'prd_a' was not found; did you mean 'pred_a'?"),
        ('positive = "x"\n', "", "expected a population with rows of both classes (positive)"),
    ],
)
def test_what_footers_tell_is_refused_before_a_large_study_starts(
    by_workers, study, tmp_path, refused_study, old, new, wanted
):
    assert old in STUDY
    (tmp_path / "data").symlink_to(study.parent / "data")
    assert wanted in refused_study(study_file(tmp_path, STUDY.replace(old, new, 1)))


def test_a_positive_class_that_no_file_has_fails_the_cells(by_workers, study, tmp_path, capsys):
    (tmp_path / "data").symlink_to(study.parent / "data")
    text = STUDY.replace('positive = "x"', 'positive = "z"')
    assert run(study_file(tmp_path, text), tmp_path / "out") == 3
    assert "positive: no row has the label 'z'; name a label that occurs" in capsys.readouterr().err
    assert {row["decision"] for row in rows(tmp_path / "out")} == {"missing"}
