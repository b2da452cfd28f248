"""Decision trees, random forests and extra trees; columns are sorted, or coded by level, once for all permutations.

With Numba (the extra ``fast``), compiled code grows the same trees as scikit-learn, which a trial confirms before first
use: samples, columns and thresholds are drawn from the same sequences, and votes are summed in the same order. A
decision tree is a forest with one tree that searches all columns. Class weights are supported only with a bootstrap, in
which scikit-learn draws rows in proportion to them; otherwise it sums the weights, and rounding decides between equal
splits. Missing values, other limits and nominal features of forests are left to scikit-learn.

The 0/1 columns of categories are made once and permuted. A category that is missing in a training fold has no column
there, since scikit-learn breaks ties by the number of columns too.
"""

import functools
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.special import xlogy
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sigstats._common.validation import FloatArray, IntArray

from .base import (
    BatchedLearner,
    Null,
    Problem,
    class_weights,
    compiled,
    fuses_products,
    is_default,
    steps_of,
    taken_by_column,
)
from .design import Design, design_of

_FREE = ("random_state", "max_depth", "min_samples_split", "min_samples_leaf", "criterion")
_FREE_OF_FORESTS = (*_FREE, "n_estimators", "bootstrap", "max_features", "class_weight")
_CRITERIA = ("gini", "entropy", "log_loss")
_KINDS = (DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier)
#: Memory that the samples of all trees may take, for each size of a fold.
_MOST_BYTES = 2**28

_DEEPEST: Final = 2**31 - 1
#: Columns of up to this many levels, and levels times classes, are counted by level.
_MOST_LEVELS, _MOST_COUNTS = 256, 512


class _Features(NamedTuple):
    """The fields of the compiled code's `Features`."""

    feature_of: Any  # feature of each column; shape (columns,)
    nominal: Any  # True if a feature is nominal, and has a column for each category; shape (features,)
    list_of: Any  # list of rows sorted by the feature, or 0, the unsorted list of all rows; shape (features,)
    values: Any  # values of numeric features; shape (features, n)
    codes: Any  # level of a numeric value, or column of a category; shape (features, n)
    levels: Any  # values of the levels in ascending order; shape (features, most levels)


