"""The folds in which a data set is tested, as a study file asks for them."""

from typing import Any

from sigstats._common.validation import IntArray
from sigstats.retraining.folds import leave_one_out_folds, require_trained, stratified_folds
from sigstats.retraining.groups import require_whole_groups

from ..storage.store import Store
from ..work import CrossValidated
from .dataset import Dataset

#: What a study file says in place of a number of folds.
LEAVE_ONE_OUT = "leave-one-out"

#: What a cell has in place of it where the data set names the folds.
GIVEN = "given"


def cross_validation_folds(dataset: Dataset, folds: int | str, rng: Any, *, rare_classes: str) -> IntArray:
    """The test fold of every row: that of the data set, where it has folds; else no group is split.

    `folds`: a number, or `LEAVE_ONE_OUT`.
    `rng`: source of the folds; leaving out one row at a time draws nothing.
    `rare_classes`: as for `stratified_folds`.
    """
    if dataset.folds is not None:
        require_trained(dataset.y, dataset.folds, rare_classes)
        if dataset.groups is not None:
            require_whole_groups(dataset.folds, dataset.groups)
        return dataset.folds
    if isinstance(folds, str):
        return leave_one_out_folds(dataset.y, dataset.groups, rare_classes=rare_classes)
    return stratified_folds(dataset.y, folds, rng, groups=dataset.groups, rare_classes=rare_classes)


def dataset_of(store: Store, work: CrossValidated) -> Dataset:
    """The data set of a cell."""
    return store.read_data(Dataset, work.dataset.name, work.dataset.digest)


def folds_of(dataset: Dataset, work: CrossValidated) -> IntArray:
    """The test fold of every row, the same for all classifiers."""
    return repeated_folds(dataset, work, work.cross_validation.seed)


def repeated_folds(dataset: Dataset, work: CrossValidated, rng: Any) -> IntArray:
    """The test fold of every row in one repetition."""
    settings = work.cross_validation
    return cross_validation_folds(dataset, settings.folds, rng, rare_classes=settings.rare_classes)
