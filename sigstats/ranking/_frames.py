"""The columns of a data frame that are models, labels, groups and slices; or arrays as they are given."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._common.validation import as_array, hint, refuse, shown


class Found(NamedTuple):
    """A table of models, their names, the columns that are named, and the slices."""

    table: Any
    models: Any
    named: Mapping[str, Any]
    slices: Mapping[str, Any]


def columns_of(correct: Any, models: Any, columns: Mapping[str, Any], slices: Any) -> Found:
    """A table, its names, and what of other columns there is: names are looked up where there is a frame.

    Raises
    ------
    ValueError
        If a column is not there, or a name stands where there is no frame.
    """
    frame = _frame(correct)

    def column(name: Any, what: str) -> Any:
        if not isinstance(name, str):
            return name
        if frame is None:
            raise refuse(what, name, "a column of values; only a data frame has names")
        if name not in frame:
            raise ValueError(f"{what}: no column {shown(name)}; {hint(name, frame)}")
        return frame[name]

    named = [each for each in columns.values() if isinstance(each, str)]
    if slices is None:
        parts = {}
    elif isinstance(slices, Mapping):
        parts = {str(name): values for name, values in slices.items()}
    elif isinstance(slices, Sequence) and not isinstance(slices, str) and all(isinstance(each, str) for each in slices):
        named += slices
        parts = {name: column(name, "slices") for name in slices}
    else:
        raise refuse("slices", slices, "a mapping of names to columns, or names of columns of a data frame")
    others = {what: column(name, what) for what, name in columns.items()}
    if frame is None:
        table = as_array(correct, "correct", "a table of rows and models")
        if table.ndim != 2:
            raise refuse("correct (shape)", table.shape, "rows and columns")
        return Found(table, models, others, parts)
    chosen = [name for name in frame if name not in named] if models is None else list(models)
    found = [np.asarray(column(name, "models")) for name in chosen]
    if any(not isinstance(name, str) for name in chosen):
        raise refuse("models", models, "names of columns")
    if not found:
        raise refuse("correct (columns)", list(frame), "a column for each model")
    kinds = {each.dtype for each in found}
    table = np.empty((len(found[0]), len(found)), dtype=kinds.pop() if len(kinds) == 1 else object)
    for i, each in enumerate(found):
        table[:, i] = each
    return Found(table, chosen, others, parts)


def _frame(table: Any) -> dict[str, Any] | None:
    """The columns of a data frame by name, or None of anything else."""
    if isinstance(table, (np.ndarray, list, tuple)):
        return None
    import narwhals

    try:
        frame = narwhals.from_native(table, eager_only=True)
    except TypeError:
        return None
    return {str(name): frame[name].to_numpy() for name in frame.columns}
