"""Predictions that two models made for the same rows: read from files, joined by id.

A new format is one new module of this folder.
"""

from functools import cache
from pathlib import Path
from typing import Protocol

from sigstats._common.registry import Registry

from ._identical import same_content
from ._log import Answer, EvaluationLog
from ._pairing import PairedPredictions, join
from ._predictions import Columns, Predictions
from ._selection import select

__all__ = [
    "REGISTRY",
    "Answer",
    "Columns",
    "EvaluationLog",
    "Format",
    "PairedPredictions",
    "Predictions",
    "join",
    "read",
    "same_content",
]


class Format(Protocol):
    """What a module of this folder offers."""

    @property
    def ORDER(self) -> int:  # noqa: N802
        """When it is asked whether it reads a file; the last, CSV, takes whatever is left."""

    def reads(self, place: Path, /) -> bool:
        """Whether a file is of this format."""

    def read(self, place: Path, columns: Columns, /) -> Predictions | EvaluationLog:
        """The predictions of a table, or the log of an evaluation; ValueError, one line, names file and fault."""


REGISTRY = Registry(__name__, Format, what="format of predictions")


@cache
def _formats() -> list[Format]:
    return sorted(REGISTRY.modules().values(), key=lambda module: module.ORDER)


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
    found = next(module for module in _formats() if module.reads(place)).read(place, columns)
    return select(found, columns) if isinstance(found, EvaluationLog) else found
