"""Batched learners: the base class, functions shared by all learners, and the only access to their compiled code.

A batched learner is equivalent to one exact configuration of a scikit-learn estimator. It prepares, once, everything
that permutations leave unchanged, and then predicts a whole block of replicates with a few array operations. To add
one, add a module with a subclass of `BatchedLearner`.

`compiled` is the door to the code that Numba compiles (the extra ``fast``), the folder `compiled`. Nothing outside that
folder imports it. Its modules are requested here, by name, and are None if Numba or the folder is missing or disabled;
then scikit-learn's own estimators are fitted, or NumPy does the same. The ``__init__`` of a subfolder lists its
functions of arrays and named tuples, which give the same results, to the last bit, as the installed scikit-learn.
"""

import functools
import importlib
import inspect
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from .._common.validation import FloatArray, IntArray, did_you_mean, one_line, refuse

Build: TypeAlias = Callable[[dict[str, Any], Any, bool], Any]
Null: TypeAlias = Literal["labels", "features"]
#: The way of retraining: with work that all permutations share, by compiled code, or by the classifier's own `fit`.
Fits: TypeAlias = Literal["shared", "compiled", "refitted"]
#: Prediction of a batched learner for a row that it leaves to scikit-learn.
UNDECIDED = -1


@dataclass(frozen=True)
class Problem:
    """The data of a permutation test: numeric features, and classes and folds as codes from 0.

    ``floats``: whether the estimator gets X as float64, not as integers. ``classes``: the labels of the codes; None if
    the codes are the labels.
    """

    X: FloatArray
    y: IntArray
    folds: IntArray
    n_classes: int
    n_folds: int
    floats: bool = True
    classes: Any = None


def class_weights(class_weight: Any, problem: Problem) -> FloatArray | None:
    """Return the weight of each class in the training rows of each fold, shape (folds, classes).

    None if a weight is not a positive number, `class_weight` is of another kind, or a training fold lacks a class.
    """
    if type(class_weight) is not dict and class_weight != "balanced":
        return None
    classes = np.arange(problem.n_classes) if problem.classes is None else problem.classes
    train_codes = [problem.y[problem.folds != fold] for fold in range(problem.n_folds)]
    if any(len(np.unique(codes)) < problem.n_classes for codes in train_codes):
        return None
    try:
        by_fold = [compute_class_weight(class_weight, classes=classes, y=classes[codes]) for codes in train_codes]
        weights = np.array(by_fold, dtype=np.float64)
    except (TypeError, ValueError):  # the fits of the folds report it
        return None
    return weights if (np.isfinite(weights) & (weights > 0)).all() else None


class BatchedLearner:
    """A learner that predicts a block of replicates at once.

    A replicate of the null hypothesis ``"labels"`` is given by ``place``, shape (n,): row i of X takes the label
    ``y[place[i]]`` and the fold ``folds[place[i]]``. One of ``"features"`` is given by ``source``, shape (d, n): value
    j of row i is ``X[source[j, i], j]``, with the labels and folds of row i unchanged.

    A row's prediction is the class code that the estimator, fitted on all rows of other folds, gives it; where
    rounding could decide otherwise than scikit-learn does, it is `UNDECIDED` and the row's fold is refitted.
    """

    #: The null hypotheses for which this learner is faster.
    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")

    #: True if its estimator converts X to floats of one size, so that float32 gives the same predictions as float64.
    one_size: ClassVar[bool] = False

    #: The way of fitting permutations: with shared work, or by compiled code.
    fits: ClassVar[Fits] = "shared"

    #: Bytes of scratch memory one replicate needs, for the size of a chunk.
    replicate_bytes: int

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedLearner | None":
        """Return the learner prepared for `problem`, or None if it is not equivalent to exactly this estimator."""
        raise NotImplementedError

    def predict_labels(self, place: IntArray) -> IntArray:
        """Return predictions, shape (replicates, n), by row of X, for ``place`` of the same shape."""
        raise NotImplementedError

    def predict_features(self, source: IntArray) -> IntArray:
        """Return predictions, shape (replicates, n), for ``source`` of shape (replicates, d, n)."""
        raise NotImplementedError


#: The largest values of parameters that determine the memory or the number of processes.
_MOST = {"n_estimators": 100_000, "n_jobs": 256, "hidden_layer_sizes": 100_000}


def require_harmless(name: str, value: Any) -> None:
    """Refuse sizes beyond the memory or processors of any machine, and a folder of pickles (joblib's cache)."""
    ending = name.rpartition("__")[2]
    if ending == "memory" and isinstance(value, str):
        raise refuse(f"params: {name}", value, "None, since joblib would load and run files of a folder")
    values = value if isinstance(value, list | tuple) else (value,)
    for inner in values:
        if isinstance(inner, dict):
            for key in inner:
                require_harmless(f"{name}__{key}", inner[key])
    most = _MOST.get(ending)
    for size in values:
        if most is not None and isinstance(size, int | float) and not abs(size) <= most:
            raise refuse(f"params: {name}", value, f"at most {most:,}: a larger value exhausts the machine")


