"""The joint outcomes of a population that is too large for the process that starts a study: a replicate is a file.

The fingerprint of a cell includes `LabelFiles.written`: files that were written again are counted again, even if their
footers are equal. If files are added, only the new files are counted.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..fan_out import FanOut, replicates_table
from ..plan import Block
from ..record import digest
from ..schema import REPLICATE, column
from ..storage.block_files import PARTS
from ..storage.data import read_data
from ..storage.store import Store
from .populations.prediction_files import LabelFiles
from .work import Counted

#: The joint outcomes, in the order of `sigstats.joint.outcomes.JointOutcomes`.
_NAMES = tuple(f"e{number}" for number in range(1, 9))


def fields(of: str) -> list["pa.Field[Any]"]:
    """The columns of the counts; `of` names a part, such as a file."""
    return [column(name, pa.int64(), "rows", f"rows of the {of} with the joint outcome {name}") for name in _NAMES]


def columns(counts: Iterable[Sequence[int]]) -> dict[str, Any]:
    """The columns, from the eight counts of each part."""
    return dict(zip(_NAMES, np.array(list(counts), dtype=np.int64).T, strict=True))


def total(table: pa.Table) -> tuple[int, ...]:
    """The eight counts of all parts together."""
    return tuple(int(table.column(name).to_numpy().sum()) for name in _NAMES)


SCHEMA = pa.schema([REPLICATE, *fields("file")])


def _compute(block: Block, store: Store, work: Counted) -> pa.Table:
    files = read_data(store, LabelFiles, work.files.name, work.files.digest)
    counts = [_counts_of_file(store, files, index, work.positive) for index in range(block.first, block.last)]
    return replicates_table(block, SCHEMA, **columns(counts))


def _counts_of_file(store: Store, files: LabelFiles, index: int, positive: Any) -> tuple[int, ...]:
    """The counts of one file, which the store keeps in case further files are added to the population."""
    written, footer = files.mark(index)
    mark = digest("counts", of=written, columns=files.columns, classes=files.classes, positive=positive)
    name = f"{PARTS}/{mark}.parquet"
    table, _ = store.usable(name, kind="counts", fingerprint=mark)
    if table is None:
        table = pa.table(columns([files.count(index, footer).outcomes(positive)]), pa.schema(fields("file")))
        store.write_table(name, table, kind="counts", fingerprint=mark)
    return total(table)


FAN_OUT = FanOut(
    about="The joint outcomes of a population too large for the process that starts a study. A replicate is a file.",
    in_words="counts",
    work=Counted,
    schema=SCHEMA,
    compute=_compute,
)
