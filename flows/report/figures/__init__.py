"""The figures of the report. A new figure is one new module of this folder.

A module has ``KIND``, a `FigureKind`: it looks at the evidence and draws what it finds, nothing where there is nothing
of its kind. A figure is a piece of HTML (inline SVG, or a table with coloured cells) whose colours are classes of the
page's style sheet, so that it is right on light, dark and paper.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from ..evidence import Evidence


@dataclass(frozen=True)
class Figure:
    """A figure with what it shows.

    Attributes
    ----------
    title : str
        What it is.
    caption : str
        How it is read.
    body : Markup
        HTML; whatever in it comes from data is escaped.
    """

    title: str
    caption: str
    body: Markup


@dataclass(frozen=True)
class FigureKind:
    """A way to draw.

    Attributes
    ----------
    order : int
        Where it stands among the others.
    draw : callable
        The evidence to its figures.
    """

    order: int
    draw: Callable[[Evidence], Iterable[Figure]]


def kinds() -> list[FigureKind]:
    """The kinds of figures of this folder, in their order."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found: list[FigureKind] = [importlib.import_module(f"{__name__}.{name}").KIND for name in names]
    return sorted(found, key=lambda kind: kind.order)


def draw_all(evidence: Evidence) -> list[Figure]:
    """Every figure that there is something to draw in."""
    return [figure for kind in kinds() for figure in kind.draw(evidence)]
