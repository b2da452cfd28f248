"""Data frames of any library, opened by narwhals: their columns that are models, groups and slices, and their rows."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .class_spelling import DistinctNames, is_finite_number, is_summary
from .column_names import KNOWN, RUN_OR_MODEL, is_no_model
from .repeats import check_end_rows, refuse_summaries
from .validation import MAX_TOTAL, as_array, has_index, hint, other_labels, refuse, require_one_index, shown

#: The expected order of names of classes, with the reason.
SORTED = "names in sorted order, since {} (an array is taken as it is)"


def named_levels(index: Any, name: str) -> list[Any]:
    """Return the names of the levels of a pandas MultiIndex; an empty list for other objects.

    Raises ValueError if a level has no name, since its values may be those of seeds, folds or items.
    """
    levels = [*index.names] if getattr(index, "nlevels", 1) > 1 else []
    if None in levels:
        wanted = "a name for each level (index.names = ['seed', 'id']), or no index (reset_index(drop=True))"
        raise refuse(f"{name} (levels of the index)", levels, wanted)
    return levels


def refuse_repeated_items(index: Any, name: str) -> None:
    """Refuse rows whose pandas index repeats ids, or names runs or models on the same items: they are dependent."""
    levels = named_levels(index, name) or [level for level in [getattr(index, "name", None)] if level is not None]
    for level in levels:
        text, values = str(level).lower(), index.get_level_values(level)
        if text in ("id", "item", *KNOWN["id"]):
            rows = values.duplicated()
        elif len(levels) > 1 and RUN_OR_MODEL.fullmatch(text):
            rows = index.droplevel(level).duplicated()
        else:
            continue
        if rows.any():
            problem = f"{rows.sum():,} of {len(rows):,} rows repeat an item of other rows, judging by {shown(level)}"
            cure = "pass the items as groups or, if rows are independent, drop the index"
            raise ValueError(f"{name} (index): {problem}; {cure} (reset_index(drop=True))")


def opened(table: Any) -> Any | None:
    """Return a table as a narwhals data frame; None if it is not a data frame, or a lazy one."""
    if isinstance(table, (np.ndarray, list, tuple)):
        return None
    import narwhals

    try:
        return narwhals.from_native(table, eager_only=True)
    except Exception:  # other objects may raise anything
        return None


def require_same_index(*, axis: Literal["rows", "classes"] = "rows", **values: Any) -> None:
    """Refuse pandas objects whose rows have other names or another order, since they are compared by position.

    Objects without an index match any. With ``axis="classes"`` the columns of data frames are compared, and the indices
    of Series with them.
    """
    if axis == "rows":
        require_one_index(values)
        return
    first: tuple[str, list[Any]] | None = None
    for name, value in values.items():
        frame = opened(labelled(value, name))
        if frame is None and not has_index(value):
            continue
        where, classes = ("index", [*value.index]) if frame is None else ("columns", [*frame.columns])
        first = first or (name, classes)
        if classes != first[1]:
            raise other_labels(name, where, value.index if frame is None else classes, f"the classes of {first[0]}")


def labelled(value: Any, name: str) -> Any:
    """Return a sequence of pandas Series as a data frame with these rows; return anything else unchanged.

    Series without distinct names, or with numbers as names, make rows without labels. Raises ValueError if their
    indices differ.
    """
    rows = value if isinstance(value, (list, tuple)) else ()
    if not rows or not all(has_index(row) and row.ndim == 1 for row in rows):
        return value
    require_one_index({f"{name}[{place}]": row for place, row in enumerate(rows)})
    names = [row.name for row in rows]
    are_labels = len({*names}) == len(names) and all(isinstance(text, (str, bool, np.bool_)) for text in names)
    frame: Any = type(rows[0].to_frame())  # that of pandas, or of a library with its interface
    return frame([*map(np.asarray, rows)], names if are_labels else None, rows[0].index)


def are_in_order(names: Sequence[Any]) -> bool:
    """Return True if names are sorted as texts or as numbers, or are those that polars gives to columns by default."""
    texts = [str(name) for name in names]
    keys: list[Any] = [float(text) for text in texts] if all(map(is_finite_number, texts)) else texts
    return keys == sorted(keys) or texts == [f"column_{place}" for place in range(len(texts))]


def same_columns(**tables: Any) -> None:
    """Refuse tables that name the same classes in different orders, or unsorted next to a table without names."""
    frames = {name: opened(labelled(table, name)) for name, table in tables.items()}
    require_same_index(axis="classes", **{name: tables[name] if of is None else of for name, of in frames.items()})
    unnamed = any(frame is None for frame in frames.values())
    for name, frame in frames.items():
        if unnamed and frame is not None and not are_in_order(frame.columns):
            raise refuse(f"{name} (columns)", [*frame.columns], SORTED.format("another table names no classes"))


def refuse_summary_rows(**values: Any) -> None:
    """Refuse a pandas object whose first or last row, and no other, has a name such as "mean" or "Total"."""
    for name, value in values.items():
        index: Any = value.index if has_index(value) else ()
        for level in range(index.nlevels if len(index) > 2 else 0):
            labels = index.get_level_values(level)
            ends = [text for text in labels[[0, -1]] if is_summary(text)]
            if odd := next((text for text in ends if (labels == text).sum() == 1), None):
                cure = "leave it out, or, if it is no summary, drop the index (reset_index(drop=True))"
                raise ValueError(f"{name} (index): {shown(odd)} is a summary of the others; {cure}")


def same_classes(**counts: Any) -> None:
    """Refuse pandas objects of counts with different classes, classes that look alike, or a total.

    Also refuse results of ``value_counts()``, sorted by frequency, together with numbers that name no classes.
    """
    require_same_index(**counts)
    indices: dict[str, Any] = {name: getattr(count, "index", None) for name, count in counts.items()}
    unnamed = [name for name, index in indices.items() if not hasattr(index, "equals")]
    for name, count in counts.items():
        index = indices[name]
        if hasattr(index, "equals"):  # a list has a method of this name
            labels = {label for label in index if isinstance(label, str)}
            DistinctNames(sorted(labels), MAX_TOTAL, f"{name} (index)")
            values = np.asarray(count)
            totals = np.flatnonzero(2 * values == np.sum(values)) if len(index) > 2 else ()
            # Probabilities that sum to 1 include no total, though one of them may be 0.5.
            if odd := next((index[k] for k in totals if is_summary(index[k]) and values[k] != 0.5), None):
                raise ValueError(f"{name} (index): {shown(odd)} is the total of the others; leave it out")
            of_value_counts = getattr(count, "name", None) in ("count", "proportion")
            if unnamed and of_value_counts and not index.is_monotonic_increasing:
                wanted = f"the order of {unnamed[0]}, which names no classes ({name}.sort_index(), or an array)"
                raise refuse(f"{name} (index)", [*index], wanted)


def as_decimals(array: NDArray[Any]) -> NDArray[Any]:
    """Convert half and single precision floats to float64 by their shortest decimals; leave other values unchanged.

    In single precision 0.1 is 0.100000001490116, so that the differences 0.3 - 0.2 and 0.2 - 0.1 are no longer tied.
    Numbers are kept if they are so large that their type has only whole numbers there.
    """
    if array.dtype not in (np.float16, np.float32):
        return array
    values, where = np.unique(array, return_inverse=True)
    small = np.abs(values) < 2.0 ** (np.finfo(array.dtype).nmant + 1)
    value = values.astype(np.float64)
    value[small] = values[small].astype("U32").astype(np.float64)
    return value[where].reshape(array.shape)


def is_missing(value: Any) -> bool:
    """Return True if a value is missing: None, NaN, or the missing value of pandas."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))


