"""The pages that are made from the program: they are what it says, and name all that it has."""

import re

import pytest

from sigstats.flows import commands
from sigstats.flows.commands.schema import schema_of
from tools.made_pages import DOCS, PAGES


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
