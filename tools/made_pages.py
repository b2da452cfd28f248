"""Write the pages of docs/ that the program itself states: commands, study files, glossary, tables of the reference.

    python -m tools.made_pages

`tests/test_made_pages.py` holds that the pages are what this writes.
"""

import argparse
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from sigstats.flows import commands
from sigstats.flows.commands.schema import schema_of
from sigstats.flows.pages.page import glossary as meanings

DOCS = Path(__file__).parents[1] / "docs"
#: Names of the types of JSON Schema.
_TYPES = {
    "string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "object": "table",
}  # fmt: skip
Row = tuple[str, str, str]
_LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def glossary() -> str:
    """The words of pages and messages."""
    terms = sorted(meanings().items(), key=lambda each: each[0].lower())
    head = (
        "# Glossary\n\nTerms of reports, messages and these documents. Each page that `sigstats` writes "
        "ends with those it uses.\n"
    )
    return head + "".join(f"\n{term}\n: {meaning}\n" for term, meaning in terms)


def command_pages() -> str:
    """Every command, argument and exit code; options of several commands come first, each once."""
    program, parsers = commands.whole_parsers()
    epilog = str(program.epilog).replace("docs/glossary.md", "[the glossary](glossary.md)")
    lines = ["# Commands", "", "Arguments and options, as in `sigstats COMMAND --help`.", "", epilog]
    tables = {name: _arguments(parser) for name, parser in parsers.items()}
    uses = Counter((title, row) for groups in tables.values() for title, rows in groups.items() for row in rows.items())
    common: dict[str, dict[str, str]] = {}
    for (title, (option, meaning)), count in uses.items():
        if count > 1:
            common.setdefault(title, {})[option] = meaning
    lines += ["", "## Common options"]
    for title, rows in common.items():
        lines += _columns("options of several commands" if title == "argument" else title, rows)
    for group in commands.GROUPS:
        lines += ["", f"## {group[:1].upper()}{group[1:]}"]
        for name, parser in parsers.items():
            if group == commands.REGISTRY.module(name).GROUP:
                lines += ["", f"### `sigstats {name}`", "", _prose(parser.description or "")]
                above = []
                for title, rows in tables[name].items():
                    shared = common.get(title, {})
                    lines += _columns(title, {key: row for key, row in rows.items() if shared.get(key) != row})
                    names = [f"`{key.split()[0]}`" for key, row in rows.items() if shared.get(key) == row]
                    missing = [f"`{key.split()[0]}`" for key, row in shared.items() if rows.get(key) != row]
                    if title == "argument" or len(names) < len(missing) + 4:
                        above += names
                    else:
                        above.append(f"*{title}*{' except ' if missing else ''}{', '.join(missing)}")
                if above:
                    lines += ["", f"[Common options](#common-options): {'; '.join(above)}."]
    return "\n".join(lines) + "\n"


def _prose(text: str) -> str:
    """A docstring, with its paragraphs, as Markdown."""
    return text.strip().replace("``", "`").replace("<", "\\<")


def _columns(title: str, rows: dict[str, str]) -> list[str]:
    """A list of arguments below its title; nothing without any."""
    head = ["", f"{title[:1].upper()}{title[1:]}:"] if title != "argument" else []
    return [*head, "", *(f"- `{key}`: {' '.join(rows[key].split())}" for key in rows)] if rows else []


def _arguments(parser: argparse.ArgumentParser) -> dict[str, dict[str, str]]:
    """The arguments of a command and their meanings, by group."""
    formatter = parser._get_formatter()
    tables: dict[str, dict[str, str]] = {}
    for group in parser._action_groups:
        usual = group.title in ("options", "positional arguments")
        rows = tables.setdefault("argument" if usual else group.title or "", {})
        for action in group._group_actions:
            if action.dest == "help" or action.help == argparse.SUPPRESS:
                continue
            name = str(action.metavar or action.dest)
            if action.option_strings:
                option = action.option_strings[-1]
                name = f"{option} {formatter._format_args(action, option.lstrip('-').upper())}"
            rows[name.strip()] = formatter._expand_help(action) if action.help else ""
    return tables