class ModelTable(NamedTuple):
    """A table of models, their names, the columns that are named, and the slices."""

    table: Any
    models: Any
    named: Mapping[str, Any]
    slices: Mapping[str, Any]


def columns_of(
    scores: Any, models: Any, columns: Mapping[str, Any], slices: Any = None, *, name: str = "correct"
) -> ModelTable:
    """Return the columns of models (by default those that no argument names), the named columns, and the slices."""
    if isinstance(models, str):
        raise refuse("models", models, "a list of the columns of models")
    frame = _frame(scores, name)
    if frame is not None:  # numbered columns are named by their numbers
        columns = {argument: _name(value) for argument, value in columns.items()}
        slices = [*map(_name, slices)] if isinstance(slices, (list, tuple)) else slices
    index: Any = getattr(scores, "index", None)
    levels: dict[str, Any] = {}
    if frame is not None:
        levels = {str(level): index.get_level_values(level).to_numpy() for level in named_levels(index, name)}
        frame = {**levels, **frame}
    if "groups" in columns and columns["groups"] is None and columns.get("items") is None:
        refuse_repeated_items(index, name)

    def column(value: Any, argument: str) -> Any:
        """Return the column of the data frame that an argument names; values as they are."""
        if not isinstance(value, str):
            return value
        if frame is None:
            raise refuse(argument, value, "a column of values; only a data frame has names")
        if value not in frame:
            raise ValueError(f"{argument}: no column {shown(value)}; {hint(value, frame)}")
        return frame[value]

    named = [text for text in columns.values() if isinstance(text, str)]
    named += [level for level in levels if level not in scores.columns]
    if slices is None:
        parts = {}
    elif isinstance(slices, Mapping):
        parts = {str(key): values for key, values in slices.items()}
    elif isinstance(slices, Sequence) and not isinstance(slices, str) and all(isinstance(item, str) for item in slices):
        named += slices
        parts = {slice_: column(slice_, "slices") for slice_ in slices}
    else:
        raise refuse("slices", slices, "a mapping of names to columns, or names of columns of a data frame")
    others = {argument: column(value, argument) for argument, value in columns.items()}
    require_same_index(**{name: scores, **others, **{f"slices[{shown(key)}]": part for key, part in parts.items()}})
    are_scores = others.get("label") is None  # not predictions of a label
    if frame is None:
        table = as_decimals(as_array(scores, name, "a table of rows and models"))
        if table.ndim != 2:
            wanted = "a row for each item and a column for each model, as in a data frame"
            raise refuse(name, table.shape, wanted, quantity="shape")
        if are_scores:
            check_end_rows([*table.T], name)
        return ModelTable(table, models, others, parts)
    chosen = _models_in(frame, named) if models is None else [*map(_name, models)]
    arrays = [as_decimals(np.asarray(column(value, "models"))) for value in chosen]
    if any(not isinstance(value, str) for value in chosen):
        raise refuse("models", models, "names of columns")
    if not arrays:
        raise refuse(f"{name} (columns)", list(frame), "a column for each model")
    if are_scores:
        check_end_rows(arrays, name)
        if models is None:
            refuse_summaries(arrays, chosen, name)
    dtypes = {array.dtype for array in arrays}
    table = np.empty((len(arrays[0]), len(arrays)), dtype=dtypes.pop() if len(dtypes) == 1 else object)
    for i, array in enumerate(arrays):
        table[:, i] = array
    return ModelTable(table, chosen, others, parts)


