"""The joint outcomes of two trained classifiers, by chunks: first the rows of the test set, then all others."""

import numpy as np
import pyarrow as pa

from ..fan_out import draws_nothing, replicates_table
from ..plan import Block
from ..schema import REPLICATE, column
from ..storage.store import Store
from .count import columns, fields, total
from .populations.trained import Pair, train_pair
from .work import Predicted

WORK = Predicted
IN_WORDS = "predictions"
VERSION = 1
LANE_SIZE = 1
stream = draws_nothing

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("test", pa.bool_(), "yes or no", "whether the rows of the chunk are of the test set"),
        *fields("chunk"),
    ]
)


def compute(block: Block, store: Store, work: Predicted) -> pa.Table:
    """The counts of each chunk."""
    pair: Pair = train_pair(store, work)
    chunks = pair.parts.chunks()[block.first : block.last]
    in_test = np.array([np.isin(rows[0], pair.parts.test).item() for rows in chunks])
    return replicates_table(block, SCHEMA, test=in_test, **columns(pair.outcomes(rows).tolist() for rows in chunks))


def outcomes(table: pa.Table, *, test: bool) -> tuple[int, ...]:
    """The eight counts of the test set, or of all the rest."""
    return total(table.filter(pa.array(table.column("test").to_numpy() == test)))
