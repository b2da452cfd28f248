"""Populations of scored rows in Parquet files, from which test sets are drawn row by row.

A measure of scores, such as the area under the ROC curve or a loss, is not a function of counts: its tests need the
scores of the rows in a test set. So each test set is a set of row numbers, drawn without replacement from all files.
The files are read once, row group by row group, for a hundred test sets together.
"""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from sigstats._common.class_names import refuse_missing_texts
from sigstats._common.validation import refuse, shown
from sigstats.files.inputs import FilesRead, in_silence, reading, reason
from sigstats.files.inputs.limit import Budget
from sigstats.files.tables.arrow_files import read_columns
from sigstats.measures.table import MEASURES

from ...schema import column
from . import parquet_files
from .counts import Label

#: The key of the schema's metadata under which `ScorePopulation.to_table` stores everything except the files.
_ABOUT = b"scores"

#: Memory of a row in bytes, including the copy that is made when the parts are joined.
_ROW = 50

#: The largest population that stays in a worker's memory, in rows of about 20 bytes.
ROWS_IN_MEMORY = 2**22


@dataclass(frozen=True)
class Rows:
    """Scored rows: masks of positive rows, scores by A and by B, and groups, in arrays of the same shape."""

    positive: NDArray[np.bool_]
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    group: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.positive)

    @property
    def lacking(self) -> NDArray[np.bool_]:
        """A mask of the test sets (rows of the arrays) that contain no positive."""
        return np.asarray(~self.positive.any(axis=1), dtype=np.bool_)

    def part(self, which: Any) -> "Rows":
        """Return the selected rows."""
        group = None if self.group is None else self.group[which]
        return Rows(self.positive[which], self.a[which], self.b[which], group)


def concatenate(parts: Sequence[Rows]) -> Rows:
    """Join the rows of several parts, in order."""
    group = None if parts[0].group is None else np.concatenate([part.group for part in parts if part.group is not None])
    positive, a, b = (np.concatenate([getattr(part, name) for part in parts]) for name in ("positive", "a", "b"))
    return Rows(positive, a, b, group)


def read_group(system: Any, file: str, group: int, columns: Mapping[str, str], positive: Label) -> Rows:
    """Read one row group of a file, within the limit on the size of inputs."""
    where = f"{file}, row group {group}"
    wanted = list(dict.fromkeys(columns.values()))
    with reading(where, (pa.ArrowException, OSError)):
        table: Any = read_columns(partial(parquet_files.open_parquet, system, file), wanted, Budget(file), group=group)
    for name in columns.values():
        if table.column(name).null_count:
            raise ValueError(f"{where}: column {shown(name)}: a value is missing (null); give every row a value")
    a, b = (_numbers(where, columns[side], table.column(columns[side])) for side in ("a", "b"))
    labels = table.column(columns["label"])
    rows_of = {count["values"]: count["counts"] for count in pc.value_counts(labels).to_pylist()}
    remedy = "leave out these rows, or give another name if it is a class"
    refuse_missing_texts(f"{where}: column {shown(columns['label'])}", rows_of, remedy, classes=[str(positive)])
    try:
        known = labels.cast(labels.type.value_type) if pa.types.is_dictionary(labels.type) else labels
        is_positive = np.asarray(pc.equal(known, pa.scalar(positive, type=known.type)))
    except (pa.ArrowException, TypeError) as error:
        like = f"labels like {shown(positive)} ({reason(error)})"
        raise ValueError(
            f"{where}: column {shown(columns['label'])} has the type {labels.type}; expected {like}"
        ) from None
    if "group" not in columns:
        return Rows(is_positive, a, b)
    names = table.column(columns["group"]).to_pylist()
    return Rows(is_positive, a, b, np.array([_code(name) for name in names], dtype=np.int64))


def _code(name: object) -> int:
    """Return a number for a group, the same in every file and process."""
    return int.from_bytes(hashlib.blake2b(repr(name).encode(), digest_size=8).digest(), "big", signed=True)


def _numbers(where: str, name: str, values: Any) -> NDArray[np.float64]:
    kind = values.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise ValueError(f"{where}: column {shown(name)} has the type {kind}; expected numbers")
    result = np.asarray(values.to_numpy(), dtype=np.float64)
    if not np.isfinite(result).all():
        raise ValueError(
            f"{where}: column {shown(name)}: {result[~np.isfinite(result)][0]} is not valid; expected finite numbers"
        )
    return result