def _models_in(frame: Mapping[str, Any], named: Sequence[str]) -> list[str]:
    """Return the columns of models: those not `named` as something else. Refuse usual names of other columns."""
    models = [name for name in frame if name not in named]
    if other := next((name for name in models if is_no_model(name, models)), None):
        problem = f"the column {shown(other)} is not a model; list the models, or remove it from the table"
        raise ValueError(f"models: {problem} (in Python, pass it as label, groups or items)")
    return models


def _name(given: Any) -> Any:
    """Return the name of a column given by number; return anything else unchanged."""
    return str(given) if isinstance(given, (int, np.integer)) and not isinstance(given, bool) else given


def with_texts(frame: Any) -> Any:
    """Turn the intervals and periods of a pandas frame, such as `pandas.cut` returns, into text; keep other frames."""
    kinds: Any = getattr(frame, "dtypes", None)
    for column, kind in kinds.items() if hasattr(kinds, "items") else ():
        if has_no_text(kind):
            frame = frame.assign(**{column: frame[column].astype(object).map(str, na_action="ignore")})
    return frame


def has_no_text(kind: Any) -> bool:
    """Return True for a data type of pandas whose values Arrow cannot write: intervals and periods."""
    return str(getattr(getattr(kind, "categories", None), "dtype", kind)).startswith(("interval", "period"))


def as_texts(values: Any) -> Any:
    """Turn categories, such as the intervals of `pandas.cut`, and durations into text, and masked values into None."""
    if isinstance(values, np.ma.MaskedArray):
        masked, values = np.ma.getmaskarray(values), np.array(values, dtype=object)
        values[masked] = None
    kind = getattr(values, "dtype", None)
    if getattr(kind, "name", "") == "category":
        return np.asarray(values.astype(object if values.isna().any() else str))
    listed = isinstance(values, list) or (isinstance(values, np.ndarray) and values.ndim == 1)
    first = next(iter(values), None) if listed else None
    if not (isinstance(first, dt.timedelta) or str(kind).startswith(("timedelta", "duration"))):
        return values
    try:
        durations = np.asarray(values, dtype="timedelta64[us]").tolist()
        return [None if value is None else duration_text(value) for value in durations]
    except (TypeError, ValueError, OverflowError):  # values of several types, months, or no column
        return values


def duration_text(value: dt.timedelta) -> str:
    """Return a duration as pandas prints it: 1 days 00:00:00."""
    clock = str(value - dt.timedelta(value.days))
    return f"{value.days} days {'0' * (clock[1] == ':')}{clock}"


def is_columns(table: Any) -> bool:
    """Return True for a mapping of names to columns of values, such as the predictions of several models."""
    if not isinstance(table, Mapping) or not table:
        return False
    return all(getattr(one, "ndim", None) == 1 or np.ndim(np.array(one, dtype=object)) == 1 for one in table.values())


def _frame(table: Any, name: str) -> dict[str, Any] | None:
    """Return the columns of a data frame or mapping by name (numbers as text); None for anything else."""
    if is_columns(table):
        columns = {f"{name}[{shown(model)}]": values for model, values in table.items()}
        require_same_index(**columns)
        sizes = [len(values) for values in columns.values()]
        if odd := next((column for column, size in zip(columns, sizes, strict=True) if size != sizes[0]), None):
            raise refuse(odd, len(columns[odd]), f"{sizes[0]}, as for {next(iter(columns))}", quantity="length")
        names, entries = [*table], {str(model): np.asarray(values) for model, values in table.items()}
    elif (frame := opened(with_texts(table))) is not None:
        names, entries = frame.columns, {str(name): frame.get_column(name).to_numpy() for name in frame.columns}
    elif hasattr(table, "columns"):
        raise refuse("columns", list(table.columns), "a data frame whose columns have different names")
    else:
        return None
    if len(entries) < len(names):
        raise ValueError(f"columns: {shown(names)} are not valid; expected names that differ as text")
    return entries
