"""Sources of data sets. A new kind of source is one new module of this folder.

The name of a kind is that of its module, with dashes; a study file gives it as ``source``. An installed package offers
one by an entry point of the group ``sigstats.readers`` that names a module.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sigstats._common.registry import Registry
from sigstats._common.validation import raised, refuse, shown

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
        """The required options; with a ``path``, the name of the data set is by default that of the file."""

    def load(self, spec: Mapping[str, Any], base: Path, /) -> Dataset:
        """The data set that `spec` describes; relative paths start at `base`.

        Raises ValueError, one line with the data set, the option and a correct value.
        """


REGISTRY = Registry(__name__, Reader, what="datasets: source", group="sigstats.readers")


def load(spec: Mapping[str, Any], *, base: Path) -> Dataset:
    """The data set that a study file describes; relative paths start at `base`."""
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
        raise refuse(f"{where} (its load)", dataset, "a Dataset")
    return dataset
