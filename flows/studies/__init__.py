"""The kinds of study. A new kind is one new module of this folder.

A module ``flows/studies/<kind>.py`` has

a class ``<Kind>Study``
    a `sigstats.flows.config.study.Study` with ``kind: Literal["<kind>"]``: what its study file may say;
``prepare(study, base, reading)``
    which reads what comes in, tells of it, and returns it with the plan, as `Prepared`. It writes nothing.
"""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

from ..config.study import Study
from ._prepared import Prepared, Reading, in_silence

__all__ = ["Prepared", "Reading", "in_silence", "kinds", "prepare"]


@cache
def _module(kind: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{kind}")


def kinds() -> dict[str, type[Study]]:
    """Every kind of study with its model."""
    found = sorted(
        info.name for info in pkgutil.iter_modules(__path__) if not info.ispkg and not info.name.startswith("_")
    )
    return {kind: getattr(_module(kind), f"{kind.title()}Study") for kind in found}


def prepare(study: Study, base: Path, reading: Reading = in_silence) -> Prepared:
    """What a study computes, and from what; relative paths of its data start at `base`.

    `reading` is told what comes in as it does, and may raise.

    Raises
    ------
    ValueError
        One line that names the data set or the setting, the value and what would be right.
    """
    prepared: Prepared = _module(study.kind).prepare(study, base, reading)
    return prepared