@dataclass(frozen=True, eq=False, kw_only=True)
class ScorePopulation:
    """A population of rows with the scores of two classifiers."""

    #: The name of the population in the study.
    name: str
    #: A file, folder, pattern or fsspec URL, independent of the working folder.
    path: str
    #: The names of the columns ``label``, ``a``, ``b`` and, if rows have groups, ``group``.
    columns: Mapping[str, str]
    #: The positive class.
    positive: Label
    #: Each file with the numbers of rows in its row groups.
    files: tuple[tuple[str, tuple[int, ...]], ...]
    #: SHA-256 of the values in these columns.
    content: str
    #: The true difference B - A in each measure, over all rows.
    truth: Mapping[str, float]
    #: True if the two scores of each row are exchanged with probability 1/2, so that neither classifier is better.
    swapped: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(sum(groups) for _, groups in self.files)

    @property
    def nbytes(self) -> int:
        """Size in memory, in bytes: 0, since the rows stay in their files."""
        return 0

    def digest(self) -> str:
        """Return the SHA-256 of the rows in hexadecimal, independent of their location."""
        return self.content

    def to_table(self) -> pa.Table:
        """Return the files, and the known facts about their rows, as a table that `from_table` reads."""
        keys = ("name", "path", "columns", "positive", "content", "truth")
        about = {key: getattr(self, key) for key in keys}
        per_group = pa.list_(pa.field("element", pa.int64()))
        of_rows = column("rows", per_group, "rows", "how many each of its row groups has")
        names, groups = zip(*self.files, strict=True)
        return parquet_files.files_table(_ABOUT, about, names, [list(group) for group in groups], of_rows)

    @classmethod
    def from_table(cls, table: pa.Table) -> "ScorePopulation":
        """Return the population that `to_table` wrote."""
        about, names, rows = parquet_files.read_files_table(_ABOUT, table)
        return cls(files=tuple((name, tuple(row)) for name, row in zip(names, rows, strict=True)), **about)

    def draw(self, n: int, rng: np.random.Generator, size: int) -> Rows:
        """Draw `size` test sets of n rows without replacement, as arrays of shape (size, n)."""
        numbers = np.stack([rng.choice(self.rows, n, replace=False, shuffle=False) for _ in range(size)])
        wanted, place = np.unique(numbers, return_inverse=True)
        drawn = self.take(wanted).part(place.reshape(numbers.shape))
        if not self.swapped:
            return drawn
        exchanged = rng.random(numbers.shape) < 0.5
        a, b = np.where(exchanged, drawn.b, drawn.a), np.where(exchanged, drawn.a, drawn.b)
        return Rows(drawn.positive, a, b, drawn.group)

    def take(self, numbers: NDArray[np.int64]) -> Rows:
        """Return the rows with these sorted numbers. Rows are numbered consecutively through all files, in order."""
        if self.rows <= ROWS_IN_MEMORY:
            whole: Rows = _all_rows(self)
            return whole.part(numbers)
        parts, first = [], 0
        for file, groups in self.files:
            for group, rows in enumerate(groups):
                span = slice(*np.searchsorted(numbers, (first, first + rows)))
                if span.start < span.stop:
                    parts.append(self._read(file, group, rows).part(numbers[span] - first))
                first += rows
        return concatenate(parts)

    def all(self) -> Rows:
        """Return all rows, in order."""
        return concatenate([self._read(file, i, rows) for file, groups in self.files for i, rows in enumerate(groups)])

    @cached_property
    def _system(self) -> Any:
        return parquet_files.file_system(self.path)

    def _read(self, file: str, group: int, rows: int) -> Rows:
        result = read_group(self._system, file, group, self.columns, self.positive)
        if len(result) != rows:
            raise ValueError(
                f"{file}, row group {group}: has {len(result)} rows, but had {rows} at the start; restore it"
            )
        return result


@cached(LRUCache(maxsize=2), key=lambda population: (population.path, population.content), lock=threading.Lock())
def _all_rows(population: ScorePopulation) -> Rows:
    return population.all()


def read_scores(
    name: str,
    path: str,
    base: Path,
    *,
    columns: Mapping[str, str],
    positive: Label,
    measures: Sequence[str],
    progress: FilesRead = in_silence,
) -> ScorePopulation:
    """Read a Parquet data set once, to check it and to compute its digest and its true differences."""
    system, names = parquet_files.find_files(path, base)
    state, files, parts, budget = hashlib.sha256(), [], [], Budget(path)
    losses = any(MEASURES[measure].needs == "probabilities" for measure in measures)
    for number, file in enumerate(names):
        progress(number, len(names))
        opened = parquet_files.open_parquet(system, file, columns.values())
        groups = []
        for group in range(opened.num_row_groups):
            where = f"{file}, row group {group}"
            rows = read_group(system, file, group, columns, positive)
            budget.spend(_ROW * len(rows))
            for side, scores in (("a", rows.a), ("b", rows.b)) if losses else ():
                if len(outside := scores[(scores < 0) | (scores > 1)]):
                    raise ValueError(
                        f"{where}: column {shown(columns[side])}: {outside[0]} is not valid; expected probabilities "
                        "of the positive class, for a loss"
                    )
            for values in (rows.positive, rows.a, rows.b, *([] if rows.group is None else [rows.group])):
                state.update(values.tobytes())
            groups.append(len(rows))
            parts.append(rows)
        files.append((file, tuple(groups)))
    whole = concatenate(parts) if parts else None
    if whole is None or not len(whole):
        raise ValueError(f"{path}: has no rows")
    if not 0 < whole.positive.sum() < len(whole):
        raise refuse("positive", positive, "a label that some but not all rows have")
    truth = {measure: difference(measure, whole) for measure in measures}
    return ScorePopulation(
        name=name,
        path=parquet_files.absolute_path(path, base),
        columns=columns,
        positive=positive,
        files=tuple(files),
        content=state.hexdigest(),
        truth=truth,
    )


def difference(measure: str, rows: Rows) -> float:
    """Return the difference B - A of a measure over all rows."""
    spec = MEASURES[measure]
    return spec.of(rows.positive, rows.b) - spec.of(rows.positive, rows.a)
