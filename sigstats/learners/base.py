"""What a batched learner is, and what all learners are made with.

A batched learner stands for one exact configuration of a scikit-learn estimator. It prepares, once, what
permutations leave unchanged, and then predicts a whole block of replicates with a few array operations.
Adding one is one new file in this folder, with one class that follows `BatchedLearner`, named in that file's
``BATCHED``.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from sigstats.checks import FloatArray, IntArray, nearest, refuse

Build: TypeAlias = Callable[[dict[str, Any], Any, bool], Any]
Null: TypeAlias = Literal["labels", "features"]

#: What a batched learner predicts where it leaves a row to scikit-learn.
UNDECIDED = -1


@dataclass(frozen=True)
class Problem:
    """The data of a permutation test: numbers alone, classes and folds as codes from 0."""

    X: FloatArray
    y: IntArray
    folds: IntArray
    n_classes: int
    n_folds: int


@runtime_checkable
class BatchedLearner(Protocol):
    """A learner that predicts a block of replicates at once.

    A replicate of the null hypothesis ``"labels"`` is given by ``place``, shape (n,): row i of X takes the label
    ``y[place[i]]`` and the fold ``folds[place[i]]``. One of ``"features"`` is given by ``source``, shape (d, n): value
    j of row i is ``X[source[j, i], j]``, with the labels and folds of row i unchanged.

    A row's prediction is the class code that the estimator, fitted on all rows of other folds, gives it; where
    rounding could decide otherwise than scikit-learn does, it is `UNDECIDED` and the row's fold is refitted.
    """

    #: The null hypotheses this learner has a fast way for.
    nulls: ClassVar[tuple[Null, ...]]

    #: Bytes of scratch memory one replicate needs, for the size of a chunk.
    replicate_bytes: int

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedLearner | None":
        """The learner prepared for `problem`, or None if it does not stand for exactly this estimator."""

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predictions, shape (replicates, n), by row of X, for ``place`` of the same shape."""

    def predict_features(self, source: IntArray) -> IntArray:
        """Predictions, shape (replicates, n), for ``source`` of shape (replicates, d, n)."""


def attempt(cls: Any, params: dict[str, Any], **defaults: Any) -> Any:
    """`cls` made with `params` over `defaults`, with ``random_state=0`` where it takes one; or ValueError."""
    known = list(inspect.signature(cls.__init__).parameters)[1:]
    for key in params:
        if key not in known:
            near = nearest(key, known)
            wanted = f"a parameter of {cls.__name__}: " + ", ".join(known)
            raise refuse("params", key, wanted + (f" (did you mean {near!r}?)" if near else ""))
    if "random_state" in known:
        defaults.setdefault("random_state", 0)
    try:
        return cls(**{**defaults, **params})
    except TypeError as error:
        raise ValueError(f"params: {cls.__name__} cannot be made: {error}") from None
