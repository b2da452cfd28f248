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


def python(code, folder, *arguments):
    return subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path):
    for name, period in (("a.csv", 3), ("b.csv", 2)):
        rows = "".join(f"{row},{row % 2},{row % period % 2}\n" for row in range(60))
        (tmp_path / name).write_text(f"id,label,prediction\n{rows}")
    return tmp_path


#: Runs the commands in one process, and prints their exit codes.
COMMANDS = """
from sigstats.__main__ import main

def code_of(command):
    sys.argv = ["sigstats", *command.split()]
    return main()

codes = [code_of(command) for command in sys.argv[1:]]
print()
print(*codes)
"""


@pytest.mark.long
def test_a_command_needs_no_extra(folder):
    outputs = "--report page.html --json out.json"
    commands = [
        f"compare a.csv b.csv {outputs}",
        "check a.csv --at-least 0.5",
        "rank a.csv b.csv --power 0.8 --report page.html",
    ]
    done = python(HIDDEN + COMMANDS, folder, *commands, "size --accuracy 0.9", "studies")
    assert (done.stdout.splitlines()[-1:], done.stderr) == (["0 0 0 0 0"], "")


@pytest.mark.long
def test_a_command_names_the_extra_that_it_lacks(folder):
    before = sorted(folder.iterdir())
    done = python(HIDDEN + COMMANDS, folder, "run quickstart", "plan quickstart", "schema")
    assert done.stdout.splitlines()[-1:] == ["2 2 2"]
    complaints = done.stderr.splitlines()
    assert len(complaints) == 3
    assert all("is not installed; pip install 'sigstats[studies]'" in line for line in complaints)
    assert sorted(folder.iterdir()) == before


#: Makes the calls of public functions in one process, with an extra or none, and prints what is raised.
CALLS = """
import sigstats
from sigstats import *

for call in sys.argv[2:]:
    installed.update(sys.argv[1].split())
    try:
        print(eval(f"sigstats.{call}"))
    except Exception as error:
        print(error)
"""
DRAWN = "permutation_test('lda', [[0.0], [1.0]] * 6, [0, 1] * 6, cv=2, rng=0)"
FRAME, PATTERN = "mcnemar_test(only_a=3, only_b=17).to_pandas()", "read_predictions('s3://b/*.csv')"
READ = "run_study('nyssen', output='{}out')", "open_results('{}results')", "read_predictions('{}a.csv')"


@pytest.mark.long
@pytest.mark.parametrize(
    ("installed", "place", "more", "said"),
    [
        ("", "", [DRAWN, FRAME], "is not installed; pip install 'sigstats[studies]'"),
        ("studies", "s3://b/", [PATTERN], "s3fs is not installed; pip install 'sigstats[s3]'"),
    ],
)
def test_a_function_names_the_extra_that_it_lacks(folder, installed, place, more, said):
    calls = [*(call.format(place) for call in READ), *more]
    lines = python(HIDDEN + CALLS, folder, installed, *calls).stdout.splitlines()
    assert [said in line for line in lines] == [True] * len(calls), lines


def test_nothing_is_compiled_or_found_where_an_extra_is_missing(folder):
    ask = (
        "import importlib.util\nfrom pathlib import Path\nfrom sigstats._common.extras import compiles_first\n"
        "assert not compiles_first(Path())\nassert importlib.util.find_spec('sklearn') is None\n"
    )
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
COMPARE = ("compare", "a.csv", "b.csv", "--report", "p.html", "--json", "j", "--report", "m.md", "--report", "x.xml")


def test_a_comparison_with_its_page_reaches_few_modules_and_no_learner(folder):
    done = python(REACHED, folder, *COMPARE[:5])
    assert done.returncode == 0, done.stderr
    reached = [name for name in done.stdout.splitlines()[-1].split() if name.partition(".")[0] == "sigstats"]
    assert "sigstats.comparison.compare" in reached
    assert not [name for name in reached if name.startswith(("sigstats.learners", "sigstats.retraining"))]
    assert len(reached) <= 126


def test_a_plan_reaches_few_modules_and_no_test(folder):
    done = python(REACHED, folder, "plan", "quickstart", "--no-timing")
    assert done.returncode == 0, done.stderr
    reached = [name for name in done.stdout.splitlines()[-1].split() if name.partition(".")[0] == "sigstats"]
    assert "sigstats.flows.benchmark.plan" in reached
    assert "sigstats.tasks.statistical_tests.mcnemar" not in reached
    assert len(reached) <= 132


def test_a_further_column_of_whole_numbers_takes_no_pandas(folder):
    """Numbers are put in their order, as rows may follow one another in time."""
    for name in "ab":
        first, *rows = (folder / f"{name}.csv").read_text().splitlines()
        (folder / f"{name}.csv").write_text(
            "\n".join([f"{first},age", *(f"{row},{k % 7}" for k, row in enumerate(rows))])
        )
    done = python(REACHED, folder, *COMPARE[:3])
    assert (done.returncode, done.stderr) == (0, "")
    assert "pandas" not in done.stdout.splitlines()[-1].split()


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
