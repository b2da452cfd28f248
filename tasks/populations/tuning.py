"""Parameters of a classifier by cross-validation on the training rows, with the measure that it is to be judged by."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

from sigstats.learners.kernel_machine import predict

#: The averages of F1 that a choice can be made by.
AVERAGES = {"f1": "micro", "micro-f1": "micro", "macro-f1": "macro"}


def machines(classifier: Any, X: Any, truth: NDArray[np.bool_]) -> list[Any]:
    """The classifier, fitted for each column of `truth` against all others; where all rows are alike, that answer."""
    fitted: list[Any] = []
    for own in truth.T:
        fitted.append(bool(own[0]) if own.all() or not own.any() else clone(classifier).fit(X, own))
    return fitted


def assigned(fitted: list[Any], X: Any) -> NDArray[np.bool_]:
    """What each machine says of each row, shape (n, K)."""
    rows = X.shape[0]
    return np.column_stack(
        [np.full(rows, each) if isinstance(each, bool) else predict(each, X).astype(bool) for each in fitted]
    )


def tuned(classifier: Any, X: Any, truth: NDArray[np.bool_], tune: Mapping[str, Any]) -> dict[str, Any]:
    """The values of ``tune["grid"]`` of greatest F1 on folds that were not trained on, the first of equals.

    Parameters
    ----------
    classifier : estimator
        Not fitted; the grid names parameters of it.
    X : array or sparse matrix, shape (n, d)
    truth : ndarray of bool, shape (n, K)
        What each of K machines is to say; all of them get the same parameters.
    tune : mapping
        ``grid``, a list of values for each parameter; ``folds``; ``measure``, one of `AVERAGES`.
    """
    names = sorted(tune["grid"])
    folds = list(KFold(tune["folds"], shuffle=True, random_state=0).split(np.arange(len(truth))))
    best, chosen = -1.0, {}
    for values in product(*(tune["grid"][name] for name in names)):
        params = dict(zip(names, values, strict=True))
        candidate = clone(classifier).set_params(**params)
        said = np.empty_like(truth)
        for train, test in folds:
            said[test] = assigned(machines(candidate, X[train], truth[train]), X[test])
        score = f1_score(truth, said, average=AVERAGES[tune["measure"]], zero_division=0)
        if score > best:
            best, chosen = score, params
    return chosen
