"""Helpers of `sigstats.retraining.retrainer`: rows of any kind of table, the transforms of a pipeline, class codes.

Rows are a data frame, a sparse matrix or an array. `copies_note` warns of rows that are in several folds, `encoded`
turns a data frame into numbers, and `class_codes` checks what a classifier predicts.
"""

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.data_frames import is_missing, opened
from .._common.number_texts import number_problem
from .._common.repeats import copied_rows, joint_codes
from .._common.validation import FloatArray, IntArray, as_array, one_line, refuse, shown

#: The smallest share of copies that is reported.
_MANY_COPIES = 0.01
#: The smallest share of rows with certain copies in other folds that decides the accuracy.
_DECISIVE = 0.05
#: The most warnings about copies.
_MOST_NOTES = 3
#: The most values that are examined for copies.
_MOST_VALUES = 2**24
#: The most classes that a message names.
_MOST_CLASSES = 10


def as_rows(X: Any, n: int, null: str) -> Any:
    """Return `X` as rows that can be permuted, or raise ValueError."""
    if hasattr(X, "iloc") or hasattr(X, "tocsr"):
        rows = X if hasattr(X, "iloc") else X.tocsr()
        if null == "features" and not hasattr(X, "iloc"):
            raise refuse("X", f"<{type(X).__name__}>", "a dense array for null='features'")
    else:
        wanted = "a rectangular array of numbers, with a row for each observation"
        rows = as_array(X, "X", wanted)
        if rows.dtype.kind not in "biufUSO" or rows.ndim != 2:
            raise refuse("X", X, wanted)
    if len(rows.shape) != 2 or rows.shape[0] != n or rows.shape[1] == 0:
        raise refuse("X", rows.shape, f"({n}, d): as many rows as y has, one feature or more", quantity="shape")
    return rows