class BatchedForest(BatchedLearner):
    """Trees and forests with an integer ``random_state``, behind the ready learners' transforms."""

    one_size = True
    fits = "compiled"

    def __init__(self, problem: Problem, design: Design, forest: Any, weights: FloatArray | None = None) -> None:
        self._problem = problem
        columns: Any = np.ascontiguousarray(design.columns.T, dtype=np.float32)
        drawn_thresholds = isinstance(forest, ExtraTreesClassifier)
        self._features, self._order = _features_and_order(columns, design, problem.n_classes, drawn_thresholds)
        seeds = _tree_seeds(forest)
        self._seeds = np.array([_column_seed(seed) for seed in seeds])
        self._settings = _settings(forest, len(columns), len(problem.y), problem.n_classes)
        train_sizes = len(problem.y) - np.bincount(problem.folds, minlength=problem.n_folds)
        row_weights: list[Any]
        if weights is None:
            sizes, self._size_of = np.unique(train_sizes, return_inverse=True)
            row_weights = [None] * len(sizes)
        else:  # a place keeps its label in all permutations, so that a fold has the same draws
            sizes, self._size_of = train_sizes, np.arange(problem.n_folds)
            row_weights = [of_fold[problem.y[problem.folds != fold]] for fold, of_fold in enumerate(weights)]
        self._draws: Any = np.zeros((len(sizes), len(seeds), sizes.max()), dtype=np.int32)
        for size, draws, of_rows in zip(sizes, self._draws, row_weights, strict=True):
            draws[:, :size] = _draws(seeds, size, getattr(forest, "bootstrap", False), of_rows)
        self.replicate_bytes = 12 * columns.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedForest | None":  # noqa: ARG003
        """Sort columns and draw bootstraps; return None for trees that grow in another way, or without Numba."""
        *transforms, forest = steps_of(estimator)
        kind: Any = type(forest)
        if kind not in _KINDS or not _has_supported_parameters(forest):
            return None
        design = design_of(transforms, problem.X)
        if design is None or design.standardised.any() or np.isnan(design.columns).any():
            return None
        if len(design.categories) and kind is not DecisionTreeClassifier:
            return None
        weighted, weights = getattr(forest, "class_weight", None) is not None, None
        if weighted:
            weights = class_weights(forest.class_weight, problem) if getattr(forest, "bootstrap", False) else None
            if weights is None:
                return None
        sizes = problem.n_folds if weighted else len(set(np.bincount(problem.folds).tolist()))
        if 4 * sizes * getattr(forest, "n_estimators", 1) * len(problem.y) > _MOST_BYTES:
            return None
        with np.errstate(over="ignore"):
            usable = not np.isinf(design.columns.astype(np.float32)).any()
        if not usable or not _agrees_with_scikit_learn(kind, forest.criterion, weighted):
            return None
        return cls(problem, design, forest, weights)

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from a forest a fold, on rows with the labels and folds of their places."""
        predicted = np.empty_like(place, order="C")
        at = np.empty_like(place[0])
        for draw, labels in zip(place, predicted, strict=True):
            at[draw] = np.arange(len(draw))
            self._grow(self._features, self._order, draw, at, labels)
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from a forest a fold, on columns permuted one by one."""
        predicted = np.empty((len(source), source.shape[2]), dtype=np.int64)
        unmoved = np.arange(source.shape[2])
        for draw, labels in zip(source, predicted, strict=True):
            self._grow(*self._permuted_features(draw), unmoved, unmoved, labels)
        return predicted

    def _permuted_features(self, draw: IntArray) -> tuple[_Features, Any]:
        """Return the features, each permuted separately, and the order of rows in each list."""
        moved: Any = np.empty(draw.shape, dtype=np.uint32)
        np.put_along_axis(moved, draw, np.arange(draw.shape[1])[None], axis=1)  # where each value goes
        order = self._order.copy()
        order[1:] = taken_by_column(moved[self._features.list_of > 0], order[1:])
        values, codes = (taken_by_column(columns, draw) for columns in (self._features.values, self._features.codes))
        return self._features._replace(values=values, codes=codes), order

    def _grow(self, features: _Features, order: Any, place: IntArray, at: IntArray, predicted: IntArray) -> None:
        label, fold = self._problem.y[place].astype(np.uint32), self._problem.folds[place]
        code = compiled("trees")
        forest = code.Retrained(self._seeds, self._draws, self._size_of, label, fold, at, predicted)
        code.predict_all(code.Settings(*self._settings), forest, code.Features(*features), order)


def _has_supported_parameters(forest: Any) -> bool:
    """Return True if all parameters are the defaults, except for integers or names that scikit-learn accepts."""
    is_tree = type(forest) is DecisionTreeClassifier
    if not is_default(forest, type(forest), free=_FREE if is_tree else _FREE_OF_FORESTS):
        return False
    if forest.criterion not in _CRITERIA:
        return False
    bounds = [
        (1 if is_tree else forest.n_estimators, 1),
        (forest.random_state, 0),
        (1 if forest.max_depth is None else forest.max_depth, 1),
        (forest.min_samples_split, 2),
        (forest.min_samples_leaf, 1),
    ]
    if not all(type(value) is int and least <= value <= _DEEPEST for value, least in bounds):
        return False
    if is_tree:
        return True
    tried = forest.max_features
    named = tried is None or (isinstance(tried, str) and tried in ("sqrt", "log2"))
    return type(forest.bootstrap) is bool and (named or (type(tried) is int and tried >= 1))


def _features_and_order(columns: Any, design: Design, n_classes: int, drawn_thresholds: bool) -> tuple[_Features, Any]:
    """Return the features, and the order of rows in each list; the columns of a nominal feature are one feature.

    With drawn thresholds, columns need neither levels nor an order.
    """
    _, first, feature_of = np.unique(design.feature, return_index=True, return_inverse=True)
    nominal = np.isin(first, design.categories)
    values = np.where(nominal[:, None], np.float32(0), columns[first])
    codes: Any = np.zeros(values.shape, dtype=np.uint32)
    for column in design.categories:
        codes[feature_of[column], columns[column] == 1] = column
    levels_of: dict[int, Any] = {}
    listed = []
    for feature in [] if drawn_thresholds else np.flatnonzero(~nominal).tolist():
        if len(known := _levels(values[feature], n_classes)):
            levels_of[feature] = known
        else:
            listed.append(feature)
    levels = np.zeros((len(values), max(map(len, levels_of.values()), default=0)), dtype=np.float32)
    for feature, known in levels_of.items():
        codes[feature], levels[feature, : len(known)] = np.searchsorted(known, values[feature]), known
    list_of = np.zeros(len(values), dtype=np.int64)
    list_of[listed] = np.arange(1, len(listed) + 1)
    order = np.vstack([np.arange(values.shape[1])[None], values[listed].argsort(axis=1)]).astype(np.uint32)
    return _Features(feature_of, nominal, list_of, values, codes, levels), order


