"""Retrainers, and draws of permutations, that a worker process caches, so that what is shared is computed once."""

import threading
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
from cachetools import cached
from numpy.typing import NDArray

from sigstats.retraining.permutation import Retrainer

from ..datasets.dataset import Dataset, dataset_of, folds_of
from ..own_code import build_as_planned, fit
from ..plan import Block
from ..record import Null, canonical, digest
from ..storage.store import Store
from ..storage.worker_cache import WorkerCache
from ..work import CrossValidated

#: scikit-learn's classifiers whose batched forms left ties, or features that vary by rounding alone, to other rules.
_REVISED = ("KNeighborsClassifier", "GaussianNB", "LinearDiscriminantAnalysis")

#: The copies of a data set in a retrainer: an encoded or scaled one, and what the learner makes of it.
_COPIES = 3

#: The draws of lanes, in short integers, of about 100 MB of one stream.
_MOST_BYTES = 1 << 27
_draws: WorkerCache[NDArray[Any]] = WorkerCache(lambda draws: draws.nbytes, most_bytes=_MOST_BYTES, most_values=1 << 16)
_lock = threading.Lock()


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


def draws_of(block: Block, classifier: Retrainer) -> Iterator[NDArray[np.int64]]:
    """The draws of a block's lanes, in chunks; all classifiers are given the same, so that they are made once.

    None are kept in the process of another package's code, whose memory is limited.
    """
    stream = digest("stream", **block.cell.stream)
    step, limited = classifier.chunk_size, own_code(block.cell.work_of(CrossValidated)) is not None
    for lane, (rng, size) in enumerate(block.lanes(), block.first_lane):
        key = stream, block.cell.seed, lane, size
        with _lock:
            kept = _draws.get(key)
        if kept is not None:
            yield from (kept[first : first + step].astype(np.int64) for first in range(0, size, step))
        elif size > step or limited:
            yield from classifier.chunks(rng, size)
        else:
            draws = classifier.draw(rng, size)
            kept = draws.astype(np.min_scalar_type(classifier.n))
            # Where not all lanes fit, the first are kept: of the last ones, none would be left for the next classifier.
            if (lane * block.cell.lane_size + size) * kept[0].nbytes <= _MOST_BYTES:
                with _lock:
                    _draws[key] = kept
            yield draws


def own_code(work: CrossValidated) -> Mapping[str, str] | None:
    """What identifies the code of a classifier that is neither ours nor scikit-learn's."""
    code = work.classifier.code
    return None if code is None else {"learner": work.classifier.learner, **code}


def revision(work: CrossValidated) -> int:
    """1 for scikit-learn's classifiers whose predictions were not its own on every data set before."""
    ours = own_code(work) is None
    return int(ours and work.classifier.learner.rpartition(".")[2] in _REVISED)
