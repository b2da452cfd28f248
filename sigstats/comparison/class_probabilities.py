"""Probabilities of all classes, as ``predict_proba`` gives them, in place of predictions or of scores."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import label_name
from .._common.data_frames import opened
from .._common.validation import FloatArray, IntArray, as_array, as_labels, refuse

#: By how much the probabilities of a row may miss 1, in single precision.
_TOLERANCE = 1e-4


class ClassProbabilities(NamedTuple):
    """The predictions and scores of models."""

    #: The likeliest class of each row, for each.
    predictions: tuple[NDArray[Any], ...]
    #: The probability of `positive`, or of several classes that of each row's true class.
    scores: tuple[FloatArray, ...]
    #: The name of the class that scores are of; None if they are of the true classes.
    positive: str | None


def has_columns(value: Any) -> bool:
    """True of a table of more than one column."""
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, (list, tuple)) and len(value):
        return isinstance(value[0], (list, tuple, np.ndarray)) and np.size(value[0]) > 1
    return shape is not None and len(shape) == 2 and shape[1] > 1


def class_probabilities(y: Any, given: Mapping[str, Any], positive: str | None) -> ClassProbabilities:
    """Predictions and scores of tables, which have a column for each class; or ValueError.

    `given`: the tables by their names in messages; the columns of a frame that names the classes may have any order,
    all others have that of the sorted classes of `y`. `positive`: the class of two that scores are of, by default the
    second.
    """
    classes, codes = np.unique(as_labels(y, "y"), return_inverse=True)
    names = [label_name(each) for each in classes.tolist()]
    if len(names) == 2 and positive is None:
        positive = names[1]
    tables = [_in_order(table, name, names, len(codes)) for name, table in given.items()]
    return ClassProbabilities(
        tuple(classes[table.argmax(axis=1)] for table in tables),
        tuple(_scores(table, codes.ravel(), names, positive) for table in tables),
        positive if len(names) == 2 else None,
    )


def _in_order(value: Any, name: str, names: list[str], rows: int) -> FloatArray:
    frame, table = opened(value), as_array(value, name, "a table of probabilities")
    if table.ndim != 2 or table.shape[0] != rows:
        raise refuse(f"{name} (shape)", table.shape, f"({rows}, {len(names)}): rows as in y, a column for each class")
    if table.shape[1] != len(names):
        raise refuse(f"{name} (columns)", table.shape[1], f"{len(names)}: one for each class of y, in their order")
    columns = [] if frame is None else [str(each) for each in frame.columns]
    if sorted(columns) == sorted(names):
        table = table[:, [columns.index(each) for each in names]]
    found = np.asarray(table, dtype=np.float64) if table.dtype.kind in "fiub" else None
    if found is None or not (found >= 0).all() or not np.allclose(found.sum(axis=1), 1, atol=_TOLERANCE):
        raise refuse(name, "a row", "probabilities of the classes, which sum to 1 in each row")
    return found


def _scores(table: FloatArray, codes: IntArray, names: list[str], positive: str | None) -> FloatArray:
    if len(names) > 2:
        found: FloatArray = table[np.arange(len(codes)), codes]
        return found
    if positive not in names:
        raise refuse("positive", positive, " or ".join(names))
    return table[:, names.index(positive)]
