"""Comma-separated text: ``{name = "mine", source = "csv", path = "mine.csv", target = "label"}``.

The first line names the columns, unless ``names`` does. An empty field is missing, and whatever ``missing`` lists.
White space around a field is no part of it. A column of numbers is numeric, one without any number nominal; where some
fields are numbers and others are not, the file is refused until ``missing`` or ``nominal`` says which it is.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...input_files import as_text, place, read_bytes
from ..dataset import Dataset
from ..options import COLUMNS, checked
from ..tables import dataset
from ._lines import Lines

_OPTIONS = {**COLUMNS, "path": str, "names": list, "missing": list, "separator": str, "encoding": str}


def load(spec: Mapping[str, Any], base: Path) -> Dataset:
    """Read the file."""
    spec = checked(spec, _OPTIONS, required=("path", "target"))
    where = place(spec["path"], base)
    separator = spec.get("separator", ",")
    if len(separator) != 1 or separator in '\r\n"':
        raise ValueError(f"data set {spec['name']}: separator: {separator!r} is not valid; expected one character")
    text = as_text(read_bytes(spec["path"], base), where, spec.get("encoding", "utf-8"))
    rows = _rows(text, where, separator)
    names = spec.get("names") or next(rows, (0, []))[1]
    missing = {"", *spec.get("missing", [])}
    table = Lines(where, list(map(str.strip, names)), rows, clean=lambda field: _clean(field, missing))
    return dataset(table, spec)


def _clean(field: str, missing: set[str]) -> str | None:
    text = field.strip()
    return None if text in missing else text


def _rows(text: str, where: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):  # else the line is blank
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{where}, line {reader.line_num}: {error}; expected comma-separated text") from None
