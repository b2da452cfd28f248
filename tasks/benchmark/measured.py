"""The observed run by another measure than the error: what retrains by this measure are counted against."""

import pyarrow as pa

from sigstats.retraining.measured import Statistic, observed_value

from ..fan_out import replicates_table
from ..plan import Block
from ..schema import REPLICATE, column
from ..storage.store import Store
from ._retrainers import lent_retrainer
from ._retrainers import own_code as own_code
from ._retrainers import revision as revision
from .crossval import stream as stream
from .work import Measured, dataset_of

WORK = Measured
IN_WORDS = "observed measure"
VERSION = 1
LANE_SIZE = 1

SCHEMA = pa.schema(
    [REPLICATE, column("value", pa.float64(), "of the measure", "the measure of the classifier; more is better")]
)


def statistic(store: Store, work: Measured) -> Statistic:
    """The measure of a cell."""
    return Statistic(work.measure, len(dataset_of(store, work).classes), work.positive)


def compute(block: Block, store: Store, work: Measured) -> pa.Table:
    """The measure of all rows."""
    with lent_retrainer(store, work, null="labels") as classifier:
        value = observed_value(classifier, statistic(store, work))
    return replicates_table(block, SCHEMA, value=[value])
