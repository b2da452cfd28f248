"""A study's configuration as the TOML text that gives it again. Python reads TOML and does not write it."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100


def toml_text(values: Mapping[str, Any]) -> str:
    """The TOML text of nested tables, lists and values; None, which TOML lacks, is left out.

    Examples
    --------
    >>> from sigstats.flows.report.toml_text import toml_text
    >>> print(toml_text({"kind": "benchmark", "permutation": {"resamples": 999}, "slice": None}))
    kind = "benchmark"
    <BLANKLINE>
    [permutation]
    resamples = 999
    """
    return "\n\n".join(part for part in _tables(values, ()) if part)


def _tables(values: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    present = {key: value for key, value in values.items() if value is not None}
    plain = {key: value for key, value in present.items() if not isinstance(value, Mapping)}
    inner = {key: value for key, value in present.items() if isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_value(value, len(key))}" for key, value in plain.items()]
    if path and (lines or not inner):
        lines.insert(0, f"[{'.'.join(_key(part) for part in path)}]")
    return ["\n".join(lines), *(text for key, table in inner.items() for text in _tables(table, (*path, key)))]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, indent: int = 0) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {_value(item)}" for key, item in value.items() if item is not None)
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        items = [_value(item) for item in value if item is not None]
        line = f"[{', '.join(items)}]"
        if len(line) + indent <= _WIDTH:
            return line
        return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
    return _string(str(value))
