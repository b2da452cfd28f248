"""Two sets of classifiers, one against the others for each category, trained on a part of the data (Keller et al.).

What a row is assigned is the set of categories whose classifiers say so, so that measures are averaged over categories.
"""

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from sigstats.joint.events import Event, JointEvents
from sigstats.learners.base import steps_of

from ..datasets.dataset import Dataset
from ..datasets.documents import Documents
from ..fingerprint import canonical
from ..one_thread import one_thread
from ..storage.store import Store
from .trained_pair import TrainingData, estimator, positives, split
from .tuning import assigned, machines, tuned

Counted: TypeAlias = list[tuple[Event, int]]


class SetPair:
    """The two sets of classifiers of a cell, trained.

    Parameters
    ----------
    data : Dataset or Documents
    work : mapping
        ``split`` (as for `sigstats.tasks.populations.trained_pair.split`), ``categories``, and ``a`` and ``b``, each a
        ``learner`` with ``params`` and, where they are chosen, ``tune``.

    Raises
    ------
    ValueError
        If a classifier fails to fit.
    """

    def __init__(self, data: TrainingData, work: Mapping[str, Any]) -> None:
        self._rows = np.array(data.texts, dtype=object) if isinstance(data, Documents) else data.X
        self._truth = np.column_stack([positives(data, [name]) for name in work["categories"]])
        self.parts = split(len(data), work["split"])
        self._fitted = [self._fit(data, side, work[side]) for side in ("a", "b")]

    def _fit(self, data: TrainingData, side: str, spec: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
        """The transforms, which see no category and are fitted once, and the machine of each category."""
        train = self.parts.train
        *transforms, classifier = steps_of(estimator(data, spec))
        try:
            X: Any = self._rows[train]
            for transform in transforms:
                X = transform.fit_transform(X)
            if "tune" in spec:
                classifier.set_params(**tuned(classifier, X, self._truth[train], spec["tune"]))
            return transforms, machines(classifier, X, self._truth[train])
        except Exception as error:  # a classifier may raise anything
            message = " ".join(str(error).split())[:300]
            raise ValueError(f"classifier {side}: {spec['learner']} failed to fit: {message}") from error

    def events(self, rows: NDArray[np.int64]) -> Counted:
        """How many of these rows have each joint event: the true categories, those of A, those of B."""
        sides = [self._truth[rows]]
        for transforms, fitted in self._fitted:
            X: Any = self._rows[rows]
            for transform in transforms:
                X = transform.transform(X)
            sides.append(assigned(fitted, X))
        places = (tuple(tuple(np.flatnonzero(side[row]).tolist()) for side in sides) for row in range(len(rows)))
        return sorted(Counter(places).items())  # type: ignore[arg-type]


@cached(LRUCache(maxsize=2), key=lambda store, work: (store, canonical(work)), lock=threading.Lock())
def train_sets(store: Store, work: Mapping[str, Any]) -> SetPair:
    """The trained classifiers of a cell; a process trains them once."""
    named = work.get("documents") or work["dataset"]
    kind: type[Dataset] | type[Documents] = Documents if "documents" in work else Dataset
    with one_thread():
        return SetPair(store.read_data(kind, named["name"], named["digest"]), work)


def joint_events(categories: list[str], found: Counted) -> JointEvents:
    """The counts of all events."""
    events, counts = zip(*found, strict=True)
    return JointEvents(tuple(categories), "categories", events, counts)
