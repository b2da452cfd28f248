"""The joint outcomes of a population that is too large for the process that starts a study: a replicate is a file.

The fingerprint of a cell includes `LabelFiles.written`: files that were written anew are counted again, even if their
footers are equal.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..plan import Block
from ..populations.prediction_files import LabelFiles
from ..schema import REPLICATE
from ..storage.store import Store
from ._outcomes import columns, fields

VERSION = 1
LANE_SIZE = 1

SCHEMA = pa.schema([REPLICATE, *fields("file")])


def stream(work: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Counting draws no random numbers."""
    return {"draws": "none"}


def compute(block: Block, store: Store) -> pa.Table:
    """The counts of each file."""
    work = block.cell.work
    files = store.read_data(LabelFiles, work["files"]["name"], work["files"]["digest"])
    counts = [files.count(index).outcomes(work["positive"]) for index in range(block.first, block.last)]
    found: dict[str, Any] = {"replicate": np.arange(block.first, block.last)}
    return pa.table(found | columns(counts), schema=SCHEMA)
