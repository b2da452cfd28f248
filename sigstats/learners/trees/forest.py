"""Decision trees, random forests and extra trees from columns that are cast and sorted or ranked once.

With Numba (the extra ``fast``) trees grow from sorted features, or from ranks or values: extra trees, and others whose
columns all have few levels. They are scikit-learn's own, which is tried before they are used: samples, columns and
thresholds are drawn from the same sequences, and votes are summed in the same order. A decision tree is a forest of one
tree that looks at all columns. Missing values, other criteria and other limits go to scikit-learn, as do nominal
features of forests.

The 0/1 columns of categories are made once and permuted; a category that a training fold does not have is no column
there, since scikit-learn breaks ties by the number of columns too.
"""

import functools
from typing import Any, ClassVar, Final

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sigstats._common.validation import IntArray

from ..base import Fits, Null, Problem, is_default, steps_of, taken_by_column
from ..design import Design, design_of
from ..door import compiled, fuses_products

_FREE = ("random_state", "max_depth", "min_samples_split", "min_samples_leaf")
_FREE_OF_FORESTS = (*_FREE, "n_estimators", "bootstrap", "max_features")
_KINDS = (DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier)

#: Memory that the samples of all trees may take, for each size of a fold.
_MOST_BYTES = 2**28

_DEEPEST: Final = 2**31 - 1

#: The bytes of a line of memory, which vector instructions take at once.
_LINE: Final = 64

#: Counting by level is faster from so many columns on, and for so many levels times classes.
_FEWEST_COLUMNS, _MOST_COUNTS = 8, 512

#: The numbers that are drawn ahead, for all trees.
_MOST_AHEAD: Final = 2**18

#: The rows of counts in 16 bits, which may be less than 0, and those of squared counts in 32.
_MOST_AT_ONCE, _MOST_SQUARED = 2**15, 2**16


