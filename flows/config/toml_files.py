"""TOML files, and values of the command line that replace some of theirs. Nothing else reads TOML."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sigstats._common.messages import nearest, shown

from ..errors import BadInput

#: Tables and lists in one another; a study or a cluster file has five.
_DEEPEST = 50
#: A dotted key that is deeper; tomllib takes time quadratic in its length.
_DEEP_KEY = re.compile(rf"""(?<![\w"'-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{_DEEPEST}}}""")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    deep = f"{path}: is nested too deep; expected tables and lists of a few levels"
    try:
        values = _loads(path.read_text(encoding="utf-8-sig"))  # with a byte order mark or without
    except FileNotFoundError:
        beside = [entry.name for entry in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        near = nearest(path.name, beside)
        hint = f" (did you mean {path.with_name(near)}?)" if near else ""
        raise BadInput(f"{path}: there is no such file{hint}") from None
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder; expected a TOML file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: is not TOML: {error}{_unquoted(path, str(error))}") from None
    except RecursionError:
        raise BadInput(deep) from None
    except ValueError as error:  # a path with a null character, a number of thousands of digits
        raise BadInput(f"{path}: cannot be read ({error})") from None
    level: list[Any] = [values]
    for _ in range(_DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for values_of in inner for each in values_of if isinstance(each, dict | list)]
    if level:
        raise BadInput(deep)
    return values


def _loads(text: str) -> dict[str, Any]:
    """As `tomllib.loads`; RecursionError if a dotted key is too deep."""
    if _DEEP_KEY.search(text):
        raise RecursionError
    return tomllib.loads(text)


def _unquoted(path: Path, error: str) -> str:
    """Where the line of an error has a word without quotes, how it is written."""
    line = re.search(r"at line (\d+)", error)
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    found = line and re.fullmatch(r"\s*([\w.-]+)\s*=\s*([A-Za-z][\w./-]*)\s*", lines[int(line[1]) - 1])
    return f'; text needs quotes: {found[1]} = "{found[2]}"' if found else ""


def apply_settings(values: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Return `values` with each ``key=value`` of the command line set.

    The key is dotted. The value is read as TOML; what is not TOML is a string.

    >>> apply_settings({"seed": 1}, ["seed=2", "permutation.resamples=99", "name=quick"])
    {'seed': 2, 'permutation': {'resamples': 99}, 'name': 'quick'}
    """
    result = dict(values)
    for setting in settings:
        key, separator, text = setting.partition("=")
        parts = key.strip().split(".")
        if not separator or not all(parts) or len(parts) > _DEEPEST:
            raise BadInput(f"--set: {shown(setting)} is not valid; expected key=value, as in seed=7")
        try:
            value = _loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
            raise BadInput(f"--set: {shown(setting)} is not valid; expected a value that a study may have") from None
        table = result
        for depth, part in enumerate(parts[:-1]):
            inner = table.get(part, {})
            if not isinstance(inner, dict):
                raise BadInput(f"--set: {shown(setting)} is not valid; {'.'.join(parts[: depth + 1])} is no table")
            table[part] = dict(inner)
            table = table[part]
        table[parts[-1]] = value
    return result
