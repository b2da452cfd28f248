"""The work of the fan-outs of benchmark studies: everything that replicates depend on, except the seed.

A worker process keeps retrainers, so that the preparation of a data set is computed once.
"""

import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import Any

from numpy.typing import NDArray

from sigstats._common.validation import IntArray
from sigstats.retraining.permutation import Retrainer

from ..datasets.dataset import Dataset, cross_validation_folds
from ..own_code import build_as_planned, fit
from ..plan import Block
from ..process import alone
from ..record import Folds, Learner, Named, Null, Work, canonical
from ..storage.data import WorkerCache, read_data
from ..storage.store import Store


class CrossValidated(Work):
    """Work of ``crossval``, ``scores`` and ``repetition``; that of retrains includes it."""

    dataset: Named
    classifier: Learner
    cross_validation: Folds


class Measured(CrossValidated):
    """Work of ``measured``."""

    measure: str
    #: The positive class, if the measure is of one class.
    positive: int = 1
    #: The identity of the code of a user's measure, and whether its lower values are better.
    measure_code: Mapping[str, str] | None = None
    lower_is_better: bool = False


class Retrained(CrossValidated):
    """Work of ``retrain``."""

    null: Null


class MeasuredRetrain(Measured):
    """Work of ``measured-retrain``."""

    null: Null


def dataset_of(store: Store, work: CrossValidated) -> Dataset:
    """The data set of a cell."""
    return read_data(store, Dataset, work.dataset.name, work.dataset.digest)


def folds_of(dataset: Dataset, work: CrossValidated) -> IntArray:
    """The test fold of every row, the same for all classifiers."""
    return repeated_folds(dataset, work, work.cross_validation.seed)


def repeated_folds(dataset: Dataset, work: CrossValidated, rng: Any) -> IntArray:
    """The test fold of every row in one repetition."""
    settings = work.cross_validation
    return cross_validation_folds(dataset, settings.folds, rng, rare_classes=settings.rare_classes)


#: scikit-learn's classifiers whose batched forms used to treat ties, or features that vary by rounding, differently.
_REVISED = ("KNeighborsClassifier", "GaussianNB", "LinearDiscriminantAnalysis")

#: The copies of a data set in a retrainer: an encoded or scaled one, and what the learner makes of it.
_COPIES = 3

#: Retrainers that no block uses, with the bytes of each, and the places of those that are lent.
_idle: WorkerCache[tuple[Retrainer, int]] = WorkerCache(lambda sized: sized[1])
_lent: set[Hashable] = set()
_lock = threading.Lock()

#: A retrainer that takes more bytes computes alone, since each thread would have one.
_SMALL = 1 << 26


@contextmanager
def lent_retrainer(store: Store, work: CrossValidated, *, null: Null) -> Iterator[Retrainer]:
    """The retrainer of a cell's data set and classifier, for one block at a time, since learners write to it.

    If it has a batched learner and its data are small, other threads compute meanwhile, with their own retrainers.
    """
    key = store, canonical([work.dataset, work.classifier, work.cross_validation]), null
    with _lock:
        place = next(items for number in count() if (items := (*key, number)) not in _lent)
        _lent.add(place)
        taken = _idle.taken(place)
    try:
        if taken is None:
            with alone():
                dataset = dataset_of(store, work)
                retrainer = new_retrainer(dataset, work, folds_of(dataset, work), null=null)
                taken = retrainer, _COPIES * dataset.nbytes
        with nullcontext() if taken[0].batched and taken[1] <= _SMALL else alone():
            yield taken[0]
    finally:
        with _lock:
            _lent.remove(place)
            if taken is not None:
                _idle[place] = taken


def new_retrainer(dataset: Dataset, work: CrossValidated, folds: NDArray[Any], *, null: Null) -> Retrainer:
    """Make a retrainer of a cell's classifier with other folds, which is not cached."""
    estimator = build_as_planned(work.classifier, **dataset.described)
    how: dict[str, Any] = {"null": null, "transforms": work.cross_validation.transforms, "groups": dataset.groups}
    made = Retrainer(estimator, dataset.X, dataset.y, folds, **how)
    made.around_fit = alone if own_code(work) is None else fit
    return made


def draws_of(block: Block, classifier: Retrainer) -> Iterator[IntArray]:
    """The draws of a block's lanes, in chunks; all classifiers are given the same."""
    for rng, size in block.lanes():
        yield from classifier.chunks(rng, size)


def is_parallel(work: CrossValidated) -> bool:
    """True, since `lent_retrainer` decides; code of another package has a process of its own."""
    return own_code(work) is None


def own_code(work: CrossValidated) -> Mapping[str, str] | None:
    """The identity of the code of a classifier that is neither built in nor scikit-learn's, or of a user's measure."""
    name, code = work.classifier.learner, work.classifier.code
    if code is None and isinstance(work, Measured):
        name, code = work.measure, work.measure_code
    return None if code is None else {"learner": name, **code}


def revision(work: CrossValidated) -> int:
    """1 for scikit-learn's classifiers whose earlier predictions differed from scikit-learn's on some data sets."""
    ours = work.classifier.code is None
    return int(ours and work.classifier.learner.rpartition(".")[2] in _REVISED)
