"""The positive class of two, and tables with one column per class. All readers follow these rules."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .class_names import label_name
from .class_spelling import is_finite_number
from .data_frames import opened
from .messages import Note, some_of
from .validation import FloatArray, IntArray, as_choice, refuse, refuse_where, shown

#: Pairs of classes, as numbers or as text in any case. By default the second class is positive.
PAIRS = (("0", "1"), ("-1", "1"), ("false", "true"), ("no", "yes"), ("0.0", "1.0"), ("-1.0", "1.0"))
_PARTNERS = {name: other for pair in reversed(PAIRS) for name, other in (pair, pair[::-1])}
_TRUTH = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}


def positive_place(classes: Sequence[Any], positive: Any = None, *, option: str = "positive") -> int:
    """Return the place of the positive class among `classes`. Raise ValueError if it is unknown.

    `positive` is a class; of 0 and 1, or false and true, also the truth value. If it is None, the classes must be one
    of `PAIRS`.

    >>> positive_place(["No", "Yes"]), positive_place(["fraud", "ok"], "fraud"), positive_place([0, 1], True)
    (1, 0, 1)
    """
    names = [label_name(class_name, "label") for class_name in classes]
    if positive is None:
        folded = [name.casefold() for name in names]
        for pair in PAIRS:
            if sorted(folded) == sorted(pair):
                return folded.index(pair[1])
        raise ValueError(f"{option}: is missing; expected one of {', '.join(map(shown, names[:10]))}")
    name = label_name(positive, option)
    truths = [_TRUTH.get(class_name.casefold()) for class_name in names]
    if name not in names and sorted(map(str, truths)) == ["False", "True"] and name.casefold() in _TRUTH:
        return truths.index(_TRUTH[name.casefold()])
    return names.index(as_choice(name, option, names))


def numbers_or_names(classes: Sequence[str]) -> NDArray[Any]:
    """Return the classes as numbers if all of them are numbers, and otherwise as text."""
    return np.array([float(name) for name in classes] if all(map(is_finite_number, classes)) else classes)


def with_absent(classes: Sequence[Any], positive: Any = None) -> list[Any]:
    """Return the classes; if only one occurs, add its partner in `PAIRS`, or else `positive`.

    >>> with_absent(["No"]), with_absent(["ham"], "spam"), with_absent(["ham"], "ham"), with_absent([0, 1])
    (['No', 'yes'], ['ham', 'spam'], ['ham'], [0, 1])
    """
    other = _PARTNERS.get(label_name(classes[0], "label").casefold(), positive) if len(classes) == 1 else None
    return [*classes] if other is None or label_name(other, "positive") == label_name(classes[0]) else [*classes, other]


def class_names_of(classes: Any) -> tuple[str, ...]:
    """Return the names of classes in the option `classes`, or an empty tuple if it is None.

    Raises ValueError for a class that appears twice.
    """
    if classes is None:
        return ()
    if isinstance(classes, (str, set, frozenset)) or not np.iterable(classes):
        raise refuse("classes", classes, "a sequence of all classes")
    names = tuple(label_name(class_name, "classes") for class_name in classes)
    if len(set(names)) < max(len(names), 1):
        raise refuse("classes", list(names), "classes, each once")
    return names


def categories_of(y: Any) -> list[str]:
    """Return the names of the categories of labels in the order of their data type; empty for other types.

    The order of an Arrow dictionary may be that of categories of pandas. A Categorical of Polars is sorted as text; its
    type lists the values of all Series of the process.
    """
    kind = getattr(y, "dtype", None)
    if type(kind).__name__ == "Categorical":
        return []
    arrow = getattr(y, "array", y).__arrow_array__() if hasattr(kind, "pyarrow_dtype") else y
    arrow = arrow.combine_chunks() if hasattr(arrow, "combine_chunks") else arrow
    categories: Any = getattr(kind, "categories", getattr(arrow, "dictionary", None))
    categories = categories.to_pylist() if hasattr(categories, "to_pylist") else categories
    return [label_name(value) for value in categories] if np.iterable(categories) else []


def classes_of_columns(
    table: Any,
    name: str,
    width: int,
    labels: NDArray[Any],
    classes: Sequence[str] = (),
    categories: Sequence[str] = (),
    *,
    or_else: str = "classes=[...], the order of the columns",
) -> NDArray[Any]:
    """Return the class of each of the `width` columns of a table, in the type of the labels.

    `labels`: the distinct labels, sorted. `categories`: the order of the labels' own data type, if it has one.
    `classes`: the order of the columns. Without `classes`, the columns of a data frame that names all labels belong to
    the classes that they name. Any other table must have one column per label, in sorted order; it is refused if that
    order is ambiguous, as for numbers sorted as text, or categories in another order. `or_else`: the alternative remedy
    in messages.

    Raises ValueError if the columns do not match the classes.
    """
    labels = np.array([False, True]) if labels.dtype.kind == "b" else labels
    wanted = f"{or_else}, or a data frame whose columns are named by the classes"
    typed = {label_name(label): label for label in labels.tolist()}
    frame, known = opened(table), [*typed]
    named = [] if frame is None else [label_name(column, f"{name} (columns)") for column in frame.columns]
    unnamed = named in ([], [str(place) for place in range(width)])
    order = list(classes or known)
    if (not unnamed and set(named) == set(order)) or (not classes and set(named) >= set(known)):
        order = named
    elif not classes and not unnamed:
        raise refuse(f"{name} (columns)", some_of(named, 5), wanted)
    elif not classes:
        rival, kind = [category for category in categories if category in known], "categories"
        if not rival and labels.dtype.kind == "U" and all(map(is_finite_number, known)):
            rival, kind = sorted(known, key=float), "numbers"
        if rival not in ([], known):
            both = f"{some_of(known)} as text, {some_of(rival)} as {kind}"
            raise ValueError(f"{name}: the order of the classes is ambiguous ({both}); expected {wanted}")
    if len(order) != width or len(set(order)) < width:
        raise refuse(name, width, f"{len(order)}, one for each class, or {wanted}", quantity="number of columns")
    if lacking := set(known).difference(order):
        raise ValueError(f"y: {shown(min(lacking))} is not one of the classes {some_of(order, 5)}; expected {wanted}")
    values = np.asarray([typed.get(class_name, class_name) for class_name in order])
    try:
        return values if labels.dtype.kind == "U" else values.astype(labels.dtype)
    except ValueError:
        raise refuse(f"{name} (columns)", some_of(order, 5), "names that are numbers, as y has them") from None


def likeliest(table: NDArray[Any], classes: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return the most probable class of each row, and the number of rows in which several classes tie.

    A tie goes to the first class in sorted order, so the order of the columns does not matter.
    """
    order = np.argsort(classes, kind="stable")
    ties = (table == table.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return classes[order][table[:, order].argmax(axis=1)], int(ties.sum())


def with_places(table: FloatArray, classes: Sequence[Any] | NDArray[Any], columns: IntArray) -> FloatArray:
    """Return a table for `Scored.of_classes` with sorted classes.

    `columns`: the column of the true class of each row.
    """
    order = np.argsort(classes, kind="stable")
    return np.column_stack([np.argsort(order)[columns], table[:, order]])


def equal_probabilities(ties: int, rows: int) -> Note:
    """Return the note on rows in which the most probable classes tie."""
    text = f"{ties:,} of {rows:,} rows have several likeliest classes; the first in sorted order is the prediction"
    return Note("equal-probabilities", text)


def as_class_probabilities(table: NDArray[Any], name: str, rows: int) -> FloatArray:
    """Return a table of probabilities. Raise ValueError unless rows sum to 1, up to rounding."""
    if table.ndim != 2 or table.shape[0] != rows:
        wanted = f"({rows}, number of classes): rows as in y, a column for each class"
        raise refuse(name, table.shape, wanted, quantity="shape")
    if table.dtype.kind not in "fiub":
        raise refuse(name, table, "probabilities of the classes")
    wanted = "probabilities of the classes, none of them missing (np.exp turns log-probabilities into them)"
    refuse_where(~(np.isfinite(table) & (table >= 0)), table, name, wanted)
    values = np.asarray(table, dtype=np.float64)
    sums = values.sum(axis=1)
    row = int(np.abs(sums - 1).argmax())
    if abs(sums[row] - 1) > sum_tolerance(table):
        wanted = "probabilities of the classes, which sum to 1; divide each row by its sum"
        raise refuse(f"{name} (sum of row {row})", float(sums[row]), wanted)
    return values


def sum_tolerance(table: NDArray[Any]) -> float:
    """Return the largest distance from 1 of the sum of a row of probabilities with the digits of this table."""
    values = np.asarray(table, dtype=np.float64)
    rounding = np.finfo(table.dtype).eps if table.dtype.kind == "f" else 0.0
    near = max(1e-9, rounding)
    digits = next((n for n in (2, 3, 4) if np.allclose(values, values.round(n), rtol=0, atol=near)), 5)
    return float(max(1e-4, rounding, min(0.5, table.shape[1] / 2 * 10.0**-digits)))
