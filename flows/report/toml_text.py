"""A study file as TOML."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def config_as_toml(config: Mapping[str, Any]) -> str:
    """A configuration as TOML text; None, which TOML lacks, is left out."""
    first = ("kind", "name", "seed")
    keys = [*(key for key in first if key in config), *sorted(config.keys() - set(first))]
    return toml_text({key: config[key] for key in keys})


#: A key that needs no quotes.
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(values: Mapping[str, Any]) -> str:
    """The TOML text of some values; None, which TOML lacks, is left out.

    >>> print(toml_text({"seed": 1, "permutation": {"rule": None, "nulls": ["labels"]}, "tables": [{"name": "a b"}]}))
    seed = 1
    <BLANKLINE>
    [permutation]
    nulls = ["labels"]
    <BLANKLINE>
    [[tables]]
    name = "a b"
    """
    return "\n\n".join(_tables(values, "", ""))


def _tables(values: Mapping[str, Any], name: str, heading: str) -> Iterator[str]:
    within = {key: tables for key, value in values.items() if (tables := _tables_in(value))}
    lines = [f"{_key(key)} = {_inline(one)}" for key, one in values.items() if key not in within and one is not None]
    if heading and (lines or not within or heading.startswith("[[")):
        lines.insert(0, heading)
    if lines:
        yield "\n".join(lines)
    for key, tables in within.items():
        full = f"{name}.{_key(key)}" if name else _key(key)
        for one in tables:
            yield from _tables(one, full, f"[{full}]" if isinstance(values[key], Mapping) else f"[[{full}]]")


def _tables_in(value: Any) -> Sequence[Mapping[str, Any]]:
    """Return the tables that a value is or contains; empty for other values."""
    tables = [value] if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else []
    return tables if all(isinstance(table, Mapping) for table in tables) else []


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _inline(key)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = [f"{_key(key)} = {_inline(one)}" for key, one in value.items() if one is not None]
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_inline(one) for one in value if one is not None)}]"
    if isinstance(value, str):  # JSON escapes all that TOML asks for except DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, (bool, int, float)) else str(value)
