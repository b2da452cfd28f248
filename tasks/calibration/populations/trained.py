"""Two classifiers, or two sets of classifiers, trained on a part of a data set and compared on all other rows.

The rows are shuffled and split into the training set, the test set and the rest, which represents the population from
which the test set was drawn (Keller, Mariethoz and Bengio, section 5). A set has a one-against-others classifier for
each category. A row is assigned the categories of all classifiers that are positive, and measures are averaged over
categories. Two single classifiers are sets with one category: the positive class, made of one or more labels.
"""

import pickle
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from cachetools import cached
from numpy.typing import NDArray

from sigstats._common.random_streams import as_generator
from sigstats.joint.events import Event, JointEvents

from ...datasets.dataset import Dataset
from ...datasets.documents import Documents
from ...process import threads
from ...record import SIDES, Learner, Side, Split, canonical
from ...storage.data import WorkerCache, read_data
from ...storage.store import Store
from ..population import EventPopulation, Population
from ..work import Categorised, Predicted, TrainingSet, Tuned

if TYPE_CHECKING:
    from sigstats.learners.one_against_others import OneAgainstOthers

#: The bounds of a cache of trained classifiers. Their training data are not counted.
MOST_BYTES, MOST_TRAINED = 1 << 29, 16


def trained_cache() -> WorkerCache[Any]:
    """Return a cache of at most 512 MiB. Larger classifiers stay in the cache only until others are trained."""
    return WorkerCache(attrgetter("nbytes"), most_bytes=MOST_BYTES, most_values=MOST_TRAINED)


def bytes_of(fitted: Any) -> int:
    """Return the size of fitted estimators in bytes: the size of the pickle plus the arrays, which are not copied.

    An estimator that cannot be pickled counts as large as the whole cache.
    """
    arrays: list[pickle.PickleBuffer] = []
    try:
        rest = len(pickle.dumps(fitted, protocol=5, buffer_callback=arrays.append))
        return rest + sum(array.raw().nbytes for array in arrays)
    except Exception:  # an estimator may raise anything
        return MOST_BYTES


#: The data on which classifiers are trained.
TrainingData: TypeAlias = Dataset | Documents
#: The true categories, A's and B's, each as a mask of the rows of each category, shape (n, K).
Answers: TypeAlias = list[NDArray[np.bool_]]

#: The number of rows that are predicted together, which takes a kernel machine about a second.
CHUNK = 2000


@dataclass(frozen=True)
class Parts:
    """The shuffled rows of a data set, split into three parts."""

    #: The positions of the rows of each part.
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    rest: NDArray[np.int64]

    def chunks(self) -> list[NDArray[np.int64]]:
        """Return the rows to predict in chunks of at most `CHUNK`: the test set, then the rest."""
        return [part[first : first + CHUNK] for part in (self.test, self.rest) for first in range(0, len(part), CHUNK)]


def split(rows: int, settings: Split) -> Parts:
    """Shuffle this number of rows and split them."""
    order = as_generator(settings.seed).permutation(rows)
    train, test = settings.train, settings.test
    return Parts(order[:train], order[train : train + test], order[train + test :])


def positives(data: TrainingData, labels: Iterable[str]) -> NDArray[np.bool_]:
    """Return a mask of the rows with one of the labels."""
    positive = set(labels)
    if isinstance(data, Documents):
        return np.array([not positive.isdisjoint(category) for category in data.categories])
    return np.array([name in positive for name in data.classes])[data.y]


def rows_of(data: TrainingData) -> Any:
    """Return the texts or the features of all rows."""
    return np.array(data.texts, dtype=object) if isinstance(data, Documents) else data.X


@contextmanager
def failures_named(side: str, learner: str) -> Iterator[None]:
    """Re-raise errors of a classifier as a ValueError whose message names the classifier in one line."""
    try:
        yield
    except Exception as error:  # a classifier may raise anything
        message = " ".join(str(error).split())[:300]
        raise ValueError(f"classifier {side}: {learner} failed to fit: {message}") from error


def estimator(data: TrainingData, spec: Learner) -> Any:
    """Return the unfitted classifier with the name and parameters in `spec`; texts are turned into features first."""
    from sigstats.learners import build  # slow to import, and every report imports this module

    if isinstance(data, Documents):
        return build(spec.learner, params=spec.params, text=True, stem=spec.stem)
    missing = bool(np.isnan(data.X).any())
    return build(spec.learner, params=spec.params, nominal=data.nominal, missing=missing)


def data_of(store: Store, work: TrainingSet) -> TrainingData:
    """Return the data set or the documents of a cell."""
    kind: type[Dataset] | type[Documents] = Dataset if work.documents is None else Documents
    return read_data(store, kind, work.data.name, work.data.digest)


@dataclass(frozen=True)
class TrainingRows:
    """The training rows of the classifiers of a set."""

    #: Fitted transforms. They do not see the categories, so that all classifiers of the set share them.
    transforms: list[Any]
    #: The unfitted classifier.
    classifier: Any
    #: Array or sparse matrix, shape (n, d).
    X: Any
    #: Mask of the rows of each category; ndarray of bool, shape (n, K).
    truth: NDArray[np.bool_]

    @property
    def nbytes(self) -> int:
        """The size of the transforms and the rows, in bytes."""
        return bytes_of((self.transforms, self.X, self.truth))


