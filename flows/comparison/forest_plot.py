"""The forest plot of a comparison as SVG and as Mermaid code: differences, intervals, lines at zero and the margin.

Differences in points share a scale; those in another unit have a plot of their own.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from sigstats._common.messages import printable
from sigstats.comparison.cells import by_unit, difference_in_words, label_of
from sigstats.comparison.result import ComparisonRow

from ..pages import svg
from ..pages.svg import Axes

#: Width on a phone; a wider screen enlarges it.
_WIDTH, _LINE, _BOTTOM = 360.0, 22.0, 34.0
#: The room beside the axes for the longest label, in pixels; longer ones stand above their intervals.
_BESIDE = 130.0
#: The most characters of a label in Mermaid, and the characters that end a quoted string or are markup in it.
_LONGEST, _UNQUOTED = 40, re.compile(r"[\"`#;%<>&\\\[\]{}]")
#: The colours of an interval above and below its difference, and of paper and ink, in the light and the dark.
_SHADES = {"fail": ("#f2b8b5", "#b3261e"), "inconclusive": ("#f3d9a4", "#8a5a00"), "pass": ("#b5d3f2", "#0b5cad")}
_PAPER, _INK = "#ffffff", "#1f2328"
#: The parts of a chart in the colour of ink.
_INKED = ("title", "xAxisLabel", "xAxisTick", "xAxisLine", "yAxisLabel", "yAxisTick", "yAxisLine")


def forest_plots(rows: Sequence[ComparisonRow], name: str = "forest") -> Markup:
    """Return the differences that were tested on all rows: those in points on one scale, each other on its own."""
    return Markup("").join(_forest_plot(f"{name}-{number}", plot) for number, plot in enumerate(_plots(rows)))


def forest_in_mermaid(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return the forest plot as Mermaid code, one chart per unit; GitHub and GitLab draw it within Markdown.

    Its charts have only bars and lines that start at the left end. So an interval is a bar to its upper limit, covered
    by a darker one to the difference and a white one to the lower limit. Lines stand at zero and at the margin.
    """
    return [_in_mermaid(plot) for plot in _plots(rows)]


class _Plot(NamedTuple):
    """The rows of one unit."""

    unit: str
    rows: Sequence[ComparisonRow]
    #: The difference that a pass of the first row must exclude.
    margin: float
    #: The factor of drawn values: 100 for points.
    scale: int

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest value to draw: an end of an interval, or a margin on either side."""
        size, rows = abs(self.margin), self.rows
        return min(-size, *(row.low or 0 for row in rows)), max(size, *(row.high or 0 for row in rows))


def _plots(rows: Sequence[ComparisonRow]) -> Iterator[_Plot]:
    for unit, of_unit in by_unit(rows).items():
        size = next((row.margin for row in of_unit if row.margin is not None), 0.0)  # relative ones may differ
        yield _Plot(unit, of_unit, size if of_unit[0].lower_is_better else -size, 100 if unit == "points" else 1)


def _in_mermaid(plot: _Plot) -> str:
    unit, rows, margin, scale = plot
    low, high = plot.limits
    beyond = (high - low) / 40 or 0.01
    start, end = scale * (low - beyond), scale * (high + beyond)
    series, colours = [], []
    for verdict, shades in _SHADES.items():
        if verdict not in {row.verdict for row in rows}:
            continue
        for shade, name in zip(shades, ("high", "difference"), strict=True):
            ends = [scale * getattr(row, name) if row.verdict == verdict else start for row in rows]
            series.append(f"  bar {_in_brackets([start, *ends, start])}")
            colours.append(shade)
    series.append(f"  bar {_in_brackets([start, *(scale * (row.low or 0) for row in rows), start])}")
    # An empty row at each end: a line reaches from the middle of the first row to that of the last.
    series += [f"  line {_in_brackets([value] * (len(rows) + 2))}" for value in (0.0, scale * margin)]
    colours += [_PAPER, _INK, _SHADES["fail"][1]]
    heading = "slice: measure" if len({row.name for row in rows}) > 1 else "slice"
    labels = _numbered([_in_quotes(label_of(row, rows)) for row in rows])
    ink = "".join(f", {part}Color: '{_INK}'" for part in _INKED)
    theme = f"backgroundColor: '{_PAPER}', plotColorPalette: '{', '.join(colours)}'{ink}"
    return "\n".join(
        [
            "---",
            "config:",
            f"  xyChart: {{width: 800, height: {140 + 34 * len(rows)}}}",
            f"  themeVariables: {{xyChart: {{{theme}}}}}",
            "---",
            "xychart-beta horizontal",
            f'  title "candidate less {rows[0].reference}, {_in_quotes(unit)}: intervals; red line: the margin"',
            f"  x-axis [{', '.join(map(json.dumps, (heading, *labels, ' ')))}]",
            f"  y-axis {start:.6g} --> {end:.6g}",
            *series,
        ]
    )


def _numbered(labels: Sequence[str]) -> list[str]:
    """Return the labels with numbers before equal ones, since Mermaid would draw their rows as one."""
    repeated = {label for label in labels if labels.count(label) > 1}
    return [f"{labels[:i].count(label) + 1}: {label}" if label in repeated else label for i, label in enumerate(labels)]


def _in_brackets(values: Sequence[float]) -> str:
    return f"[{', '.join(f'{value:.6g}' for value in values)}]"


def _in_quotes(text: str) -> str:
    """Quote a label so that neither Mermaid nor the surrounding Markdown interprets it."""
    return _UNQUOTED.sub("_", printable(" ".join(text.split())))[:_LONGEST] or "_"


def _forest_plot(name: str, plot: _Plot) -> Markup:
    unit, rows, margin, scale = plot
    labels = [label_of(row, rows) for row in rows]
    axes = _axes(plot, labels)
    parts = [
        axes.upwards("axis", 0),
        axes.upwards("margin", scale * margin),
        axes.x_axis(f"candidate − {rows[0].reference}, {unit}", most=6, line=False),
    ]
    above = axes.left < _BESIDE / 4
    for position, (row, label) in enumerate(zip(rows, labels, strict=True)):
        middle, verdict = position + (0.7 if above else 0.5), row.verdict or ""
        x, y, anchor = (0.0, axes.y(position) + 11, "start") if above else (axes.left - 12, axes.y(middle) + 4, "end")
        parts += [
            svg.text(x, y, svg.shortened(label, _WIDTH), anchor=anchor, css="label"),
            axes.line(f"interval {verdict}", [(scale * (end or 0), middle) for end in (row.low, row.high)]),
            svg.verdict_mark(axes.x(scale * (row.difference or 0)), axes.y(middle), verdict),
        ]
    worst = min(rows, key=lambda row: row.gain or 0)
    description = (
        f"{len(rows)} differences with their intervals; the lowest is {difference_in_words(worst)}, "
        f"{worst.name} on {worst.slice}."
    )
    return axes.drawing(name, f"Differences of candidate and {worst.reference}", description, *parts)


def _axes(plot: _Plot, labels: Sequence[str]) -> Axes:
    low, high = plot.limits
    widest = max(map(svg.text_width, labels))
    in_one_line = widest <= _BESIDE
    return Axes(
        width=_WIDTH,
        height=(_LINE if in_one_line else 1.7 * _LINE) * len(labels) + 12 + _BOTTOM,
        left=widest + 20 if in_one_line else 8,
        right=12,
        bottom=_BOTTOM,
        x_limits=(plot.scale * low, plot.scale * (high if high > low else low + 0.01)),
        y_limits=(len(labels), 0),
    )
