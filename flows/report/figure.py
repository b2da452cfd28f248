"""What a figure of the report is: a title, a caption and a drawing."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from .evidence import Evidence


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
