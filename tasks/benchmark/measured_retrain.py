"""Retrains under a null hypothesis, by another measure than the error; their permutations are those of `retrain`."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.extreme import at_least
from sigstats.retraining.measured import values_of

from ..fan_out import replicates_table
from ..plan import Block, Cell
from ..schema import REPLICATE, column
from ..storage.store import Store
from . import measured, retrain
from ._retrainers import beside_others as beside_others
from ._retrainers import draws_of, lent_retrainer
from ._retrainers import own_code as own_code
from ._retrainers import revision as revision
from .retrain import stream as stream
from .work import Measured, MeasuredRetrain

WORK = MeasuredRetrain
IN_WORDS = "retrains"
VERSION = 1
LANE_SIZE = retrain.LANE_SIZE

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("value", pa.float64(), "of the measure", "the measure of the retrained classifier; more is better"),
    ]
)


def compute(block: Block, store: Store, work: MeasuredRetrain) -> pa.Table:
    """The measure of every replicate of the block."""
    statistic = measured.statistic(store, work)
    with lent_retrainer(store, work, null=work.null) as classifier:
        values = [values_of(classifier, statistic, draws) for draws in draws_of(block, classifier)]
    return replicates_table(block, SCHEMA, value=np.concatenate(values))


def observed(retrains: Cell) -> Cell:
    """The cell of the observed value: the same measure of the same classifier on the labels as they are."""
    return retrain.on_labels_as_they_are(retrains, "measured", Measured)


def exceeds(table: pa.Table, observed: pa.Table) -> NDArray[np.bool_]:
    """A mask of retrains that are no worse than the observed run."""
    return at_least(table.column("value").to_numpy(), float(observed.column("value")[0].as_py()))
