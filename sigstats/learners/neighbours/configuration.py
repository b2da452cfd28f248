"""The estimators that `sigstats.learners.neighbours.batched` stands for, and their settings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ..base import Problem, is_default, nominal_mask, steps_of
from .nearest_neighbours import DISTANCE_TOLERANCE, TIES, NearestNeighbours
from .tied import takes_first

#: With a tolerance below this no two whole numbers that differ are equal.
_WHOLE = 0.25


@dataclass(frozen=True)
class Configuration:
    """The settings that distinguish these estimators."""

    k: int
    ties: str
    random_state: int
    nominal: Any
    scaled: bool
    tolerance: float
    variances: bool = False


def configuration(estimator: Any, problem: Problem) -> Configuration | None:
    """The settings of an estimator; None for other metrics, weights or transforms than are known here."""
    *transforms, classifier = steps_of(estimator)
    n, d = problem.X.shape
    nominal = np.zeros(d, dtype=bool)
    tolerance, ties, seed = DISTANCE_TOLERANCE, "first", 0
    if is_default(classifier, NearestNeighbours, free=("n_neighbors", "ties", "nominal", "random_state")):
        nominal = nominal_mask(classifier.nominal, d)
        ties, seed = classifier.ties, classifier.random_state
        if ties not in TIES:
            return None
    elif is_default(classifier, KNeighborsClassifier, free=("n_neighbors", "algorithm", "leaf_size", "n_jobs")):
        if np.isnan(problem.X).any():
            return None
        ties = "unknown"
        if not transforms:
            # Its distances are rounded in the unit of the squared values, not of their spread.
            squares = float(np.einsum("ij,ij->i", problem.X, problem.X).max())
            tolerance = max(tolerance * float(problem.X.var(axis=0).max()), 64 * np.finfo(np.float64).eps * squares)
            # Squared distances of whole numbers that differ do so by 1.
            if tolerance < _WHOLE and takes_first(classifier, problem):
                ties = "first"
    else:
        return None
    variances = len(transforms) == 1 and is_default(transforms[0], StandardScaler, free=("copy",))
    if variances and ties != "unknown":
        return None
    if transforms and not variances:
        columns = _columns(transforms, d)
        if columns is None or (np.sort(columns[~nominal]) != np.flatnonzero(_columns_scaled(transforms, d))).any():
            return None
        nominal = np.isin(np.arange(d), columns[nominal])
    k, fewest = classifier.n_neighbors, n - int(np.bincount(problem.folds).max())
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= fewest or not isinstance(seed, int):
        return None
    if np.isinf(problem.X).any():
        return None
    return Configuration(k, ties, seed, nominal, bool(transforms), tolerance, variances)


def _columns_scaled(transforms: list[Any], d: int) -> Any:
    """The columns of X that the transforms scale."""
    if isinstance(transforms[0], ColumnTransformer):
        return np.isin(np.arange(d), transforms[0].transformers[0][2])
    return np.ones(d, dtype=bool)


def _columns(transforms: list[Any], d: int) -> Any:
    """The columns of X in the order in which they leave the transforms, or None for others than this learner's."""
    if len(transforms) != 1:
        return None
    (transform,) = transforms
    if is_default(transform, MinMaxScaler, free=("copy",)):
        return np.arange(d)
    if not is_default(transform, ColumnTransformer, free=("transformers", "n_jobs", "verbose")):
        return None
    if len(transform.transformers) != 2:
        return None
    (_, scaler, scaled), (_, passed, rest) = transform.transformers
    if not is_default(scaler, MinMaxScaler, free=("copy",)) or not (
        isinstance(passed, str) and passed == "passthrough"
    ):
        return None
    if not all(isinstance(part, np.ndarray) and part.dtype.kind == "i" for part in (scaled, rest)):
        return None
    columns = np.concatenate([scaled, rest])
    return columns if np.array_equal(np.sort(columns), np.arange(d)) else None
