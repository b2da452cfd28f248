"""Random forests and extra trees from columns that are cast and sorted or ranked once.

With Numba (the extra ``fast``) trees grow from sorted columns, or from ranks or values: extra trees, and random forests
whose columns all have few levels. They are scikit-learn's own, which is tried before they are used: samples, columns
and thresholds are drawn from the same sequences, and votes are summed in the same order. Missing values, nominal
features, other criteria and other limits go to scikit-learn.
"""

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from sigstats._common.compiled_or import fuses_products
from sigstats._common.validation import FloatArray, IntArray

from ..base import Null, Problem, is_default, steps_of
from ..design import Design, design_of
from ..door import compiled
from .tree import _DEEPEST, _levels_of, _seed

_FREE = ("n_estimators", "bootstrap", "max_features", "max_depth", "min_samples_split", "min_samples_leaf")

#: Memory that the samples of all trees may take, for each size of a fold.
_MOST_BYTES = 2**28

#: The bytes of a line of memory, which vector instructions take at once.
_LINE: Final = 64


class BatchedForest:
    """`RandomForestClassifier` and `ExtraTreesClassifier` with an integer ``random_state``, on numbers."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")
    one_size: ClassVar[bool] = True

    def __init__(self, problem: Problem, design: Design, forest: Any) -> None:
        self._problem, self._feature = problem, design.feature
        self._values: Any = np.ascontiguousarray(design.columns.T, dtype=np.float32)
        drawn = isinstance(forest, ExtraTreesClassifier)
        self._levels = _all_levels(self._values) if drawn else _levels_of(self._values, problem.n_classes)
        if self._levels is not None:
            self._codes: Any = _codes(self._values, self._levels)
            self._known = _meaning(self._codes, self._levels)
            self._data = _coded(self._codes, self._known)
        else:
            self._order: Any = self._values.argsort(axis=1).astype(np.uint32)
            self._data = self._values, self._order
        self._settings = _settings(forest, len(self._values), drawn, problem.n_classes)
        seeds = _tree_seeds(forest)
        self._seeds = np.array([_seed(seed) for seed in seeds])
        held_out = np.bincount(problem.folds, minlength=problem.n_folds)
        of_size = {size: _draws(seeds, len(problem.y) - size, forest.bootstrap) for size in set(held_out.tolist())}
        self._draws = [of_size[size] for size in held_out.tolist()]
        self.replicate_bytes = 12 * self._values.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedForest | None":  # noqa: ARG003
        """Sort columns and draw bootstraps; None for what grows otherwise, or without Numba."""
        *transforms, forest = steps_of(estimator)
        if type(forest) not in (RandomForestClassifier, ExtraTreesClassifier):
            return None
        if not is_default(forest, type(forest), free=("random_state", *_FREE)) or not _known(forest):
            return None
        design = design_of(transforms, problem.X)
        if design is None or design.standardised.any() or len(design.categories) or np.isnan(problem.X).any():
            return None
        sizes = len(set(np.bincount(problem.folds).tolist()))
        if 4 * sizes * forest.n_estimators * len(problem.y) > _MOST_BYTES:
            return None
        with np.errstate(over="ignore"):
            usable = not np.isinf(design.columns.astype(np.float32)).any()
        return cls(problem, design, forest) if usable and _growth() is not None else None

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
        moved: Any = np.empty(source.shape[1:], dtype=np.uint32)
        for draw, own in zip(source, predicted, strict=True):
            if self._levels is not None:
                data = _coded(np.take_along_axis(self._codes, draw[self._feature], axis=1), self._known)
            else:
                np.put_along_axis(moved, draw, here[None], axis=1)  # where each value goes
                values = np.take_along_axis(self._values, draw[self._feature], axis=1)
                data = values, np.take_along_axis(moved[self._feature], self._order, axis=1)
            self._grow(data, here, here, own)
        return predicted

    def _grow(self, data: tuple[Any, ...], place: IntArray, at: IntArray, predicted: IntArray) -> None:
        label, fold = self._problem.y[place].astype(np.uint32), self._problem.folds[place]
        growth = _growth()
        assert growth is not None
        grow = growth.sorted if self._levels is None else growth.coded
        for tested, draws in enumerate(self._draws):
            grow(self._settings, (self._seeds, draws, label, fold, at, tested, predicted), *data)


class _Growth(NamedTuple):
    """The two ways to predict a fold by a forest that is grown here."""

    sorted: Callable[..., None]
    coded: Callable[..., None]


def _known(forest: Any) -> bool:
    """Whether parameters are integers, or names, that scikit-learn takes."""
    bounds = [
        (forest.n_estimators, 1),
        (forest.random_state, 0),
        (1 if forest.max_depth is None else forest.max_depth, 1),
        (forest.min_samples_split, 2),
        (forest.min_samples_leaf, 1),
    ]
    if not all(type(value) is int and least <= value <= _DEEPEST for value, least in bounds):
        return False
    tried = forest.max_features
    return type(forest.bootstrap) is bool and (
        tried is None or (isinstance(tried, str) and tried in ("sqrt", "log2")) or (type(tried) is int and tried >= 1)
    )


_Settings: TypeAlias = tuple[int, int, int, int, bool, int]


def _all_levels(columns: Any) -> list[Any]:
    """The distinct values of each column."""
    return [np.unique(column) for column in columns]


def _codes(columns: Any, levels: list[Any]) -> Any:
    """The rank of each value among those of its column; where a byte is too little, its bits in the order of values."""
    if max(map(len, levels)) > 2**8:
        bits = (columns + np.float32(0)).view(np.uint32)  # no negative zero
        return bits ^ np.where(bits >> 31, np.uint32(2**32 - 1), np.uint32(2**31))
    return np.array([np.searchsorted(known, own) for known, own in zip(levels, columns, strict=True)], dtype=np.uint8)


def _meaning(codes: Any, levels: list[Any]) -> tuple[Any, ...]:
    """What `predict_coded_fold` has of the values that codes stand for."""
    apart = all((known[1:] > known[:-1] + np.float32(1e-7)).all() for known in levels)
    steps = np.zeros((len(codes), 2))
    if codes.dtype == np.uint32:
        return np.zeros((len(codes), 0), dtype=np.float32), apart, steps
    values = np.zeros((len(codes), max(map(len, levels))), dtype=np.float32)
    for own, step, known in zip(values, steps, levels, strict=True):
        own[: len(known)] = known
        step[:] = _even_steps(known.astype(np.float64))
    return values, apart, steps


def _coded(codes: Any, known: tuple[Any, ...]) -> tuple[Any, ...]:
    """Codes by row, filled to whole lines of memory, and by column, and what they stand for."""
    line = _LINE // codes.itemsize
    by_row = np.zeros((codes.shape[1], -(-len(codes) // line) * line), dtype=codes.dtype)
    by_row[:, : len(codes)] = codes.T
    return by_row, codes, *known


def _even_steps(known: FloatArray) -> tuple[float, float]:
    """The first of increasing values and the codes per unit, by which a code is found but for one; 0 if none would."""
    per_unit = (len(known) - 1) / (known[-1] - known[0]) if len(known) > 1 else 0.0
    even = np.abs((known - known[0]) * per_unit - np.arange(len(known))).max() < 0.25
    return float(known[0]), float(per_unit) if even else 0.0


def _settings(forest: Any, d: int, drawn: bool, n_classes: int) -> _Settings:
    """What `Settings` of the compiled code holds."""
    tried = {None: d, "sqrt": int(np.sqrt(d)), "log2": int(np.log2(d))}.get(forest.max_features, forest.max_features)
    deepest = _DEEPEST if forest.max_depth is None else forest.max_depth
    return deepest, forest.min_samples_split, forest.min_samples_leaf, max(1, tried), drawn, n_classes


def _draws(seeds: list[int], n: int, bootstrap: bool) -> Any:
    """How often each of `n` training rows is in the sample of each tree, shape (trees, n)."""
    if not bootstrap:
        return np.ones((len(seeds), n), dtype=np.int32)
    drawn = [np.bincount(np.random.RandomState(seed).randint(0, n, n), minlength=n) for seed in seeds]
    return np.array(drawn, dtype=np.int32)


@functools.cache
def _growth() -> _Growth | None:
    """What grows a forest, where Numba is there and it grows those of the installed scikit-learn; otherwise None."""
    code = compiled("trees")
    if code is None or fuses_products():  # by which splits equal but for rounding go otherwise
        return None

    def by_order(settings: _Settings, forest: tuple[Any, ...], *data: Any) -> None:
        code.predict_forest_fold(code.Settings(*settings), code.Retrained(*forest), *data)

    def by_codes(settings: _Settings, forest: tuple[Any, ...], *data: Any) -> None:
        code.predict_coded_fold(code.Settings(*settings), code.Retrained(*forest), *data)

    growth = _Growth(by_order, by_codes)
    return (
        growth if all(_grows_the_same(growth, cls) for cls in (RandomForestClassifier, ExtraTreesClassifier)) else None
    )


def _grows_the_same(growth: _Growth, cls: Any) -> bool:
    """Whether votes on noise from few values, where ties are everywhere, are those of scikit-learn."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (120, 6)).astype(np.float32)
    label, fold, at = rng.integers(0, 3, 120), np.arange(120) % 2, np.arange(120)
    forest = cls(n_estimators=9, random_state=0)
    drawn = cls is ExtraTreesClassifier
    columns = np.ascontiguousarray(X.T)
    levels = _all_levels(columns)
    codes = _codes(columns, levels)
    ways = [(growth.coded, _coded(codes, _meaning(codes, levels)))]
    if not drawn:
        ways.append((growth.sorted, (columns, columns.argsort(axis=1).astype(np.uint32))))
    seeds = _tree_seeds(forest)
    starts, draws = np.array([_seed(seed) for seed in seeds]), _draws(seeds, 60, forest.bootstrap)
    ours, theirs = np.empty(120, dtype=np.int64), np.empty(120, dtype=np.int64)
    for tested in (0, 1):
        forest.fit(X[fold != tested], label[fold != tested])
        theirs[fold == tested] = forest.predict(X[fold == tested])
    settings, label = _settings(forest, 6, drawn, 3), label.astype(np.uint32)
    for grow, data in ways:
        for tested in (0, 1):
            grow(settings, (starts, draws, label, fold, at, tested, ours), *data)
        if not np.array_equal(ours, theirs):
            return False
    return True


def _tree_seeds(forest: Any) -> list[int]:
    """The ``random_state`` of each tree."""
    seeds: list[int] = np.random.RandomState(forest.random_state).randint(2**31 - 1, size=forest.n_estimators).tolist()
    return seeds


BATCHED = BatchedForest
