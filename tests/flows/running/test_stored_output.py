"""Outputs that an earlier version wrote are taken up, byte for byte.

``stored_output.zip`` holds the studies and outputs of version 0.1.0 as of commit 0489d80 (Python 3.11.7, NumPy 2.4.6,
SciPy 1.17.1, scikit-learn 1.9.1, pyarrow 26.0.1), run with ``--cluster serial``.
"""

import shutil
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sigstats.flows.cli import main

KINDS = ("benchmark", "significance", "calibration")


@pytest.fixture
def stored(tmp_path):
    """The folder of the studies and their outputs."""
    with zipfile.ZipFile(Path(__file__).with_name("stored_output.zip")) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def contents(output):
    names = [*output.glob("replicates/**/*.parquet"), output / "summary.parquet", output / "plan.parquet"]
    return {str(name.relative_to(output)): name.read_bytes() for name in names}


#: The tests that a benchmark had where it named none.
TESTS = ["--set", 'tests=["permutation", "efficiency", "mcnemar"]']


def run(folder, *settings):
    settings = settings or (TESTS if folder.name == "benchmark" else ())
    output = ["--output", str(folder / "output"), "--cluster", "serial"]
    return main(["run", str(folder / "study.toml"), *settings, *output])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_computed_again(stored, kind, capfd):
    output = stored / kind / "output"
    before = contents(output)
    assert run(stored / kind) == 0
    assert contents(output) == before
    assert "made again" not in capfd.readouterr().out
    assert not (output / "receipts").exists()  # a receipt for every block that is computed


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing_is_computed_to_the_same_bytes(stored, kind):
    output = stored / kind / "output"
    before = contents(output)
    for cell in sorted((output / "replicates").iterdir())[::2]:
        shutil.rmtree(cell)
    (output / "summary.parquet").unlink()
    assert run(stored / kind) == 0
    assert contents(output) == before


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


def test_a_comparison_that_was_made_is_not_made_again(stored, capsys):
    folder = stored / "regression"
    history = sorted((folder / "output" / "history").rglob("*.parquet"))
    assert main(["run", str(folder / "study.toml"), "--output", str(folder / "output")]) == 0
    assert "nothing new" in capsys.readouterr().out
    assert sorted((folder / "output" / "history").rglob("*.parquet")) == history
