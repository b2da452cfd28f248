"""Where data sets come from. A new kind of source is one new module of this folder.

A module has ``KIND``, the name that a study file gives as ``source``, and ``load(spec, base)``, which returns a
`sigstats.tasks.datasets.dataset.Dataset` or raises ``ValueError`` with one line.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from sigstats._common.validation import as_choice

from ..dataset import Dataset

__all__ = ["kinds", "load"]


@cache
def kinds() -> dict[str, ModuleType]:
    """Every kind of source with its module."""
    found = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in found]
    return {module.KIND: module for module in modules}


def load(spec: Mapping[str, Any], *, base: Path) -> Dataset:
    """The data set that a study file describes; relative paths start at `base`."""
    kind = as_choice(spec.get("source", "scikit-learn"), "datasets: source", list(kinds()))
    dataset: Dataset = kinds()[kind].load(spec, base)
    return dataset
