"""Histogram gradient boosting from columns whose distinct values are found once.

With Numba (the extra ``fast``) trees grow in compiled code. They are scikit-learn's own trees, which a trial confirms
before use: thresholds, gradients and sums are computed from the same floats in the same order, so that predictions
agree to the bit. With early stopping, the rows that decide on it depend only on labels and folds; scikit-learn draws
them and computes their loss here too. Weights, constraints, samples of columns, other scores to stop by and more than
200,000 rows go to scikit-learn.
"""

import functools
from typing import Any, Final, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from .._common.validation import IntArray
from .base import (
    UNDECIDED,
    BatchedLearner,
    Null,
    Problem,
    compiled,
    fuses_products,
    is_default,
    steps_of,
    taken_by_column,
)
from .design import Design, design_of

#: Parameters that are whole numbers, with their least values, and other numeric parameters.
_COUNTS = {"max_iter": 1, "max_leaf_nodes": 2, "max_depth": 1, "min_samples_leaf": 1, "n_iter_no_change": 1}
_NUMBERS = ("learning_rate", "l2_regularization", "tol")
_FREE = (*_COUNTS, *_NUMBERS, "max_bins", "early_stopping", "random_state")
#: With more training rows scikit-learn stops early unless it is told not to.
_STOPS_FROM: Final = 10_000
#: From more rows scikit-learn draws those that thresholds are made of.
_MOST_ROWS: Final = 200_000
#: Larger values and parameters are left to scikit-learn, so that no sum or product overflows.
_LARGEST: Final = 1e100
#: Value for no limit of leaves or depth.
_NO_LIMIT: Final = 2**31
#: The number of bins of columns that are added to at a time: they fit in a core's fastest cache.
_TOGETHER: Final = 1152
#: Memory that the histograms of a tree may take.
_MOST_BYTES: Final = 2**28


class BatchedBoosting(BatchedLearner):
    """`HistGradientBoostingClassifier` on numbers, which may be missing, and on the 0/1 columns of categories."""

    one_size = True
    fits = "compiled"

    def __init__(self, problem: Problem, design: Design, classifier: Any) -> None:
        self._classifier, self._features = classifier, design.features
        self._known_levels, self._levels = _levels_of(design)
        self._folds = [_fold_of(classifier, problem.y, problem.folds == fold) for fold in range(problem.n_folds)]
        n, d = design.columns.shape
        self.replicate_bytes = n * (9 * d + 16 * problem.n_classes) + _histogram_bytes(classifier, n, d)

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedBoosting | None":  # noqa: ARG003
        """Return the levels of columns; None if trees grow in another way, or without Numba."""
        *transforms, classifier = steps_of(estimator)
        if not is_default(classifier, HistGradientBoostingClassifier, free=_FREE) or not _is_known(classifier):
            return None
        design = design_of(transforms, problem.X, keep_missing=True)
        if design is None or design.standardised.any() or design.sparse or len(problem.X) > _MOST_ROWS:
            return None
        if np.nanmax(np.abs(design.columns), initial=0) > _LARGEST:
            return None
        if _histogram_bytes(classifier, *design.columns.shape) > _MOST_BYTES:
            return None
        return cls(problem, design, classifier) if _agrees_with_scikit_learn() else None

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from trees a fold, on rows with the labels and folds of their places."""
        predicted = np.empty_like(place, order="C")
        for draw, labels in zip(place, predicted, strict=True):
            at = np.empty_like(draw)
            at[draw] = np.arange(len(draw))
            labels[at] = self._predict(np.take(self._levels, at, axis=1))
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from trees a fold, on columns permuted one by one."""
        predicted = np.empty((len(source), source.shape[2]), dtype=np.int64)
        for draw, labels in zip(source, predicted, strict=True):
            labels[:] = self._predict(taken_by_column(self._levels, draw[self._features]))
        return predicted

    def _predict(self, levels: Any) -> IntArray:
        """Predict rows from the levels of their columns."""
        predicted = np.full(levels.shape[1], UNDECIDED, dtype=np.int64)
        for fold in self._folds:
            if fold is None:
                continue
            raw = _raw_predictions(self._classifier, self._known_levels, levels, fold)
            if raw is not None:
                code = (raw[0] > 0).astype(np.int64) if len(raw) == 1 else raw.argmax(axis=0)
                predicted[fold.tested] = fold.classes[code]
        return predicted


