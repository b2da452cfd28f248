"""Decision trees from columns that are encoded and sorted once.

With Numba (the extra ``fast``) trees grow from columns that are kept in order, or from counts by level. What these
leave out (missing values, other criteria and limits than they know, other processors) and everything without Numba
grows in scikit-learn, without what it encodes, checks and copies in each fit. The trees are the same.

The 0/1 columns of categories are made once and permuted; a category that a training fold does not have is no column
there, since scikit-learn breaks ties by the number of columns too.
"""

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from sigstats._common.compiled_or import fuses_products
from sigstats._common.validation import FloatArray, IntArray

from ..base import Null, Problem, is_default, steps_of
from ..design import Design, design_of
from ..door import compiled

_DEEPEST: Final = 2**31 - 1

#: Squares of counts of so many rows fit into the 32 bits that counting by level has for them.
_MOST_ROWS: Final = 46_340

#: Counting by level is faster from so many columns on, and for so many levels times classes.
_FEWEST_COLUMNS, _MOST_COUNTS = 8, 512


class BatchedTree:
    """`sklearn.tree.DecisionTreeClassifier` with an integer ``random_state``, behind the ready learners' transforms."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")
    one_size: ClassVar[bool] = True

    def __init__(self, problem: Problem, design: Design, tree: Any) -> None:
        self._tree, self._feature = tree, design.feature
        self._columns = np.asfortranarray(design.columns, dtype=np.float32)
        self._categories = design.categories
        self._missing = bool(np.isnan(self._columns).any())
        self._problem = problem
        # Not what Numba has compiled: a process to which it is sent would compile it anew.
        self._start = None if self._missing else _start_of(tree)
        self._tests = [np.flatnonzero(problem.folds == fold) for fold in range(problem.n_folds)]
        self._trains = [np.flatnonzero(problem.folds != fold) for fold in range(problem.n_folds)]
        self.replicate_bytes = 12 * self._columns.size
        if self._start is not None:
            self._list_features()

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedTree | None":  # noqa: ARG003
        """Encode and cast the data once; None for weights of classes, which go by the user's labels."""
        *transforms, tree = steps_of(estimator)
        if type(tree) is not DecisionTreeClassifier or not isinstance(tree.random_state, int):
            return None
        if tree.class_weight is not None or tree.monotonic_cst is not None:
            return None
        design = design_of(transforms, problem.X, keep_missing=True)
        if design is None or design.standardised.any():
            return None
        with np.errstate(over="ignore"):
            usable = not np.isinf(design.columns.astype(np.float32)).any()
        return cls(problem, design, DecisionTreeClassifier(**tree.get_params())) if usable else None

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from one tree a fold, on rows with the labels and folds of their places."""
        predicted = np.empty_like(place, order="C")  # as compiled for
        for draw, own in zip(place, predicted, strict=True):
            if self._start is not None:
                self._grow(self._data, draw, own)
                continue
            order = np.argsort(draw)
            own[order] = self._cross_validate(np.take(self._columns, order, axis=0))
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from one tree a fold, on columns permuted one by one."""
        mixed = np.empty_like(self._columns)
        predicted = np.empty((len(source), len(mixed)), dtype=np.int64)
        here = np.arange(len(mixed))
        moved = np.empty((source.shape[1], len(mixed)), dtype=np.uint32)
        for draw, own in zip(source, predicted, strict=True):
            if self._start is not None:
                self._grow(self._mixed(draw, moved), here, own)
                continue
            for column, feature in enumerate(self._feature):
                np.take(self._columns[:, column], draw[feature], out=mixed[:, column])
            own[:] = self._cross_validate(mixed)
        return predicted

    def _list_features(self) -> None:
        """Sort features, where they have many values; the columns of a nominal one are one feature again."""
        columns, n_classes = self._columns.T, self._problem.n_classes
        self._levels: Any = None if len(self._categories) else _levels_of(columns, n_classes)
        self._data: tuple[Any, ...]
        if self._levels is not None:
            codes = [np.searchsorted(levels, own) for levels, own in zip(self._levels, columns, strict=True)]
            self._codes = np.array(codes, dtype=np.uint8)
            self._data = self._coded(self._codes)
            return
        self._features, first, self._feature_of = np.unique(self._feature, return_index=True, return_inverse=True)
        nominal = np.isin(first, self._categories)
        values = np.where(nominal[:, None], np.float32(0), columns[first])
        order: Any = values.argsort(axis=1).astype(np.uint32)
        category: Any = np.zeros(values.shape, dtype=np.uint32)
        for column in self._categories:
            category[self._feature_of[column], columns[column] == 1] = column
        self._data = self._feature_of, nominal, n_classes, values, category, order

    def _coded(self, codes: Any) -> tuple[Any, ...]:
        values = np.zeros((len(codes), max(map(len, self._levels))), dtype=np.float32)
        for own, levels in zip(values, self._levels, strict=True):
            own[: len(levels)] = levels
        return self._problem.n_classes, values, np.ascontiguousarray(codes.T)

    def _mixed(self, draw: IntArray, moved: Any) -> tuple[Any, ...]:
        """The data with columns permuted one by one; `moved` is overwritten."""
        if self._levels is not None:
            return self._coded(np.take_along_axis(self._codes, draw[self._feature], axis=1))
        np.put_along_axis(moved, draw, np.arange(draw.shape[1])[None], axis=1)  # where each value goes
        *fixed, values, category, order = self._data
        source = draw[self._features]
        values, category = (np.take_along_axis(of, source, axis=1) for of in (values, category))
        return *fixed, values, category, np.take_along_axis(moved[self._features], order, axis=1)

    def _grow(self, data: tuple[Any, ...], place: IntArray, predicted: IntArray) -> None:
        label, fold = (codes[place].astype(np.uint32) for codes in (self._problem.y, self._problem.folds))
        growth = _growth()
        assert growth is not None
        assert self._start is not None
        grow = growth.sorted if self._levels is None else growth.by_levels
        for tested in range(self._problem.n_folds):
            grow(*self._start, *data, label, fold, tested, predicted)

    def _cross_validate(self, columns: Any) -> IntArray:
        predicted = np.empty(len(columns), dtype=np.int64)
        rows: FloatArray = np.ascontiguousarray(columns)
        counts = rows[:, self._categories].sum(axis=0)
        for train, test in zip(self._trains, self._tests, strict=True):
            known, unknown = rows[train], rows[test]
            absent = unknown[:, self._categories].sum(axis=0) == counts
            if absent.any():
                present = np.delete(np.arange(rows.shape[1]), self._categories[absent])
                known, unknown = known[:, present], unknown[:, present]
            # Without its checks scikit-learn would not look for missing values.
            tree = self._tree.fit(known, self._problem.y[train], check_input=self._missing)
            predicted[test] = tree.predict(unknown, check_input=self._missing)
        return predicted


