"""The work of the fan-outs of benchmark studies: everything that replicates depend on, except the seed.

A worker process keeps retrainers, so that a data set is prepared only once.
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
    """Work of ``crossval``, ``scores`` and ``repetition``. The work of retrains extends it."""

    dataset: Named
    classifier: Learner
    cross_validation: Folds


class Measured(CrossValidated):
    """Work of ``measured``."""

    measure: str
    #: The positive class, if the measure refers to one class.
    positive: int = 1
    #: The identity of the code of a user's measure, and whether lower values are better.
    measure_code: Mapping[str, str] | None = None
    lower_is_better: bool = False


class Retrained(CrossValidated):
    """Work of ``retrain``."""

    null: Null


class MeasuredRetrain(Measured):
    """Work of ``measured-retrain``."""

    null: Null


def dataset_of(store: Store, work: CrossValidated) -> Dataset:
    """Return the data set of a cell."""
    return read_data(store, Dataset, work.dataset.name, work.dataset.digest)


def folds_of(dataset: Dataset, work: CrossValidated) -> IntArray:
    """Return the test fold of each row, which is the same for all classifiers."""
    return repeated_folds(dataset, work, work.cross_validation.seed)


def repeated_folds(dataset: Dataset, work: CrossValidated, rng: Any) -> IntArray:
    """Return the test fold of each row in a repetition that draws from `rng`."""
    settings = work.cross_validation
    return cross_validation_folds(dataset, settings.folds, rng, rare_classes=settings.rare_classes)


#: scikit-learn's classifiers for which revision 0 treated ties, or features that vary only by rounding, differently.
_REVISED = ("KNeighborsClassifier", "GaussianNB", "LinearDiscriminantAnalysis")

#: The number of copies of a data set in a retrainer, including the encoded or scaled copy and the learner's data.
_COPIES = 3

#: Idle retrainers with their sizes in bytes, and the keys of the retrainers that are lent.
_idle: WorkerCache[tuple[Retrainer, int]] = WorkerCache(lambda sized: sized[1])
_lent: set[Hashable] = set()
_lock = threading.Lock()

#: Size in bytes above which a retrainer computes alone, since each thread would have a retrainer.
_SMALL = 1 << 26


@contextmanager
def lent_retrainer(store: Store, work: CrossValidated, *, null: Null) -> Iterator[Retrainer]:
    """Lend the retrainer of a cell's data set and classifier to one block at a time, since learners write to it.

    If the learner is batched and the data are small, other threads compute at the same time with other retrainers.
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
    """Return a new retrainer of a cell's classifier with these folds, which is not cached."""
    estimator = build_as_planned(work.classifier, **dataset.described)
    how: dict[str, Any] = {"null": null, "transforms": work.cross_validation.transforms, "groups": dataset.groups}
    made = Retrainer(estimator, dataset.X, dataset.y, folds, **how)
    made.around_fit = alone if own_code(work) is None else fit
    return made


def draws_of(block: Block, classifier: Retrainer) -> Iterator[IntArray]:
    """Yield the draws of a block's lanes in chunks. All classifiers are given the same draws."""
    for rng, size in block.lanes():
        yield from classifier.chunks(rng, size)


def is_parallel(work: CrossValidated) -> bool:
    """Return True for code in this process, since `lent_retrainer` excludes other threads if necessary."""
    return own_code(work) is None


def own_code(work: CrossValidated) -> Mapping[str, str] | None:
    """Return the identity of the code of another package's classifier or of a user's measure, or None."""
    name, code = work.classifier.learner, work.classifier.code
    if code is None and isinstance(work, Measured):
        name, code = work.measure, work.measure_code
    return None if code is None else {"learner": name, **code}


def revision(work: CrossValidated) -> int:
    """Return 1 for classifiers in `_REVISED`, for which revision 0 differed from scikit-learn on some data sets."""
    ours = work.classifier.code is None
    return int(ours and work.classifier.learner.rpartition(".")[2] in _REVISED)