class _Fold(NamedTuple):
    """The part of a fold that permutations leave unchanged.

    ``rows`` are the training rows, those for early stopping, and the test rows, with the numbers ``sizes``; ``label``
    is the position of each row's class in ``classes``; ``start`` are the raw predictions before the first tree.
    """

    rows: IntArray
    sizes: tuple[int, int, int]
    classes: IntArray
    label: Any
    start: Any
    loss: Any

    @property
    def tested(self) -> IntArray:
        """The rows that are predicted."""
        return self.rows[len(self.rows) - self.sizes[2] :]


def _fold_of(classifier: Any, y: IntArray, tested: Any) -> _Fold | None:
    """Return a fold, or None if scikit-learn cannot fit it or cannot draw rows for early stopping."""
    from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss

    rows = np.flatnonzero(~tested)
    classes = np.unique(y[rows])
    if len(classes) < 2:
        return None
    stops: IntArray = rows[:0]
    if _stops_early(classifier, len(rows)):
        seed = np.random.RandomState(classifier.random_state).randint(np.iinfo(np.uint32).max, dtype="u8")
        try:
            rows, stops = train_test_split(
                rows, test_size=classifier.validation_fraction, stratify=y[rows], random_state=seed
            )
        except ValueError:
            return None
    loss = HalfBinomialLoss() if len(classes) == 2 else HalfMultinomialLoss(n_classes=len(classes))
    ordered = np.concatenate([rows, stops, np.flatnonzero(tested)])
    label = np.minimum(np.searchsorted(classes, y[ordered]), len(classes) - 1).astype(np.uint32)
    start = loss.fit_intercept_only(label[: len(rows)].astype(np.float64))
    sizes = len(rows), len(stops), int(np.count_nonzero(tested))
    return _Fold(ordered, sizes, classes, label, np.atleast_1d(start), loss)


