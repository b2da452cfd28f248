"""Outputs that an earlier version wrote are taken up: the replicates byte for byte, the summary value for value.

``stored_output.zip`` holds the studies and outputs of version 0.1.0 as of commit 0489d80 (Python 3.11.7, NumPy 2.4.6,
SciPy 1.17.1, scikit-learn 1.9.1, pyarrow 26.0.1), run with ``--cluster serial``.
"""

import shutil
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sigstats
from sigstats.flows.commands import main
from sigstats.tasks.results import Results
from sigstats.tasks.schema import SUMMARY, as_summary, renamed
from sigstats.tasks.storage.store import Store

#: Columns of the summary that it did not have yet.
LATER = {"unanswered", "without_class", "truth", "rows_half", "rows_four_fifths", "resampled"}
KINDS = ("benchmark", "significance", "calibration")


@pytest.fixture
def stored(tmp_path):
    """The folder of the studies and their outputs."""
    with zipfile.ZipFile(Path(__file__).with_name("stored_output.zip")) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def contents(output):
    """The bytes of replicates and plan, and the rows of the summary, without the columns that came later."""
    names = [*output.glob("replicates/**/*.parquet"), output / "plan.parquet"]
    files = {str(name.relative_to(output)): name.read_bytes() for name in names}
    if any(MCNEMAR in name for name in files):  # computed again, under another name
        files = {name: content for name, content in files.items() if MCNEMAR not in name and name != "plan.parquet"}
    rows = renamed(pq.read_table(output / "summary.parquet")).to_pylist()
    summary = [{name: value for name, value in row.items() if name not in LATER} for row in rows]
    return files | {"summary.parquet": [signed(row) for row in summary]}


#: The cell whose version changed with the sign of its statistic.
MCNEMAR = "evaluate.mcnemar."


def signed(row):
    """The row with its difference as A less B, which was B less A; of a power ``keep`` was said."""
    if row["measure"] == "power" and row["decision"] == "keep":
        return row | {"decision": "none"}
    if row["test"] != "mcnemar":
        return row
    row = {**row, "statistic": None, "cell": row["cell"].rpartition(".")[0]}
    if not str(row["measure"]).endswith("(b - a)"):
        return row
    low, high = row["estimate_low"], row["estimate_high"]
    ends = {"estimate_low": -high, "estimate_high": -low}
    return row | ends | {"estimate": -row["estimate"], "measure": row["measure"].replace("(b - a)", "(a - b)")}


#: The tests that a benchmark had where it named none.
TESTS = ["--set", 'tests=["permutation", "efficiency", "mcnemar"]']


def run(folder, *settings):
    settings = settings or (TESTS if folder.name == "benchmark" else ())
    output = ["--output", str(folder / "output"), "--cluster", "serial"]
    return main(["run", str(folder / "study.toml"), *settings, *output])


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_computed_again(stored, kind, capfd):
    output = stored / kind / "output"
    before = contents(output)
    assert run(stored / kind) == 0
    assert contents(output) == before
    assert "computed again" not in capfd.readouterr().out
    computed = list(output.glob("receipts/*"))  # a receipt for every block that is computed
    assert len(computed) == (kind == "significance")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing_is_computed_to_the_same_bytes(stored, kind):
    output = stored / kind / "output"
    before = contents(output)
    for cell in sorted((output / "replicates").iterdir())[::2]:
        shutil.rmtree(cell)
    (output / "summary.parquet").unlink()
    assert run(stored / kind) == 0
    assert contents(output) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_summary_without_the_later_columns_is_read(stored, kind):
    """What is not known of an output that has not been summarised again is null, not 0."""
    raw = pq.read_table(stored / kind / "output" / "summary.parquet")
    assert "null" in raw.column_names
    raw = renamed(raw)
    assert not LATER & {*raw.column_names}
    read = Results(Store(str(stored / kind / "output"))).summary
    assert read.schema == SUMMARY
    assert read.select(raw.column_names).to_pylist() == raw.to_pylist()
    assert all(read.column(name).null_count == read.num_rows > 0 for name in LATER)
    frame = sigstats.open_results(stored / kind / "output").summary
    assert len(frame) == raw.num_rows
    assert not LATER & {*frame.columns}


def test_a_summary_without_a_column_that_must_be_there_is_refused():
    with pytest.raises(ValueError, match="'cell'"):
        as_summary(pa.table({"study": ["s"]}))


def test_other_tests_are_made_of_the_same_replicates(stored):
    output = stored / "benchmark" / "output"
    before = contents(output)
    assert run(stored / "benchmark", "--set", 'tests=["permutation", "mcnemar"]') == 0
    assert {row["test"] for row in pq.read_table(output / "summary.parquet").to_pylist()} == {
        "permutation-labels",
        "permutation-features",
        "mcnemar",
    }
    after = contents(output)
    assert {name for name in before if before[name] != after[name]} <= {"summary.parquet", "plan.parquet"}


def test_a_comparison_that_was_made_is_not_made_again(stored, printed):
    folder = stored / "regression"
    history = sorted((folder / "output" / "history").rglob("*.parquet"))
    assert "nothing new" in printed("run", folder / "study.toml", "--output", folder / "output")
    assert sorted((folder / "output" / "history").rglob("*.parquet")) == history
