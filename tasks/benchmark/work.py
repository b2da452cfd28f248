"""The work of the fan-outs of benchmark studies: everything that replicates depend on, except the seed."""

from collections.abc import Mapping
from typing import Any

from sigstats._common.validation import IntArray

from ..datasets.dataset import Dataset, cross_validation_folds
from ..record import Folds, Learner, Named, Null, Work
from ..storage.data import read_data
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
