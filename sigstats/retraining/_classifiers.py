"""An unfitted classifier, its transforms, these learned once on all rows, and the class codes that it predicts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.validation import IntArray, one_line, refuse, shown

#: So many classes are named in a message.
_MOST = 10


def require_classifier(estimator: Any) -> None:
    """Refuse what is no unfitted instance of a scikit-learn classifier."""
    from ..learners.own import tag_of

    fits = hasattr(estimator, "fit") and hasattr(estimator, "predict") and not isinstance(estimator, type)
    # A clusterer's numbers may look like classes.
    if not fits or tag_of(estimator, "estimator_type") not in (None, "classifier"):
        raise refuse("classifier", estimator, "an unfitted instance of a scikit-learn classifier")


def split_transforms(estimator: Any, transforms: str) -> tuple[Any, Any]:
    """The part fitted in each fold, and the transforms that are learned once, None where `transforms` is "fold"."""
    steps = getattr(estimator, "steps", None)
    if transforms == "fold" or steps is None or len(steps) < 2:
        return estimator, None
    return steps[-1][1], estimator[:-1]


def fit_transform(transform: Any, X: Any) -> Any:
    """The rows transformed by what is learned from them without labels; ValueError where labels are needed."""
    from sklearn.base import clone

    try:
        return clone(transform).fit_transform(X)
    except Exception as error:
        raise ValueError(f"transforms: 'all' needs transforms that never see labels: {one_line(error)}") from error


def class_codes(predicted: Any, classes: NDArray[Any], rows: int, name: str) -> IntArray:
    """The place among `classes` of each prediction; a column is read as its entries, as of CatBoost.

    Raises ValueError if there is not a prediction for each row, or one is no class. The message calls the predictions
    `name`.

    >>> class_codes(["b", "a"], np.array(["a", "b"]), 2, "predictions").tolist()
    [1, 0]
    """
    labels = np.asarray(predicted)
    if labels.shape not in ((rows,), (rows, 1)):
        raise refuse(f"{name} (shape)", labels.shape, f"a class for each of {rows} rows")
    labels = labels.reshape(rows)
    codes = _places(labels, classes)
    if (codes < 0).any():
        named = ", ".join(shown(each) for each in classes[:_MOST]) + (", ..." if len(classes) > _MOST else "")
        raise refuse(name, labels[codes < 0][0], f"a class of y: {named}")
    return codes


def _places(labels: NDArray[Any], classes: NDArray[Any]) -> IntArray:
    if labels.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        found = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        return np.where(classes[found] == labels, found, -1).astype(np.int64)
    place = {label: code for code, label in enumerate(classes.tolist())}
    return np.array([_place(label, place) for label in labels.tolist()], dtype=np.int64)


def _place(label: Any, place: dict[Any, int]) -> int:
    try:
        return place.get(label, -1)
    except TypeError:  # not hashable, so no class
        return -1
