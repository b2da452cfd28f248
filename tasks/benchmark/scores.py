"""The scores of each class in the observed run's folds: probabilities, or decision values."""

from typing import Any

import numpy as np
import pyarrow as pa

from sigstats.retraining.measured import class_scores

from ..own_code import build_as_planned
from ..plan import Block
from ..schema import REPLICATE, column
from ..storage.store import Store
from ._retrainers import own_code as own_code
from .crossval import stream as stream
from .work import CrossValidated, dataset_of, folds_of

WORK = CrossValidated
IN_WORDS = "scores"
VERSION = 1
LANE_SIZE = 1

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("row", pa.int64(), "number", "the row of the data set, from 0"),
        column(
            "probabilities",
            pa.list_(pa.field("element", pa.float64())),
            "probability",
            "of each of the data set's sorted classes; null where the classifier gives none",
            nullable=True,
        ),
        column(
            "decision",
            pa.float64(),
            "of the classifier",
            "how much the second of two classes is preferred; null where the classifier does not say",
            nullable=True,
        ),
    ]
)


def compute(block: Block, store: Store, work: CrossValidated) -> pa.Table:  # noqa: ARG001
    """The scores, one row for each row of the data set."""
    dataset = dataset_of(store, work)
    estimator = build_as_planned(work.classifier, **dataset.described)
    transforms = work.cross_validation.transforms
    scores = class_scores(estimator, dataset.X, dataset.y, folds_of(dataset, work), transforms=transforms)
    n = len(dataset)
    columns: dict[str, Any] = {
        "replicate": np.zeros(n, dtype=np.int64),
        "row": np.arange(n, dtype=np.int64),
        "probabilities": [None] * n if scores.probabilities is None else scores.probabilities.tolist(),
        "decision": [None] * n if scores.decision is None else scores.decision.tolist(),
    }
    return pa.table(columns, schema=SCHEMA)
