"""Nearest neighbours over numeric and nominal features, with a stated rule for ties and missing values.

scikit-learn's `KNeighborsClassifier` takes one of several equally near neighbours by an order it does not promise. On
discrete features that choice (first in file order, at random, a vote of all) changes the error by tens of percent, so
here it is a parameter. Do not use this estimator with many, mostly irrelevant features, since all have the same weight.

`configuration` recognises this estimator and scikit-learn's, also behind a scaler, so that they can be retrained fast.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._common.validation import FloatArray, IntArray, as_choice, as_count, require_squarable
from ..base import UNDECIDED, Problem, is_default, nominal_mask, steps_of
from ..design import parts_of
from .tied import takes_first

#: Squared distances closer than this are equal (features are expected on a scale of about one). No round number: whole
#: numbers of a range of 10**5 give distances that differ by 1e-10, so that rounding would say which of them are equal.
DISTANCE_TOLERANCE = 6.18e-11

TIES = ("random", "first", "vote")

_CHUNK_BYTES = 2**25


class NearestNeighbours(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """k nearest neighbours by Euclidean distance; a nominal mismatch or a missing value counts 1.

    `n_neighbors`: k, at most the number of training rows.
    `ties`: the choice among rows that are as near as the k-th nearest: those that come first in a
    random order of the training rows (drawn in ``fit`` from `random_state`), those that come first in the training
    data, or all of them (as in Weka's IBk). Squared distances within 6e-11 of each other are equal.
    `nominal` (array_like of bool, shape (d,), or None): mask of the nominal features; any two different codes are at
    the distance 1.
    `random_state`: the seed of the random order.

    Notes
    -----
    The squared distance is the sum over features of the squared difference, or of 1 where a nominal feature differs
    or either value is missing. Scale numeric features to the unit range first, as the ready learners ``"1-nn"`` and
    ``"k-nn"`` do. A vote that is equal goes to the first class.

    Examples
    --------
    >>> nn = NearestNeighbours(nominal=[False, True]).fit([[0.0, 0], [1.0, 1]], ["a", "b"])
    >>> nn.predict([[0.4, 1], [0.1, 0], [0.2, float("nan")]]).tolist()
    ['b', 'a', 'a']
    """

    def __init__(
        self, *, n_neighbors: int = 1, ties: str = "random", nominal: Any = None, random_state: Any = 0
    ) -> None:
        self.n_neighbors = n_neighbors
        self.ties = ties
        self.nominal = nominal
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "NearestNeighbours":
        """Keep the training rows, and draw the order of equally near ones."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        require_squarable(X, "X")
        as_count(self.n_neighbors, "n_neighbors", minimum=1, maximum=len(X))
        as_choice(self.ties, "ties", TIES)
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        self._nominal = nominal_mask(self.nominal, X.shape[1])
        self._rows = X
        self._priority = tie_order(len(X), self.ties, self.random_state)
        return self

    def predict(self, X: Any) -> Any:
        """Return the most frequent class of the neighbours, the first of equals."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        require_squarable(X, "X")
        step = max(1, _CHUNK_BYTES // (8 * len(self._rows)))
        rule, codes = Rule(self.n_neighbors, self.ties), []
        for first in range(0, len(X), step):
            distances = squared_distances(X[first : first + step], self._rows, self._nominal)
            kth = kth_smallest(distances, self.n_neighbors)
            codes.append(vote(distances, kth, self._codes[None], self._priority[None], len(self.classes_), rule))
        return self.classes_[np.concatenate(codes)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def tie_order(rows: int, ties: str, random_state: Any) -> IntArray:
    """Return the rank of each of the training rows among those that are equally near."""
    if ties != "random":
        return np.arange(rows)
    return np.asarray(check_random_state(random_state).permutation(rows), dtype=np.int64)


def squared_distances(A: FloatArray, B: FloatArray, nominal: Any) -> FloatArray:
    """Return squared distances, shape (len(A), len(B)), as one matrix product."""
    a, b = A[:, ~nominal], B[:, ~nominal]
    known_a, known_b = ~np.isnan(a), ~np.isnan(b)
    if known_a.all() and known_b.all():
        squares_a, squares_b = (np.einsum("ij,ij->i", x, x)[:, None] for x in (a, b))
        left, right = [squares_a, np.ones_like(squares_a), a], [np.ones_like(squares_b), squares_b, -2 * b]
        offset = 0
    else:  # (a - b)^2 where both are known, else 1
        a, b = np.where(known_a, a, 0), np.where(known_b, b, 0)
        left, right, offset = [a * a, known_a, a, known_a], [known_b, b * b, -2 * b, -known_b.astype(float)], a.shape[1]
    for x, z in zip(A[:, nominal].T, B[:, nominal].T, strict=True):
        seen = np.unique(z[~np.isnan(z)])
        left.append(x[:, None] == seen)
        right.append(-(z[:, None] == seen).astype(float))
        offset += 1
    distances: FloatArray = np.hstack(left).astype(float, copy=False) @ np.hstack(right).T
    if offset:
        distances += offset
    return np.maximum(distances, 0, out=distances)


def one_hot(X: FloatArray) -> tuple[Any, IntArray]:
    """Return a 0-1 column for each category of each feature, none if missing, and each column's feature."""
    columns, feature = [], []
    for j, values in enumerate(X.T):
        known = np.unique(values[~np.isnan(values)])
        columns.append(values[:, None] == known)
        feature.append(np.full(len(known), j))
    # Products of these are small whole numbers, which 32 bits hold exactly.
    return np.hstack(columns).astype(np.float32), np.concatenate(feature)


def mismatches(A: Any, B: Any, features: int) -> Any:
    """Return in how many `features` rows differ from categories in `one_hot` form, shape (len(A), len(B))."""
    same = A @ B.T
    return np.subtract(features, same, out=same)


def kth_smallest(distances: FloatArray, k: int) -> FloatArray:
    """Return the k-th smallest along axis 1, which is kept with length 1."""
    return distances.min(axis=1, keepdims=True) if k == 1 else np.partition(distances, k - 1, axis=1)[:, k - 1 : k]


class Rule(NamedTuple):
    """The rule of a vote: of the `k` nearest rows, with `ties` among rows that are equally near within `tolerance`.

    With ``ties="unknown"`` an unknown part of the equally near rows votes: the class is `UNDECIDED` unless all choices
    of this part give the same class. If `weighted`, votes count by inverse distance.
    """

    k: int
    ties: str
    tolerance: float = DISTANCE_TOLERANCE
    weighted: bool = False


def vote(
    distances: FloatArray, kth: FloatArray, labels: IntArray, priority: IntArray, n_classes: int, rule: Rule
) -> IntArray:
    """Return the class code given by the nearest along axis 1.

    ``labels`` and ``priority`` (the rank of a row among those equally near) have the shape of `distances`, or one that
    broadcasts to it. A row at an infinite distance does not count.
    """
    k, ties, tolerance, _ = rule
    if ties == "unknown":
        return _certain_vote(distances, kth, labels, n_classes, rule)
    tied = distances <= kth + tolerance
    last = np.iinfo(priority.dtype).max
    if k == 1 and ties != "vote":
        nearest = np.where(tied, priority, last).argmin(axis=1, keepdims=True)
        return np.take_along_axis(np.broadcast_to(labels, distances.shape), nearest, axis=1)[:, 0]
    if ties != "vote":
        sure = distances < kth - tolerance
        order = np.where(sure, -1, np.where(tied, priority, last)).argsort(axis=1, kind="stable")[:, :k]
        labels = np.take_along_axis(np.broadcast_to(labels, distances.shape), order, axis=1)
        tied = np.ones_like(labels, dtype=bool)
    votes = np.stack([(tied & (labels == code)).sum(axis=1) for code in range(n_classes)])
    return np.asarray(votes.argmax(axis=0))


def _certain_vote(distances: FloatArray, kth: FloatArray, labels: IntArray, n_classes: int, rule: Rule) -> IntArray:
    """Return the class that wins for every choice of `k` rows among sure and tied ones; `UNDECIDED` if none does."""
    k, _, tolerance, weighted = rule
    sure = distances < kth - tolerance
    tied = (distances <= kth + tolerance) & ~sure

    def sums(rows: Any, values: Any) -> Any:
        return np.stack([np.where(rows & (labels == code), values, 0).sum(axis=1) for code in range(n_classes)])

    low, high = weight_bounds(distances, tolerance, weighted)
    # A tied row is within the tolerance of the kth, and its distance may be off by another.
    low_tied, high_tied = (bound[:, 0] for bound in weight_bounds(kth, 2 * tolerance, weighted))
    n_tied = sums(tied, 1)
    chosen = np.minimum(k, (sure | tied).sum(axis=1)) - sure.sum(axis=1)
    least = sums(sure, low) + np.maximum(0, chosen - (n_tied.sum(axis=0) - n_tied)) * low_tied
    some = np.minimum(n_tied, chosen)
    most = sums(sure, high) + np.where(some, np.maximum(some, 1) * high_tied, 0)  # avoids 0 x infinity
    winner: IntArray = least.argmax(axis=0)
    # If votes are tied, the first class wins.
    code = np.arange(n_classes).reshape(-1, *[1] * winner.ndim)
    best = np.take_along_axis(least, winner[None], axis=0)
    beaten = (most < best) | ((most == best) & (code > winner)) | (code == winner)
    return np.where(beaten.all(axis=0), winner, UNDECIDED)


def weight_bounds(squared: FloatArray, error: float, weighted: bool) -> tuple[Any, Any]:
    """Return bounds of the vote of a row at a squared distance with this error; the upper one may be infinite."""
    if not weighted:
        return np.ones_like(squared), np.ones_like(squared)
    upper = np.divide(1 + _ROUNDED, np.sqrt(np.maximum(squared - error, 0)))
    return (1 - _ROUNDED) / np.sqrt(squared + error), upper


#: Relative rounding error of sums of votes.
_ROUNDED = 1e-12
#: With a tolerance below this no two whole numbers that differ are equal.
_WHOLE = 0.25
#: Parameters of scikit-learn's classifier that need not have their defaults.
_FREE = ("n_neighbors", "algorithm", "leaf_size", "n_jobs", "weights")


@dataclass(frozen=True)
class Configuration:
    """The settings that distinguish these estimators; `scaled`: by any scaler, `variances`: by `StandardScaler`."""

    k: int
    ties: str
    random_state: int
    nominal: Any
    scaled: bool
    tolerance: float
    variances: bool = False
    weighted: bool = False


def configuration(estimator: Any, problem: Problem) -> Configuration | None:
    """Return the settings of an estimator, or None if its metric, weights or transforms are not supported."""
    *transforms, classifier = steps_of(estimator)
    n, d = problem.X.shape
    nominal = np.zeros(d, dtype=bool)
    tolerance, ties, seed, weighted = DISTANCE_TOLERANCE, "first", 0, False
    if is_default(classifier, NearestNeighbours, free=("n_neighbors", "ties", "nominal", "random_state")):
        nominal = nominal_mask(classifier.nominal, d)
        ties, seed = classifier.ties, classifier.random_state
        if ties not in TIES:
            return None
    elif is_default(classifier, KNeighborsClassifier, free=_FREE):
        if np.isnan(problem.X).any() or classifier.weights not in ("uniform", "distance"):
            return None
        ties, weighted = "unknown", classifier.weights == "distance"
        if not transforms:
            # Its distances are rounded in the unit of the squared values, not of their spread.
            squares = float(np.einsum("ij,ij->i", problem.X, problem.X).max())
            tolerance = max(tolerance * float(problem.X.var(axis=0).max()), 64 * np.finfo(np.float64).eps * squares)
            # Squared distances of whole numbers that differ do so by 1.
            if tolerance < _WHOLE and not weighted and takes_first(classifier, problem):
                ties = "first"
    else:
        return None
    variances = len(transforms) == 1 and is_default(transforms[0], StandardScaler, free=("copy",))
    if variances and ties != "unknown":
        return None
    if transforms and not variances:
        columns = _columns(transforms, d)
        # The classifier's mask is in the order of the transforms' output: scaled (numeric) columns first.
        if columns is None or not np.array_equal(~nominal, np.arange(d) < columns[1]):
            return None
        nominal = np.isin(np.arange(d), columns[0][nominal])
    k, fewest = classifier.n_neighbors, n - int(np.bincount(problem.folds).max())
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= fewest or not isinstance(seed, int):
        return None
    if np.isinf(problem.X).any():
        return None
    return Configuration(k, ties, seed, nominal, bool(transforms), tolerance, variances, weighted)


def _columns(transforms: list[Any], d: int) -> tuple[IntArray, int] | None:
    """Return the order in which the transforms output the columns of X, scaled ones first, and the number of these.

    None if the transforms are not those of the ready learner.
    """
    parts = parts_of(transforms, d)
    if parts is None or [len(steps) for steps, _ in parts] not in ([1], [1, 0]):
        return None
    if not is_default(parts[0][0][0], MinMaxScaler, free=("copy",)):
        return None
    return np.concatenate([columns for _, columns in parts]), len(parts[0][1])
