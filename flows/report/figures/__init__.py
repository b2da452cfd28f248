"""The figures of the report that several kinds of study have.

A figure is a piece of HTML (inline SVG, or a table with coloured cells) whose colours are classes of the page's style
sheet, so that it works on light, dark and paper.
"""

from ..evidence import Evidence, Figure


def draw_all(evidence: Evidence) -> list[Figure]:
    """Every figure that there is something to draw in."""
    return [figure for draw in evidence.page.figures for figure in draw(evidence)]
