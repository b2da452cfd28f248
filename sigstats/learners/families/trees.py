"""Decision trees (CART) and C4.5."""

from typing import Any

from ..base import attempt
from ..encoders import with_encoding
from ..trees.c45_classifier import C45Classifier


def _decision_tree(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    tree = attempt(DecisionTreeClassifier, params)
    return with_encoding(tree, nominal, missing, keeps_missing=True)


def _c45(params: dict[str, Any], nominal: Any, missing: bool) -> Any:  # noqa: ARG001 - missing values are at home here
    return attempt(C45Classifier, params, nominal=None if nominal is None else tuple(nominal.tolist()))


READY = {"decision-tree": _decision_tree, "c4.5": _c45}
