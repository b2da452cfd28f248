"""The observed run: cross-validated predictions of one classifier on one data set."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..datasets.dataset import Dataset
from ..plan import Block
from ..schema import REPLICATE, column
from ..storage.store import Store
from ._retrainers import lent_retrainer
from ._retrainers import own_code as own_code
from ._retrainers import revision as revision
from .work import CrossValidated, dataset_of, folds_of

WORK = CrossValidated
IN_WORDS = "cross-validation"
VERSION = 1
LANE_SIZE = 1

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("row", pa.int64(), "number", "the row of the data set, from 0"),
        column("fold", pa.int32(), "number", "the fold in which the row was tested, from 0"),
        column("label", pa.int32(), "class", "the true class, a position in the data set's sorted classes"),
        column("prediction", pa.int32(), "class", "the predicted class, likewise"),
    ]
)


def stream(work: CrossValidated) -> dict[str, Any]:
    """The observed run draws no random numbers."""
    return {"dataset": work.dataset, "draws": "none"}


def compute(block: Block, store: Store, work: CrossValidated) -> pa.Table:  # noqa: ARG001
    """The predictions, one row for each row of the data set."""
    dataset = dataset_of(store, work)
    with lent_retrainer(store, work, null="labels") as classifier:
        return predictions(0, dataset, folds_of(dataset, work), classifier.observed())


def predictions(number: int, dataset: Dataset, folds: NDArray[Any], predicted: NDArray[Any]) -> pa.Table:
    """The predictions of one run as the replicate of this number."""
    columns: dict[str, Any] = {
        "replicate": np.full(len(dataset), number, dtype=np.int64),
        "row": np.arange(len(dataset), dtype=np.int64),
        "fold": folds.astype(np.int32),
        "label": dataset.y.astype(np.int32),
        "prediction": predicted.astype(np.int32),
    }
    return pa.table(columns, schema=SCHEMA)
