"""What a figure of the report is: a title, a caption and a drawing."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from .evidence import Evidence


@dataclass(frozen=True)
class Figure:
    """A figure with what it shows."""

    #: What it is.
    title: str
    #: How it is read.
    caption: str
    #: HTML; whatever in it comes from data is escaped.
    body: Markup


@dataclass(frozen=True)
class FigureKind:
    """A way to draw."""

    #: Where it stands among the others.
    order: int
    #: The evidence to its figures.
    draw: Callable[[Evidence], Iterable[Figure]]
