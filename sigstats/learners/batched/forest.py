"""Random forests and extra trees from columns that are cast and sorted once.

With Numba (the extra ``fast``) trees grow in `sigstats.learners.batched._forest_growth`. They are scikit-learn's own,
which is tried before they are used: samples, columns and thresholds are drawn from the same sequences, and votes are
summed in the same order. Where all columns have few levels, a random forest counts classes by level. Missing values,
nominal features, other criteria and other limits go to scikit-learn.
"""

import functools
import platform
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from sigstats._common.validation import IntArray

from ..base import Null, Problem, is_default, steps_of
from ..design import Design, design_of
from .tree import _DEEPEST, _levels_of, _seed

_FREE = ("n_estimators", "bootstrap", "max_features", "max_depth", "min_samples_split", "min_samples_leaf")

#: Memory that the samples of all trees may take, for each size of a fold.
_MOST_BYTES = 2**28


class BatchedForest:
    """`RandomForestClassifier` and `ExtraTreesClassifier` with an integer ``random_state``, on numbers."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")
    one_size: ClassVar[bool] = True

    def __init__(self, problem: Problem, design: Design, forest: Any) -> None:
        self._problem, self._feature = problem, design.feature
        self._values: Any = np.ascontiguousarray(design.columns.T, dtype=np.float32)
        d, n = self._values.shape
        drawn = isinstance(forest, ExtraTreesClassifier)
        found = None if drawn else _levels_of(self._values, problem.n_classes)
        self._levels, self._codes = _coded(self._values, found)
        self._order: Any = np.arange(n, dtype=np.uint32)[None]
        if not drawn and found is None:
            self._order = self._values.argsort(axis=1).astype(np.uint32)
        self._settings = _settings(forest, d, drawn, problem.n_classes, found is not None)
        seeds = _tree_seeds(forest)
        self._seeds = np.array([_seed(seed) for seed in seeds])
        held_out = np.bincount(problem.folds, minlength=problem.n_folds)
        of_size = {size: _draws(seeds, n - size, forest.bootstrap) for size in set(held_out.tolist())}
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
            self._grow(self._values, self._codes, self._order, draw, at, own)
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from a forest a fold, on columns permuted one by one."""
        predicted = np.empty((len(source), source.shape[2]), dtype=np.int64)
        here = np.arange(source.shape[2])
        moved: Any = np.empty(source.shape[1:], dtype=np.uint32)
        for draw, own in zip(source, predicted, strict=True):
            np.put_along_axis(moved, draw, here[None], axis=1)  # where each value goes
            values = np.take_along_axis(self._values, draw[self._feature], axis=1)
            codes, order = self._codes, self._order
            if self._settings[6]:
                codes = np.take_along_axis(codes, draw[self._feature], axis=1)
            elif not self._settings[4]:
                order = np.take_along_axis(moved[self._feature], order, axis=1)
            self._grow(values, codes, order, here, here, own)
        return predicted

    def _grow(self, values: Any, codes: Any, order: Any, place: IntArray, at: IntArray, predicted: IntArray) -> None:
        label, fold = self._problem.y[place].astype(np.uint32), self._problem.folds[place]
        grow = _growth()
        assert grow is not None
        for tested, draws in enumerate(self._draws):
            grow(
                self._settings,
                self._seeds,
                draws,
                values,
                codes,
                self._levels,
                order,
                label,
                fold,
                at,
                tested,
                predicted,
            )


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


_Settings: TypeAlias = tuple[int, int, int, int, bool, int, bool]


def _coded(columns: Any, levels: list[Any] | None) -> tuple[Any, Any]:
    """The values of the levels of each column, and the level of each value; one of each where levels are not used."""
    if levels is None:
        return np.zeros((1, 1), dtype=np.float32), np.zeros((1, 1), dtype=np.uint8)
    values = np.zeros((len(columns), max(map(len, levels))), dtype=np.float32)
    for own, known in zip(values, levels, strict=True):
        own[: len(known)] = known
    codes = [np.searchsorted(known, column) for known, column in zip(levels, columns, strict=True)]
    return values, np.array(codes, dtype=np.uint8)


def _settings(forest: Any, d: int, drawn: bool, n_classes: int, by_levels: bool) -> _Settings:
    """What `_forest_growth.Settings` holds."""
    tried = {None: d, "sqrt": int(np.sqrt(d)), "log2": int(np.log2(d))}.get(forest.max_features, forest.max_features)
    deepest = _DEEPEST if forest.max_depth is None else forest.max_depth
    return deepest, forest.min_samples_split, forest.min_samples_leaf, max(1, tried), drawn, n_classes, by_levels


def _draws(seeds: list[int], n: int, bootstrap: bool) -> Any:
    """How often each of `n` training rows is in the sample of each tree, shape (trees, n)."""
    if not bootstrap:
        return np.ones((len(seeds), n), dtype=np.int32)
    drawn = [np.bincount(np.random.RandomState(seed).randint(0, n, n), minlength=n) for seed in seeds]
    return np.array(drawn, dtype=np.int32)


@functools.cache
def _growth() -> Callable[..., None] | None:
    """What grows a forest, where Numba is there and it grows those of the installed scikit-learn; otherwise None."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return None  # elsewhere compilers fuse products and sums, and splits equal but for rounding go otherwise
    try:  # it imports an extra
        from ._forest_growth import predict_fold
        from ._forest_splits import Settings
    except ImportError:
        return None

    def grow(settings: _Settings, *rest: Any) -> None:
        predict_fold(Settings(*settings), *rest)

    return grow if all(_grows_the_same(grow, cls) for cls in (RandomForestClassifier, ExtraTreesClassifier)) else None


def _grows_the_same(grow: Callable[..., None], cls: Any) -> bool:
    """Whether votes on noise from few values, where ties are everywhere, are those of scikit-learn."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (120, 6)).astype(np.float32)
    label, fold, at = rng.integers(0, 3, 120), np.arange(120) % 2, np.arange(120)
    forest = cls(n_estimators=9, random_state=0)
    drawn = cls is ExtraTreesClassifier
    values = np.ascontiguousarray(X.T)
    order = at[None].astype(np.uint32) if drawn else values.argsort(axis=1).astype(np.uint32)
    seeds = _tree_seeds(forest)
    starts, draws = np.array([_seed(seed) for seed in seeds]), _draws(seeds, 60, forest.bootstrap)
    ours, theirs = np.empty(120, dtype=np.int64), np.empty(120, dtype=np.int64)
    for tested in (0, 1):
        forest.fit(X[fold != tested], label[fold != tested])
        theirs[fold == tested] = forest.predict(X[fold == tested])
    for by_levels in (False,) if drawn else (False, True):
        settings = _settings(forest, 6, drawn, 3, by_levels)
        levels, codes = _coded(values, [np.arange(4)] * 6 if by_levels else None)
        rest = values, codes, levels, order[:1] if by_levels else order, label.astype(np.uint32), fold, at
        for tested in (0, 1):
            grow(settings, starts, draws, *rest, tested, ours)
        if not np.array_equal(ours, theirs):
            return False
    return True


def _tree_seeds(forest: Any) -> list[int]:
    """The ``random_state`` of each tree."""
    seeds: list[int] = np.random.RandomState(forest.random_state).randint(2**31 - 1, size=forest.n_estimators).tolist()
    return seeds


BATCHED = (BatchedForest,)
