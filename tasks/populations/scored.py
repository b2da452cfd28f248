"""Populations of scored rows on disk, from which test sets are drawn row by row.

A measure of scores, an area under the ROC curve or a loss, is no function of counts: which rows a test set holds
matters, and a test of it needs their scores. So each test set is a set of row numbers, drawn without replacement over
all files, and the files are read once, row group by row group, for a hundred test sets together.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.validation import shown
from sigstats.measures.table import MEASURES

from ..input_files import FilesRead, in_silence
from ..schema import column
from .counts import Label
from .prediction_files import anywhere, data_files, file_system, has_column, opened_file
from .score_files import Rows, joined, read_group, require_probabilities
from .score_tests import difference

#: The key of the schema's metadata under which `ScorePopulation.to_table` keeps what is no file.
_ABOUT = b"scores"

#: A population of at most so many rows stays in a worker's memory, at some 20 bytes a row.
KEPT_ROWS = 2**22


@dataclass(frozen=True, eq=False, kw_only=True)
class ScorePopulation:
    """Two classifiers' scores of all rows there are.

    Attributes
    ----------
    name : str
        What the study calls them.
    path : str
        A file, a folder, a pattern or an fsspec URL, the same in every working folder.
    columns : mapping
        The names of the columns ``label``, ``a``, ``b`` and, where rows come in groups, ``group``.
    positive : label
        The positive class.
    files : tuple of (str, tuple of int)
        Each file with the rows of its row groups.
    content : str
        SHA-256 of all that these columns hold.
    truth : mapping of str to float
        By how much B is better than A in each measure, over all rows.
    swapped : bool
        Whether the scores of the two are exchanged in each row with probability 1/2, so that neither is better.
    """

    name: str
    path: str
    columns: Mapping[str, str]
    positive: Label
    files: tuple[tuple[str, tuple[int, ...]], ...]
    content: str
    truth: Mapping[str, float]
    swapped: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(sum(groups) for _, groups in self.files)

    @property
    def nbytes(self) -> int:
        """How much memory it takes itself, in bytes: next to none, since its rows stay where they are."""
        return 0

    def digest(self) -> str:
        """SHA-256 (hexadecimal) of what the rows hold, wherever they lie."""
        return self.content

    def exchanged(self) -> "ScorePopulation":
        """The same rows, their scores exchanged at random."""
        return replace(self, swapped=True)

    def to_table(self) -> pa.Table:
        """Where the rows lie and what is known of them, as a table from which `from_table` makes it again."""
        about = {
            "name": self.name,
            "path": self.path,
            "columns": dict(self.columns),
            "positive": self.positive,
            "content": self.content,
            "truth": dict(self.truth),
        }
        schema = pa.schema(
            [
                column("file", pa.string(), "name", "a file of rows"),
                column(
                    "rows", pa.list_(pa.field("element", pa.int64())), "rows", "how many each of its row groups has"
                ),
            ],
            metadata={_ABOUT: json.dumps(about).encode()},
        )
        names, groups = zip(*self.files, strict=True)
        return pa.table({"file": list(names), "rows": [list(each) for each in groups]}, schema=schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "ScorePopulation":
        """The population that `to_table` wrote."""
        about = json.loads((table.schema.metadata or {})[_ABOUT])
        names: list[Any] = table.column("file").to_pylist()
        rows: list[Any] = table.column("rows").to_pylist()
        return cls(files=tuple((name, tuple(each)) for name, each in zip(names, rows, strict=True)), **about)

    def draw(self, n: int, rng: np.random.Generator, size: int) -> Rows:
        """`size` test sets of n rows each, without replacement: arrays of shape (size, n)."""
        numbers = np.stack([rng.choice(self.rows, n, replace=False, shuffle=False) for _ in range(size)])
        wanted, place = np.unique(numbers, return_inverse=True)
        drawn = self.take(wanted).part(place.reshape(numbers.shape))
        if not self.swapped:
            return drawn
        exchanged = rng.random(numbers.shape) < 0.5
        a, b = np.where(exchanged, drawn.b, drawn.a), np.where(exchanged, drawn.a, drawn.b)
        return Rows(drawn.positive, a, b, drawn.group)

    def take(self, numbers: NDArray[np.int64]) -> Rows:
        """The rows of these numbers, which are sorted; rows are counted through all files in their order."""
        if self.rows <= KEPT_ROWS:
            return _kept(self.path, self.content, _Reader(self)).part(numbers)
        parts, first = [], 0
        for file, groups in self.files:
            for group, rows in enumerate(groups):
                span = slice(*np.searchsorted(numbers, (first, first + rows)))
                if span.start < span.stop:
                    parts.append(self._read(file, group, rows).part(numbers[span] - first))
                first += rows
        return joined(parts)

    def all(self) -> Rows:
        """All rows, in their order."""
        return joined([self._read(file, i, rows) for file, groups in self.files for i, rows in enumerate(groups)])

    @cached_property
    def _system(self) -> Any:
        return file_system(self.path)

    def _read(self, file: str, group: int, rows: int) -> Rows:
        found = read_group(
            opened_file(self._system, file), f"{file}, row group {group}", group, self.columns, self.positive
        )
        if len(found) != rows:
            raise ValueError(
                f"{file}, row group {group}: {len(found)} rows are not valid; expected {rows}, as at first"
            )
        return found


class _Reader:
    """What reads a population that stays in memory: no part of what the cache goes by."""

    def __init__(self, population: ScorePopulation) -> None:
        self.population = population

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reader)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=2)
def _kept(path: str, digest: str, reader: _Reader) -> Rows:  # noqa: ARG001 (the key of the cache)
    return reader.population.all()


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
    """Look through a Parquet data set once: its content, its truth, and whether all of it is sound.

    Parameters
    ----------
    name : str
        What the study calls it.
    path : str
        A file, a folder, a pattern or an fsspec URL; a relative path starts at `base`.
    base : pathlib.Path
    columns : mapping
        As for `ScorePopulation`.
    positive : label
    measures : sequence of str
        Those of `sigstats.measures.table.SCORE_MEASURES` whose truth is wanted. It is found in memory, at some
        20 bytes a row.
    progress : callable
        Is told how many files are read, and of how many.

    Raises
    ------
    ValueError
        One line that names the file, the row group, the column, the value and what would be right.
    """
    system, found = data_files(path, base)
    state, files, parts = hashlib.sha256(), [], []
    losses = any(MEASURES[measure].needs == "probabilities" for measure in measures)
    for number, file in enumerate(found):
        progress(number, len(found))
        opened = opened_file(system, file)
        for each in columns.values():
            has_column(file, opened.schema_arrow, each)
        groups = []
        for group in range(opened.num_row_groups):
            where = f"{file}, row group {group}"
            rows = read_group(opened, where, group, columns, positive)
            if losses:
                require_probabilities(where, columns, rows)
            for values in (rows.positive, rows.a, rows.b, *([] if rows.group is None else [rows.group])):
                state.update(values.tobytes())
            groups.append(len(rows))
            parts.append(rows)
        files.append((file, tuple(groups)))
    whole = joined(parts) if parts else None
    if whole is None or not len(whole):
        raise ValueError(f"{path}: there are no rows; expected one or more")
    if not 0 < whole.positive.sum() < len(whole):
        raise ValueError(
            f"positive: {shown(positive)} is not valid; expected a label that some rows have, and some do not"
        )
    truth = {measure: difference(measure, whole) for measure in measures}
    return ScorePopulation(
        name=name,
        path=anywhere(path, base),
        columns=columns,
        positive=positive,
        files=tuple(files),
        content=state.hexdigest(),
        truth=truth,
    )
