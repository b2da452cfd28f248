"""docs/reliability.md has a line for every test that records a fault, and for no other; its prose is the tool's."""

import ast
import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def recording():
    """The tests whose fixture `record` takes what they saw: their names and their files."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    for path in (path for path in texts if re.search(r"\brecord\b", texts[path])):
        for node in ast.parse(texts[path]).body:
            asks = isinstance(node, ast.FunctionDef) and "record" in [each.arg for each in node.args.args]
            if asks and node.name.startswith("test_"):
                yield node.name, path.relative_to(ROOT).as_posix()


def test_its_lines_are_the_tests_that_record_a_fault():
    assert set(re.findall(r"\[([^]]+)\]\(\.\./(tests/[^)]+)\) \|$", PAGE, re.MULTILINE)) == set(recording())


def test_its_prose_is_that_of_the_tool_that_writes_it():
    spec = importlib.util.spec_from_file_location("tool", ROOT / "tools" / "reliability.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert PAGE.startswith(tool.HEAD)
    assert PAGE.endswith(tool.FOOT)
