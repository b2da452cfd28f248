"""docs/benchmark.md names every source, ready learner and test, and its studies are valid."""

import re
import tomllib
from pathlib import Path

import pytest

from sigstats.flows.benchmark import plan as benchmark
from sigstats.flows.config.settings import table_schema
from sigstats.flows.running.kind import parse_study
from sigstats.flows.significance import plan as significance
from sigstats.learners import READY
from sigstats.tasks.datasets import readers
from sigstats.tasks.datasets.options import COLUMNS

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "benchmark.md").read_text(encoding="utf-8")
STUDIES = re.findall(r"^```toml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
#: The kinds of study that the page is about.
KINDS = [benchmark.KIND, significance.KIND]


def row_of(name):
    """The row of a table whose first cell has a name."""
    return next(line for line in PAGE.splitlines() if line.startswith("|") and f"`{name}`" in line.split("|")[1])


@pytest.mark.parametrize("study", STUDIES)
def test_its_studies_are_valid(study):
    kind = tomllib.loads(study)["kind"]
    assert kind in {"benchmark", "significance"}
    assert parse_study(tomllib.loads(study), source="docs/benchmark.md").kind == kind


@pytest.mark.parametrize("source", readers.REGISTRY.names())
def test_it_names_the_required_options_of_each_source(source):
    """The other options are in docs/study-files.md; those of all tables are here too."""
    table = table_schema(source)
    assert all(f"`{option}`" in PAGE for option in table["properties"] if option in COLUMNS)
    needed = row_of(source).split("|")[3]
    assert set(re.findall(r"`(\w+)`", needed)) == set(table["required"]) - {"name", "source"}


@pytest.mark.parametrize("learner", READY)
def test_it_names_each_ready_learner(learner):
    assert row_of(learner)


#: The analyses that a study cannot name: it has them if its tables or its number of data sets allow it.
UNNAMED = {"significance", "likeness", "over-data-sets"}


@pytest.mark.parametrize("test", sorted({name for kind in KINDS for name in kind.analyses} - UNNAMED))
def test_it_names_each_test(test):
    assert row_of(test)
