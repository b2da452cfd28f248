"""The sources of populations from which a calibration study draws test sets. A new source is one new module here.

The name of a source is that of its module; a study file gives it as ``source``.
"""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import Field

from sigstats._common.registry import Registry

from ._source import PopulationSource, PopulationSpec

__all__ = ["REGISTRY", "PopulationSpec", "Source", "SourceModule"]


class SourceModule(Protocol):
    """The members that a module of this folder must have."""

    @property
    def SOURCE(self) -> type[PopulationSource]:  # noqa: N802
        """The model of the source in a study file, which also reads it."""


REGISTRY = Registry(__name__, SourceModule, what="source of populations")

if TYPE_CHECKING:
    Source = PopulationSource
else:
    _models = [module.SOURCE for module in REGISTRY.modules().values()]
    #: Any source, as a study file describes it.
    Source = Annotated[reduce(or_, _models), Field(discriminator="source")]
