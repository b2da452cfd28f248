"""Decision trees (CART)."""

from typing import Any

from ..base import attempt
from ..encoders import with_encoding


def _decision_tree(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    tree = attempt(DecisionTreeClassifier, params)
    return with_encoding(tree, nominal, missing, keeps_missing=True)


READY = {"decision-tree": _decision_tree}
