"""Repetitions of the cross-validation: the predictions of one classifier on one data set, each time by other folds.

The first repetition is the observed run (`sigstats.tasks.replicates.crossval`); its folds are those of the study.
"""

from typing import Any

import pyarrow as pa

from ..datasets.folds import cross_validation_folds, dataset_of
from ..plan import Block
from ..storage.store import Store
from ..work import CrossValidated
from . import crossval
from ._retrainers import new_retrainer
from ._retrainers import own_code as own_code
from ._retrainers import revision as revision

VERSION = 1
LANE_SIZE = 1

SCHEMA = crossval.SCHEMA


def stream(work: CrossValidated) -> dict[str, Any]:
    """Keyed by the data set and how it is split, so that all classifiers are given the same folds."""
    settings = {key: value for key, value in work["cross_validation"].items() if key != "transforms"}
    return {"dataset": work["dataset"]["digest"], "cross_validation": settings}


def compute(block: Block, store: Store) -> pa.Table:
    """The predictions of each repetition, one row for each row of the data set."""
    work: CrossValidated = block.cell.work
    dataset = dataset_of(store, work)
    tables = []
    for number, (rng, _) in enumerate(block.lanes(), block.first):
        folds = cross_validation_folds(dataset, work["cross_validation"], rng)
        predicted = new_retrainer(dataset, work, folds, null="labels").observed()
        tables.append(crossval.predictions(number, dataset, folds, predicted))
    return pa.concat_tables(tables).combine_chunks()
