"""Retrainers that a worker process caches, so that what permutations share is computed once."""

import threading
from collections.abc import Hashable, Mapping
from typing import Any

from cachetools import cached
from numpy.typing import NDArray

from sigstats.retraining.permutation import Retrainer

from ..datasets.dataset import Dataset, dataset_of, folds_of
from ..fingerprint import canonical
from ..own_code import build_as_planned, fit
from ..record import Null
from ..storage.store import Store
from ..storage.worker_cache import WorkerCache
from ..work import CrossValidated

#: scikit-learn's classifiers whose batched forms left ties, or features that vary by rounding alone, to other rules.
_REVISED = ("KNeighborsClassifier", "GaussianNB", "LinearDiscriminantAnalysis")

#: The copies of a data set in a retrainer: an encoded or scaled one, and what the learner makes of it.
_COPIES = 3


def retrainer(store: Store, work: CrossValidated, *, null: Null) -> Retrainer:
    """The retrainer of a cell's data set and classifier."""
    found: Retrainer = _sized_retrainer(store, work, null)[0]
    return found


def _key(store: Store, work: CrossValidated, null: Null) -> Hashable:
    return store, canonical([work.dataset, work.classifier, work.cross_validation]), null


@cached(WorkerCache[tuple[Retrainer, int]](lambda sized: sized[1], most_values=4), key=_key, lock=threading.Lock())
def _sized_retrainer(store: Store, work: CrossValidated, null: Null) -> tuple[Retrainer, int]:
    dataset = dataset_of(store, work)
    return new_retrainer(dataset, work, folds_of(dataset, work), null=null), _COPIES * dataset.nbytes


def new_retrainer(dataset: Dataset, work: CrossValidated, folds: NDArray[Any], *, null: Null) -> Retrainer:
    """A retrainer of a cell's classifier by other folds, which is not cached."""
    estimator = build_as_planned(work.classifier, nominal=dataset.nominal)
    how: dict[str, Any] = {"null": null, "transforms": work.cross_validation.transforms, "groups": dataset.groups}
    made = Retrainer(estimator, dataset.X, dataset.y, folds, **how)
    if own_code(work) is not None:
        made.around_fit = fit
    return made


def own_code(work: CrossValidated) -> Mapping[str, str] | None:
    """What identifies the code of a classifier that is neither ours nor scikit-learn's."""
    code = work.classifier.code
    return None if code is None else {"learner": work.classifier.learner, **code}


def revision(work: CrossValidated) -> int:
    """1 for scikit-learn's classifiers whose predictions were not its own on every data set before."""
    ours = own_code(work) is None
    return int(ours and work.classifier.learner.rpartition(".")[2] in _REVISED)
