"""Scores of each class in cross-validation: a classifier's probabilities, or its decision values.

When not to use: for predictions alone, which `sigstats.retraining.retrainer.Retrainer` gives faster.
"""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray, as_choice, one_line
from ._rows import take
from .folds import as_classes
from .retrainer import TRANSFORMS


class ClassScores(NamedTuple):
    """The scores of each row, by the classifier of the folds that do not test it."""

    #: Of each class, in sorted order; None where the classifier has no ``predict_proba``; float64 array of shape (n,
    #: K), or None.
    probabilities: FloatArray | None
    #: Of two classes how much the second is preferred; None where there is no ``decision_function``, or more classes;
    #: float64 array of shape (n,), or None.
    decision: FloatArray | None


def class_scores(
    estimator: Any,
    X: Any,
    y: Any,
    folds: IntArray,
    *,
    transforms: str = "fold",
    around_fit: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> ClassScores:
    """The cross-validated scores of a classifier.

    `estimator`: a scikit-learn classifier; it is cloned.
    `X` (ndarray or DataFrame, shape (n, d)): the rows.
    `y` (array_like, shape (n,)): the class of each row.
    `folds` (ndarray of int, shape (n,)): the test fold of each row.
    `transforms`: whether the transforms of a pipeline are learned on the training fold alone, or once on all rows.
    `around_fit`: its context is entered around each fit with its scores, to watch over them.

    Raises ValueError if the classifier fails to fit or to score.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sigstats.retraining.folds import stratified_folds
    >>> X, y = load_iris(return_X_y=True)
    >>> found = class_scores(GaussianNB(), X, y, stratified_folds(y, 10, rng=1))
    >>> found.probabilities.shape, found.decision is None
    ((150, 3), True)
    """
    from sklearn.base import clone

    classes, codes = as_classes(y)
    if as_choice(transforms, "transforms", TRANSFORMS) == "all" and len(getattr(estimator, "steps", ())) > 1:
        X, estimator = clone(estimator[:-1]).fit_transform(X), estimator.steps[-1][1]
    probabilities = np.zeros((len(codes), len(classes))) if hasattr(estimator, "predict_proba") else None
    binary = len(classes) == 2 and hasattr(estimator, "decision_function")
    decision = np.zeros(len(codes)) if binary else None
    for fold in np.unique(folds):
        test = folds == fold
        try:
            with warnings.catch_warnings(), around_fit():
                warnings.simplefilter("ignore")
                fitted = clone(estimator).fit(take(X, np.flatnonzero(~test)), codes[~test])
                tested = take(X, np.flatnonzero(test))
                if probabilities is not None:
                    probabilities[np.ix_(test, fitted.classes_)] = fitted.predict_proba(tested)
                if decision is not None:
                    decision[test] = fitted.decision_function(tested)
        except Exception as error:
            name = type(estimator).__name__
            raise ValueError(f"classifier: {name} failed in fold {fold}: {one_line(error)}") from error
    return ClassScores(probabilities, decision)