class BatchedForest:
    """Trees and forests with an integer ``random_state``, behind the ready learners' transforms."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")
    one_size: ClassVar[bool] = True
    fits: ClassVar[Fits] = "compiled"

    def __init__(self, problem: Problem, design: Design, forest: Any) -> None:
        self._problem, self._features = problem, design.features
        columns: Any = np.ascontiguousarray(design.columns.T, dtype=np.float32)
        self._drawn = isinstance(forest, ExtraTreesClassifier)
        self._levels = (
            [np.unique(column) for column in columns] if self._drawn else _levels_of(columns, problem.n_classes)
        )
        if self._levels is None or len(design.categories):
            self._levels, self._data = None, _sorted(columns, design)
        else:
            self._codes: Any = _codes(columns, self._levels)
            self._known = _meaning(self._codes, self._levels)
            self._data = _coded(self._codes, self._known)
        seeds = _tree_seeds(forest)
        self._seeds = np.array([_seed(seed) for seed in seeds])
        held_out = np.bincount(problem.folds, minlength=problem.n_folds)
        bootstrap = getattr(forest, "bootstrap", False)
        most = _MOST_SQUARED if self._drawn else _MOST_AT_ONCE
        once = not bootstrap and self._levels is not None and len(problem.y) < most
        self._settings = _settings(forest, len(columns), problem.n_classes, once)
        self._ahead: Any = self._seeds.astype(np.uint32)[:, None]
        if self._settings[-1]:
            length = max(1, _MOST_AHEAD // len(seeds))
            self._ahead = np.array([compiled("trees").draw_ahead(seed, length) for seed in self._seeds])
        sizes, self._size_of = np.unique(len(problem.y) - held_out, return_inverse=True)
        self._draws: Any = np.zeros((len(sizes), len(seeds), sizes[-1]), dtype=np.int32)
        for size, draws in zip(sizes, self._draws, strict=True):
            draws[:, :size] = _draws(seeds, size, bootstrap)
        self.replicate_bytes = 12 * columns.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedForest | None":  # noqa: ARG003
        """Sort columns and draw bootstraps; return None for trees that grow in another way, or without Numba."""
        *transforms, forest = steps_of(estimator)
        if type(forest) not in _KINDS or not _is_known(forest):
            return None
        design = design_of(transforms, problem.X)
        if design is None or design.standardised.any() or np.isnan(design.columns).any():
            return None
        if len(design.categories) and type(forest) is not DecisionTreeClassifier:
            return None
        sizes = len(set(np.bincount(problem.folds).tolist()))
        if 4 * sizes * getattr(forest, "n_estimators", 1) * len(problem.y) > _MOST_BYTES:
            return None
        with np.errstate(over="ignore"):
            usable = not np.isinf(design.columns.astype(np.float32)).any()
        if not usable or compiled("trees") is None:
            return None
        made = cls(problem, design, forest)
        alone = type(forest) is DecisionTreeClassifier
        return made if _grows(alone, coded=made._levels is not None) else None

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from a forest a fold, on rows with the labels and folds of their places."""
        predicted = np.empty_like(place, order="C")
        at = np.empty_like(place[0])
        for draw, own in zip(place, predicted, strict=True):
            at[draw] = np.arange(len(draw))
            self._grow(self._data, draw, at, own)
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from a forest a fold, on columns permuted one by one."""
        predicted = np.empty((len(source), source.shape[2]), dtype=np.int64)
        here = np.arange(source.shape[2])
        for draw, own in zip(source, predicted, strict=True):
            self._grow(self._mixed(draw), here, here, own)
        return predicted

    def _mixed(self, draw: IntArray) -> tuple[Any, ...]:
        """The data with features permuted one by one."""
        if self._levels is not None:
            return _coded(taken_by_column(self._codes, draw[self._features]), self._known)
        feature_of, nominal, values, categories, order = self._data
        moved: Any = np.empty(draw.shape, dtype=np.uint32)
        np.put_along_axis(moved, draw, np.arange(draw.shape[1])[None], axis=1)  # where each value goes
        values, categories = (taken_by_column(of, draw) for of in (values, categories))
        return feature_of, nominal, values, categories, taken_by_column(moved, order)

    def _grow(self, data: tuple[Any, ...], place: IntArray, at: IntArray, predicted: IntArray) -> None:
        label, fold = self._problem.y[place].astype(np.uint32), self._problem.folds[place]
        code = compiled("trees")
        settings = code.Settings(*self._settings)
        forest = code.Retrained(self._seeds, self._draws, self._size_of, label, fold, at, predicted)
        if self._levels is None:
            *features, order = data
            code.predict_from_order(settings, forest, code.Features(*features), order)
        else:
            counts = code.count_levels(settings, label, data[0], data[2])
            code.predict_from_codes(settings, forest, self._ahead, counts, data)


def _is_known(forest: Any) -> bool:
    """True if all parameters are the defaults, except for integers or names that scikit-learn accepts."""
    alone = type(forest) is DecisionTreeClassifier
    if not is_default(forest, type(forest), free=_FREE if alone else _FREE_OF_FORESTS):
        return False
    bounds = [
        (1 if alone else forest.n_estimators, 1),
        (forest.random_state, 0),
        (1 if forest.max_depth is None else forest.max_depth, 1),
        (forest.min_samples_split, 2),
        (forest.min_samples_leaf, 1),
    ]
    if not all(type(value) is int and least <= value <= _DEEPEST for value, least in bounds):
        return False
    tried = forest.max_features
    named = tried is None or (isinstance(tried, str) and tried in ("sqrt", "log2"))
    return alone or (type(forest.bootstrap) is bool and (named or (type(tried) is int and tried >= 1)))


def _sorted(columns: Any, design: Design) -> tuple[Any, ...]:
    """The fields of the compiled code's `Features`, and the order of rows; columns of a nominal feature are one."""
    _, first, feature_of = np.unique(design.feature, return_index=True, return_inverse=True)
    nominal = np.isin(first, design.categories)
    values = np.where(nominal[:, None], np.float32(0), columns[first])
    categories: Any = np.zeros(values.shape, dtype=np.uint32)
    for column in design.categories:
        categories[feature_of[column], columns[column] == 1] = column
    return feature_of, nominal, values, categories, values.argsort(axis=1).astype(np.uint32)


