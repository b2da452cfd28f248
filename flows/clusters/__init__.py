"""The kinds of cluster: where a study runs. A new kind is one new module of this folder.

A module ``flows/clusters/<kind>.py`` has

a class ``Cluster``
    a `sigstats.flows.config.study.Strict` with ``kind: Literal["<kind>"]``: what a cluster file may say;
``open_pool(cluster)``
    a context manager that gives a `sigstats.tasks.engine.pools.Pool` and takes everything down again.
"""

import importlib
import pkgutil
from contextlib import AbstractContextManager
from functools import cache
from types import ModuleType
from typing import Any

from sigstats.tasks.engine.pools import Pool

from ..config.study import Strict


@cache
def _module(kind: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{kind}")


def kinds() -> dict[str, type[Strict]]:
    """Every kind of cluster with its model."""
    found = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return {kind: _module(kind).Cluster for kind in found}


def open_pool(cluster: Any) -> AbstractContextManager[Pool]:
    """The workers of a cluster, for as long as the context lasts."""
    pool: AbstractContextManager[Pool] = _module(cluster.kind).open_pool(cluster)
    return pool
