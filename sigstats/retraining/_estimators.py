"""What an estimator is, its transforms, and these learned once on all rows."""

from typing import Any

from .._common.validation import one_line, refuse


def require_classifier(estimator: Any) -> None:
    """Refuse what is no unfitted instance of a scikit-learn classifier."""
    from ..learners.own import tag_of

    fits = hasattr(estimator, "fit") and hasattr(estimator, "predict") and not isinstance(estimator, type)
    # A clusterer's numbers may look like classes.
    if not fits or tag_of(estimator, "estimator_type") not in (None, "classifier"):
        raise refuse("classifier", estimator, "an unfitted instance of a scikit-learn classifier")


def split_transforms(estimator: Any, transforms: str) -> tuple[Any, Any]:
    """What is fitted in each fold, and the transforms that are learned once, None where `transforms` is "fold"."""
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