def study_pages() -> str:
    """Every key of study files, by kind, and of cluster files."""
    schema = schema_of("study")
    kinds = {branch["properties"]["kind"]["const"]: branch for branch in _branches(schema, schema)}
    tables = [kind["properties"] for kind in kinds.values()]
    common = [key for key in tables[0] if all(table.get(key) == tables[0][key] for table in tables)]
    every = {
        "kind": {"description": "Kind of study", "enum": list(kinds)},
        **{key: tables[0][key] for key in common},
    }
    head = (
        "# Study files and cluster files\n\nAll keys, from the schema that `sigstats schema` prints and editors "
        "read. A default follows `=`; other keys\nare optional unless *required*. `--set KEY=VALUE` replaces a value. "
        "If a table has several forms, shared keys come first.\n\n"
        "## Keys of every kind\n"
    )
    lines = [head, *_table(schema, {"properties": every, "required": ["kind"]})]
    seen: dict[str, str] = {}
    for kind, model in kinds.items():
        own = {key: node for key, node in model["properties"].items() if key not in (*common, "kind")}
        lines += ["", f'## `kind = "{kind}"`', "", *_table(schema, {**model, "properties": own})]
        lines += _shared(schema, own, skip := set())
        lines += _below(schema, own, "", seen, skip)
    schema = schema_of("cluster")
    clusters = _branches(schema, schema)
    lines += ["", "## Cluster files", *_forms(schema, clusters)]
    for cluster in clusters:
        lines += _below(schema, cluster["properties"], "", seen, set())
    return "\n".join(_once(lines)) + "\n"


def _once(lines: Iterable[str]) -> list[str]:
    """The lines without repetition.

    A long line of an earlier section refers to that section. A sentence below a heading that the list above already
    has is omitted.
    """
    out: list[str] = []
    places: dict[str, str] = {}
    heading = ""
    listed: set[str] = set()
    for line in lines:
        if line.startswith("- "):
            listed.add(line.partition("): ")[2])
        elif (first := re.match(r"[^`#-].*?\.(?= |$)", line)) and first[0][:-1] in listed:
            line = line[first.end() :].strip()
            if not line:
                out.pop()  # the blank line before
                continue
        heading = line.lstrip("# ") if line.startswith("#") else heading
        place = places.setdefault(line, heading) if line.startswith("- ") and len(line.split()) > 14 else heading
        if place == heading:  # a first line, or no long one
            out.append(line)
        elif out[-1].endswith(same := f": as in {place}"):
            out[-1] = out[-1].replace(same, f", {line[2:].partition(' (')[0]}{same}")
        else:
            out.append(f"{line.partition(' (')[0]}{same}")
    return out


