"""Comma-separated text: ``{name = "mine", source = "csv", path = "mine.csv", target = "label"}``."""

import io
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..datasets import Dataset
from ._frames import from_frame, names_of, options
from ._places import place, read_bytes

KIND = "csv"

_OPTIONS = {"path": str, "target": str, "drop": list, "nominal": list, "missing": list, "separator": str}


def load(spec: Mapping[str, Any], base: Path) -> Dataset:
    """Read the file; an empty field is missing, and whatever `missing` lists."""
    options(spec, _OPTIONS, required=("path", "target"))
    where = place(spec["path"], base)
    separator = spec.get("separator", ",")
    if len(separator) != 1:
        raise ValueError(f"data set {spec['name']}: separator: {separator!r} is not valid; expected one character")
    content = read_bytes(spec["path"], base)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # of a row that is longer than the header
            frame = pd.read_csv(
                io.BytesIO(content),
                sep=separator,
                keep_default_na=False,
                na_values=["", *names_of(spec, "missing")],
                index_col=False,
                on_bad_lines="error",
                low_memory=False,
            )
    except (ValueError, pd.errors.ParserWarning) as error:  # pandas' own parser errors are ValueErrors
        raise ValueError(f"{where}: is not a table of comma-separated text ({' '.join(str(error).split())})") from None
    return from_frame(frame, spec, where=where)
