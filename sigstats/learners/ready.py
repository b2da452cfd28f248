"""The ready learners: scikit-learn's, with transforms in front of them, and those of the neighbouring folders."""

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from .._common.validation import refuse
from .base import Build, attempt
from .encoders import with_encoding
from .gaussian.estimators import MixedNB
from .neighbours.nearest_neighbours import NearestNeighbours
from .trees.c45_classifier import C45Classifier


def _naive_bayes(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    if nominal is None and not missing:
        return attempt(GaussianNB, params)
    return attempt(MixedNB, params, nominal=None if nominal is None else tuple(nominal.tolist()))


def _standardised(place: str, *, sparse: bool = False, **defaults: Any) -> Build:
    """A classifier of standardised columns, by its import path; it is imported when the first one is built."""

    def built(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
        module, _, name = place.rpartition(".")
        classifier = attempt(getattr(importlib.import_module(module), name), params, **defaults)
        return with_encoding(classifier, nominal, missing, standardise=True, sparse=sparse)

    return built


def _qda(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    # The columns of a nominal feature sum to one, so that no covariance has full rank unless it is regularised.
    defaults = {} if nominal is None else {"reg_param": 1e-3}
    return with_encoding(attempt(QuadraticDiscriminantAnalysis, params, **defaults), nominal, missing, standardise=True)


def _with_scaling(neighbours: Any, nominal: Any) -> Any:
    if nominal is None:
        return make_pipeline(MinMaxScaler(), neighbours)
    if nominal.all():
        return neighbours
    scale = ColumnTransformer(
        [("numeric", MinMaxScaler(), np.flatnonzero(~nominal)), ("nominal", "passthrough", np.flatnonzero(nominal))]
    )
    return make_pipeline(scale, neighbours)


def _k_nn(params: dict[str, Any], nominal: Any, missing: bool) -> Any:  # noqa: ARG001 - missing values are at home here
    # Numeric features come first out of the scaler.
    mask = None if nominal is None else tuple(sorted(nominal.tolist()))
    return _with_scaling(attempt(NearestNeighbours, params, nominal=mask), nominal)


def _one_nn(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    if "n_neighbors" in params:
        raise refuse("params", "n_neighbors", "no number of neighbours for 1-nn; use k-nn")
    return _k_nn(params, nominal, missing)


def _decision_tree(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    tree = attempt(DecisionTreeClassifier, params)
    return with_encoding(tree, nominal, missing, keeps_missing=True)


def _c45(params: dict[str, Any], nominal: Any, missing: bool) -> Any:  # noqa: ARG001 - missing values are at home here
    return attempt(C45Classifier, params, nominal=None if nominal is None else tuple(nominal.tolist()))


#: The ready learners: the name of each, and the function ``(params, nominal, missing) -> estimator`` that builds it.
READY: Mapping[str, Build] = {
    "naive-bayes": _naive_bayes,
    "lda": _standardised("sigstats.learners.gaussian.estimators.LinearDiscriminant"),
    "qda": _qda,
    "logistic-regression": _standardised("sklearn.linear_model.LogisticRegression", sparse=True, max_iter=1000),
    "ridge": _standardised("sklearn.linear_model.RidgeClassifier"),
    # The primal problem is smooth and its solution unique: no random order of coordinates, and Newton steps, whose
    # number does not explode on permuted labels as that of the dual solvers does.
    "linear-svm": _standardised("sklearn.svm.LinearSVC", sparse=True, dual=False, tol=1e-6),
    "svm": _standardised("sklearn.svm.SVC"),
    "1-nn": _one_nn,
    "k-nn": lambda params, nominal, missing: _k_nn({"n_neighbors": 5, **params}, nominal, missing),
    "decision-tree": _decision_tree,
    "c4.5": _c45,
}
