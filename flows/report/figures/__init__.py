"""The figures of the report. A new figure is one new module of this folder.

A figure is a piece of HTML (inline SVG, or a table with coloured cells) whose colours are classes of the page's style
sheet, so that it is right on light, dark and paper.
"""

from typing import Protocol

from sigstats._common.registry import Registry

from ..evidence import Evidence
from ..section import Figure, FigureKind


class FigureModule(Protocol):
    """The members that a module of this folder must have."""

    @property
    def KIND(self) -> FigureKind:  # noqa: N802
        """Where the figures stand, and how they are drawn from the evidence, if it holds any."""


REGISTRY = Registry(__name__, FigureModule, what="figure")


def kinds() -> list[FigureKind]:
    """The kinds of figures of this folder, in their order."""
    return sorted((module.KIND for module in REGISTRY.modules().values()), key=lambda kind: kind.order)


def draw_all(evidence: Evidence) -> list[Figure]:
    """Every figure that there is something to draw in."""
    return [figure for kind in kinds() for figure in kind.draw(evidence)]
