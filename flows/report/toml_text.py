"""A study file as TOML."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any


def config_as_toml(config: Mapping[str, Any]) -> str:
    """A configuration as the TOML text that gives it again: what is None, which TOML lacks, is left out."""
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
    within = {key: value for key, value in values.items() if _is_table(value) or _are_tables(value)}
    lines = [f"{_key(key)} = {_inline(one)}" for key, one in values.items() if key not in within and one is not None]
    if heading and (lines or not within or heading.startswith("[[")):
        lines.insert(0, heading)
    if lines:
        yield "\n".join(lines)
    for key, value in within.items():
        full = f"{name}.{_key(key)}" if name else _key(key)
        for one in [value] if _is_table(value) else value:
            yield from _tables(one, full, f"[{full}]" if _is_table(value) else f"[[{full}]]")


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _are_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_table, value))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _inline(key)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = [f"{_key(key)} = {_inline(one)}" for key, one in value.items() if one is not None]
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_inline(one) for one in value if one is not None)}]"
    if isinstance(value, str):  # JSON escapes all that TOML asks for, but for DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, (bool, int, float)) else str(value)
