"""A few rows in the study file itself: ``{name = "mine", source = "inline", rows = ["1 x yes", "2 y no"]}``.

The fields of a row are separated by white space. Without ``names``, the last column is called class, and the others x1,
x2 ... Otherwise, the rules for CSV files apply.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sigstats._common.validation import refuse

from ..dataset import Dataset
from ..options import COLUMNS, Kinds, validate_options
from ..tables import DataColumns, Lines, dataset

OPTIONS: Mapping[str, Kinds] = {**COLUMNS, "rows": list, "names": list, "missing": list}
REQUIRED = ("name", "rows")


class _Rows(Lines):
    row = DataColumns.row  # there are no lines


def load(spec: Mapping[str, Any], base: Path) -> Dataset:  # noqa: ARG001
    """Read the rows."""
    spec = validate_options(spec, OPTIONS, required=REQUIRED)
    where = f"data set {spec['name']}"
    for row in spec["rows"]:
        if not row.strip():
            raise refuse(f"{where}: rows", row, "at least one field in each row")
    fields = [row.split() for row in spec["rows"]]
    if not fields:
        raise refuse(f"{where}: rows", [], "at least one row")
    names = spec.get("names") or [*(f"x{place}" for place in range(1, len(fields[0]))), "class"]
    missing = spec.get("missing", [])
    rows = ([None if field in missing else field for field in row] for row in fields)
    return dataset(_Rows(where, names, enumerate(rows)), spec, target=names[-1])
