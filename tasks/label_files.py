"""Populations of rows on disk: Parquet files of labels and of two classifiers' predictions, reduced to counts.

A data set is a file, a folder of them, a pattern or an fsspec URL, with a column of true classes and one of each
classifier's predictions: whole numbers, strings, categories or booleans, all three alike. Files are read once, in
batches, several at a time by Dask; what stays in memory is the counts of the distinct joint outcomes alone.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sigstats.checks import shown

from .label_counts import Label, LabelCounts, Outcome, Tally, is_list
from .sources._options import hint
from .sources._places import place, reason

#: So many rows are looked at together: they stay in a core's cache.
_BATCH = 2**16


def read_counts(
    path: str, base: Path = Path(), *, label: str, a: str, b: str, classes: Sequence[Label] | None = None
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

    Raises
    ------
    ValueError
        One line that names the file, where it applies the row group, the column and what would be right.
    """
    system, files = data_files(path, base)
    columns = (label, a, b)
    like = (files[0], _kinds(files[0], opened_file(system, files[0]), columns))
    known = None if classes is None else frozenset(classes)
    if len(files) == 1:
        counts = count_file(system, files[0], columns, like, known)
    else:
        from dask import compute, delayed  # type: ignore[attr-defined]

        parts = [delayed(count_file, pure=False)(system, file, columns, like, known) for file in files]
        counts = LabelCounts.total(compute(*parts))  # type: ignore[no-untyped-call]
    if not counts.rows:
        raise ValueError(f"{place(path, base)}: there are no rows; expected one or more")
    return counts


def count_file(
    system: Any,
    file: str,
    columns: Sequence[str],
    like: tuple[str, Sequence[pa.DataType]],
    classes: frozenset[Label] | None = None,
) -> LabelCounts:
    """The counts of one file, which has the types of the file that `like` names; errors as for `read_counts`."""
    opened = opened_file(system, file)
    kinds = _kinds(file, opened, columns)
    for name, kind, wanted in zip(columns, kinds, like[1], strict=True):
        if kind != wanted:
            raise ValueError(f"{file}: column {shown(name)}: {kind} is not valid; expected {wanted}, as in {like[0]}")
    if pa.types.is_string(kinds[0]) or pa.types.is_large_string(kinds[0]):
        opened = opened_file(system, file, read_dictionary=list(columns))
    total: Counter[Outcome] = Counter()
    for group in range(opened.num_row_groups):
        where = f"{file}, row group {group}"
        tally = Tally(where, columns)
        try:
            for batch in opened.iter_batches(_BATCH, row_groups=[group], columns=list(columns), use_threads=False):
                tally.add([batch.column(name) for name in columns])
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{where}: cannot be read ({reason(error)})") from None
        total.update(tally.outcomes(classes))
    return LabelCounts(total)


def data_files(path: str, base: Path) -> tuple[Any, list[str]]:
    """The file system and the Parquet files of a data set, in order."""
    import fsspec

    where = place(path, base)
    try:
        system, root = fsspec.core.url_to_fs(where)
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


def opened_file(system: Any, file: str, **options: Any) -> pq.ParquetFile:
    """A Parquet file that can be read, or ValueError."""
    try:
        local = "file" in (system.protocol if isinstance(system.protocol, tuple) else (system.protocol,))
        source = file if local else system.open(file, "rb")
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