def _raw_predictions(classifier: Any, known: tuple[Any, ...], levels: Any, fold: _Fold) -> Any:
    """Return the raw predictions of the rows tested, (trees of a round, rows); None if scikit-learn cannot bin.

    `known`: the fields of the compiled code's `Levels`; `levels`: the level of each value, shape (columns, n).
    """
    code = compiled("boosting")
    m, stopping, _ = fold.sizes
    n, d = len(fold.rows), len(levels)
    bins = min(classifier.max_bins, int(np.diff(known[1]).max())) + 1
    width = min(d, _TOGETHER // bins)
    binned, columns = np.empty((-(-d // width), n, width), dtype=np.uint8), np.empty((d, 3), dtype=np.int64)
    known = code.Levels(*known)
    used = code.bin_rows(levels, known, fold.rows, m, classifier.max_bins, _shares(classifier), binned, columns)
    if used < 0:
        return None
    raw = np.empty((len(fold.start), n))
    raw[:] = fold.start[:, None]
    rules = _rules(classifier)
    sample = binned, columns[:used], fold.label[:m], rules, code.room_for(columns[:used], m, rules)
    if not _stops_early(classifier, m + stopping):
        code.boost(*sample, raw, classifier.max_iter)
        return raw[:, m:]
    truth, stop_rows = fold.label[m : m + stopping].astype(np.float64), raw[:, m : m + stopping]
    scores = [_score(fold.loss, truth, stop_rows)]
    for _ in range(classifier.max_iter):
        code.boost(*sample, raw, 1)
        scores.append(_score(fold.loss, truth, stop_rows))
        last = classifier.n_iter_no_change
        if len(scores) > last and not max(scores[-last:]) > scores[-last - 1] + classifier.tol:
            break
    return raw[:, m + stopping :]


def _score(loss: Any, truth: Any, raw: Any) -> Any:
    return -loss(truth, np.ascontiguousarray(raw[0]) if len(raw) == 1 else raw.T)


def _stops_early(classifier: Any, m: int) -> bool:
    return m > _STOPS_FROM if classifier.early_stopping == "auto" else bool(classifier.early_stopping)


def _is_known(classifier: Any) -> bool:
    """Return True if scikit-learn accepts the parameters, and an integer selects the rows for early stopping."""
    for name, least in _COUNTS.items():
        value = getattr(classifier, name)
        unlimited = value is None and name in ("max_leaf_nodes", "max_depth")
        if not unlimited and not (type(value) is int and least <= value < _NO_LIMIT):
            return False
    if not all(type(getattr(classifier, name)) in (int, float) for name in _NUMBERS):
        return False
    if not (0 < classifier.learning_rate <= _LARGEST and classifier.tol >= 0):
        return False
    if not (0 <= classifier.l2_regularization <= _LARGEST and type(classifier.max_bins) is int):
        return False
    seed, stopping = classifier.random_state, classifier.early_stopping
    seeded = stopping is False or (type(seed) is int and 0 <= seed < _NO_LIMIT)
    return 2 <= classifier.max_bins <= 255 and seeded and (isinstance(stopping, bool) or stopping == "auto")


def _rules(classifier: Any) -> tuple[int, int, int, float, float, int]:
    """Return the fields of the compiled code's `Rules`."""
    leaves, depth = classifier.max_leaf_nodes, classifier.max_depth
    return (
        _NO_LIMIT if leaves is None else leaves,
        _NO_LIMIT if depth is None else depth,
        classifier.min_samples_leaf,
        float(classifier.l2_regularization),
        float(classifier.learning_rate),
        classifier.max_bins,
    )


def _shares(classifier: Any) -> Any:
    """Return the quantiles that are thresholds of a column of many values."""
    return np.linspace(0, 100, num=classifier.max_bins + 1)[1:-1] / 100


def _histogram_bytes(classifier: Any, n: int, d: int) -> int:
    """Return the most memory that the histograms of a tree take."""
    leaves = min(_rules(classifier)[0], n // classifier.min_samples_leaf + 1) + 2
    return int(32 * leaves * d * (min(classifier.max_bins, n) + 1))


def _levels_of(design: Design) -> tuple[tuple[Any, ...], Any]:
    """Return the fields of the compiled code's `Levels`, and the level of each value, shape (columns, n)."""
    levels = np.empty(design.columns.shape[::-1], dtype=np.uint32)
    values, gaps = [], np.zeros(len(levels), dtype=bool)
    for column, (numbers, level) in enumerate(zip(design.columns.T, levels, strict=True)):
        missing = np.isnan(numbers)
        distinct, level[~missing] = np.unique(numbers[~missing], return_inverse=True)
        level[missing], gaps[column] = len(distinct), missing.any()
        values.append(distinct)
    starts = np.append(0, np.cumsum([len(distinct) for distinct in values]))
    optional = np.isin(np.arange(len(levels)), design.categories)
    return (np.concatenate(values), starts, gaps, optional), levels


@functools.cache
def _agrees_with_scikit_learn() -> bool:
    """Return True if Numba is available and its trees are those of the installed scikit-learn."""
    if fuses_products() or compiled("boosting") is None:
        return False
    return all(_predicts_the_same(n_classes) for n_classes in (2, 3))


def _predicts_the_same(n_classes: int) -> bool:
    """Return True if raw predictions equal scikit-learn's, for columns with ties, many values and missing values."""
    rng = np.random.default_rng(1)
    X, tested = rng.normal(size=(120, 4)), np.arange(120) % 4 == 0
    X[:, 0], X[::7, 1], X[:, 2] = rng.integers(0, 3, 120), np.nan, X[:, 2].round(1)
    y = rng.integers(0, n_classes, 120)
    classifier = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=4, max_bins=30, max_leaf_nodes=9)
    known, levels = _levels_of(Design(X, np.arange(4), np.zeros(4, dtype=bool), np.arange(0)))
    fold = _fold_of(classifier, y, tested)
    assert fold is not None
    ours = _raw_predictions(classifier, known, levels, fold)
    theirs = classifier.fit(X[~tested], y[~tested])._raw_predict(X[tested])
    return np.array_equal(ours, theirs.T)
