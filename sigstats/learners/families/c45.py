"""C4.5."""

from typing import Any

from ..base import attempt
from ..trees.c45_classifier import C45Classifier


def _c45(params: dict[str, Any], nominal: Any, missing: bool) -> Any:  # noqa: ARG001 - missing values are at home here
    return attempt(C45Classifier, params, nominal=None if nominal is None else tuple(nominal.tolist()))


READY = {"c4.5": _c45}