def take(X: Any, rows: IntArray) -> Any:
    """Return these rows of `X`."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def permute_features(X: Any, source: IntArray) -> Any:
    """Return the rows in which value j of row i comes from row ``source[j, i]``."""
    if not hasattr(X, "iloc"):
        return np.take_along_axis(X, source.T, axis=0)
    mixed = X.copy()
    for j, rows in enumerate(source):
        mixed.isetitem(j, X.iloc[:, j].array.take(rows))
    return mixed


def copies_note(X: Any, y: IntArray, folds: IntArray, null: str) -> str:
    """Return a warning if training rows or a feature copy tested rows, or an empty text."""
    columns = codes_of_columns(X)
    text, _ = copies_in_other_folds(columns, y, folds)
    notes = [f"{text}: groups keep copies together"] if text else []
    if null == "features":
        seen: dict[bytes, int] = {}
        for j, codes in enumerate(columns):
            if (other := seen.setdefault(codes.tobytes(), j)) != j and codes.any():
                notes.append(f"feature {j} (from 0) is a copy of feature {other}: they are not independent")
    return "; ".join(notes[:_MOST_NOTES])


def copies_in_other_folds(columns: Sequence[IntArray], y: IntArray, folds: IntArray) -> tuple[str, bool]:
    """Describe rows that equal rows of another fold (empty if few), and whether they decide the accuracy.

    `columns`: the result of `codes_of_columns`. A copy is certain if one of its values occurs in no other content, and
    most values of this feature are distinct. Equal rows of a few categories, or of a single feature, may be different
    observations.
    """
    content = joint_codes(columns) if columns else np.zeros(len(y), dtype=np.int64)
    copies = copied_rows(content, [y])
    if copies is None or copies.sum() <= _MANY_COPIES * len(y):
        return "", False
    pairs = np.unique(np.column_stack([content, folds]), axis=0)[:, 0]
    across = np.bincount(pairs)[content] > 1
    first = np.unique(content, return_index=True)[1]
    mostly_distinct = [codes for codes in columns if codes.max() >= len(first) / 2 and len(columns) > 1]
    certain = across & np.any([np.bincount(codes[first])[codes] == 1 for codes in mostly_distinct], axis=0)
    text = f"{across.sum():,} of {len(y):,} rows equal others that another fold tests" if across.any() else ""
    return text, bool(certain.sum() >= _DECISIVE * len(y))


def codes_of_columns(X: Any) -> list[IntArray]:
    """Return the values of each feature as codes from 0; empty if they are not distinguishable, or too many."""
    if hasattr(X, "tocsr") or math.prod(X.shape) > _MOST_VALUES:
        return []
    try:
        values = [X.iloc[:, j].to_numpy() for j in range(X.shape[1])] if hasattr(X, "iloc") else X.T
        return [np.unique(value, return_inverse=True)[1].ravel() for value in values]
    except TypeError:  # values that cannot be put in order
        return []


def encoded(X: Any) -> tuple[Any, Any]:
    """Return a data frame as numbers and a mask of its nominal columns; anything else as it is, and no mask.

    Strings, categories and booleans are nominal: each value becomes its position among the values of its column, sorted
    as text. Numbers stay numbers, and missing values become NaN. ValueError for columns of other kinds, such as times,
    and for strings that may be numbers.
    """
    frame = opened(X)
    if frame is None:
        return X, None
    columns = [_column(frame.get_column(name), name) for name in frame.columns]
    nominal = np.array([is_nominal for _, is_nominal in columns])
    if not nominal.any():
        return X, None
    return np.column_stack([values for values, _ in columns]), nominal


def _column(column: Any, name: str) -> tuple[FloatArray, bool]:
    """Return the values of a column, and whether they are codes of categories."""
    import narwhals

    if column.dtype.is_numeric():
        return np.array([np.nan if is_missing(value) else float(value) for value in column.to_list()]), False
    values = [None if is_missing(value) else value for value in column.to_list()]
    allowed = (str, bool, np.bool_)
    others = [value for value in values if value is not None and type(value) not in allowed]
    is_categorical = column.dtype in (narwhals.Categorical, narwhals.Enum)
    if others and not is_categorical:
        raise refuse(f"X (column {shown(name)})", others[0], "numbers, strings, booleans or categories")
    texts = [None if value is None else str(value) for value in values]
    strings = dict.fromkeys(value for value in values if type(value) is str)
    if not is_categorical and (ambiguous := number_problem([*strings], nominal=True)) is not None:
        odd, problem = ambiguous
        cure = "convert the column to numbers, or to categories"
        raise ValueError(f"X (column {shown(name)}): {shown(odd[0])} {problem}; {cure}")
    positions = {text: float(place) for place, text in enumerate(sorted({text for text in texts if text is not None}))}
    return np.array([np.nan if text is None else positions[text] for text in texts]), True


def split_transforms(estimator: Any, transforms: str) -> tuple[Any, Any]:
    """Return the part fitted in each fold, and the transforms learned once (None if `transforms` is "fold").

    Raises ValueError unless `estimator` is an unfitted scikit-learn classifier and each fold fits all its parts.
    """
    from ..learners.own import tag_of

    fits = hasattr(estimator, "fit") and hasattr(estimator, "predict") and not isinstance(estimator, type)
    # A clusterer's numbers may look like classes.
    if not fits or tag_of(estimator, "estimator_type") not in (None, "classifier"):
        raise refuse("classifier", estimator, "an unfitted instance of a scikit-learn classifier")
    if (frozen := _frozen_part(estimator)) is not None:
        raise refuse("classifier", frozen, "parts that each fold fits; apply fixed transforms to X beforehand")
    steps = getattr(estimator, "steps", None)
    if transforms == "fold" or steps is None or len(steps) < 2:
        return estimator, None
    return steps[-1][1], estimator[:-1]


def _frozen_part(estimator: Any) -> Any:
    """Return a part that no fold fits since scikit-learn does not clone it, such as a `FrozenEstimator`, or None."""
    from sklearn.base import clone

    with contextlib.suppress(Exception):  # a part that cannot be cloned is refused when it is fitted
        for part in (estimator, *estimator.get_params(deep=True).values()):
            if hasattr(part, "fit") and not isinstance(part, type) and clone(part) is part:
                return part
    return None


def transform_rows(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Apply the first steps of a pipeline that transform rows one by one; return the remaining pipeline and the rows.

    A `Normalizer` or a `Binarizer` learns nothing: it transforms a row in the same way in each fold of each
    permutation.
    """
    from sklearn.base import clone
    from sklearn.preprocessing import Binarizer, Normalizer

    while len(getattr(estimator, "steps", ())) > 1 and type(estimator.steps[0][1]) in (Binarizer, Normalizer):
        X, estimator = clone(estimator.steps[0][1]).fit_transform(X), estimator[1:]
    return estimator, X


def fit_transform(transform: Any, X: Any) -> Any:
    """Return the rows transformed without labels; raise ValueError if the transforms need labels."""
    from sklearn.base import clone

    try:
        return clone(transform).fit_transform(X)
    except Exception as error:
        raise ValueError(f"transforms: 'all' needs transforms that never see labels: {one_line(error)}") from error


def class_codes(predicted: Any, classes: NDArray[Any], rows: int, name: str) -> IntArray:
    """Return the place of each prediction (CatBoost: a column) among `classes`, or raise ValueError."""
    labels = np.asarray(predicted)
    if labels.shape not in ((rows,), (rows, 1)):
        raise refuse(name, labels.shape, f"a class for each of {rows} rows", quantity="shape")
    labels = labels.reshape(rows)
    codes = _places(labels, classes)
    if (codes < 0).any():
        more = ", ..." if len(classes) > _MOST_CLASSES else ""
        named = ", ".join(map(shown, classes[:_MOST_CLASSES])) + more
        raise refuse(name, labels[codes < 0][0], f"a class of y: {named}")
    return codes


def _places(labels: NDArray[Any], classes: NDArray[Any]) -> IntArray:
    if labels.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        return np.where(classes[codes] == labels, codes, -1).astype(np.int64)
    place = {label: code for code, label in enumerate(classes.tolist())}
    return np.array([_place(label, place) for label in labels.tolist()], dtype=np.int64)


def _place(label: Any, place: dict[Any, int]) -> int:
    try:
        return place.get(label, -1)
    except TypeError:  # not hashable, so no class
        return -1
