"""The figures of the report. A new figure is one new module of this folder.

A figure is a piece of HTML (inline SVG, or a table with coloured cells) whose colours are classes of the page's style
sheet, so that it is right on light, dark and paper.
"""

from collections.abc import Iterable
from typing import Protocol

from sigstats._common.registry import Registry

from ..evidence import Evidence
from ..section import Figure


class FigureModule(Protocol):
    """The members that a module of this folder must have."""

    #: Where the figures stand among the others.
    ORDER: int

    def draw(self, evidence: Evidence, /) -> Iterable[Figure]:
        """Draw the figures that the evidence holds, if any."""


REGISTRY = Registry(__name__, FigureModule, what="figure")


def draw_all(evidence: Evidence) -> list[Figure]:
    """Every figure that there is something to draw in."""
    modules = sorted(REGISTRY.modules().values(), key=lambda module: module.ORDER)
    return [figure for module in modules for figure in module.draw(evidence)]