def _branches(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """What a value may be: the branches of all unions in it, references followed."""
    if "$ref" in node:
        return _branches(schema, schema["$defs"][node["$ref"].rpartition("/")[2]])
    unions = [each for word in ("anyOf", "oneOf") for each in node.get(word, [])]
    return [leaf for each in unions for leaf in _branches(schema, each)] or [node]


def _below(
    schema: dict[str, Any], keys: dict[str, Any], path: str, seen: dict[str, str], skip: set[Row]
) -> Iterator[str]:
    """The tables that are values of these keys, each with a heading and its own keys, and those below them.

    Tables shown before (`seen`: where) and rows shown before (`skip`) are omitted.
    """
    for key, node in keys.items():
        for leaves, brackets in ((_branches(schema, node), "[{}]"), (_items(schema, node), "[[{}]]")):
            tables = [leaf for leaf in leaves if "properties" in leaf]
            heading = f"`{brackets.format(path + key)}`"
            if not tables:
                continue
            if str(tables) in seen:
                if path and (place := seen[str(tables)]) != heading:
                    yield from ("", f"{heading} has the keys of {place}.")
                continue
            seen[str(tables)] = heading
            yield from ("", f"### {heading}", *_forms(schema, tables, skip))
            for table in tables:
                yield from _below(schema, table["properties"], f"{path}{key}.", seen, skip)


def _items(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """What the elements of a list may be."""
    return [leaf for branch in _branches(schema, node) for leaf in _branches(schema, branch.get("items", {}))]


def _shared(schema: dict[str, Any], keys: dict[str, Any], skip: set[Row]) -> Iterator[str]:
    """The keys that at least three of the tables of a kind share, which are added to `skip`."""
    tables = {key: _items(schema, node) for key, node in keys.items()}
    places: dict[Row, list[str]] = {}
    for key, forms in tables.items():
        for row in dict.fromkeys(row for form in forms if "properties" in form for row in _rows(schema, form)):
            places.setdefault(row, []).append(f"`{key}`")
    rows = {row: names for row, names in places.items() if len(names) > 2}
    if rows:
        lists = sum(any("properties" in form for form in forms) for forms in tables.values())
        yield from ("", "### Keys of several tables", "")
        yield from (_line(row, names if len(names) < lists else ()) for row, names in rows.items())
    skip.update(rows)


def _forms(schema: dict[str, Any], tables: list[dict[str, Any]], skip: Collection[Row] = ()) -> Iterator[str]:
    """The keys of a table; of several forms first those that more than one form has."""
    rows = {id(table): {row[0]: row for row in _rows(schema, table) if row not in skip} for table in tables}
    uses = Counter(row for table in rows.values() for row in table.values())
    if shared := [row for row, count in uses.items() if count > 1]:
        yield ""
        for row in shared:
            forms = [_form(table) for table in tables if row in rows[id(table)].values()]
            others = [_form(table) for table in tables if _form(table) not in forms]
            yield _line(
                row, forms if 2 * len(forms) <= len(tables) else [f"all but {', '.join(others)}"] if others else ()
            )
    for table in tables:
        about = _prose(re.sub(r"\s+", " ", table.get("description", "")))
        if form := _fixed(table):
            about = about.removeprefix(f"`{form}`.").strip()
            about = f"`{form}`{': ' if about else ''}{about}"
        if about:
            yield from ("", about)
        if own := [row for row in rows[id(table)].values() if uses[row] == 1]:
            yield from ("", *map(_line, own))


def _fixed(table: dict[str, Any]) -> str:
    """The key and value that tell a form of a table from the others."""
    return ", ".join(f'{key} = "{node["const"]}"' for key, node in table["properties"].items() if "const" in node)


def _form(table: dict[str, Any]) -> str:
    """The name of a form of a table."""
    return ", ".join(str(node["const"]) for node in table["properties"].values() if "const" in node) or "others"


def _table(schema: dict[str, Any], table: dict[str, Any]) -> Iterator[str]:
    """The keys of a table: type, default and meaning."""
    yield from map(_line, _rows(schema, table))


def _line(row: Row, forms: Collection[str] = ()) -> str:
    """A key in a list, with the forms of the table that take it."""
    key, value, about = row
    return f"- {key}{' of ' if forms else ''}{', '.join(forms)} ({value}): {about}"


def _rows(schema: dict[str, Any], table: dict[str, Any]) -> Iterator[Row]:
    """The rows of the keys of a table."""
    required = table.get("required", ())
    for key, node in table["properties"].items():
        if "const" in node or (key == "kind" and "enum" not in node):
            continue  # the heading has it
        default = ", *required*" if key in required else _default(node.get("default"))
        branches = [*_branches(schema, node), *_items(schema, node)]
        about = node.get("description") or next((branch.get("description", "") for branch in branches), "")
        about = " ".join(about.split())
        if any("properties" in branch for branch in branches):
            about = about.split(". ")[0]  # its own section has the rest
        yield f"`{key}`", _value(schema, node) + default, about.removesuffix(".")


def _default(value: Any) -> str:
    """A default; nothing if it is empty or a table, whose keys have their own."""
    if value is None or value in ("", []) or isinstance(value, dict):
        return ""
    return f" = `{str(value).lower() if isinstance(value, bool) else value}`"


def _value(schema: dict[str, Any], node: dict[str, Any], plural: str = "") -> str:
    """The type and limits of a key, in the words of TOML."""
    types = []
    for branch in _branches(schema, node):
        if "enum" in branch or "const" in branch:
            values = [
                str(value).lower() if isinstance(value, bool) else value
                for value in branch.get("enum", [branch.get("const")])
            ]
            types.append(", ".join(f"`{value}`" for value in dict.fromkeys(values)))
        elif branch.get("type") == "array":
            items = _value(schema, branch["items"], "s") if branch.get("items") else "values"
            types.append(f"lists of {items}" if plural else f"list of {items}" if "`" in items else items)
        elif branch.get("type") != "null":
            types.append(" ".join([f"{_TYPES.get(branch.get('type', ''), 'any value')}{plural}", *_limits(branch)]))
    return " or ".join(dict.fromkeys(types))


def _limits(branch: dict[str, Any]) -> list[str]:
    """The limits of a number: a range if both ends belong to it."""
    limits = {name: f"{branch[name]:,}" for name in _LIMITS if abs(branch.get(name, 2**53)) < 2**53}
    if {*limits} == {"minimum", "maximum"}:
        return [(" to " if "-" in limits["minimum"] else "–").join(limits.values())]
    return [", ".join(f"{_LIMITS[name]} {limit}" for name, limit in limits.items())] if limits else []


def reference() -> str:
    """The page of names, with the first sentence of each docstring."""
    page = (DOCS / "reference.md").read_text(encoding="utf-8")
    return re.sub(r"(<!-- names of (\S+) -->\n\n)((?:- [^\n]*\n)+)", _names, page)


def _names(block: re.Match[str]) -> str:
    """The names in a list of the reference, with their meanings."""
    lines = [block[1]]
    for name in re.findall(r"^- \[`(\w+)`\]", block[3], flags=re.MULTILINE):
        value = getattr(importlib.import_module(block[2]), name)
        file = Path(inspect.getsourcefile(inspect.unwrap(value)) or "").resolve().relative_to(DOCS.parent)
        about = (inspect.getdoc(value) or "").partition("\n\n")[0]
        lines.append(f"- [`{name}`](../{file}): {' '.join(about.split())}\n")
    return "".join(lines)


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
