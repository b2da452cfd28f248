"""Confusion tables: true classes in rows, assigned classes in columns."""

from os.path import commonprefix
from typing import Any

import numpy as np

from ._common.class_names import as_class_labels, label_name
from ._common.class_spelling import DistinctNames, names_in
from ._common.data_frames import SORTED, are_in_order, labelled, opened, require_same_index
from ._common.validation import IntArray, as_counts, as_labels, refuse, refuse_where, same_kind_of_labels, shown

#: The most classes of a table, which then takes 128 MB.
MOST_CLASSES = 4096
#: Of fewer objects, the last row and column may be the sums of the others by chance.
_FEWEST_IN_ALL = 10


def as_confusion_table(table: Any) -> IntArray:
    """Return a square table of counts, of two classes or more and at least one object, or raise ValueError.

    If the rows and the columns of a data frame share labels, columns are sorted into the order of the rows. If the rows
    have no labels, the names of columns must be sorted.
    """
    counts = as_counts(_in_order_of_rows(table), "table", ndim=2)
    if counts.shape[0] != counts.shape[1] or len(counts) < 2:
        raise refuse("table", counts.shape, "a square table of two classes or more", quantity="shape")
    if not counts.any():
        raise refuse("table", 0, "at least one object", quantity="total")
    return counts


def without_margins(counts: IntArray) -> IntArray:
    """Return a user's table; refuse it if its last row and column are the sums of the others, hardly by chance."""
    if len(counts) > 2 and counts[-1, -1] >= _FEWEST_IN_ALL and _has_margins(counts):
        raise ValueError("table: the last row and the last column are the sums of the others; leave out the margins")
    return counts


def _in_order_of_rows(value: Any) -> Any:
    """Sort the columns of a data frame into the order of its rows; return anything else unchanged."""
    value = labelled(value, "table")
    if (frame := value if hasattr(value, "iloc") else opened(value)) is None:
        return value
    rows, columns = (
        [label_name(label) if isinstance(label, (str, int, float, np.generic)) else label for label in axis]
        for axis in (getattr(frame, "index", ()), frame.columns)
    )
    if len(rows) > 2 and rows[-1] == columns[-1] and _has_margins(np.asarray(value)):
        raise refuse("table (columns)", columns, "the table without its margins")
    if rows == columns:
        return value
    if not set(rows) & set(columns):  # two ways to name the classes, or rows without labels
        if rows == [*map(str, range(len(rows)))] and not are_in_order(columns):
            raise refuse("table (columns)", columns, SORTED.format("rows have no labels"))
        bare_rows, bare_columns = (
            [str(label)[len(commonprefix([*map(str, axis)])) :] for label in axis]  # noqa: RUF071 - not of paths
            for axis in (rows, columns)
        )
        if bare_rows != bare_columns and set(bare_rows) == set(bare_columns):
            raise refuse("table (columns)", columns, f"the order of the rows, {shown(rows)}")
        return value
    if len(rows) != len(columns) or set(rows) != set(columns) or len(set(rows)) < len(rows):
        wanted = f"the classes of the rows, {shown(rows)}, each once (reindex adds one)"
        raise refuse("table (columns)", columns, wanted)
    return value.iloc[:, [columns.index(label) for label in rows]]


def _has_margins(table: Any) -> bool:
    """Return True if the last row and the last column are the sums of the others, as `pandas.crosstab` adds them."""
    try:
        return bool((table[:-1].sum(axis=0) == table[-1]).all() and (table[:, :-1].sum(axis=1) == table[:, -1]).all())
    except Exception:  # entries that cannot be added or compared
        return False


def confusion_table(y: Any, prediction: Any, *, labels: Any = None) -> IntArray:
    """Count true classes against assigned classes, (k, k), or raise ValueError.

    `labels`: the classes in the order of rows and columns; by default all that occur, sorted; at most 4096.
    """
    require_same_index(y=y, prediction=prediction)
    listed = None if labels is None else [*map(str, as_labels(labels, "labels").tolist())]
    truth = as_class_labels(y, "y", listed)
    names = as_class_labels(prediction, "prediction", listed)
    same_kind_of_labels(truth, names, "prediction")
    DistinctNames(names_in(truth), len(truth), "y").check("prediction", names_in(names), wanted="classes of y")
    if labels is None:
        classes = np.union1d(truth, names)
    else:
        classes = as_labels(labels, "labels")
        same_kind_of_labels(truth, classes, "labels", aligned=False)
        same_kind_of_labels(names, classes, "labels", aligned=False)
    if len(classes) < 2 or len(np.unique(classes)) < len(classes):
        raise refuse("labels", classes, "two or more different classes")
    if len(classes) > MOST_CLASSES:
        name = "y, prediction" if labels is None else "labels"
        raise refuse(
            name, len(classes), f"at most {MOST_CLASSES}; are they class labels?", quantity="number of classes"
        )
    order = np.argsort(classes)

    def codes_of(values: Any, name: str) -> IntArray:
        """Return the positions of the values among the classes."""
        places = np.minimum(np.searchsorted(classes, values, sorter=order), len(classes) - 1)
        codes: IntArray = order[places]
        refuse_where(classes[codes] != values, values, name, "one of labels")
        return codes

    k = len(classes)
    cells = codes_of(truth, "y") * k + codes_of(names, "prediction")
    return np.bincount(cells, minlength=k * k).reshape(k, k).astype(np.int64)
