"""The light installation: what works where no extra is installed, and what says which one is missing."""

import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

HIDDEN = """
import sys
from importlib.machinery import PathFinder

from sigstats._common.extras import EXTRAS

found, installed = PathFinder.find_spec, set()
PathFinder.find_spec = lambda name, *rest: (
    None if EXTRAS.get(name.partition(".")[0], "") not in {"", *installed} else found(name, *rest)
)
"""
PROGRAM = HIDDEN + "from sigstats.__main__ import main\nsys.exit(main())\n"


def python(code, folder, *arguments):
    return subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path):
    for name, period in (("a.csv", 3), ("b.csv", 2)):
        rows = "".join(f"{row},{row % 2},{row % period % 2}\n" for row in range(60))
        (tmp_path / name).write_text(f"id,label,prediction\n{rows}")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        ("compare", "a.csv", "b.csv", "--report", "page.html", "--json", "-"),
        ("check", "a.csv", "--at-least", "0.5"),
        ("rank", "a.csv", "b.csv", "--report", "page.html"),
        ("size", "a.csv", "b.csv"),
        ("studies",),
    ],
)
def test_a_command_needs_no_extra(folder, command):
    done = python(PROGRAM, folder, *command)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
@pytest.mark.parametrize("command", [("run", "quickstart"), ("plan", "quickstart"), ("schema",)])
def test_a_command_names_the_extra_that_it_lacks(folder, command):
    before = sorted(folder.iterdir())
    done = python(PROGRAM, folder, *command)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "is not installed; pip install 'sigstats[studies]'" in done.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.long
@pytest.mark.parametrize(
    "call",
    [
        "permutation_test('lda', [[0.0], [1.0]] * 6, [0, 1] * 6, cv=2, rng=0)",
        "run_study('quickstart', output='results')",
        "open_results('results')",
        "read_predictions('a.csv')",
        "mcnemar_test(only_a=3, only_b=17).to_pandas()",
    ],
)
def test_a_function_names_the_extra_that_it_lacks(folder, call):
    done = python(f"{HIDDEN}import sigstats\nsigstats.{call}\n", folder)
    assert done.stderr.splitlines()[-1].endswith("is not installed; pip install 'sigstats[studies]'")


@pytest.mark.long
@pytest.mark.parametrize(
    "call",
    [
        "run_study('nyssen', output='s3://bucket/results')",
        "open_results('s3://bucket/results')",
        "read_predictions('s3://bucket/a.csv')",
        "read_predictions('s3://bucket/*.csv')",
    ],
)
def test_a_function_names_the_extra_of_an_object_store(folder, call):
    done = python(f"{HIDDEN}installed.add('studies')\nimport sigstats\nsigstats.{call}\n", folder)
    assert "s3fs is not installed; pip install 'sigstats[s3]'" in done.stderr.splitlines()[-1]


@pytest.mark.long
def test_every_public_name_can_be_imported(folder):
    assert python(HIDDEN + "from sigstats import *\n", folder).returncode == 0


def test_nothing_is_compiled_first_where_numba_is_missing(folder):
    ask = "from pathlib import Path\nfrom sigstats._common.extras import compiles_first\n"
    done = python(HIDDEN + ask + "assert not compiles_first(Path())\n", folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_another_package_may_ask_for_what_is_missing(folder):
    ask = "import importlib.util\nassert importlib.util.find_spec('sklearn') is None\n"
    done = python(HIDDEN + ask, folder)
    assert (done.returncode, done.stderr) == (0, "")


#: Lists the modules that the program has imported, after its own output.
REACHED = """
import sys
from sigstats.__main__ import main

try:
    code = main()
finally:
    print(*sys.modules)
sys.exit(code)
"""
COMPARE = ("compare", "a.csv", "b.csv", "--report", "page.html", "--json", "j", "--markdown", "m", "--junit", "x")


def test_a_comparison_with_its_page_reaches_few_modules_and_no_learner(folder):
    done = python(REACHED, folder, *COMPARE[:5])
    assert done.returncode == 0, done.stderr
    reached = [name for name in done.stdout.splitlines()[-1].split() if name.partition(".")[0] == "sigstats"]
    assert "sigstats.comparison.compare" in reached
    assert not [name for name in reached if name.startswith(("sigstats.learners", "sigstats.retraining"))]
    assert len(reached) <= 143


ENGINE = "prefect dask distributed sklearn"


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "slow"),
    [
        (COMPARE, f"{ENGINE} pandas pydantic fsspec scipy.stats scipy.optimize scipy.sparse"),
        (
            ("compare", "a.parquet", "b.parquet"),
            f"{ENGINE} pandas pydantic fsspec scipy.stats scipy.optimize scipy.sparse",
        ),
        (("run", "hryniewicz", "--output", "out", "--quiet"), ENGINE),
        (("run", "nightly.toml", "--output", "out", "--quiet"), "prefect dask distributed"),
        (("--help",), f"{ENGINE} numpy pydantic"),
    ],
    ids=lambda value: value[1] if value[1:] and isinstance(value, tuple) else "",
)
def test_a_command_imports_nothing_that_takes_longer_than_itself(folder, command, slow):
    for name in "ab":
        pq.write_table(csv.read_csv(folder / f"{name}.csv"), folder / f"{name}.parquet")
    (folder / "nightly.toml").write_text('kind = "regression"\nbaseline = "a.csv"\ncandidate = "b.csv"\n')
    done = python(REACHED, folder, *command)
    assert done.returncode == 0, done.stderr
    reached = set(done.stdout.splitlines()[-1].split())
    assert "sigstats" in reached
    assert not reached & {*slow.split()}
