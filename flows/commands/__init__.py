"""The commands. A new command is one new module of this folder, with `add_arguments` and `run`.

The module's docstring is its help; its first line is shown in the list of commands.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def modules() -> dict[str, ModuleType]:
    """Every command with its module."""
    found = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in sorted(found)}
