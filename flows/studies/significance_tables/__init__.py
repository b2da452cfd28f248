"""What a significance study may ask: a new kind of table is one new module of this folder."""

from functools import cache
from typing import Protocol

from sigstats._common.registry import Registry

from . import _entry
from ._entry import Case, Entry

__all__ = ["REGISTRY", "Case", "Entry", "TableKind", "entries"]


class TableKind(Protocol):
    """The members that a module of this folder must have."""

    @property
    def Entry(self) -> type[_entry.Entry]:  # noqa: N802
        """What the study file says under ``[[<name of the module>]]``, and which cases it makes of it."""


REGISTRY = Registry(__name__, TableKind, what="kind of table")


@cache
def entries() -> dict[str, type[Entry]]:
    """The model of every kind of table by its key in the study file, in the order of the report."""
    found = {key: module.Entry for key, module in REGISTRY.modules().items()}
    return dict(sorted(found.items(), key=lambda item: item[1].ORDER))
