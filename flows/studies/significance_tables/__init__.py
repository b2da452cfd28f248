"""What a significance study may ask: new kinds of tables are one new module of this folder."""

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from sigstats._common.registry import Registry

from ._entry import Case, Entry

__all__ = ["REGISTRY", "Case", "Entry", "TableKind", "entries"]


class TableKind(Protocol):
    """The members that a module of this folder must have."""

    @property
    def ENTRIES(self) -> Mapping[str, type[Entry]]:  # noqa: N802
        """By its key what the study file says under ``[[key]]``, and which cases it makes of it."""


REGISTRY = Registry(__name__, TableKind, what="kind of table")


@cache
def entries() -> dict[str, type[Entry]]:
    """The model of every kind of table by its key in the study file, in the order of the report."""
    found = {key: entry for module in REGISTRY.modules().values() for key, entry in module.ENTRIES.items()}
    return dict(sorted(found.items(), key=lambda item: item[1].ORDER))
