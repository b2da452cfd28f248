"""Populations of rows on disk: Parquet files with labels and the predictions of two classifiers, reduced to counts.

A data set has a column of true classes and a column of predictions per classifier. All three contain whole numbers,
strings, categories or booleans. Files are read once, in batches, several at a time; only the counts of the distinct
joint outcomes stay in memory.
"""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sigstats._common.class_names import refuse_missing_texts
from sigstats._common.validation import shown
from sigstats.files.inputs import FilesRead, in_silence, reading
from sigstats.files.inputs.limit import Budget
from sigstats.files.tables.arrow_files import read_columns, stored_size
from sigstats.files.tables.spelling import is_text

from ...record import digest
from ...schema import column
from .counts import OUTCOME_BYTES, Label, LabelCounts, Outcome, count_outcomes, each_label, is_list
from .parquet_files import (
    absolute_path,
    file_system,
    files_table,
    find_files,
    open_parquet,
    read_files_table,
    write_mark,
)

#: The key of the schema's metadata under which `LabelFiles.to_table` stores everything except the files.
_ABOUT = b"files"

#: The number of footers that are read at the same time.
_FOOTERS = 8

#: The number of rows above which workers count a data set.
MANY = 50_000_000

#: The number of rows in a batch.
_BATCH = 2**18


class ColumnTypes(NamedTuple):
    """The types of the three columns in a file. The type of a column of categories is the type of the labels.

    Types of one family have the same labels: 32-bit and 64-bit whole numbers, or strings with short and long offsets.
    """

    file: str
    types: tuple[pa.DataType, ...]

    @property
    def listed(self) -> bool:
        """True if a row may have any number of labels."""
        return is_list(self.types[0])


def column_types(
    file: str, opened: pq.ParquetFile, columns: Sequence[str], first: ColumnTypes | None = None
) -> ColumnTypes:
    """Return the types of the three columns; raise ValueError if they differ from the types in the `first` file."""
    schema = opened.schema_arrow
    kinds: list[pa.DataType] = []
    for place, name in enumerate(columns):
        kind, expected = schema.field(name).type, ""
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if _family(kind) is None:
            expected = "whole numbers, strings, booleans, or lists of whole numbers or of strings"
        elif kinds and _family(kind) != _family(kinds[0]):
            expected = f"{_family(kinds[0])}, as in column {shown(columns[0])}"
        elif first and _family(kind) != _family(first.types[place]):
            expected = f"{first.types[place]}, as in {first.file}"
        if expected:
            raise ValueError(f"{file}: column {shown(name)} has the type {kind}; expected {expected}")
        kinds.append(kind)
    return ColumnTypes(file, tuple(kinds))


def count_file(
    system: Any,
    file: str,
    columns: Sequence[str],
    first: ColumnTypes,
    classes: Sequence[Label] | None,
    footer: pq.FileMetaData | None = None,
) -> LabelCounts:
    """Count the joint outcomes in one file. The footer is read if it is not given."""
    coded = list(columns) if _family(first.types[0]) == "strings" else None
    opened = open_parquet(system, file, columns, read_dictionary=coded, metadata=footer)
    column_types(file, opened, columns, first)
    budget, counts = Budget(file), Counter[Outcome]()
    for group in range(opened.num_row_groups):
        where = f"{file}, row group {group}"
        with reading(where, (pa.ArrowException, OSError)):
            batches: Iterable[pa.RecordBatch]
            if first.listed:
                reopen = partial(open_parquet, system, file)
                batches = read_columns(reopen, columns, budget, group=group).to_batches(_BATCH)
            else:
                budget.require(stored_size(opened, columns, group))
                batches = opened.iter_batches(_BATCH, row_groups=[group], columns=list(columns), use_threads=False)
            for batch in batches:
                batch.validate(full=True)
                sides = [batch.column(name) for name in columns]
                counts.update(count_outcomes(where, columns, sides, budget, classes))
                budget.require(OUTCOME_BYTES * len(counts))
    for axis, name in enumerate(columns if classes is None else ()):  # labels that are not `classes` were refused
        rows_of: Counter[Label] = Counter()
        for outcome, rows in counts.items():
            rows_of.update(dict.fromkeys(each_label(outcome[axis]), rows))
        remedy = "leave out these rows, or list all classes in classes if it is one"
        refuse_missing_texts(f"{file}: column {shown(name)}", rows_of, remedy, n=opened.metadata.num_rows)
    return LabelCounts(counts).checked(file, columns)


