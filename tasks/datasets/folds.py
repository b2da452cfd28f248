"""The folds in which a data set is tested, as a study file asks for them."""

from collections.abc import Mapping
from typing import Any

from sigstats._common.validation import IntArray
from sigstats.retraining.folds import leave_one_out_folds, stratified_folds

from .dataset import Dataset

#: What a study file says in place of a number of folds.
LEAVE_ONE_OUT = "leave-one-out"


def cross_validation_folds(dataset: Dataset, settings: Mapping[str, Any], rng: Any) -> IntArray:
    """The test fold of every row.

    Parameters
    ----------
    dataset : Dataset
    settings : mapping
        ``folds``, a number or `LEAVE_ONE_OUT`, and ``rare_classes`` as for `stratified_folds`.
    rng : int or numpy.random.Generator
        Source of the folds; leaving out one row at a time draws nothing.

    Raises
    ------
    ValueError
        If a class has too few rows.
    """
    rare = settings.get("rare_classes", "refuse")
    if settings["folds"] == LEAVE_ONE_OUT:
        return leave_one_out_folds(dataset.y, rare_classes=rare)
    return stratified_folds(dataset.y, settings["folds"], rng, rare_classes=rare)
