"""Validated options of one data set in a study file: known keys of the right type, in stored form."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import hint, refuse, shown

Kinds: TypeAlias = type | tuple[type, ...]

#: The options of every source that reads a table: which column is the class, and what is done with the others.
COLUMNS: Mapping[str, Kinds] = {
    "target": str,
    "columns": list,
    "drop": list,
    "nominal": list,
    "classes": list,
    "groups": str,
    "folds": str,
}

_WORDS = {str: "a string", list: "a list of strings", int: "a whole number", float: "a number"}


def validate_options(
    spec: Mapping[str, Any], known: Mapping[str, Kinds], required: Sequence[str] = ()
) -> dict[str, Any]:
    """The validated options of one data set, with a ``name``: that of the file if there is a path and no name."""
    path = spec.get("path")
    name = spec.get("name", PurePath(path).stem if isinstance(path, str) else None)
    where = "data set" if name is None else f"data set {name if isinstance(name, str) else shown(name)}"
    allowed: dict[str, Kinds] = {"name": str, "source": str, **known}
    for key, value in spec.items():
        if key not in allowed:
            raise ValueError(f"{where}: {shown(key)}: unknown option; {hint(key, sorted(allowed))}")
        if not _fits(value, allowed[key]):
            raise refuse(f"{where}: {key}", value, _type_name(allowed[key]))
        for item in value if isinstance(value, list) else ():
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


def as_names(value: Any, where: str) -> tuple[str, ...]:
    """A tuple of distinct strings that can be written as UTF-8, or ValueError."""
    wanted = "different names, as strings"
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise refuse(where, value, wanted)
    for name in value:
        if not isinstance(name, str):
            raise refuse(where, name, wanted)
        try:
            name.encode()
        except UnicodeEncodeError:
            raise refuse(where, name, "text without lone surrogates") from None
    if len(set(value)) < len(value):
        raise refuse(where, next(name for name in value if value.count(name) > 1), wanted)
    return tuple(value)


def _array(value: Any, where: str, wanted: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError):  # ragged, or an object that NumPy cannot read
        raise refuse(where, value, wanted) from None


def as_matrix(value: Any, where: str, d: int) -> NDArray[np.float64]:
    """The features as float64, (n, d), missing and infinite values as they are."""
    wanted = f"numbers of shape (n, {d}), with one row or more"
    array = _array(value, where, wanted)
    if array.dtype.kind not in "iuf":
        raise refuse(where, value, wanted)
    if array.ndim != 2 or array.shape[1] != d or not len(array):
        raise refuse(f"{where} (shape)", array.shape, wanted)
    return np.ascontiguousarray(array, dtype=np.float64)


def as_class_codes(value: Any, n: int, classes: tuple[str, ...], where: str) -> NDArray[np.int64]:
    """The class of each row, a position in `classes`; each class has a row."""
    wanted = f"{n} whole numbers, each a position in the {len(classes)} classes; no class may be missing"
    y = _array(value, f"{where}: y", wanted)
    if y.dtype.kind not in "iu":
        raise refuse(f"{where}: y", value, wanted)
    if y.shape != (n,):
        raise refuse(f"{where}: y (shape)", y.shape, wanted)
    outside = (y < 0) | (y >= len(classes))
    if outside.any():
        row = int(outside.argmax())
        raise refuse(f"{where}: y, row {row}", y[row], wanted)
    y = np.ascontiguousarray(y, dtype=np.int64)
    rows = np.bincount(y, minlength=len(classes))
    if len(classes) < 2:
        raise refuse(f"{where}: classes", classes, "two or more")
    if not rows.all():
        raise refuse(f"{where}: classes", classes[int(rows.argmin())], "classes that each have a row")
    return y


def as_parts(value: Any, where: str, n: int) -> NDArray[np.int64] | None:
    """Codes of two parts of the rows or more, each with a row; None if there are none."""
    if value is None:
        return None
    wanted = f"{n} whole numbers, the codes 0, 1, ... of two or more, each of which has a row"
    codes = _array(value, where, wanted)
    if codes.dtype.kind not in "iu" or codes.shape != (n,) or codes.min() < 0 or codes.max() >= n:
        raise refuse(where, value, wanted)
    rows = np.bincount(codes)
    if len(rows) < 2 or not rows.all():
        raise refuse(where, value, wanted)
    return np.ascontiguousarray(codes, dtype=np.int64)


def as_flags(value: Any, where: str, d: int) -> NDArray[np.bool_]:
    """One boolean a feature."""
    wanted = f"{d} booleans, one a feature"
    flags = _array(value, where, wanted)
    if flags.dtype != np.bool_ or flags.shape != (d,):
        raise refuse(where, value, wanted)
    return flags


def as_categories(
    value: Any, X: NDArray[np.float64], nominal: NDArray[np.bool_], features: tuple[str, ...], where: str
) -> tuple[tuple[str, ...], ...]:
    """The categories of each feature, none of a numeric one; every code in `X` has its category."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != len(features):
        raise refuse(f"{where}: categories", value, f"{len(features)} tuples of names, one per feature")
    checked = tuple(
        as_names(names, f"{where}: categories of {name}") for name, names in zip(features, value, strict=True)
    )
    for position, (name, names) in enumerate(zip(features, checked, strict=True)):
        if not nominal[position]:
            if names:
                raise refuse(f"{where}: categories of {name}", names, "none, since the feature is numeric")
            continue
        codes = X[:, position]
        wrong = ~(np.isnan(codes) | ((codes >= 0) & (codes < len(names)) & (codes == np.floor(codes))))
        if wrong.any():
            row = int(wrong.argmax())
            raise refuse(f"{where}: {name}, row {row}", codes[row], f"NaN or a position in its {len(names)} categories")
    return checked
