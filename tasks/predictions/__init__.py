"""Predictions that two or more models made for the same rows: read from files, joined by id.

A new format is one new module of this folder.
"""

from functools import cache
from typing import Protocol

import pyarrow as pa

from sigstats._common.registry import Registry

from ..input_files.content import Content, open_content
from ._identical import same_content
from ._log import Answer, EvaluationLog
from ._many import ManyPredictions, join_many
from ._pairing import PairedPredictions, join
from ._predictions import Columns, Predictions
from ._selection import select
from ._unknown import unknown

__all__ = [
    "REGISTRY",
    "Answer",
    "Columns",
    "EvaluationLog",
    "Format",
    "ManyPredictions",
    "PairedPredictions",
    "Predictions",
    "join",
    "join_many",
    "read",
    "same_content",
]


class Format(Protocol):
    """What a module of this folder offers."""

    @property
    def ORDER(self) -> int:  # noqa: N802
        """When it is asked whether it reads a file; the last, CSV, takes whatever is left."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """What people call it."""

    def reads(self, content: Content, /) -> bool:
        """Whether a file is of this format, by what is in it."""

    def read(self, content: Content, columns: Columns, /) -> Predictions | EvaluationLog:
        """The predictions of a table, or the log of an evaluation; ValueError, one line, names file and fault."""


#: What Python and Arrow raise for a file that is damaged, or that somebody made to do harm.
_DAMAGE = (ValueError, ArithmeticError, LookupError, OSError, EOFError, RecursionError, MemoryError, pa.ArrowException)

REGISTRY = Registry(__name__, Format, what="format of predictions")


@cache
def _formats() -> list[Format]:
    return sorted(REGISTRY.modules().values(), key=lambda module: module.ORDER)


def read(path: str, columns: Columns) -> Predictions:
    """The predictions of a file, whatever format it has.

    Parameters
    ----------
    path : str
        A file or an fsspec URL.
    columns : Columns

    Raises
    ------
    ValueError
        One line that names the file, the column and the row.
    """
    with open_content(path) as content:
        found = _read(content, columns)
    return select(found, columns) if isinstance(found, EvaluationLog) else found


def _read(content: Content, columns: Columns) -> Predictions | EvaluationLog:
    if not content.start.strip():
        raise ValueError(f"{content.where}: is empty; expected predictions")
    try:
        module = next((module for module in _formats() if module.reads(content)), None)
        if module is None:
            raise unknown(content, [module.NAME for module in _formats()])
        return module.read(content, columns)
    except _DAMAGE as error:
        raise content.error("cannot be read", error) from None
