"""The figures of the report. A new figure is one new module of this folder.

A figure is a piece of HTML (inline SVG, or a table with coloured cells) whose colours are classes of the page's style
sheet, so that it is right on light, dark and paper.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from sigstats._common.registry import Registry

from ..evidence import Evidence
from ..section import Figure


class FigureModule(Protocol):
    """The members that a module of this folder must have."""

    @property
    def FIGURES(self) -> Mapping[str, tuple[int, Callable[[Evidence], Iterable[Figure]]]]:  # noqa: N802
        """Of each kind its name, where it stands among the others, and what draws those that the evidence holds."""


REGISTRY = Registry(__name__, FigureModule, what="figure")


def kinds() -> dict[str, Callable[[Evidence], Iterable[Figure]]]:
    """What draws each kind of figure, by its name, in the order of the report."""
    every = [kind for module in REGISTRY.modules().values() for kind in module.FIGURES.items()]
    return {name: draw for name, (_, draw) in sorted(every, key=lambda kind: kind[1][0])}


def draw_all(evidence: Evidence) -> list[Figure]:
    """Every figure that there is something to draw in."""
    return [figure for draw in kinds().values() for figure in draw(evidence)]
