"""Two classifiers, or two sets of them, trained on a part of a data set and compared on all of its other rows.

The rows are shuffled: the first are the training set, the next the test set, and the rest represents the population
from which the test set was drawn (Keller, Mariethoz and Bengio, section 5). A set has a classifier for each category,
one against the others; a row is assigned the categories of all classifiers that are positive, so that measures are
averaged over categories. Two classifiers are sets with one category, the positive class: some of the labels together.
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

#: The bounds of a cache of trained classifiers; the data sets that they were trained on are not part of it.
MOST_BYTES, MOST_TRAINED = 1 << 29, 16


def trained_cache() -> WorkerCache[Any]:
    """A cache of at most 512 MiB; larger classifiers stay only until others are trained."""
    return WorkerCache(attrgetter("nbytes"), most_bytes=MOST_BYTES, most_values=MOST_TRAINED)


def bytes_of(fitted: Any) -> int:
    """The size of fitted estimators in bytes: of the pickle, and of the arrays, which are not copied.

    An estimator that cannot be pickled counts as the whole cache.
    """
    arrays: list[pickle.PickleBuffer] = []
    try:
        rest = len(pickle.dumps(fitted, protocol=5, buffer_callback=arrays.append))
        return rest + sum(array.raw().nbytes for array in arrays)
    except Exception:  # an estimator may raise anything
        return MOST_BYTES


#: The data on which classifiers are trained.
TrainingData: TypeAlias = Dataset | Documents
#: For the truth, A and B a mask of the rows of each category, shape (n, K).
Answers: TypeAlias = list[NDArray[np.bool_]]

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
    """A mask of rows with one of the labels."""
    positive = set(labels)
    if isinstance(data, Documents):
        return np.array([not positive.isdisjoint(category) for category in data.categories])
    return np.array([name in positive for name in data.classes])[data.y]


def rows_of(data: TrainingData) -> Any:
    """The texts, or the features, of all rows."""
    return np.array(data.texts, dtype=object) if isinstance(data, Documents) else data.X


@contextmanager
def failures_named(side: str, learner: str) -> Iterator[None]:
    """Re-raise an error of a classifier as one line that names the classifier."""
    try:
        yield
    except Exception as error:  # a classifier may raise anything
        message = " ".join(str(error).split())[:300]
        raise ValueError(f"classifier {side}: {learner} failed to fit: {message}") from error


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
    return read_data(store, kind, work.data.name, work.data.digest)


@dataclass(frozen=True)
class TrainingRows:
    """The training rows of the classifiers of a set."""

    #: Fitted; they see no category, so that they are the same for all.
    transforms: list[Any]
    #: Not fitted.
    classifier: Any
    #: array or sparse matrix, shape (n, d).
    X: Any
    #: Mask of the rows of each category; ndarray of bool, shape (n, K).
    truth: NDArray[np.bool_]

    @property
    def nbytes(self) -> int:
        """The bytes of all of it."""
        return bytes_of((self.transforms, self.X, self.truth))


class Pair:
    """The two classifiers of a cell, or its two sets with a classifier for each category, trained.

    `chosen`: for ``a`` and ``b`` the parameters that were chosen, if any. Raises ValueError if a classifier fails to
    fit.
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
        """The transforms, and the classifiers of all categories."""
        from sigstats.learners.one_against_others import OneAgainstOthers  # slow to import

        with failures_named(side, work.side(side).learner):
            rows = _training_rows(data, work, work.side(side))
            return rows.transforms, OneAgainstOthers(rows.classifier.set_params(**chosen), rows.X, rows.truth)

    @property
    def nbytes(self) -> int:
        """The bytes of the classifiers; the rows are those of the data."""
        return bytes_of(self._fitted)

    def answers(self, rows: NDArray[np.int64]) -> Answers:
        """The true categories of these rows, those that A assigns, and those that B assigns."""
        sides = [self._truth[rows]]
        for transforms, fitted in self._fitted:
            X: Any = self._rows[rows]
            for transform in transforms:
                X = transform.transform(X)
            sides.append(fitted.predict(X))
        return sides


def count_outcomes(answers: Answers) -> NDArray[np.int64]:
    """The number of rows with each of the eight joint outcomes, in the order of `JointOutcomes`."""
    truth, a, b = (side[:, 0] for side in answers)
    return np.bincount(4 * ~truth + ~a + 2 * ~b, minlength=8)


def count_events(answers: Answers) -> list[tuple[Event, int]]:
    """The number of rows with each joint event: the true categories, those of A, those of B."""
    places = (tuple(tuple(np.flatnonzero(side).tolist()) for side in row) for row in zip(*answers, strict=True))
    return sorted(Counter(places).items())  # type: ignore[arg-type]


def truth_of(data: TrainingData, work: Predicted | Categorised | Tuned) -> NDArray[np.bool_]:
    """A mask of the rows of each category, or of the positive ones in one column, shape (n, K)."""
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
    """The training rows of a cell with a ``classifier``; a process transforms the rows once."""
    with failures_named(work.side, work.classifier.learner):
        return _training_rows(data_of(store, work), work, work.classifier)


@cached(trained_cache(), key=lambda store, work, chosen: (store, canonical(work)), lock=threading.Lock())
def train_pair(store: Store, work: Predicted | Categorised, chosen: Mapping[str, Mapping[str, Any]]) -> Pair:
    """The trained classifiers of a cell, with the parameters that were chosen; a process trains them once."""
    with threads(1):
        return Pair(data_of(store, work), work, chosen)


#: In likely answers A assigns no category to every fifth row and B to every seventh.
_MISSED_BY_A, _MISSED_BY_B = 5, 7


def likely_answers(store: Store, name: str, work: Predicted | Categorised) -> Population | EventPopulation:
    """Possible outputs of the classifiers of a cell for the rows that they are neither trained nor tested on."""
    data = data_of(store, work)
    rest = split(len(data), work.split).rest
    truth, row = truth_of(data, work)[rest], np.arange(len(rest))[:, np.newaxis]
    answers = [truth, truth & (row % _MISSED_BY_A > 0), truth & (row % _MISSED_BY_B > 0)]
    if isinstance(work, Predicted):
        return Population(outcomes=tuple(count_outcomes(answers).tolist()))
    events, counts = zip(*count_events(answers), strict=True)
    return EventPopulation(name, JointEvents(work.categories, "categories", events, counts))
