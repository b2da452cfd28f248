"""Sources of data sets. A new kind of source is a new module in this folder.

A study file names a kind of source as ``source``: the name of the module, with dashes. An installed package offers a
kind of source by an entry point in the group ``sigstats.readers`` that names a module.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sigstats._common.registry import Registry
from sigstats._common.validation import raised, shown

from ..dataset import Dataset
from ..options import Kinds

__all__ = ["REGISTRY", "Reader", "load"]


class Reader(Protocol):
    """The members that a module of this folder must have."""

    @property
    def OPTIONS(self) -> Mapping[str, Kinds]:  # noqa: N802
        """The options in addition to ``name`` and ``source``, and their types."""

    @property
    def REQUIRED(self) -> Sequence[str]:  # noqa: N802
        """The required options. If there is a ``path``, the default name of the data set is the name of the file."""

    def load(self, spec: Mapping[str, Any], base: Path, /) -> Dataset:
        """Return the data set that `spec` describes. Relative paths start at `base`.

        Raises ValueError with a message in one line that names the data set, the option and a correct value.
        """


REGISTRY = Registry(__name__, Reader, what="datasets: source", group="sigstats.readers")


def load(spec: Mapping[str, Any], *, base: Path) -> Dataset:
    """Return the data set that a study file describes. Relative paths start at `base`."""
    if "source" not in spec and set(spec) != {"name"}:
        called = f" {spec['name'] if isinstance(spec['name'], str) else shown(spec['name'])}" if "name" in spec else ""
        raise ValueError(f"data set{called}: source: is missing; expected one of {', '.join(REGISTRY.names())}")
    source = spec.get("source", "scikit-learn")
    reader = REGISTRY.module(source)
    if getattr(reader, "__name__", "").startswith(f"{__name__}."):
        return reader.load(spec, base)
    where = f"data set {shown(spec.get('name'))}: source {source}"
    dataset: Any
    try:
        dataset = reader.load(spec, base)
    except Exception as error:  # a module of another package may raise anything
        raise ValueError(f"{where}: {raised(error)}") from error
    if not isinstance(dataset, Dataset):
        raise ValueError(f"{where}: load() returned {shown(dataset)}; it must return a Dataset")
    return dataset
