"""Scored rows of Parquet files, read row group by row group and checked."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.validation import shown

from ..input_files import reason
from ..input_files.limit import Budget
from ..tables.parquet import require_columns
from .counts import Label
from .parquet_files import open_parquet


@dataclass(frozen=True)
class Rows:
    """Scored rows: whether each is positive, its scores by A and B, and its group, in arrays of one shape."""

    positive: NDArray[np.bool_]
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    group: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.positive)

    @property
    def lacking(self) -> NDArray[np.bool_]:
        """Which test sets, one a row, have no row that is truly positive."""
        return np.asarray(~self.positive.any(axis=1), dtype=np.bool_)

    def part(self, which: Any) -> "Rows":
        """Some of the rows."""
        group = None if self.group is None else self.group[which]
        return Rows(self.positive[which], self.a[which], self.b[which], group)


def concatenate(parts: Sequence[Rows]) -> Rows:
    """All rows of several parts, in their order."""
    group = None if parts[0].group is None else np.concatenate([part.group for part in parts if part.group is not None])
    positive, a, b = (np.concatenate([getattr(part, name) for part in parts]) for name in ("positive", "a", "b"))
    return Rows(positive, a, b, group)


def read_group(system: Any, file: str, group: int, columns: Mapping[str, str], positive: Label) -> Rows:
    """The rows of one row group of a file, within the limit of what is read."""
    where = f"{file}, row group {group}"
    opened, wanted = open_parquet(system, file), list(dict.fromkeys(columns.values()))
    try:
        require_columns(partial(open_parquet, system, file), opened, wanted, Budget(file), group=group)
        table = opened.read_row_group(group, columns=wanted, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{where}: cannot be read ({reason(error)})") from None
    for name in columns.values():
        if table.column(name).null_count:
            raise ValueError(f"{where}: column {shown(name)}: a value is missing (null); expected one in every row")
    a, b = (_numbers(where, columns[side], table.column(columns[side])) for side in ("a", "b"))
    labels = table.column(columns["label"])
    try:
        known = labels.cast(labels.type.value_type) if pa.types.is_dictionary(labels.type) else labels
        told = np.asarray(pc.equal(known, pa.scalar(positive, type=known.type)))
    except (pa.ArrowException, TypeError) as error:
        like = f"labels like {shown(positive)} ({reason(error)})"
        raise ValueError(
            f"{where}: column {shown(columns['label'])}: {labels.type} is not valid; expected {like}"
        ) from None
    if "group" not in columns:
        return Rows(told, a, b)
    names = table.column(columns["group"]).to_pylist()
    return Rows(told, a, b, np.array([_code(name) for name in names], dtype=np.int64))


def _code(name: object) -> int:
    """A number for a group, the same in every file and process."""
    return int.from_bytes(hashlib.blake2b(repr(name).encode(), digest_size=8).digest(), "big", signed=True)


def _numbers(where: str, name: str, values: Any) -> NDArray[np.float64]:
    kind = values.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise ValueError(f"{where}: column {shown(name)}: {kind} is not valid; expected numbers")
    found = np.asarray(values.to_numpy(), dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError(
            f"{where}: column {shown(name)}: {found[~np.isfinite(found)][0]} is not valid; expected finite numbers"
        )
    return found


def require_probabilities(where: str, columns: Mapping[str, str], rows: Rows) -> None:
    """Refuse scores that are not probabilities."""
    for side, values in (("a", rows.a), ("b", rows.b)):
        outside = (values < 0) | (values > 1)
        if outside.any():
            raise ValueError(
                f"{where}: column {shown(columns[side])}: {values[outside][0]} is not valid; expected probabilities "
                "of the positive class, for a loss"
            )
