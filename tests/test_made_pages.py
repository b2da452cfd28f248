"""The pages that tools make from the program, and parts of pages: they are what it says, and name all that it has."""

import ast
import importlib.util
import re
from pathlib import Path

import pandas as pd
import pytest

from sigstats.flows import commands
from sigstats.flows.commands.schema import schema_of
from sigstats.tasks.fan_out import FAN_OUTS
from sigstats.tasks.schema import SUMMARY
from tools import coverage_table
from tools.made_pages import DOCS, PAGES

ROOT = Path(__file__).resolve().parents[1]
RELIABILITY = (DOCS / "reliability.md").read_text(encoding="utf-8")


def tool(name):
    """A program of ``tools/``, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_what_the_program_says(page):
    assert (DOCS / page).read_text(encoding="utf-8") == PAGES[page](), "run python -m tools.made_pages"


def test_the_page_of_commands_has_every_option_of_every_help():
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### `sigstats ([\w-]+)`\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    common = re.search(r"^## Common options\n(.*?)(?=^##)", text, flags=re.MULTILINE | re.DOTALL)[1]
    groups = dict(re.findall(r"^(\w[\w ]+):\n\n((?:- .*\n)+)", common, flags=re.MULTILINE))
    _, parsers = commands.whole_parsers()
    assert sorted(sections) == sorted(parsers)
    for name, parser in parsers.items():
        options = {*re.findall(r"--[a-z][a-z-]+", parser.format_usage())}
        whole = [rows for title, rows in groups.items() if f"*{title.lower()}*" in sections[name]]
        assert options <= {*re.findall(r"`(--[a-z-]+)", "".join([sections[name], *whole]))} | {"--help"}, name


def test_the_page_of_study_files_has_every_key():
    """Keys are found in the schema by a walk of its own, whatever is nested in what."""

    def keys(node):
        if isinstance(node, dict):
            yield from (key for key, each in node.get("properties", {}).items() if "const" not in each)
            for each in node.values():
                yield from keys(each)
        elif isinstance(node, list):
            for each in node:
                yield from keys(each)

    text = (DOCS / "study-files.md").read_text(encoding="utf-8")
    for what in ("study", "cluster"):
        assert {*keys(schema_of(what))} <= {*re.findall(r"^- `(\w+)`", text, flags=re.MULTILINE)}


def test_the_page_of_results_has_the_columns_of_the_schemas():
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    assert tool("result_columns").written(page) == page, "run python tools/result_columns.py"
    for name in SUMMARY.names:
        assert f"- `{name}` (" in page
    for name in FAN_OUTS:
        assert f"### `{name}`" in page
    with pytest.raises(SystemExit, match=r"summary.parquet --> is missing"):
        tool("result_columns").written("# What a study stores\n")


def recording():
    """The tests whose fixture `record` takes what they saw: their names and their files."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    for path in (path for path in texts if re.search(r"\brecord\b", texts[path])):
        for node in ast.parse(texts[path]).body:
            asks = isinstance(node, ast.FunctionDef) and "record" in [each.arg for each in node.args.args]
            if asks and node.name.startswith("test_"):
                yield node.name, path.relative_to(ROOT).as_posix()


def test_the_page_of_reliability_has_the_tests_that_record_a_fault_and_the_prose_of_its_tool():
    lines = re.findall(r"\[([^]]+)\]\(\.\./(tests/[^)]+)\) \|$", RELIABILITY, re.MULTILINE)
    assert set(lines) == set(recording())
    assert RELIABILITY.startswith(tool("reliability").HEAD)
    assert RELIABILITY.endswith(tool("reliability").FOOT)


def test_a_cell_of_coverages_has_both_figures_of_both_intervals_or_a_dash():
    rows = [
        (30, "difference (f1, compare)", "coverage", 0.985),
        (30, "difference (f1, compare)", "interval above the truth", 0.0),
        (30, "difference (f1, compare)", "width", 0.3),
        (1000, "difference (f1, compare)", "coverage", 1.0),
        (1000, "difference (f1, compare)", "interval above the truth", 0.0),
        (1000, "difference (f1, usual)", "coverage", 0.55),
        (1000, "difference (f1, usual)", "interval above the truth", 0.45),
    ]
    summary = pd.DataFrame(rows, columns=["n", "method", "measure", "estimate"]).assign(dataset="few")
    assert coverage_table.table(summary) == (
        "| | 30 rows | 1,000 rows |\n|---|---|---|\n| few: f1 | 98.5, 0; – | 100, 0; 55, 45 |\n"
    )


def test_the_place_of_coverages_in_their_page_is_marked():
    page, begin, end = coverage_table.PAGE.read_text(encoding="utf-8"), coverage_table.BEGIN, coverage_table.END
    assert page.count(begin) == page.count(end) == 1
    assert "\n| marks in quarters: mean-score | " in page.partition(begin)[2].partition(end)[0]
