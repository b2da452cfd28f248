"""Notes on columns that are not used, but state that some rows are of another kind than the others."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import Note, shown, some_of

from ..tables.spelling import is_number
from ..tables.table import Table, in_one

_PARTS = frozenset({"split", "subset", "partition", "set", "dataset_split", "phase"})
_TRAINING = frozenset({"train", "training", "train_set", "fit"})
_ERRORS = frozenset({"error", "error_message", "error_type", "exception", "traceback", "failure"})
_NO_ERROR = frozenset({"", "false", "no", "none", "null", "nan", "n/a", "ok", "success"})
_STATES = frozenset({"status", "state", "run_status"})
_NOT_FINISHED = frozenset({"error", "errored", "timeout", "timed_out", "crashed", "aborted", "cancelled", "canceled"})


def is_telling(name: str) -> bool:
    """True for a column that is read only for a note."""
    return name.lower() in _PARTS | _ERRORS | _STATES


def unused_notes(table: Table, used: Collection[str]) -> Iterator[Note]:
    """Notes on rows of training sets and rows with an error, which count like all others."""
    for name, column in table.beside(used).items():
        if not is_telling(name):
            continue
        key, counts = name.lower(), _counts(column)
        apart = {
            text: count
            for text, count in counts.items()
            if (key in _PARTS and text.lower() in _TRAINING)
            or (key in _ERRORS and not (text.lower() in _NO_ERROR or is_number(text)))
            or (key in _STATES and text.lower().replace(" ", "_") in _NOT_FINISHED)
        }
        rows = sum(apart.values())
        if 0 < rows < table.num_rows:
            stated = f"rows have {some_of([*map(shown, apart)], 3)} in column {shown(name)}, which is not used"
            yield Note("unused-column", f"{rows:,} of {table.num_rows:,} {stated}; they count like the other rows")


def _counts(column: Any) -> Counter[str]:
    """Number of rows with each text; empty if the column has no texts."""
    values = in_one(column)
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return Counter()
    return Counter({one["values"]: one["counts"] for one in pc.value_counts(values.drop_null()).to_pylist()})
