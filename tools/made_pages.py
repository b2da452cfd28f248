"""Write the pages of docs/ that the program itself states: commands, study files, glossary, tables of the reference.

    python -m tools.made_pages

`tests/test_made_pages.py` holds that the pages are what this writes.
"""

import argparse
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sigstats.flows import commands
from sigstats.flows.commands.schema import schema_of
from sigstats.flows.pages.page import GLOSSARY

DOCS = Path(__file__).parents[1] / "docs"
#: The words of JSON Schema for what TOML has.
_TYPES = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`", "object": "table",
}  # fmt: skip
_LIMITS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}


def glossary() -> str:
    """The words of pages and messages."""
    terms = sorted(GLOSSARY.items(), key=lambda each: each[0].lower())
    head = (
        "# Glossary\n\nThe words of reports, messages and these documents, in plain words. Each page that `sigstats` "
        "writes ends with those\nthat it uses.\n"
    )
    return head + "".join(f"\n{term}\n: {meaning}\n" for term, meaning in terms)


def command_pages() -> str:
    """Every command, argument and exit code."""
    program, parsers = commands.whole_parsers()
    epilog = str(program.epilog).replace("docs/glossary.md", "[the glossary](glossary.md)")
    lines = ["# Commands", "", "What `sigstats COMMAND --help` says, command by command.", "", epilog]
    for group in commands.GROUPS:
        lines += ["", f"## {group[:1].upper()}{group[1:]}"]
        for name, parser in parsers.items():
            if group == commands.REGISTRY.module(name).GROUP:
                lines += ["", f"### `sigstats {name}`", "", _prose(parser.description or "")]
                lines += _arguments(parser)
    return "\n".join(lines) + "\n"


def _prose(text: str) -> str:
    """A docstring, with its paragraphs, as Markdown."""
    return text.strip().replace("``", "`").replace("<", "\\<")


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The tables of the arguments of a command, a group each."""
    formatter, above = parser._get_formatter(), ""
    for group in parser._action_groups:
        usual = group.title in ("options", "positional arguments")
        for each in group._group_actions:
            if each.dest == "help":
                continue
            if (title := "argument" if usual else group.title or "") != above:
                yield from ("", f"| {title} | meaning |", "|---|---|")
                above = title
            name = str(each.metavar or each.dest)
            if each.option_strings:
                option = each.option_strings[-1]
                name = f"{option} {formatter._format_args(each, option.lstrip('-').upper())}"
            yield _row(f"`{name.strip()}`", formatter._expand_help(each) if each.help else "")


def study_pages() -> str:
    """Every key of study files, by kind, and of cluster files."""
    schema = schema_of("study")
    kinds = {each["properties"]["kind"]["const"]: each for each in _branches(schema, schema)}
    tables = [each["properties"] for each in kinds.values()]
    common = [key for key in tables[0] if all(table.get(key) == tables[0][key] for table in tables)]
    every = {
        "kind": {"description": "The kind of study", "enum": list(kinds)},
        **{key: tables[0][key] for key in common},
    }
    head = (
        "# Study files and cluster files\n\nEvery key, from the program's own schema (`sigstats schema`, which editors "
        "of TOML read too). A key whose default\nis *required* must be there. `--set KEY=VALUE` replaces one from the "
        "command line.\n\n## Keys of every kind\n"
    )
    lines = [head, *_table(schema, {"properties": every, "required": ["kind"]})]
    for kind, model in kinds.items():
        own = {key: each for key, each in model["properties"].items() if key not in (*common, "kind")}
        lines += ["", f'## `kind = "{kind}"`', "", *_table(schema, {**model, "properties": own})]
        lines += _below(schema, own, "", set())
    schema = schema_of("cluster")
    lines += ["", "## Cluster files"]
    for cluster in _branches(schema, schema):
        lines += ["", f"### {_variant(cluster)}", "", *_table(schema, cluster)]
        lines += _below(schema, cluster["properties"], "", set())
    return "\n".join(lines) + "\n"


def _branches(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """What a value may be: the branches of all unions in it, references followed."""
    if "$ref" in node:
        return _branches(schema, schema["$defs"][node["$ref"].rpartition("/")[2]])
    unions = [each for word in ("anyOf", "oneOf") for each in node.get(word, [])]
    return [leaf for each in unions for leaf in _branches(schema, each)] or [node]


def _variant(table: dict[str, Any]) -> str:
    """What tells a table from the others of its key: the keys that have one value."""
    fixed = {key: each["const"] for key, each in table["properties"].items() if "const" in each}
    return ", ".join(f'`{key} = "{value}"`' for key, value in fixed.items()) or "`table`"


def _below(schema: dict[str, Any], keys: dict[str, Any], path: str, seen: set[str]) -> Iterator[str]:
    """The tables that are values of these keys, each with a heading and its own keys, and those below them."""
    for key, node in keys.items():
        where = f"{path}{key}"
        leaves = [(each, "[{}]") for each in _branches(schema, node)]
        leaves += [(leaf, "[[{}]]") for each, _ in leaves for leaf in _branches(schema, each.get("items", {}))]
        for table, brackets in leaves:
            if "properties" not in table or str(table) in seen:
                continue
            seen.add(str(table))
            heading = f"### `{brackets.format(where)}`"
            if heading not in seen:
                yield from ("", heading)
            seen.add(heading)
            if (fixed := _variant(table)) != "`table`":
                yield from ("", f"With {fixed}:")
            if about := table.get("description"):
                yield from ("", _prose(re.sub(r"\s+", " ", about)))
            yield ""
            yield from _table(schema, table)
            yield from _below(schema, table["properties"], f"{where}.", seen)


def _table(schema: dict[str, Any], table: dict[str, Any]) -> Iterator[str]:
    """The keys of a table: what each may be, its default and its meaning."""
    yield from ("| key | value | default | meaning |", "|---|---|---|---|")
    required = table.get("required", ())
    for key, node in table["properties"].items():
        if "const" in node and key != "kind":
            continue  # the heading has it
        default = "*required*" if key in required else _default(node.get("default"))
        about = node.get("description") or next((each.get("description", "") for each in _branches(schema, node)), "")
        yield _row(f"`{key}`", _value(schema, node), default, " ".join(about.split()))


def _default(value: Any) -> str:
    """A default; nothing where it is empty or a table, whose keys have their own."""
    if value is None or value in ("", []) or isinstance(value, dict):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _value(schema: dict[str, Any], node: dict[str, Any]) -> str:
    """What a key takes, in the words of TOML."""
    said = []
    for each in _branches(schema, node):
        if "enum" in each or "const" in each:
            values = [str(value).lower() if isinstance(value, bool) else value for value in each.get("enum", [])]
            said.append(", ".join(f"`{value}`" for value in dict.fromkeys(values or [each.get("const")])))
        elif each.get("type") == "array":
            said.append(f"list of {_value(schema, each['items'])}" if each.get("items") else "list")
        elif each.get("type") != "null":
            limits = [f"{word} {each[name]:,}" for name, word in _LIMITS.items() if abs(each.get(name, 2**62)) < 2**62]
            said.append(" ".join([_TYPES.get(each.get("type", ""), "any value"), *limits]))
    return " or ".join(dict.fromkeys(said))


def _row(*cells: str) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(" ".join(each.split()).replace("|", "\\|") for each in cells) + " |"


def reference() -> str:
    """The page of names: above each list for Sphinx, which Markdown does not show, a table with a sentence a name."""
    page = (DOCS / "reference.md").read_text(encoding="utf-8")
    return re.sub(r"(?:\|[^\n]*\n)*\n?<!-- made\n.. currentmodule:: (\S+)\n(.*?)-->", _names, page, flags=re.DOTALL)


def _names(block: re.Match[str]) -> str:
    """The table of the names in a list of the reference, and the list."""
    lines = ["| name | meaning |", "|---|---|"]
    for name in re.findall(r"^   (\w+)$", block[2], flags=re.MULTILINE):
        value = getattr(importlib.import_module(block[1]), name)
        file = Path(inspect.getsourcefile(inspect.unwrap(value)) or "").resolve().relative_to(DOCS.parent)
        lines.append(_row(f"[`{name}`](../{file})", (inspect.getdoc(value) or "").partition("\n\n")[0]))
    return "\n".join(lines) + f"\n\n<!-- made\n.. currentmodule:: {block[1]}\n{block[2]}-->"


#: Each page and what writes it.
PAGES = {
    "commands.md": command_pages,
    "glossary.md": glossary,
    "reference.md": reference,
    "study-files.md": study_pages,
}


if __name__ == "__main__":
    for page, written in PAGES.items():
        (DOCS / page).write_text(written(), encoding="utf-8")
