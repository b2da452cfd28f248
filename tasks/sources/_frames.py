"""From a table of columns to a data set: which column is the class, which features are nominal, what is missing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sigstats.checks import nearest, shown

from ..datasets import Dataset


def options(spec: Mapping[str, Any], known: Mapping[str, type | tuple[type, ...]], required: Sequence[str]) -> None:
    """Refuse an option that a source does not know, one of the wrong type, and one that is missing."""
    where = f"data set {spec.get('name')}"
    allowed = {"name": str, "source": str, **known}
    for key, value in spec.items():
        if key not in allowed:
            near = nearest(key, allowed)
            hint = f"did you mean {near!r}?" if near else f"expected one of {', '.join(sorted(allowed))}"
            raise ValueError(f"{where}: {key}: unknown option; {hint}")
        if not isinstance(value, allowed[key]):
            raise ValueError(f"{where}: {key}: {shown(value)} is not valid; expected {_type_name(allowed[key])}")
    for key in required:
        if key not in spec:
            raise ValueError(f"{where}: {key}: is missing")


def names_of(spec: Mapping[str, Any], key: str) -> list[str]:
    """An option that is a list of column names."""
    names = spec.get(key, [])
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"data set {spec['name']}: {key}: {shown(names)} is not valid; expected column names")
    return list(names)


def from_frame(
    frame: pd.DataFrame, spec: Mapping[str, Any], *, where: str, default_target: str | None = None
) -> Dataset:
    """The data set of a table.

    Parameters
    ----------
    frame : DataFrame
        Columns of numbers, strings, booleans or categories; missing values as pandas marks them.
    spec : mapping
        ``target`` (the class), ``drop`` (columns to leave out) and ``nominal`` (columns of numbers that are codes).
    where : str
        What messages call the table: its path.
    default_target : str, optional
        The class where `spec` names none.

    Raises
    ------
    ValueError
        One line that names table, column and value.
    """
    columns = [str(name) for name in frame.columns]
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(f"{where}: column {twice!r} is there twice; expected each name once")
    frame = frame.set_axis(columns, axis="columns")
    target = str(spec.get("target", default_target))
    dropped, nominal = names_of(spec, "drop"), names_of(spec, "nominal")
    for name in [target, *dropped, *nominal]:
        if name not in columns:
            near = nearest(name, columns)
            hint = f"did you mean {near!r}?" if near else f"expected one of {', '.join(map(shown, columns[:20]))}"
            raise ValueError(f"{where}: column {name!r} is not there; {hint}")
    labels = frame[target]
    if labels.isna().any():
        row = int(np.flatnonzero(labels.isna())[0])
        raise ValueError(f"{where}: column {target!r}: the class of row {row} (from 0) is missing; expected a class")
    y, classes = _coded(labels)
    features = [name for name in columns if name != target and name not in dropped]
    if not features:
        raise ValueError(f"{where}: no column is left; expected a feature beside the class {target!r}")
    X = np.empty((len(frame), len(features)))
    is_nominal, categories = [], []
    for position, name in enumerate(features):
        X[:, position], found = _feature(frame[name], f"{where}: column {shown(name)}", force=name in nominal)
        is_nominal.append(found is not None)
        categories.append(found or ())
    return Dataset(
        name=spec["name"],
        X=X,
        nominal=np.array(is_nominal, dtype=bool),
        y=y.astype(np.int64),
        classes=classes,
        features=tuple(features),
        categories=tuple(categories),
    )


def _feature(column: pd.Series, where: str, *, force: bool) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    kind = column.dtype
    if not force and pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(values).any():
            raise ValueError(
                f"{where}: infinity in row {int(np.isinf(values).argmax())} (from 0); expected finite numbers"
            )
        return values, None
    if pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind):
        raise ValueError(f"{where}: times are no feature of a classifier; drop the column, or make numbers of it")
    present = column.dropna()
    if len(present) and not isinstance(present.iloc[0], (str, bool, int, float, np.generic)):
        raise ValueError(
            f"{where}: {shown(present.iloc[0])} is not valid; expected numbers, strings, booleans or categories"
        )
    codes, names = _coded(column)
    return np.where(codes < 0, np.nan, codes), names


def _coded(column: pd.Series) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    # Sorted as text, so that the codes do not depend on the order of the rows.
    text = column.map(_text, na_action="ignore")
    names = sorted(set(text.dropna()))
    codes = {name: code for code, name in enumerate(names)}
    return np.array([codes.get(value, -1) for value in text], dtype=np.int64), tuple(names)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, (float, np.floating)) and float(value).is_integer() else str(value)


def _type_name(kinds: type | tuple[type, ...]) -> str:
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    words = {str: "a string", list: "a list", int: "a whole number", bool: "true or false", float: "a number"}
    return " or ".join(words.get(kind, kind.__name__) for kind in kinds)
