"""docs/results.md has every stored column, from the schemas themselves."""

import importlib.util
from pathlib import Path

import pytest

from sigstats.tasks.fan_out import FAN_OUTS
from sigstats.tasks.schema import SUMMARY

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("result_columns", ROOT / "tools" / "result_columns.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_columns_of_the_schemas(tool):
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert tool.written(page) == page, "run python tools/result_columns.py"
    for name in SUMMARY.names:
        assert f"- `{name}` (" in page
    for name in FAN_OUTS:
        assert f"### `{name}`" in page


def test_a_page_without_a_table_is_refused(tool):
    with pytest.raises(SystemExit, match=r"summary.parquet --> is missing"):
        tool.written("# What a study stores\n")
