"""Logistic regression and the ridge classifier (least squares on class indicators)."""

from typing import Any

from ..base import attempt
from ..encoders import with_encoding


def _logistic_regression(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.linear_model import LogisticRegression

    classifier = attempt(LogisticRegression, params, max_iter=1000)
    return with_encoding(classifier, nominal, missing, standardise=True, sparse=True)


def _ridge(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.linear_model import RidgeClassifier

    return with_encoding(attempt(RidgeClassifier, params), nominal, missing, standardise=True)


READY = {"logistic-regression": _logistic_regression, "ridge": _ridge}
