"""Repetitions of the cross-validation: the predictions of one classifier on one data set, with other folds each time.

The first repetition is the observed run (`sigstats.tasks.benchmark.crossval`); its folds are those of the study.
"""

from dataclasses import replace
from typing import Any

import pyarrow as pa

from ..plan import Block
from ..storage.store import Store
from . import crossval
from ._retrainers import new_retrainer
from ._retrainers import own_code as own_code
from ._retrainers import revision as revision
from .work import CrossValidated, dataset_of, repeated_folds

WORK = CrossValidated
LIKE = "crossval"
IN_WORDS = "repetitions of the cross-validation"
VERSION = 1
LANE_SIZE = 1

SCHEMA = crossval.SCHEMA


def stream(work: CrossValidated) -> dict[str, Any]:
    """Keyed by the data set and how it is split, so that all classifiers are given the same folds."""
    return {"dataset": work.dataset.digest, "cross_validation": replace(work.cross_validation, transforms="fold")}


def compute(block: Block, store: Store, work: CrossValidated) -> pa.Table:
    """The predictions of each repetition, one row for each row of the data set."""
    dataset = dataset_of(store, work)
    tables = []
    for number, (rng, _) in enumerate(block.lanes(), block.first):
        folds = repeated_folds(dataset, work, rng)
        predicted = new_retrainer(dataset, work, folds, null="labels").observed()
        tables.append(crossval.predictions(number, dataset, folds, predicted))
    return pa.concat_tables(tables).combine_chunks()
