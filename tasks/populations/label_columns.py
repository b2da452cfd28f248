"""The columns of a Parquet file that hold labels: their types, and the counts of their joint outcomes."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sigstats._common.validation import shown

from ..input_files import reason
from ..input_files.limit import Budget
from ..tables.parquet import require_columns, require_stored
from .counts import Label, LabelCounts
from .parquet_files import open_parquet, require_column
from .tally import Tally, is_list

#: The rows of a batch, few enough for a core's cache.
_BATCH = 2**16


class ColumnTypes(NamedTuple):
    """The types of the columns of true classes and of both predictions in a file; categories as their labels.

    Types of one family hold the same labels: 32-bit and 64-bit whole numbers, text with short and with long offsets.
    """

    file: str
    types: tuple[pa.DataType, ...]

    @property
    def listed(self) -> bool:
        """True if a row has any number of labels."""
        return is_list(self.types[0])

    def require_alike(self, columns: Sequence[str], first: "ColumnTypes") -> None:
        """Refuse a file whose columns have other types than those of the first file."""
        for name, kind, expected in zip(columns, self.types, first.types, strict=True):
            if _family(kind) != _family(expected):
                raise ValueError(
                    f"{self.file}: column {shown(name)}: {kind} is not valid; expected {expected}, as in {first.file}"
                )


def column_types(file: str, opened: pq.ParquetFile, columns: Sequence[str]) -> ColumnTypes:
    """The types of the three columns."""
    schema = opened.schema_arrow
    found: list[pa.DataType] = []
    for name in columns:
        require_column(file, schema, name)
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if _family(kind) is None:
            expected = "whole numbers, strings, booleans, or lists of whole numbers or of strings"
            raise ValueError(f"{file}: column {shown(name)}: {kind} is not valid; expected {expected}")
        if found and _family(kind) != _family(found[0]):
            expected = f"{_family(found[0])}, as in column {shown(columns[0])}"
            raise ValueError(f"{file}: column {shown(name)}: {kind} is not valid; expected {expected}")
        found.append(kind)
    return ColumnTypes(file, tuple(found))


def count_file(
    system: Any,
    file: str,
    columns: Sequence[str],
    first: ColumnTypes,
    classes: frozenset[Label] | None = None,
) -> LabelCounts:
    """The counts of one file."""
    strings = _family(first.types[0]) == "strings"
    opened = open_parquet(system, file, read_dictionary=list(columns) if strings else None)
    column_types(file, opened, columns).require_alike(columns, first)
    budget = Budget(file)
    tally = Tally(columns, classes=classes, budget=budget)
    for group in range(opened.num_row_groups):
        tally.begin(f"{file}, row group {group}")
        try:
            if first.listed:
                require_columns(partial(open_parquet, system, file), opened, columns, budget, group=group)
            require_stored(opened, columns, group, budget)
            for batch in opened.iter_batches(_BATCH, row_groups=[group], columns=list(columns), use_threads=False):
                tally.add([batch.column(name) for name in columns])
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{tally.where}: cannot be read ({reason(error)})") from None
        tally.end()
    return LabelCounts(tally.counts())


def _family(kind: Any) -> str | None:
    if pa.types.is_boolean(kind):
        return "booleans"
    if pa.types.is_integer(kind):
        return "whole numbers"
    if is_list(kind):
        inner = _family(kind.value_type)
        return f"lists of {inner}" if inner in ("whole numbers", "strings") else None
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return "strings" if any(is_text(kind) for is_text in texts) else None
