"""Populations of rows on disk: Parquet files of labels and of two classifiers' predictions, reduced to counts.

A data set is a file, a folder of them, a pattern or an fsspec URL, with a column of true classes and one of each
classifier's predictions: whole numbers, strings, categories or booleans, all three alike. Files are read once, in
batches, several at a time by Dask; what stays in memory is the counts of the distinct joint outcomes alone.
"""

import hashlib
import itertools
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sigstats._common.validation import hint, shown

from ..fingerprint import digest
from ..input_files import FilesRead, in_silence, place, reason
from ..schema import column
from .counts import Label, LabelCounts
from .tally import Tally, is_list

#: The key of the schema's metadata under which `LabelFiles.to_table` keeps what is no file.
_ABOUT = b"files"

#: By what object stores tell one content of an object from another, wherever it lies.
_MARKS = ("md5Hash", "ETag", "etag")

#: So many footers are read at once.
_FOOTERS = 8

#: So many rows are looked at together: they stay in a core's cache.
_BATCH = 2**16

#: For a data set of so many rows it pays to load compiled code, and to have workers count it.
MANY = 50_000_000


def read_counts(
    path: str,
    base: Path = Path(),
    *,
    label: str,
    a: str,
    b: str,
    classes: Sequence[Label] | None = None,
    progress: FilesRead = in_silence,
) -> LabelCounts:
    """The counts of a Parquet data set.

    Parameters
    ----------
    path : str
        A file, a folder, a pattern or an fsspec URL; relative ones start at `base`.
    base : pathlib.Path
    label, a, b : str
        The columns of the true classes and of the predictions of A and of B.
    classes : sequence of label, optional
        All classes there are; any other label is refused.
    progress : callable
        Is told how many files are read, and of how many.

    Raises
    ------
    ValueError
        One line that names the file, where it applies the row group, the column and what would be right.
    """
    system, files = data_files(path, base)
    columns = (label, a, b)
    like = (files[0], _kinds(files[0], opened_file(system, files[0]), columns))
    known = None if classes is None else frozenset(classes)
    progress(0, len(files))
    if len(files) == 1:
        counts = count_file(system, files[0], columns, like, known)
        progress(1, 1)
    else:
        from dask import compute, delayed  # type: ignore[attr-defined]

        read = itertools.count(1)

        def one(file: str) -> LabelCounts:
            part = count_file(system, file, columns, like, known)
            progress(next(read), len(files))
            return part

        parts = [delayed(one, pure=False)(file) for file in files]
        counts = LabelCounts.total(compute(*parts, scheduler="threads"))  # type: ignore[no-untyped-call]
    if not counts.rows:
        raise ValueError(f"{place(path, base)}: there are no rows; expected one or more")
    return counts


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelFiles:
    """Where the rows of a population lie: files that are counted one by one, each by whoever gets it.

    Attributes
    ----------
    name : str
        What the study calls it.
    path : str
        A file, a folder, a pattern or an fsspec URL, the same in every working folder.
    columns : sequence of str
        The columns of the true classes and of the predictions of A and of B.
    classes : sequence of label, optional
        All classes there are; any other label is refused.
    files : sequence of str
    rows : sequence of int
        How many rows each file has.
    content : str
        SHA-256 of the files' footers, which hold sizes and extremes of all that is in them, wherever they lie.
    written : str
        SHA-256 of what changes when a file is written anew, which need not change its footer: the size, and the mark of
        an object store or the time. It is no part of what the population is.
    listed : bool
        Whether a row has any number of labels.
    """

    name: str
    path: str
    columns: Sequence[str]
    classes: Sequence[Label] | None
    files: Sequence[str]
    rows: Sequence[int]
    content: str
    written: str
    listed: bool

    @property
    def nbytes(self) -> int:
        """How much memory it takes itself, in bytes: next to none, since its rows stay where they are."""
        return 0

    def digest(self) -> str:
        """What tells it from other populations, wherever it lies."""
        return digest("files", content=self.content, columns=self.columns, classes=self.classes)

    def to_table(self) -> pa.Table:
        """Its files as a table, from which `from_table` makes it again."""
        about = {
            key: getattr(self, key) for key in ("name", "path", "columns", "classes", "content", "written", "listed")
        }
        schema = pa.schema(
            [
                column("file", pa.string(), "name", "a file of rows"),
                column("rows", pa.int64(), "rows", "how many it has"),
            ],
            metadata={_ABOUT: json.dumps(about).encode()},
        )
        return pa.table({"file": list(self.files), "rows": list(self.rows)}, schema=schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "LabelFiles":
        """The files that `to_table` wrote."""
        files: list[Any] = table.column("file").to_pylist()
        rows: list[Any] = table.column("rows").to_pylist()
        return cls(files=files, rows=rows, **json.loads((table.schema.metadata or {})[_ABOUT]))

    def count(self, index: int) -> LabelCounts:
        """The counts of one of the files; errors as for `read_counts`."""
        file, (system, first) = self.files[index], self._first
        known = None if self.classes is None else frozenset(self.classes)
        many = sum(self.rows) >= MANY
        counts = count_file(system, file, self.columns, (self.files[0], first), known, many=many)
        if counts.rows != self.rows[index]:
            raise ValueError(f"{file}: {counts.rows} rows are not valid; expected {self.rows[index]}, as at the start")
        return counts

    @cached_property
    def _first(self) -> tuple[Any, Sequence[pa.DataType]]:
        system = file_system(self.path)
        return system, _kinds(self.files[0], opened_file(system, self.files[0]), self.columns)


def look(
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
    """Look at the footers of a Parquet data set alone; options and errors as for `read_counts`."""
    system, files = data_files(path, base)
    columns, state, written = (label, a, b), hashlib.sha256(), hashlib.sha256()
    rows: list[int] = []
    first: Sequence[pa.DataType] = ()

    def footer(file: str) -> tuple[Sequence[pa.DataType], pa.Buffer, int, str]:
        writing = _writing(system, file)  # before its footer: what is written meanwhile has another
        opened = opened_file(system, file)
        content = pa.BufferOutputStream()
        opened.metadata.write_metadata_file(content)
        return _kinds(file, opened, columns), content.getvalue(), opened.metadata.num_rows, writing

    # Far away a footer is some requests, and there may be thousands of files.
    threads = ThreadPoolExecutor(_FOOTERS)
    try:
        for file, (kinds, content, count, writing) in zip(files, threads.map(footer, files), strict=True):
            progress(len(rows), len(files))
            first = first or kinds
            _require_alike(file, columns, kinds, (files[0], first))
            state.update(content)
            written.update(f"{writing}\n".encode())
            rows.append(count)
    finally:
        threads.shutdown(cancel_futures=True)
    return LabelFiles(
        name=name,
        path=anywhere(path, base),
        columns=columns,
        classes=classes,
        files=files,
        rows=rows,
        content=state.hexdigest(),
        written=written.hexdigest(),
        listed=is_list(first[0]),
    )


def count_file(
    system: Any,
    file: str,
    columns: Sequence[str],
    like: tuple[str, Sequence[pa.DataType]],
    classes: frozenset[Label] | None = None,
    *,
    many: bool = False,
) -> LabelCounts:
    """The counts of one file, one of `many` rows, with the types of the file that `like` names.

    Errors as for `read_counts`.
    """
    opened = opened_file(system, file, read_dictionary=list(columns) if _family(like[1][0]) == "strings" else None)
    _require_alike(file, columns, _kinds(file, opened, columns), like)
    tally = Tally(columns, classes=classes, many=many)
    for group in range(opened.num_row_groups):
        tally.begin(f"{file}, row group {group}")
        try:
            for batch in opened.iter_batches(_BATCH, row_groups=[group], columns=list(columns), use_threads=False):
                tally.add([batch.column(name) for name in columns])
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{tally.where}: cannot be read ({reason(error)})") from None
        tally.end()
    return LabelCounts(tally.counts())


def _require_alike(
    file: str, columns: Sequence[str], kinds: Sequence[pa.DataType], like: tuple[str, Sequence[pa.DataType]]
) -> None:
    """Refuse a file whose columns have other types than those of the file that `like` names."""
    for name, kind, wanted in zip(columns, kinds, like[1], strict=True):
        if kind != wanted:
            raise ValueError(f"{file}: column {shown(name)}: {kind} is not valid; expected {wanted}, as in {like[0]}")


def data_files(path: str, base: Path) -> tuple[Any, list[str]]:
    """The file system and the Parquet files of a data set, in order."""
    import fsspec

    where = place(path, base)
    try:
        system, root = fsspec.core.url_to_fs(where)
        system.invalidate_cache()  # of listings, which hold sizes and marks of what was there before
        if system.isdir(root):
            names = [name for name in system.find(root) if str(name).endswith((".parquet", ".parq", ".pq"))]
            wanted = "holds no Parquet file"
        else:
            names = system.glob(root) if any(sign in root for sign in "*?[") else [root] if system.exists(root) else []
            wanted = "there is no such file or folder"
    except Exception as error:  # a remote file system may raise anything
        raise ValueError(f"{where}: cannot be read ({reason(error)})") from None
    if not names:
        raise ValueError(f"{where}: {wanted}")
    return system, sorted(str(name) for name in names)


def anywhere(path: str, base: Path) -> str:
    """The path or URL of a data set, the same in every working folder."""
    where = place(path, base)
    return where if "://" in where else str(Path(where).absolute())


def file_system(where: str) -> Any:
    """The file system of a data set, which is not asked for anything; errors as for `read_counts`."""
    import fsspec

    try:
        return fsspec.core.url_to_fs(where)[0]
    except Exception as error:  # a package may be missing here
        raise ValueError(f"{where}: cannot be read ({reason(error)})") from None


def _writing(system: Any, file: str) -> str:
    """What changes when a file is written anew, and stays when it is moved, as far as its store tells."""
    try:
        if _local(system):
            about = Path(file).stat()
            return f"{about.st_size} {about.st_mtime_ns}"
        found = system.info(file)
        mark = next((found[key] for key in _MARKS if found.get(key)), None) or system.ukey(file)
        return f"{found.get('size')} {mark}"
    except Exception as error:  # a remote file system may raise anything
        raise ValueError(f"{file}: cannot be read ({reason(error)})") from None


def _local(system: Any) -> bool:
    return "file" in (system.protocol if isinstance(system.protocol, tuple) else (system.protocol,))


def opened_file(system: Any, file: str, **options: Any) -> pq.ParquetFile:
    """A Parquet file that can be read, or ValueError."""
    try:
        source = file if _local(system) else system.open(file, "rb")
        return pq.ParquetFile(source, page_checksum_verification=True, **options)
    except Exception as error:  # a damaged file or a remote file system may raise anything
        raise ValueError(f"{file}: is not a whole Parquet file ({reason(error)})") from None


def has_column(file: str, schema: pa.Schema, name: str) -> None:
    """Refuse a file without the column."""
    if name not in schema.names:
        raise ValueError(f"{file}: column {shown(name)} is not there; {hint(name, schema.names)}")


def _kinds(file: str, opened: pq.ParquetFile, columns: Sequence[str]) -> list[pa.DataType]:
    """The types of the three columns, categories as what they stand for."""
    schema = opened.schema_arrow
    found: list[pa.DataType] = []
    for name in columns:
        has_column(file, schema, name)
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if _family(kind) is None:
            wanted = "whole numbers, strings, booleans, or lists of whole numbers or of strings"
            raise ValueError(f"{file}: column {shown(name)}: {kind} is not valid; expected {wanted}")
        if found and _family(kind) != _family(found[0]):
            wanted = f"{_family(found[0])}, as in column {shown(columns[0])}"
            raise ValueError(f"{file}: column {shown(name)}: {kind} is not valid; expected {wanted}")
        found.append(kind)
    return found


def _family(kind: Any) -> str | None:
    if pa.types.is_boolean(kind):
        return "booleans"
    if pa.types.is_integer(kind):
        return "whole numbers"
    if is_list(kind):
        inner = _family(kind.value_type)
        return f"lists of {inner}" if inner in ("whole numbers", "strings") else None
    return "strings" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else None
