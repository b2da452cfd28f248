"""Validation of the options of a data set in a study file, and of the values of a data set."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import hint, refuse, shown

Kinds: TypeAlias = type | tuple[type, ...]

#: The options of every source that reads a table: the roles of its columns.
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
    """Return the options of a data set if their keys and types are valid. The default ``name`` is the file's name."""
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
                raise refuse(f"{where}: {key}", item, "only strings in the list")
    for key in required:
        if key not in spec:
            raise ValueError(f"{where}: {key}: is missing; expected {_type_name(allowed[key])}")
    return {**spec, "name": name}


def _fits(value: Any, kinds: Kinds) -> bool:
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, bool):  # bool is a subclass of int
        return False
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))


def _type_name(kinds: Kinds) -> str:
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    return " or ".join(_WORDS[kind] for kind in kinds)


def as_names(value: Any, where: str) -> tuple[str, ...]:
    """Return `value` as a tuple; raise ValueError unless it has distinct strings that can be written as UTF-8."""
    wanted = "different names, as strings"
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise refuse(where, value, wanted)
    for name in value:
        if not isinstance(name, str):
            raise refuse(where, name, wanted)
        try:
            name.encode()
        except UnicodeEncodeError:
            raise refuse(where, name, "a string without lone surrogates") from None
    if len(set(value)) < len(value):
        raise refuse(where, next(name for name in value if value.count(name) > 1), wanted)
    return tuple(value)


def _array(value: Any, where: str, wanted: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError):  # ragged, or an object that NumPy cannot read
        raise refuse(where, value, wanted) from None


def as_matrix(value: Any, where: str, d: int) -> NDArray[np.float64]:
    """Return the features as float64, shape (n, d). Missing and infinite values are unchanged."""
    wanted = f"numbers of shape (n, {d}), with one row or more"
    array = _array(value, where, wanted)
    if array.dtype.kind not in "iuf":
        raise refuse(where, value, wanted)
    if array.ndim != 2 or array.shape[1] != d or not len(array):
        raise ValueError(f"{where}: the shape {array.shape} is not valid; expected {wanted}")
    return np.ascontiguousarray(array, dtype=np.float64)


def as_class_codes(value: Any, n: int, classes: tuple[str, ...], where: str) -> NDArray[np.int64]:
    """Return the class of each row as a position in `classes`; raise ValueError if a class has no row."""
    wanted = f"{n} whole numbers, each a position in the {len(classes)} classes; no class may be missing"
    y = _array(value, f"{where}: y", wanted)
    if y.dtype.kind not in "iu":
        raise refuse(f"{where}: y", value, wanted)
    if y.shape != (n,):
        raise ValueError(f"{where}: y: the shape {y.shape} is not valid; expected {wanted}")
    outside = (y < 0) | (y >= len(classes))
    if outside.any():
        row = int(outside.argmax())
        raise refuse(f"{where}: y, row {row}", y[row], wanted)
    y = np.ascontiguousarray(y, dtype=np.int64)
    rows = np.bincount(y, minlength=len(classes))
    if len(classes) < 2:
        raise refuse(f"{where}: classes", classes, "two or more classes")
    if not rows.all():
        raise ValueError(f"{where}: classes: {shown(classes[int(rows.argmin())])} has no row; remove this class")
    return y


def as_partition(value: Any, where: str, n: int) -> NDArray[np.int64] | None:
    """Return the codes of groups or folds as int64, or None if `value` is None; raise ValueError if invalid."""
    if value is None:
        return None
    wanted = f"{n} whole numbers: the codes 0, 1, ... of at least two groups or folds, without gaps"
    codes = _array(value, where, wanted)
    if codes.dtype.kind not in "iu" or codes.shape != (n,) or codes.min() < 0 or codes.max() >= n:
        raise refuse(where, value, wanted)
    rows = np.bincount(codes)
    if len(rows) < 2 or not rows.all():
        raise refuse(where, value, wanted)
    return np.ascontiguousarray(codes, dtype=np.int64)


def as_flags(value: Any, where: str, d: int) -> NDArray[np.bool_]:
    """Return `value` as an array of booleans, one per feature."""
    wanted = f"{d} booleans, one per feature"
    flags = _array(value, where, wanted)
    if flags.dtype != np.bool_ or flags.shape != (d,):
        raise refuse(where, value, wanted)
    return flags


def as_categories(
    value: Any, X: NDArray[np.float64], nominal: NDArray[np.bool_], features: tuple[str, ...], where: str
) -> tuple[tuple[str, ...], ...]:
    """Return the categories of each feature; raise ValueError unless they match the numeric features and all codes."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != len(features):
        raise refuse(f"{where}: categories", value, f"{len(features)} tuples of names, one per feature")
    checked = tuple(
        as_names(names, f"{where}: categories of {name}") for name, names in zip(features, value, strict=True)
    )
    for position, (name, names) in enumerate(zip(features, checked, strict=True)):
        if not nominal[position]:
            if names:
                raise ValueError(f"{where}: categories of {name}: the feature is numeric; remove {shown(names)}")
            continue
        codes = X[:, position]
        wrong = ~(np.isnan(codes) | ((codes >= 0) & (codes < len(names)) & (codes == np.floor(codes))))
        if wrong.any():
            row = int(wrong.argmax())
            raise refuse(f"{where}: {name}, row {row}", codes[row], f"NaN or a position in its {len(names)} categories")
    return checked
