"""The formats of predictions: a file each, which says whether it reads a file, and reads it."""

from functools import cache
from typing import Protocol

import pyarrow as pa

from sigstats._common.registry import Registry

from ...input_files.content import START, Content, open_content
from .._log import EvaluationLog
from .._predictions import Columns, OtherNamesError, Predictions
from .._unknown import NoTable, unknown


class Format(Protocol):
    """The members that a module of this folder must have."""

    @property
    def ORDER(self) -> int:  # noqa: N802
        """When it is asked whether it reads a file; the last, CSV, takes whatever is left."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """What people call it."""

    @property
    def LOG(self) -> bool:  # noqa: N802
        """True if it is the log of a harness, and no table."""

    def reads(self, content: Content, /) -> bool:
        """True if a file is of this format, by what is in it."""

    def read(self, content: Content, columns: Columns, /) -> Predictions | EvaluationLog:
        """The predictions of a table, or the log of an evaluation; ValueError, one line, names file and fault."""


REGISTRY = Registry(__name__, Format, what="format of predictions")

#: What Python and Arrow raise for a damaged or malicious file.
_DAMAGE = (ValueError, ArithmeticError, LookupError, OSError, EOFError, RecursionError, MemoryError, pa.ArrowException)


def read_file(path: str, columns: Columns) -> Predictions | EvaluationLog:
    """One file, by the first format that reads it."""
    with open_content(path) as opened:
        if not opened.start.strip():
            raise ValueError(f"{opened.where}: is empty; expected predictions")
        content = opened
        try:
            content = _alone(opened)
            module = _format(content)
            if module is None:
                raise unknown(content, format_names())
            try:
                return module.read(content, columns)
            except OtherNamesError as other:
                return module.read(content, other.columns)
        except NoTable:
            raise unknown(content, format_names()) from None
        except _DAMAGE as error:
            raise content.error("cannot be read", error) from None


def _alone(content: Content) -> Content:
    """What is in a ZIP of one file, as pandas and Kaggle write it; any other file as it is."""
    if not content.start.startswith(b"PK\x03\x04") or _format(content) is not None:
        return content
    with content.archive() as archive:
        if len(archive.names) != 1:
            return content
        whole = archive.read(archive.names[0])
    return Content(content.where, whole[:START], whole=whole)


def format_of(path: str) -> Format | None:
    """The format that reads a file, if any."""
    with open_content(path) as content:
        try:
            return _format(_alone(content))
        except _DAMAGE:
            return None


def format_names() -> list[str]:
    """The formats as people call them, in the order in which they are asked."""
    return [module.NAME for module in _formats()]


@cache
def _formats() -> list[Format]:
    return sorted(REGISTRY.modules().values(), key=lambda module: module.ORDER)


def _format(content: Content) -> Format | None:
    return next((module for module in _formats() if module.reads(content)), None)