def _family(kind: Any) -> str | None:
    if pa.types.is_boolean(kind):
        return "booleans"
    if pa.types.is_integer(kind):
        return "whole numbers"
    if is_list(kind):
        inner = _family(kind.value_type)
        return f"lists of {inner}" if inner in ("whole numbers", "strings") else None
    return "strings" if is_text(kind) else None


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelFiles:
    """The files of a population, which workers count one by one."""

    #: The name of the population in the study.
    name: str
    #: A file, folder, pattern or fsspec URL, independent of the working folder.
    path: str
    #: The columns of true classes and of the predictions of A and B.
    columns: Sequence[str]
    #: All permitted classes, or None if any label is permitted.
    classes: Sequence[Label] | None
    files: Sequence[str]
    #: The number of rows of each file.
    rows: Sequence[int]
    #: SHA-256 of the footers, which contain the sizes and extremes of the data. It does not depend on the location.
    content: str
    #: A hash per file that changes if the file is written again, even with the same footer: SHA-256 of the footer, the
    #: size, and the time of writing or the tag in an object store. The marks are not part of the digest.
    marks: Sequence[str]
    #: True if a row may have any number of labels.
    listed: bool

    @property
    def nbytes(self) -> int:
        """Size in memory, in bytes: 0, since the rows stay in their files."""
        return 0

    def digest(self) -> str:
        """Return the SHA-256 of the footers, columns and classes in hexadecimal, independent of the location."""
        return digest("files", content=self.content, columns=self.columns, classes=self.classes)

    @property
    def written(self) -> str:
        """SHA-256 of all marks."""
        return digest("written", marks=self.marks)

    def extends(self, earlier: "LabelFiles") -> bool:
        """Return True if the files are all files of an earlier population, unchanged, and at least one new file."""
        alike = (self.columns, self.classes) == (earlier.columns, earlier.classes)
        return alike and Counter(earlier.marks) < Counter(self.marks)

    def to_table(self) -> pa.Table:
        """Return the files as a table that `from_table` reads."""
        keys = ("name", "path", "columns", "classes", "content", "marks", "listed")
        of_rows = column("rows", pa.int64(), "rows", "how many it has")
        return files_table(_ABOUT, {key: getattr(self, key) for key in keys}, self.files, self.rows, of_rows)

    @classmethod
    def from_table(cls, table: pa.Table) -> "LabelFiles":
        """Return the files that `to_table` wrote."""
        about, files, rows = read_files_table(_ABOUT, table)
        return cls(files=files, rows=rows, **about)

    def mark(self, index: int) -> tuple[str, pq.FileMetaData]:
        """Return the current mark and the footer of a file."""
        opened, _, mark = _open_marked(self._first[0], self.files[index], self.columns)
        return mark, opened.metadata

    def count(self, index: int, footer: pq.FileMetaData | None = None) -> LabelCounts:
        """Count the joint outcomes in one of the files. The footer is read if it is not given."""
        file, (system, first) = self.files[index], self._first
        counts = count_file(system, file, self.columns, first, self.classes, footer)
        if counts.rows != self.rows[index]:
            raise ValueError(f"{file}: has {counts.rows} rows, but had {self.rows[index]} at the start; restore it")
        return counts

    def count_all(self, progress: FilesRead = in_silence) -> LabelCounts:
        """Count the joint outcomes in all files, reading several files at a time."""
        from joblib import cpu_count  # the processors that this process may use; slow to import

        progress(0, len(self.files))
        read = itertools.count(1)

        def one(index: int) -> LabelCounts:
            part = self.count(index)
            progress(next(read), len(self.files))
            return part

        threads = ThreadPoolExecutor(cpu_count())
        try:
            counts = LabelCounts.total(threads.map(one, range(len(self.files))))
        finally:
            threads.shutdown(cancel_futures=True)
        if not counts.rows:
            raise ValueError(f"{self.path}: has no rows")
        return counts.checked(self.path, self.columns)

    @cached_property
    def _first(self) -> tuple[Any, ColumnTypes]:
        system = file_system(self.path)
        return system, column_types(self.files[0], open_parquet(system, self.files[0], self.columns), self.columns)


def _open_marked(system: Any, file: str, columns: Sequence[str]) -> tuple[pq.ParquetFile, bytes, str]:
    """Return an open file, its footer, and its mark, as in `LabelFiles.marks`."""
    written = write_mark(system, file)  # before the footer, so that the mark differs if the file is written in between
    opened = open_parquet(system, file, columns)
    footer = pa.BufferOutputStream()
    opened.metadata.write_metadata_file(footer)
    content = footer.getvalue().to_pybytes()
    return opened, content, hashlib.sha256(content + written.encode()).hexdigest()


def scan_footers(
    name: str,
    path: str,
    base: Path,
    *,
    label: str,
    a: str,
    b: str,
    classes: Sequence[Label] | None = None,
    progress: FilesRead = in_silence,
) -> LabelFiles:
    """Return the files of a Parquet data set. Only the footers are read."""
    system, files = find_files(path, base)
    columns, content, marks = [label, a, b], hashlib.sha256(), list[str]()
    rows: list[int] = []

    def scan(file: str, first: ColumnTypes | None = None) -> tuple[ColumnTypes, bytes, int, str]:
        opened, footer, mark = _open_marked(system, file, columns)
        return column_types(file, opened, columns, first), footer, opened.metadata.num_rows, mark

    begun = scan(files[0])
    # A remote footer takes some requests, and there may be thousands of files.
    threads = ThreadPoolExecutor(_FOOTERS)
    try:
        for _, footer, count, mark in itertools.chain([begun], threads.map(partial(scan, first=begun[0]), files[1:])):
            progress(len(rows), len(files))
            content.update(footer)
            marks.append(mark)
            rows.append(count)
    finally:
        threads.shutdown(cancel_futures=True)
    return LabelFiles(
        name=name,
        path=absolute_path(path, base),
        columns=columns,
        classes=classes,
        files=files,
        rows=rows,
        content=content.hexdigest(),
        marks=marks,
        listed=begun[0].listed,
    )
