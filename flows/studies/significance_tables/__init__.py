"""What a significance study may ask: a new kind of table is one new module of this folder.

A module ``flows/studies/significance_tables/<key>.py`` has a class ``Entry``, an `_entry.Entry`: what the study file
says under ``[[<key>]]``, and how it becomes cases for a test of `sigstats.tasks.table_tests`.
"""

import importlib
import pkgutil
from functools import cache

from ._entry import Case, Entry

__all__ = ["Case", "Entry", "entries"]


@cache
def entries() -> dict[str, type[Entry]]:
    """The model of every kind of table by its key in the study file."""
    names = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found = {name: importlib.import_module(f"{__name__}.{name}").Entry for name in names}
    return dict(sorted(found.items(), key=lambda item: item[1].ORDER))
