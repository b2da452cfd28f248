"""Every class that a page or a drawing names has a rule in the style sheet: without one, a part of a figure is lost."""

import ast
import re
from pathlib import Path

import pytest

import sigstats.flows.pages

PAGES = Path(sigstats.flows.pages.__file__).parent
FLOWS = PAGES.parent
#: The functions whose first argument is a class, of drawings (`sigstats.flows.pages.svg`).
OF_A_CLASS = {"path", "line", "across", "upwards", "side_by_side"}
#: Marks of parts for readers of the page, which look like what is around them.
WITHOUT_A_RULE = {"tick", "headline"}


def classes_of(text):
    """The names in values of the attribute `class`, without those that a placeholder completes."""
    for value in re.findall(r'class="([^"]*)"', text):
        value = re.sub(r"\{\{.*?\}\}", "{}", re.sub(r"\{%.*?%\}", " ", value))
        yield from re.findall(r"(?<![\w}{-])[a-z][\w-]*(?![\w{}-])", value)


def written():
    """The classes that templates and modules write, and where."""
    for file in sorted(FLOWS.rglob("*.j2")):
        yield from ((name, file.name) for name in classes_of(file.read_text(encoding="utf-8")))
    for file in sorted(FLOWS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            texts = []
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from ((name, file.name) for name in classes_of(node.value))
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                texts += node.args[:1] if called in OF_A_CLASS else []
                texts += [keyword.value for keyword in node.keywords if keyword.arg == "css"]
            for text in texts:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield from ((name, file.name) for name in text.value.split())


@pytest.mark.long
def test_every_class_has_a_rule():
    sheet = (PAGES / "templates" / "report.css").read_text(encoding="utf-8")
    ruled = set(re.findall(r"\.([a-z][\w-]*)(?=[^{}]*\{)", sheet))
    places = {}
    for name, file in written():
        places.setdefault(name, set()).add(file)
    assert {name: files for name, files in places.items() if name not in ruled | WITHOUT_A_RULE} == {}
    assert set(places) >= WITHOUT_A_RULE | {"interval", "null", "dot", "scroll"}