def attempt(cls: Any, params: dict[str, Any], **defaults: Any) -> Any:
    """Make `cls` with `params` over `defaults`, and ``random_state=0`` if it takes one; or raise ValueError."""
    parameters = inspect.signature(cls.__init__).parameters
    known = list(parameters)[1:]
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    for key in params:
        if key not in known and not takes_any:
            wanted = f"a parameter of {cls.__name__}: " + ", ".join(known)
            raise refuse("params", key, wanted + did_you_mean(key, known))
        require_harmless(key, params[key])
    if "random_state" in known:
        defaults.setdefault("random_state", 0)
    try:
        return cls(**{**defaults, **params})
    except TypeError as error:
        raise ValueError(f"params: {cls.__name__} cannot be created with these parameters: {one_line(error)}") from None


def nominal_mask(nominal: Any, d: int) -> Any:
    """Return `nominal` as a bool array of length `d`, or raise ValueError."""
    mask = np.zeros(d, dtype=bool) if nominal is None else np.asarray(nominal)
    if mask.shape != (d,) or mask.dtype != bool:
        raise refuse("nominal", nominal, f"one bool for each of the {d} features")
    return mask


def is_default(estimator: Any, cls: Any, *, free: tuple[str, ...] = ()) -> bool:
    """Return True if `estimator` is exactly a `cls` with default parameters, except those in `free`."""
    if type(estimator) is not cls:
        return False
    parameters = inspect.signature(cls.__init__).parameters
    return all(
        key in free or value is parameters[key].default or np.array_equal(value, parameters[key].default)
        for key, value in estimator.get_params(deep=False).items()
    )


def steps_of(estimator: Any) -> list[Any]:
    """Return the transforms and the classifier of a pipeline in order, or only the estimator."""
    if type(estimator).__name__ != "Pipeline":
        return [estimator]
    steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
    return [inner for step in steps for inner in steps_of(step)]


#: Arrays of about this size stay in a core's cache.
_BLOCK_BYTES = 2**21


def blocks(count: int, item_bytes: int, *, least: int = 1) -> Iterator[slice]:
    """Yield slices of `count` items of `item_bytes` each, in blocks of `least` or more that fit into the cache."""
    step = max(least, _BLOCK_BYTES // max(item_bytes, 1))
    for first in range(0, count, step):
        yield slice(first, min(first + step, count))


def taken_by_column(columns: Any, places: IntArray) -> Any:
    """Return the values of each of the `columns`, (m, n), at its `places`, (..., m, k).

    Like `np.take_along_axis` but faster, since places in one array are taken faster than along an axis.
    """
    m, n = columns.shape
    return columns.take(places + n * np.arange(m)[:, None])


class FoldOrder:
    """Places sorted by fold and class, so that sums over a fold, or a class in it, are sums of neighbours."""

    def __init__(self, problem: Problem) -> None:
        cell = problem.folds * problem.n_classes + problem.y
        self.sorted = np.argsort(cell, kind="stable")
        counts = np.bincount(cell, minlength=problem.n_folds * problem.n_classes)
        self._filled = np.flatnonzero(counts)
        self._starts = (np.cumsum(counts) - counts)[self._filled]
        self.counts = counts.reshape(problem.n_folds, problem.n_classes)
        self.train_counts = (self.counts.sum(axis=0) - self.counts).astype(np.float64)
        ends = np.cumsum(self.counts.sum(axis=1))
        self.spans = [slice(int(end - rows), int(end)) for end, rows in zip(ends, self.counts.sum(axis=1), strict=True)]

    def rows(self, place: IntArray) -> IntArray:
        """Return the row of X at each sorted place, shape (replicates, n)."""
        inverse = np.empty_like(place)
        np.put_along_axis(inverse, place, np.broadcast_to(np.arange(place.shape[1]), place.shape), axis=1)
        return inverse[:, self.sorted]

    def cell_sums(self, values: FloatArray) -> FloatArray:
        """Return sums over rows in sorted order: (replicates, n, m) to (replicates, folds, classes, m)."""
        sums = np.zeros((len(values), self.counts.size, values.shape[2]))
        sums[:, self._filled] = np.add.reduceat(values, self._starts, axis=1)
        return sums.reshape(len(values), *self.counts.shape, -1)


def best_or_undecided(scores: FloatArray, margin: Any) -> IntArray:
    """Return the argmax along the second-to-last axis, or `UNDECIDED` if another score is within `margin`."""
    with np.errstate(invalid="ignore"):
        near = scores > scores.max(axis=-2, keepdims=True) - margin
    code = np.arange(scores.shape[-2])[:, None]
    best = (near * code).sum(axis=-2)
    return np.where(np.count_nonzero(near, axis=-2) == 1, best, UNDECIDED)


def whole_or_halves(numbers: FloatArray) -> Any:
    """Return the columns with only whole or half numbers: sums of their products are exact while they are small."""
    with np.errstate(invalid="ignore"):  # infinite ones, which are neither
        fraction = numbers - np.floor(numbers)
    return ((fraction == 0) | (fraction == 0.5)).all(axis=0)


Room = Literal["boosting", "c45", "neighbours", "trees"]


@functools.cache
def compiled(room: Room) -> Any:
    """Return a subfolder as a module; None if nothing is compiled."""
    try:
        return importlib.import_module(f"{__package__}.compiled.{room}")
    except ImportError:
        return None


def fuses_products() -> bool:
    """Return True if compilers for this processor fuse a product and a sum, so that they are rounded once.

    Sums then differ by rounding from those of a library that was compiled without such instructions.
    """
    return platform.machine() not in ("x86_64", "AMD64")