def _levels(column: Any, n_classes: int) -> Any:
    """Return a column's distinct values, ascending; empty if too many, or if scikit-learn would equate two of them."""
    levels = np.unique(column)
    apart = (levels[1:] > levels[:-1] + np.float32(1e-7)).all()
    return levels if apart and len(levels) <= min(_MOST_LEVELS, _MOST_COUNTS // n_classes) else levels[:0]


def _settings(forest: Any, d: int, n: int, n_classes: int) -> tuple[Any, ...]:
    """Return the fields of the compiled code's `Settings`."""
    tried = {None: d, "sqrt": int(np.sqrt(d)), "log2": int(np.log2(d))}.get(forest.max_features, forest.max_features)
    deepest = _DEEPEST if forest.max_depth is None else forest.max_depth
    drawn_thresholds = isinstance(forest, ExtraTreesClassifier)
    count = np.arange(n + 1 if forest.criterion != "gini" else 0)
    terms = xlogy(count, count) / np.log(2.0)
    limits = deepest, forest.min_samples_split, forest.min_samples_leaf
    return *limits, max(1, tried), drawn_thresholds, n_classes, terms


def _tree_seeds(forest: Any) -> list[int]:
    """Return the ``random_state`` of each tree."""
    if isinstance(forest, DecisionTreeClassifier):
        return [forest.random_state]
    seeds: list[int] = np.random.RandomState(forest.random_state).randint(2**31 - 1, size=forest.n_estimators).tolist()
    return seeds


def _column_seed(random_state: int) -> int:
    """Return the start of the random sequence with which scikit-learn draws columns."""
    return int(np.random.RandomState(random_state).randint(0, 2**31 - 1)) or 1


def _draws(seeds: list[int], n: int, bootstrap: bool, weights: FloatArray | None) -> Any:
    """Return the number of times that each of `n` training rows is in the sample of each tree, shape (trees, n)."""
    if not bootstrap:
        return np.ones((len(seeds), n), dtype=np.int32)
    streams = map(np.random.RandomState, seeds)
    if weights is None:
        drawn = [stream.randint(0, n, n) for stream in streams]
    else:
        drawn = [stream.choice(n, n, p=weights / np.sum(weights)) for stream in streams]
    return np.array([np.bincount(rows, minlength=n) for rows in drawn], dtype=np.int32)


@functools.cache
def _agrees_with_scikit_learn(kind: Any, criterion: str, weighted: bool) -> bool:
    """Return True if compiled code is available, and its trees are scikit-learn's.

    Predictions on noise are compared, with columns of few values, in which most splits tie, and of many.
    """
    # If a product and a sum are rounded once, splits that are equal except for rounding are decided differently.
    if compiled("trees") is None or fuses_products():
        return False
    rng = np.random.default_rng(1)
    forest = kind(random_state=0, criterion=criterion)
    if kind is not DecisionTreeClassifier:
        forest.set_params(n_estimators=9, **({"bootstrap": True, "class_weight": "balanced"} if weighted else {}))
    label, fold, place = rng.integers(0, 3, 120), np.arange(120) % 2, np.arange(120)[None]
    X, theirs = np.hstack([rng.integers(0, 4, (120, 5)), rng.normal(size=(120, 4))]), np.empty(120, dtype=np.int64)
    design = Design(X, np.arange(9), np.zeros(9, dtype=bool), np.arange(0))
    problem = Problem(X, label, fold, 3, 2)
    weights = class_weights("balanced", problem) if weighted else None
    ours = BatchedForest(problem, design, forest, weights).predict_labels(place)[0]
    for tested in (0, 1):
        fitted = forest.fit(X[fold != tested], label[fold != tested])
        theirs[fold == tested] = fitted.predict(X[fold == tested])
    return np.array_equal(ours, theirs)