class Pair:
    """The two trained classifiers of a cell, or its two sets of trained classifiers, one per category.

    `chosen`: the chosen parameters of ``a`` and ``b``, if any. Raises ValueError if a classifier fails to fit.
    """

    def __init__(
        self, data: TrainingData, work: Predicted | Categorised, chosen: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._rows = rows_of(data)
        self._truth = truth_of(data, work)
        self.parts = split(len(data), work.split)
        self._fitted = [self._fit(data, side, work, chosen.get(side, {})) for side in SIDES]

    def _fit(
        self, data: TrainingData, side: Side, work: Predicted | Categorised, chosen: Mapping[str, Any]
    ) -> tuple[list[Any], "OneAgainstOthers"]:
        """Return the fitted transforms and the fitted classifiers of all categories."""
        from sigstats.learners.one_against_others import OneAgainstOthers  # slow to import

        with failures_named(side, work.side(side).learner):
            rows = _training_rows(data, work, work.side(side))
            return rows.transforms, OneAgainstOthers(rows.classifier.set_params(**chosen), rows.X, rows.truth)

    @property
    def nbytes(self) -> int:
        """The size of the classifiers in bytes, without the rows, which belong to the data."""
        return bytes_of(self._fitted)

    def answers(self, rows: NDArray[np.int64]) -> Answers:
        """Return the true categories of these rows, the categories that A assigns, and those that B assigns."""
        sides = [self._truth[rows]]
        for transforms, fitted in self._fitted:
            X: Any = self._rows[rows]
            for transform in transforms:
                X = transform.transform(X)
            sides.append(fitted.predict(X))
        return sides


def count_outcomes(answers: Answers) -> NDArray[np.int64]:
    """Count the rows with each of the eight joint outcomes, in the order of `JointOutcomes`."""
    truth, a, b = (side[:, 0] for side in answers)
    return np.bincount(4 * ~truth + ~a + 2 * ~b, minlength=8)


def count_events(answers: Answers) -> list[tuple[Event, int]]:
    """Count the rows with each joint event. An event is the true categories, A's categories and B's categories."""
    places = (tuple(tuple(np.flatnonzero(side).tolist()) for side in row) for row in zip(*answers, strict=True))
    return sorted(Counter(places).items())  # type: ignore[arg-type]


def truth_of(data: TrainingData, work: Predicted | Categorised | Tuned) -> NDArray[np.bool_]:
    """Return a mask of the rows of each category, shape (n, K), or of the positive rows, shape (n, 1)."""
    groups = [work.positive] if isinstance(work, Predicted) else [(name,) for name in work.categories]
    return np.column_stack([positives(data, labels) for labels in groups])


def _training_rows(data: TrainingData, work: Predicted | Categorised | Tuned, spec: Learner) -> TrainingRows:
    from sigstats.learners.base import steps_of

    train = split(len(data), work.split).train
    *transforms, classifier = steps_of(estimator(data, spec))
    X = rows_of(data)[train]
    for transform in transforms:
        X = transform.fit_transform(X)
    return TrainingRows(transforms, classifier, X, truth_of(data, work)[train])


@cached(trained_cache(), key=lambda store, work: (store, canonical(work)), lock=threading.Lock())
def training_rows(store: Store, work: Tuned) -> TrainingRows:
    """Return the training rows of a cell that tunes a ``classifier``. A process transforms them only once."""
    with failures_named(work.side, work.classifier.learner):
        return _training_rows(data_of(store, work), work, work.classifier)


@cached(trained_cache(), key=lambda store, work, chosen: (store, canonical(work)), lock=threading.Lock())
def train_pair(store: Store, work: Predicted | Categorised, chosen: Mapping[str, Mapping[str, Any]]) -> Pair:
    """Return the trained classifiers of a cell, with the chosen parameters. A process trains them only once."""
    with threads(1):
        return Pair(data_of(store, work), work, chosen)


#: In likely answers, A assigns no category to every fifth row, and B none to every seventh. If there is one category,
#: these rows get the class of another row: all eight joint outcomes occur, on which the time of a bootstrap depends.
_MISSED_BY_A, _MISSED_BY_B = 5, 7


def likely_answers(store: Store, name: str, work: Predicted | Categorised) -> Population | EventPopulation:
    """Return plausible outputs of the classifiers of a cell for the rows that are in neither training nor test set."""
    data = data_of(store, work)
    rest = split(len(data), work.split).rest
    truth, row = truth_of(data, work)[rest], np.arange(len(rest))[:, np.newaxis]
    other = truth[::-1] if isinstance(work, Predicted) else np.False_
    answers = [truth, *(np.where(row % missed > 0, truth, other) for missed in (_MISSED_BY_A, _MISSED_BY_B))]
    if isinstance(work, Predicted):
        return Population(outcomes=tuple(count_outcomes(answers).tolist()))
    events, counts = zip(*count_events(answers), strict=True)
    return EventPopulation(name, JointEvents(work.categories, "categories", events, counts))
