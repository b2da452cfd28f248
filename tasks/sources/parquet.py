"""A Parquet file: ``{name = "mine", source = "parquet", path = "mine.parquet", target = "label"}``."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..datasets import Dataset
from ._frames import from_frame, options
from ._places import place, read_bytes

KIND = "parquet"

_OPTIONS = {"path": str, "target": str, "drop": list, "nominal": list}


def load(spec: Mapping[str, Any], base: Path) -> Dataset:
    """Read the file; strings, booleans and dictionaries are nominal, nulls are missing."""
    options(spec, _OPTIONS, required=("path", "target"))
    where = place(spec["path"], base)
    content = read_bytes(spec["path"], base)
    try:
        frame = pq.read_table(io.BytesIO(content)).to_pandas()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{where}: is not a Parquet file ({' '.join(str(error).split())[:200]})") from None
    return from_frame(frame, spec, where=where)
