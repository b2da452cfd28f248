"""Parameters of a classifier by cross-validation on the training rows, with the measure that it is to be judged by."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray


def combinations(tune: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All combinations of the values of ``tune["grid"]``, the parameters in alphabetical order."""
    names = sorted(tune["grid"])
    return [dict(zip(names, values, strict=True)) for values in product(*(tune["grid"][name] for name in names))]


def scores(
    classifier: Any, X: Any, truth: NDArray[np.bool_], folds: int, params: Mapping[str, Any]
) -> tuple[float, float]:
    """The micro- and the macro-averaged F1 of machines with these parameters, on folds that were not trained on.

    Parameters
    ----------
    classifier : estimator
        Not fitted; `params` are parameters of it.
    X : array or sparse matrix, shape (n, d)
    truth : ndarray of bool, shape (n, K)
        What each of K machines is to say; all of them get the same parameters.
    folds : int
    params : mapping
    """
    from sklearn.base import clone  # slow to import, and every report knows this module
    from sklearn.metrics import f1_score
    from sklearn.model_selection import KFold

    from sigstats.learners.kernels.one_against_others import OneAgainstOthers

    candidate = clone(classifier).set_params(**params)
    said = np.empty_like(truth)
    for train, test in KFold(folds, shuffle=True, random_state=0).split(np.arange(len(truth))):
        said[test] = OneAgainstOthers(candidate, X[train], truth[train]).predict(X[test])
    micro, macro = (f1_score(truth, said, average=average, zero_division=0) for average in ("micro", "macro"))
    return float(micro), float(macro)
