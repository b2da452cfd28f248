"""What a calibration study draws its test sets from. A new source is one new module of this folder.

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
    """What a module of this folder offers."""

    @property
    def SOURCE(self) -> type[PopulationSource]:  # noqa: N802
        """What the study file says of the source, and how it is read."""


REGISTRY = Registry(__name__, SourceModule, what="source of populations")

if TYPE_CHECKING:
    Source = PopulationSource
else:
    _models = [module.SOURCE for module in REGISTRY.modules().values()]
    #: Any source, as a study file describes it.
    Source = Annotated[reduce(or_, _models), Field(discriminator="source")]
