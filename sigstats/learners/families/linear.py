"""Logistic regression, the ridge classifier (least squares on class indicators), and support vector machines."""

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


def _linear_svm(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.svm import LinearSVC

    # The primal problem is smooth and its solution unique: no random order of coordinates, and Newton steps, whose
    # number does not explode on permuted labels as that of the dual solvers does.
    machine = attempt(LinearSVC, params, dual=False, tol=1e-6)
    return with_encoding(machine, nominal, missing, standardise=True, sparse=True)


def _svm(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.svm import SVC

    return with_encoding(attempt(SVC, params), nominal, missing, standardise=True)


READY = {"logistic-regression": _logistic_regression, "ridge": _ridge, "linear-svm": _linear_svm, "svm": _svm}
