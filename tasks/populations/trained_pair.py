"""Two classifiers, trained on a part of a data set and compared on all of its other rows.

The rows are shuffled: the first are the training set, the next the test set, and the rest stands for the population
from which the test set was drawn (Keller, Mariethoz and Bengio, section 5). Some of the labels together are the
positive class, against all others.
"""

import pickle
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from cachetools import cached
from numpy.typing import NDArray

from sigstats._common.random_streams import as_generator

from ..datasets.dataset import Dataset
from ..datasets.documents import Documents
from ..record import SIDES, Learner, Split, canonical
from ..storage.store import Store
from ..storage.worker_cache import WorkerCache
from ..threads import one_thread
from ..work import Predicted, TrainingSet

#: The bounds of a cache of trained classifiers; the data sets that they were trained on are not part of it.
MOST_BYTES, MOST_TRAINED = 1 << 29, 16


def trained_cache() -> WorkerCache[Any]:
    """A cache of at most 512 MiB; of classifiers that are larger the last ones stay until others are trained."""
    return WorkerCache(attrgetter("nbytes"), most_bytes=MOST_BYTES, most_values=MOST_TRAINED)


def bytes_of(fitted: Any) -> int:
    """The bytes of fitted estimators: those that they would be sent as, and of their arrays, which are not copied.

    What cannot be sent counts as all that the cache may hold.
    """
    arrays: list[pickle.PickleBuffer] = []
    try:
        rest = len(pickle.dumps(fitted, protocol=5, buffer_callback=arrays.append))
        return rest + sum(array.raw().nbytes for array in arrays)
    except Exception:  # an estimator may raise anything
        return MOST_BYTES


#: The data on which classifiers are trained.
TrainingData: TypeAlias = Dataset | Documents

#: Rows that are predicted together: about a second of work for a kernel machine.
CHUNK = 2000


@dataclass(frozen=True)
class Parts:
    """The shuffled rows of a data set, cut in three."""

    #: Numbers of rows.
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    rest: NDArray[np.int64]

    def chunks(self) -> list[NDArray[np.int64]]:
        """The rows that are predicted, in chunks of at most `CHUNK`: those of the test set, then the rest."""
        return [part[first : first + CHUNK] for part in (self.test, self.rest) for first in range(0, len(part), CHUNK)]


def split(rows: int, settings: Split) -> Parts:
    """Shuffle and cut this number of rows."""
    order = as_generator(settings.seed).permutation(rows)
    train, test = settings.train, settings.test
    return Parts(order[:train], order[train : train + test], order[train + test :])


def positives(data: TrainingData, labels: Iterable[str]) -> NDArray[np.bool_]:
    """Which rows have one of the labels."""
    positive = set(labels)
    if isinstance(data, Documents):
        return np.array([not positive.isdisjoint(each) for each in data.categories])
    return np.array([name in positive for name in data.classes])[data.y]


def rows_of(data: TrainingData) -> Any:
    """The texts, or the features, of all rows."""
    return np.array(data.texts, dtype=object) if isinstance(data, Documents) else data.X


@contextmanager
def failures_named(side: str, learner: str) -> Iterator[None]:
    """Raise what a classifier raises as one line that names it."""
    try:
        yield
    except Exception as error:  # a classifier may raise anything
        message = " ".join(str(error).split())[:300]
        raise ValueError(f"classifier {side}: {learner} failed to fit: {message}") from error


class Pair:
    """The two classifiers of a cell, trained. Raises ValueError if a classifier fails to fit."""

    def __init__(self, data: TrainingData, work: Predicted) -> None:
        self._rows = rows_of(data)
        self._truth = positives(data, work.positive)
        self.parts = split(len(data), work.split)
        self._fitted = [self._fit(data, side, work.side(side)) for side in SIDES]

    def _fit(self, data: TrainingData, side: str, spec: Learner) -> Any:
        train = self.parts.train
        with failures_named(side, spec.learner):
            return estimator(data, spec).fit(self._rows[train], self._truth[train])

    @property
    def nbytes(self) -> int:
        """The bytes of the classifiers; the rows are those of the data."""
        return bytes_of(self._fitted)

    def outcomes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of these rows have each of the eight joint outcomes, in the order of `JointOutcomes`."""
        from sigstats.learners.kernels.one_against_others import predict

        truth = self._truth[rows]
        a, b = (predict(fitted, self._rows[rows]) for fitted in self._fitted)
        return np.bincount(4 * ~truth + ~a.astype(bool) + 2 * ~b.astype(bool), minlength=8)


def estimator(data: TrainingData, spec: Learner) -> Any:
    """The unfitted classifier of a name and its parameters; of texts, by the stems of their words."""
    from sigstats.learners import build  # slow to import, and every report knows this module

    if isinstance(data, Documents):
        return build(spec.learner, params=spec.params, text=True, stem=spec.stem)
    missing = bool(np.isnan(data.X).any())
    return build(spec.learner, params=spec.params, nominal=data.nominal, missing=missing)


def data_of(store: Store, work: TrainingSet) -> TrainingData:
    """The data set or the documents of a cell."""
    kind: type[Dataset] | type[Documents] = Dataset if work.documents is None else Documents
    return store.read_data(kind, work.data.name, work.data.digest)


@cached(trained_cache(), key=lambda store, work: (store, canonical(work)), lock=threading.Lock())
def train_pair(store: Store, work: Predicted) -> Pair:
    """The trained classifiers of a cell; a process trains them once."""
    with one_thread():
        return Pair(data_of(store, work), work)
