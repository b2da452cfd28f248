"""A test set of a calibration study by its number: the rows give the stored answers, by the library itself."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import f1_score

import sigstats
from sigstats.flows.commands import main
from sigstats.tasks.calibration.replay import replay
from sigstats.tasks.results import Results
from sigstats.tasks.storage.seal import seal
from sigstats.tasks.storage.store import Store

from ..conftest import study_file

STUDY = """\
kind = "calibration"
seed = 5
sizes = [40]
trials = 130

[[populations]]
name = "grid"
source = "simulated"
prevalence = [0.3]
recall = [0.8]
precision = [0.8]
difference = [0.1]

[[populations]]
name = "folds"
source = "cross-validated"
features = 2
separation = [1.0]
folds = 4

[[populations]]
name = "scored"
source = "scores"
path = "scores.parquet"
positive = 1

[[populations]]
name = "many"
source = "parquet"
path = "many.parquet"
positive = 1

[[tests]]
test = "mcnemar"

[[tests]]
test = "f1-interval"

[[tests]]
test = "scores"
measure = "auc"
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, 400)
    scores = {side: label + rng.normal(size=400) for side in ("score_a", "score_b")}
    pq.write_table(pa.table({"label": label, **scores}), folder / "scores.parquet")
    truth, other = rng.integers(0, 3, (2, 400))
    sides = {
        side: np.where(rng.random(400) < right, truth, other) for side, right in (("pred_a", 0.3), ("pred_b", 0.8))
    }
    pq.write_table(pa.table({"label": truth, **sides}), folder / "many.parquet")
    assert main(["run", str(study_file(folder, STUDY)), "--output", str(folder / "out"), "--cluster", "serial"]) == 0
    return folder / "out"


@pytest.mark.long
@pytest.mark.parametrize("trial", [0, 99, 117])
def test_the_rows_give_the_stored_answers(output, trial):
    stored = Results(Store(str(output)))
    (mcnemar, interval) = (
        next(cell for cell in stored.cells(fanout, dataset="grid") if name in cell.subject["test"])
        for fanout, name in (("subsample", "McNemar"), ("interval", "F1"))
    )
    first, second = replay(stored, mcnemar, trial), replay(stored, interval, trial)
    assert first.same
    assert second.same
    assert first.rows == second.rows
    rows = [row for row in first.rows.to_pylist() for _ in range(row["count"])]
    y, a, b = ([row[name] for row in rows] for name in ("label", "pred_a", "pred_b"))
    assert len(rows) == 40
    counts = sigstats.discordant_counts(y, a, b)
    assert first.stored["p_value"] == sigstats.mcnemar_test(*counts).pvalue
    difference = f1_score(y, b, pos_label="positive") - f1_score(y, a, pos_label="positive")
    assert second.stored["estimate"] == pytest.approx(difference, abs=1e-12)


@pytest.mark.long
def test_samples_and_scores_are_drawn_again(output):
    stored = Results(Store(str(output)))
    (fold,) = stored.cells("fold-test", dataset="folds", test="McNemar (exact)")
    found = replay(stored, fold, 117)
    assert found.same
    assert found.rows.column_names == ["label", "a1", "a2", "b1", "b2"]
    assert found.rows.num_rows == 40
    cell = stored.cells("subsample", dataset="scored")[0]
    found = replay(stored, cell, 5)
    table = {name: found.rows.column(name).to_numpy() for name in found.rows.column_names}
    result = sigstats.auc_test(table["positive"], table["score_a"], table["score_b"])
    assert found.same
    assert found.answer["p_value"] == result.pvalue


@pytest.mark.long
def test_every_answer_is_as_stored(output, printed):
    said = printed("replay", output, "--trial", "101")
    assert said.count("as stored") == len(
        [line for line in said.splitlines() if "p_value" in line or "estimate" in line]
    )
    assert "test set 101 of grid, 40 rows" in said
    assert not re.search(r"[0-9.]{12}", said)  # six significant digits, as elsewhere
    assert "test set 101 of many, outputs swapped, 40 rows" in said


@pytest.mark.long
def test_rows_are_written(output, tmp_path, capsys):
    file = tmp_path / "rows.csv"
    assert main(["replay", str(output), "--trial", "3", "--only", "dataset=grid", "--rows", str(file)]) == 0
    lines = file.read_text().splitlines()
    assert lines[0] == '"label","pred_a","pred_b","count"'
    assert sum(int(line.rsplit(",", 1)[1]) for line in lines[1:]) == 40
    capsys.readouterr()