class _Growth(NamedTuple):
    """The two ways to predict a fold by a tree that is grown here."""

    sorted: Callable[..., None]
    by_levels: Callable[..., None]


def _levels_of(columns: Any, n_classes: int) -> list[Any] | None:
    """The distinct values of each column, if they are few enough and scikit-learn tells all of them apart."""
    if len(columns) < _FEWEST_COLUMNS or columns.shape[1] > _MOST_ROWS:
        return None
    found, most = [], min(256, _MOST_COUNTS // n_classes)
    for column in columns:
        levels = np.unique(column)
        if len(levels) > most or not (levels[1:] > levels[:-1] + np.float32(1e-7)).all():
            return None
        found.append(levels)
    return found


def _start_of(tree: Any) -> tuple[tuple[int, int, int], int] | None:
    """The limits and the seed with which this tree is grown fast; None where it is not."""
    free = ("random_state", "max_depth", "min_samples_split", "min_samples_leaf")
    limits = (_DEEPEST if tree.max_depth is None else tree.max_depth, tree.min_samples_split, tree.min_samples_leaf)
    bounds = zip((*limits, tree.random_state), (1, 2, 1, 0), strict=True)
    known = all(type(value) is int and least <= value <= _DEEPEST for value, least in bounds)
    fast = known and is_default(tree, DecisionTreeClassifier, free=free) and _growth() is not None
    return (limits, _seed(tree.random_state)) if fast else None


def _seed(random_state: int) -> int:
    """Where the sequence starts by which scikit-learn draws columns."""
    return int(np.random.RandomState(random_state).randint(0, 2**31 - 1)) or 1


@functools.cache
def _growth() -> _Growth | None:
    """What Numba has compiled, where it is there and its trees are those of the installed scikit-learn; or None."""
    code = compiled("trees")
    if code is None or fuses_products():  # by which splits equal but for rounding go otherwise
        return None
    # Noise from few values has ties everywhere, which another order of columns or another sum would break otherwise.
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 4, (120, 6)).astype(np.float32)
    label, fold = rng.integers(0, 3, 120).astype(np.uint32), np.arange(120, dtype=np.uint32) % 2
    values = np.ascontiguousarray(columns.T)
    order = values.argsort(axis=1).astype(np.uint32)
    tree = (_DEEPEST, 2, 1), _seed(0)
    as_sorted = np.arange(6), np.zeros(6, dtype=bool), 3, values, np.zeros(values.shape, dtype=np.uint32), order
    as_levels = 3, np.tile(np.arange(4, dtype=np.float32), (6, 1)), columns.astype(np.uint8)
    ours, by_levels, theirs = (np.empty(120, dtype=np.int64) for _ in range(3))
    for tested in (0, 1):
        code.predict_fold(*tree, *as_sorted, label, fold, tested, ours)
        code.predict_fold_by_levels(*tree, *as_levels, label, fold, tested, by_levels)
        grown = DecisionTreeClassifier(random_state=0).fit(columns[fold != tested], label[fold != tested])
        theirs[fold == tested] = grown.predict(columns[fold == tested])
    same = np.array_equal(ours, theirs) and np.array_equal(by_levels, theirs)
    return _Growth(code.predict_fold, code.predict_fold_by_levels) if same else None


BATCHED = BatchedTree
