"""Where data sets come from. A new kind of source is one new module of this folder.

The name of a kind is that of its module, with dashes; a study file gives it as ``source``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from sigstats._common.registry import Registry

from ..dataset import Dataset

__all__ = ["REGISTRY", "Reader", "load"]


class Reader(Protocol):
    """What a module of this folder offers."""

    def load(self, spec: Mapping[str, Any], base: Path, /) -> Dataset:
        """The data set that `spec` describes; relative paths start at `base`.

        Raises
        ------
        ValueError
            One line that names the data set, the option and what would be right.
        """


REGISTRY = Registry(__name__, Reader, what="datasets: source")


def load(spec: Mapping[str, Any], *, base: Path) -> Dataset:
    """The data set that a study file describes; relative paths start at `base`."""
    return REGISTRY.module(spec.get("source", "scikit-learn")).load(spec, base)