def test_an_answer_that_is_not_as_stored_is_told(output, tmp_path, capsys):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(output, copy)
    stored = Results(Store(str(copy)))
    (cell,) = stored.cells("subsample", dataset="grid", test="McNemar (exact)")
    table = stored.table(cell)
    other = table.set_column(1, table.schema.field(1), pa.array([0.25] * table.num_rows))
    (file,) = copy.glob(f"replicates/{cell.name}/*.parquet")
    file.write_bytes(seal(other, kind=cell.fanout, fingerprint=cell.fingerprint))
    assert main(["replay", str(copy), "--trial", "3", "--only", "dataset=grid"]) == 3
    said = capsys.readouterr()
    assert re.search(r"stored: p_value 0\.25", said.out)
    assert "1 of 2 answers differ from the stored ones" in said.err


def test_a_ready_test_that_fails_leaves_the_others(output, monkeypatch, capsys):
    from sigstats.tasks.calibration import interval

    def fails(block, store, work):
        raise ZeroDivisionError("by\x1b[2J zero")

    monkeypatch.setattr(interval, "FAN_OUT", replace(interval.FAN_OUT, compute=fails))
    assert main(["replay", str(output), "--trial", "3", "--only", "dataset=grid"]) == 3
    said = capsys.readouterr()
    assert re.search(r"F1.*  fails \(ZeroDivisionError: by.* zero\)  stored: estimate ", said.out)
    assert re.search(r"McNemar.*  as stored\n", said.out)
    assert "\x1b" not in said.out
    assert said.err == "sigstats: 1 of 2 tests fail\n"


def test_damaged_replicates_and_those_of_another_version_are_refused(output, tmp_path, monkeypatch, capsys):
    import shutil

    from sigstats.tasks.calibration import subsample

    copy = tmp_path / "copy"
    shutil.copytree(output, copy)
    command = ["replay", str(copy), "--trial", "3", "--only", "dataset=grid"]
    with monkeypatch.context() as patch:
        patch.setattr(subsample, "FAN_OUT", replace(subsample.FAN_OUT, version=subsample.FAN_OUT.version + 1))
        assert main(command) == 2
    said = capsys.readouterr()
    assert re.fullmatch(r"sigstats: OUTPUT: subsample\..* has version \d+ of this test, not \d+; .*\n", said.err)
    (file,) = copy.glob("replicates/subsample.grid*/*.parquet")
    file.write_bytes(file.read_bytes()[:-9])
    assert main(command) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"sigstats: OUTPUT: replicates/{file.parent.name}/{file.name} is damaged, or was not")
    assert said.out == ""


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--trial", "130"], "--trial: 130 is not valid; expected 0 to 129"),
        (["--trial", "-1"], "--trial: -1 is not valid"),
        (
            ["--trial", "1", "--only", "dataset=gird"],
            "--only: 'dataset=gird' is not valid; expected one of dataset=grid, dataset=folds, dataset=scored, ",
        ),
        (["--trial", "1", "--only", "n=41"], "--only: 'n=41' is not valid; expected one of n=40"),
        (["--trial", "1", "--rows", "rows.csv"], "--rows: rows.csv is not valid; expected one test set"),
    ],
)
def test_bad_input_is_one_line(output, capsys, arguments, complaint):
    assert main(["replay", str(output), *arguments]) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert said.out == ""


def test_another_kind_of_study_has_no_test_sets(tmp_path, refused):
    study = 'kind = "significance"\n[[tables]]\nname = "t"\ncounts = [[8, 2], [1, 9]]\n'
    assert main(["run", str(study_file(tmp_path, study)), "--output", str(tmp_path / "out"), "--quiet"]) == 0
    assert "expected the results of a calibration study" in refused("replay", tmp_path / "out", "--trial", "0")


def test_a_regression_study_has_no_test_sets(tmp_path, refused):
    (tmp_path / "out/history/date=2026-11-21").mkdir(parents=True)
    words = "contains no study that is computed in cells; a regression study has none"
    assert words in refused("replay", tmp_path / "out", "--trial", "0")
