"""Two sets of classifiers, one against the others for each category, trained on a part of the data (Keller et al.).

What a row is assigned is the set of categories whose classifiers say so, so that measures are averaged over categories.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from cachetools import cached
from numpy.typing import NDArray

from sigstats.joint.events import Event, JointEvents

from ..record import SIDES, Learner, Side, canonical
from ..storage.store import Store
from ..threads import one_thread
from ..work import Categorised, Predicted, Tuned
from .population import EventPopulation, Population
from .trained_pair import (
    TrainingData,
    bytes_of,
    data_of,
    estimator,
    failures_named,
    positives,
    rows_of,
    split,
    trained_cache,
)

if TYPE_CHECKING:
    from sigstats.learners.kernels.one_against_others import OneAgainstOthers

Counted: TypeAlias = list[tuple[Event, int]]


@dataclass(frozen=True)
class TrainingRows:
    """What the classifiers of a set are trained on."""

    #: Fitted; they see no category, so that they are the same for all.
    transforms: list[Any]
    #: Not fitted.
    classifier: Any
    #: array or sparse matrix, shape (n, d).
    X: Any
    #: Which rows are of each category; ndarray of bool, shape (n, K).
    truth: NDArray[np.bool_]

    @property
    def nbytes(self) -> int:
        """The bytes of all of it."""
        return bytes_of((self.transforms, self.X, self.truth))


class SetPair:
    """The two sets of classifiers of a cell, trained.

    `chosen`: for ``a`` and ``b`` the parameters that were chosen, if any.
    """

    def __init__(
        self, data: TrainingData, work: Categorised, chosen: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self._rows = rows_of(data)
        self._truth = truth_of(data, work.categories)
        self.parts = split(len(data), work.split)
        self._fitted = [self._fit(data, side, work, (chosen or {}).get(side, {})) for side in SIDES]

    def _fit(
        self, data: TrainingData, side: Side, work: Categorised, chosen: Mapping[str, Any]
    ) -> tuple[list[Any], "OneAgainstOthers"]:
        """The transforms, and the classifiers of all categories."""
        from sigstats.learners.kernels.one_against_others import OneAgainstOthers  # slow to import

        with failures_named(side, work.side(side).learner):
            rows = _prepared(data, work, work.side(side))
            return rows.transforms, OneAgainstOthers(rows.classifier.set_params(**chosen), rows.X, rows.truth)

    @property
    def nbytes(self) -> int:
        """The bytes of the classifiers; the rows are those of the data."""
        return bytes_of(self._fitted)

    def events(self, rows: NDArray[np.int64]) -> Counted:
        """How many of these rows have each joint event: the true categories, those of A, those of B."""
        sides = [self._truth[rows]]
        for transforms, fitted in self._fitted:
            X: Any = self._rows[rows]
            for transform in transforms:
                X = transform.transform(X)
            sides.append(fitted.predict(X))
        places = (tuple(tuple(np.flatnonzero(side[row]).tolist()) for side in sides) for row in range(len(rows)))
        return sorted(Counter(places).items())  # type: ignore[arg-type]


def truth_of(data: TrainingData, categories: Iterable[str]) -> NDArray[np.bool_]:
    """Which rows are of each category, shape (n, K)."""
    return np.column_stack([positives(data, [name]) for name in categories])


def _prepared(data: TrainingData, work: Categorised | Tuned, spec: Learner) -> TrainingRows:
    from sigstats.learners.base import steps_of

    train = split(len(data), work.split).train
    *transforms, classifier = steps_of(estimator(data, spec))
    X = rows_of(data)[train]
    for transform in transforms:
        X = transform.fit_transform(X)
    return TrainingRows(transforms, classifier, X, truth_of(data, work.categories)[train])


@cached(trained_cache(), key=lambda store, work: (store, canonical(work)), lock=threading.Lock())
def training_rows(store: Store, work: Tuned) -> TrainingRows:
    """What a cell with a ``classifier`` trains it on; a process transforms the rows once."""
    with failures_named(work.side, work.classifier.learner):
        return _prepared(data_of(store, work), work, work.classifier)


@cached(trained_cache(), key=lambda store, work, chosen: (store, canonical(work)), lock=threading.Lock())
def train_sets(store: Store, work: Categorised, chosen: Mapping[str, Mapping[str, Any]]) -> SetPair:
    """The trained classifiers of a cell, with the parameters that were chosen; a process trains them once."""
    with one_thread():
        return SetPair(data_of(store, work), work, chosen)


def joint_events(categories: Iterable[str], found: Counted) -> JointEvents:
    """The counts of all events."""
    events, counts = zip(*found, strict=True)
    return JointEvents(tuple(categories), "categories", events, counts)


#: A is wrong on one of so many rows, and B on one of so many others; of categories it assigns none there.
_WRONG_A, _WRONG_B = 5, 7


def likely_answers(store: Store, name: str, work: Predicted | Categorised) -> Population | EventPopulation:
    """What the classifiers of a cell may say of the rows that they are neither trained nor tested on."""
    data = data_of(store, work)
    rest = split(len(data), work.split).rest
    wrong = [np.arange(len(rest)) % each == 0 for each in (_WRONG_A, _WRONG_B)]
    if isinstance(work, Predicted):
        positive = positives(data, work.positive)[rest]
        a, b = (positive ^ side for side in wrong)
        return Population(outcomes=tuple(np.bincount(4 * ~positive + ~a + 2 * ~b, minlength=8).tolist()))
    found = [tuple(np.flatnonzero(row).tolist()) for row in truth_of(data, work.categories)[rest]]
    answers = ([() if no else true for true, no in zip(found, side, strict=True)] for side in wrong)
    counted = Counter(zip(found, *answers, strict=True))
    return EventPopulation(name, joint_events(work.categories, sorted(counted.items())))
