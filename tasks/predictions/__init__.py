"""Predictions that two models made for the same rows: read from files, joined by id.

A new format is one new module of this folder, with ``reads(place)``, whether a file is of it, and ``read(place,
columns)``, which returns `Predictions` or raises ValueError with one line that names the file. Modules are asked in the
order of their ``ORDER``; the last, CSV, takes whatever is left.
"""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

from ._pairing import PairedPredictions, join
from ._predictions import Columns, Predictions

__all__ = ["Columns", "PairedPredictions", "Predictions", "join", "read"]


@cache
def _formats() -> list[ModuleType]:
    names = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return sorted((importlib.import_module(f"{__name__}.{name}") for name in names), key=lambda module: module.ORDER)


def read(path: str, columns: Columns) -> Predictions:
    """The predictions of a file, whatever format it has.

    Raises
    ------
    ValueError
        One line that names the file, the column and the row.
    """
    place = Path(path)
    if place.is_dir():
        raise ValueError(f"{path}: is a folder; expected a file of predictions")
    try:
        with place.open("rb") as handle:
            start = handle.read(1)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not start:
        raise ValueError(f"{path}: is empty; expected predictions")
    reader = next(module for module in _formats() if module.reads(place))
    found: Predictions = reader.read(place, columns)
    return found
