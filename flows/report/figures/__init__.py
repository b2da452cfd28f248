"""The figures of the report. A new figure is one new module of this folder.

A module has ``KIND``, a `sigstats.flows.report.figure.FigureKind`, which draws what it finds in the evidence, and
nothing where there is nothing of its kind. A figure is a piece of HTML (inline SVG, or a table with coloured cells)
whose colours are classes of the page's style sheet, so that it is right on light, dark and paper.
"""

import importlib
import pkgutil

from ..evidence import Evidence
from ..figure import Figure, FigureKind


def kinds() -> list[FigureKind]:
    """The kinds of figures of this folder, in their order."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found: list[FigureKind] = [importlib.import_module(f"{__name__}.{name}").KIND for name in names]
    return sorted(found, key=lambda kind: kind.order)


def draw_all(evidence: Evidence) -> list[Figure]:
    """Every figure that there is something to draw in."""
    return [figure for kind in kinds() for figure in kind.draw(evidence)]