def _levels_of(columns: Any, n_classes: int) -> list[Any] | None:
    """The distinct values of each column, if they are few enough and scikit-learn tells all of them apart."""
    if len(columns) < _FEWEST_COLUMNS:
        return None
    columns_of_levels, most = [], min(256, _MOST_COUNTS // n_classes)
    for column in columns:
        levels = np.unique(column)
        if len(levels) > most or not _apart(levels):
            return None
        columns_of_levels.append(levels)
    return columns_of_levels


def _apart(levels: Any) -> bool:
    """True if scikit-learn tells increasing values apart."""
    return bool((levels[1:] > levels[:-1] + np.float32(1e-7)).all())


def _codes(columns: Any, levels: list[Any]) -> Any:
    """The rank of each value among those of its column; if a byte is too small, its bits in the order of values."""
    if max(map(len, levels)) > 2**8:
        bits = (columns + np.float32(0)).view(np.uint32)  # no negative zero
        return bits ^ np.where(bits >> 31, np.uint32(2**32 - 1), np.uint32(2**31))
    return np.array([np.searchsorted(known, own) for known, own in zip(levels, columns, strict=True)], dtype=np.uint8)


def _meaning(codes: Any, levels: list[Any]) -> tuple[Any, ...]:
    """The values of codes, as `predict_from_codes` takes them."""
    apart = all(map(_apart, levels))
    if codes.dtype == np.uint32:
        return np.zeros((len(codes), 0), dtype=np.float32), apart
    values = np.zeros((len(codes), max(map(len, levels))), dtype=np.float32)
    for own, known in zip(values, levels, strict=True):
        own[: len(known)] = known
    return values, apart


def _coded(codes: Any, known: tuple[Any, ...]) -> tuple[Any, ...]:
    """Codes by row, padded to whole cache lines, and by column, and the values that they stand for."""
    line = _LINE // codes.itemsize
    by_row = np.zeros((codes.shape[1], -(-len(codes) // line) * line), dtype=codes.dtype)
    by_row[:, : len(codes)] = codes.T
    return by_row, codes, *known


def _settings(forest: Any, d: int, n_classes: int, once: bool) -> tuple[int, int, int, int, bool, int, bool, bool]:
    """The fields of the compiled code's `Settings`."""
    tried = {None: d, "sqrt": int(np.sqrt(d)), "log2": int(np.log2(d))}.get(forest.max_features, forest.max_features)
    deepest = _DEEPEST if forest.max_depth is None else forest.max_depth
    drawn = isinstance(forest, ExtraTreesClassifier)
    at_once = once and not drawn and tried >= d
    return deepest, forest.min_samples_split, forest.min_samples_leaf, max(1, tried), drawn, n_classes, once, at_once


def _tree_seeds(forest: Any) -> list[int]:
    """The ``random_state`` of each tree."""
    if isinstance(forest, DecisionTreeClassifier):
        return [forest.random_state]
    seeds: list[int] = np.random.RandomState(forest.random_state).randint(2**31 - 1, size=forest.n_estimators).tolist()
    return seeds


def _seed(random_state: int) -> int:
    """The start of the random sequence with which scikit-learn draws columns."""
    return int(np.random.RandomState(random_state).randint(0, 2**31 - 1)) or 1


def _draws(seeds: list[int], n: int, bootstrap: bool) -> Any:
    """The number of times that each of `n` training rows is in the sample of each tree, shape (trees, n)."""
    if not bootstrap:
        return np.ones((len(seeds), n), dtype=np.int32)
    drawn = [np.bincount(np.random.RandomState(seed).randint(0, n, n), minlength=n) for seed in seeds]
    return np.array(drawn, dtype=np.int32)


@functools.cache
def _grows(alone: bool, coded: bool) -> bool:
    """True if compiled code is available, and its trees from codes, or from sorted columns, are scikit-learn's.

    `alone`: only trees, or forests too, which take longer to fit.
    """
    # Where a product and a sum are rounded once, splits equal but for rounding go otherwise.
    kinds = _KINDS[:1] if alone else _KINDS if coded else _KINDS[:2]
    there = compiled("trees") is not None and not fuses_products()
    return there and all(_grows_the_same(kind, _FEWEST_COLUMNS if coded else _FEWEST_COLUMNS - 1) for kind in kinds)


def _grows_the_same(kind: Any, d: int) -> bool:
    """True if predictions on noise from few values, where ties are everywhere, are those of scikit-learn."""
    rng = np.random.default_rng(1)
    forest = kind(random_state=0) if kind is DecisionTreeClassifier else kind(n_estimators=9, random_state=0)
    label, fold, place = rng.integers(0, 3, 120), np.arange(120) % 2, np.arange(120)[None]
    X, theirs = rng.integers(0, 4, (120, d)).astype(np.float64), np.empty(120, dtype=np.int64)
    design = Design(X, np.arange(d), np.zeros(d, dtype=bool), np.arange(0))
    ours = BatchedForest(Problem(X, label, fold, 3, 2), design, forest).predict_labels(place)[0]
    for tested in (0, 1):
        fitted = forest.fit(X[fold != tested], label[fold != tested])
        theirs[fold == tested] = fitted.predict(X[fold == tested])
    return np.array_equal(ours, theirs)


BATCHED = BatchedForest
