"""Drawings of shares with their intervals, one per row, placed side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from . import svg
from .svg import Axes

#: The width of the values, the heights of a row and of the axis, and the largest width of labels.
_VALUES, _LINE, _BOTTOM, _WIDEST = 142.0, 22.0, 24.0, 168.0


@dataclass(frozen=True)
class DotRow:
    """A share, the ends of its interval, the text of both, and an optional verdict."""

    label: str
    value: float
    ends: tuple[float, float]
    shown: str
    verdict: str = ""


def dot_rows(
    name: str,
    heading: str,
    rows: Sequence[DotRow],
    *,
    lines: Mapping[str, float],
    limits: tuple[float, float],
    title: str,
    description: str,
    quiet: str = "",
) -> Markup:
    """A drawing under its heading; `lines`: shares with a vertical line, and the line's class in the style sheet."""
    room = min(max(svg.text_width(row.label) for row in rows), _WIDEST) + 12
    axes = Axes(
        width=room + _VALUES,
        height=_LINE * len(rows) + 8 + _BOTTOM,
        left=room,
        top=8,
        bottom=_BOTTOM,
        x_limits=(100 * limits[0], 100 * limits[1]),
        y_limits=(len(rows), 0),
    )
    parts = [*(axes.upwards(css, 100 * share) for css, share in lines.items()), axes.x_axis(most=3, unit="%")]
    for position, row in enumerate(rows):
        middle = position + 0.5
        marks = [
            svg.text(axes.left - 8, axes.y(middle) + 4, svg.shortened(row.label, _WIDEST), anchor="end"),
            axes.line("interval", [(100 * end, middle) for end in row.ends]),
            svg.verdict_mark(axes.x(100 * row.value), axes.y(middle), row.verdict),
        ]
        parts.append(Markup("<g><title>{}: {}</title>{}</g>").format(row.label, row.shown, Markup("").join(marks)))
    return Markup('<div class="trend"><p><b>{}</b> <span class="quiet">{}</span></p>{}</div>').format(
        heading, quiet, axes.drawing(name, title, description, *parts)
    )
