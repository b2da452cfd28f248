"""Parquet data sets of populations: a file, a folder of them, a pattern or an fsspec URL."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sigstats._common.validation import hint, shown
from sigstats.files.inputs import place, reading, visible
from sigstats.files.tables import arrow_files

from ...schema import column

#: The entries of an object store's listing that depend on the content of an object, but not on its location.
_CONTENT_TAGS = ("md5Hash", "ETag", "etag")


def find_files(path: str, base: Path) -> tuple[Any, list[str]]:
    """Return the file system and the sorted Parquet files of a data set."""
    import fsspec

    where = place(path, base)
    with reading(where):
        system, root = fsspec.core.url_to_fs(where)
        system.invalidate_cache()  # a cached listing has the sizes and tags of earlier files
        if system.isdir(root):
            start = root.rstrip("/") + "/"
            # Spark and Hive give files that are not part of the table names that begin with an underscore or a dot.
            inside = visible((str(name).removeprefix(start) for name in system.find(root)), "._")
            names = [start + name for name in inside if name.endswith((".parquet", ".parq", ".pq"))]
            problem = "contains no Parquet file"
        else:
            names = [root] if system.exists(root) else system.glob(root) if any(sign in root for sign in "*?[") else []
            problem = "there is no such file or folder"
    if not names:
        raise ValueError(f"{where}: {problem}")
    return system, sorted(str(name) for name in names)


def absolute_path(path: str, base: Path) -> str:
    """Return the absolute path or URL of a data set."""
    where = place(path, base)
    return where if "://" in where else str(Path(where).absolute())


def file_system(where: str) -> Any:
    """Return the file system of a data set without a request; raise ValueError if its package is not installed."""
    import fsspec

    with reading(where):
        return fsspec.core.url_to_fs(where)[0]


def open_parquet(system: Any, file: str, columns: Iterable[str] = (), **options: Any) -> pq.ParquetFile:
    """Open a Parquet file; raise ValueError if it is damaged, cannot be read or lacks one of the columns."""
    if _is_local(system) and Path(file).exists() and not Path(file).is_file():  # opening a pipe would block
        raise ValueError(f"{file}: is not a file; expected a Parquet file")
    with reading(file, fault="is damaged, or is not a Parquet file"):
        opened = arrow_files.open_parquet(file if _is_local(system) else system.open(file, "rb"), **options)
        names = opened.schema_arrow.names
    for name in columns:
        if name not in names:
            raise ValueError(f"{file}: column {shown(name)} was not found; {hint(name, names)}")
    return opened


def write_mark(system: Any, file: str) -> str:
    """Return a string that changes if a file is written again and, if the store permits, not if it is moved."""
    with reading(file):
        if _is_local(system):
            about = Path(file).stat()
            return f"{about.st_size} {about.st_mtime_ns}"
        info = system.info(file)
        tag = next((info[key] for key in _CONTENT_TAGS if info.get(key)), None) or system.ukey(file)
        return f"{info.get('size')} {tag}"


def files_table(
    key: bytes, about: Mapping[str, Any], files: Sequence[str], rows: Sequence[Any], of_rows: "pa.Field[Any]"
) -> pa.Table:
    """Return the files of a data set as a table, with the values `about` as JSON in the metadata under `key`.

    `of_rows` is the field of the column ``rows``, which contains the number of rows of each file or row group.
    """
    schema = pa.schema(
        [column("file", pa.string(), "name", "a file of rows"), of_rows], metadata={key: json.dumps(about).encode()}
    )
    return pa.table({"file": list(files), "rows": list(rows)}, schema=schema)


def read_files_table(key: bytes, table: pa.Table) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Return the `about`, `files` and `rows` of a table that `files_table` made."""
    about: dict[str, Any] = json.loads((table.schema.metadata or {})[key])
    return about, table.column("file").to_pylist(), table.column("rows").to_pylist()


def _is_local(system: Any) -> bool:
    return "file" in (system.protocol if isinstance(system.protocol, tuple) else (system.protocol,))
