"""What a study file says of one data set, checked: known options of the right type, column names that are there."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias

from sigstats._common.validation import hint, refuse, shown

Kinds: TypeAlias = type | tuple[type, ...]

#: The options of every source that reads a table: which column is the class, and what is done with the others.
COLUMNS: Mapping[str, Kinds] = {
    "target": str,
    "columns": list,
    "drop": list,
    "nominal": list,
    "groups": str,
    "folds": str,
}

_LISTS_OF_NAMES = ("columns", "drop", "nominal", "missing")
_WORDS = {str: "a string", list: "a list of strings", int: "a whole number", float: "a number"}


def validate_options(
    spec: Mapping[str, Any], known: Mapping[str, Kinds], required: Sequence[str] = ()
) -> dict[str, Any]:
    """The options of one data set, checked, with a ``name``: that of the file, where there is a path and no name."""
    path = spec.get("path")
    name = spec.get("name", PurePath(path).stem if isinstance(path, str) else None)
    where = "data set" if name is None else f"data set {name if isinstance(name, str) else shown(name)}"
    allowed: dict[str, Kinds] = {"name": str, "source": str, **known}
    for key, value in spec.items():
        if key not in allowed:
            raise ValueError(f"{where}: {shown(key)}: unknown option; {hint(key, sorted(allowed))}")
        if not _fits(value, allowed[key]):
            raise refuse(f"{where}: {key}", value, _type_name(allowed[key]))
        if key in _LISTS_OF_NAMES:
            for item in value:
                if not isinstance(item, str):
                    raise refuse(f"{where}: {key}", item, "a string in every place of the list")
    for key in required:
        if key not in spec:
            raise ValueError(f"{where}: {key}: is missing; expected {_type_name(allowed[key])}")
    return {**spec, "name": name}


def _fits(value: Any, kinds: Kinds) -> bool:
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, bool):  # to Python a bool is an int
        return False
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))


def _type_name(kinds: Kinds) -> str:
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    return " or ".join(_WORDS[kind] for kind in kinds)
