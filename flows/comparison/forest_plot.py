"""The forest plot of a comparison: each difference with its interval, with lines at zero and the margin."""

import json
import re
from collections.abc import Iterator, Sequence

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
#: The characters of the longest label in Mermaid, and those that end a string of it or are obeyed within.
_LONGEST, _UNQUOTED = 40, re.compile(r"[\"`#;%<>&\\\[\]{}]")
#: The colours of an interval above and below its difference, and of paper and ink, in the light and the dark.
_SHADES = {"fail": ("#f2b8b5", "#b3261e"), "inconclusive": ("#f3d9a4", "#8a5a00"), "pass": ("#b5d3f2", "#0b5cad")}
_PAPER, _INK = "#ffffff", "#1f2328"
_INKED = tuple(
    f"{part}Color" for part in ("title", *(f"{axis}Axis{of}" for axis in "xy" for of in ("Label", "Tick", "Line")))
)


def forest_plots(rows: Sequence[ComparisonRow], name: str = "forest") -> Markup:
    """Return the differences that were tested on all rows: those in points on one scale, each other on its own."""
    return Markup("").join(_forest_plot(f"{name}-{number}", *scale) for number, scale in enumerate(_scales(rows)))


def forest_in_mermaid(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return the forest plot as Mermaid code, one chart per unit; GitHub and GitLab draw it within Markdown.

    Its charts have only bars and lines that start at the left end. So an interval is a bar to its upper limit, covered
    by a darker one to the difference and a white one to the lower limit. Lines stand at zero and at the margin.
    """
    return [_in_mermaid(*scale) for scale in _scales(rows)]


def _scales(rows: Sequence[ComparisonRow]) -> Iterator[tuple[str, list[ComparisonRow], float, int]]:
    """Yield each unit with its rows, the difference that a pass of the first must exclude, and the factor of values."""
    for unit, of_unit in by_unit(rows).items():
        size = next((row.margin for row in of_unit if row.margin is not None), 0.0)  # relative ones may differ
        yield unit, of_unit, size if of_unit[0].lower_is_better else -size, 100 if unit == "points" else 1


def _in_mermaid(unit: str, rows: Sequence[ComparisonRow], margin: float, scale: int) -> str:
    limits = _limits(rows, margin)
    beyond = (limits[1] - limits[0]) / 40 or 0.01
    start, end = scale * (limits[0] - beyond), scale * (limits[1] + beyond)
    series, colours = [], []
    for verdict in [shade for shade in _SHADES if shade in {row.verdict for row in rows}]:
        of_verdict = [row if row.verdict == verdict else None for row in rows]
        for shade, name in zip(_SHADES[verdict], ("high", "difference"), strict=True):
            ends = [start if row is None else scale * getattr(row, name) for row in of_verdict]
            series.append(f"  bar {_in_brackets([start, *ends, start])}")
            colours.append(shade)
    series.append(f"  bar {_in_brackets([start, *(scale * (row.low or 0) for row in rows), start])}")
    # An empty row at each end: a line reaches from the middle of the first row to that of the last.
    series += [f"  line {_in_brackets([value] * (len(rows) + 2))}" for value in (0.0, scale * margin)]
    colours += [_PAPER, _INK, _SHADES["fail"][1]]
    heading = "slice: measure" if len({row.name for row in rows}) > 1 else "slice"
    labels = [_in_quotes(label_of(row, rows)) for row in rows]
    # Rows of equal labels would be drawn as one.
    labels = [
        f"{labels[:i].count(label) + 1}: {label}" if labels.count(label) > 1 else label
        for i, label in enumerate(labels)
    ]
    ink = "".join(f", {part}: '{_INK}'" for part in _INKED)
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


def _in_brackets(values: Sequence[float]) -> str:
    return f"[{', '.join(f'{value:.6g}' for value in values)}]"


def _in_quotes(text: str) -> str:
    """Quote a label so that neither Mermaid nor the surrounding Markdown interprets it."""
    return _UNQUOTED.sub("_", printable(" ".join(text.split())))[:_LONGEST] or "_"


def _limits(rows: Sequence[ComparisonRow], margin: float) -> tuple[float, float]:
    return min(-abs(margin), *(row.low or 0 for row in rows)), max(abs(margin), *(row.high or 0 for row in rows))


def _forest_plot(name: str, unit: str, rows: Sequence[ComparisonRow], margin: float, scale: int) -> Markup:
    labels = [label_of(row, rows) for row in rows]
    axes = _axes(rows, labels, margin, scale)
    parts = [
        axes.upwards("axis", 0),
        axes.upwards("margin", scale * margin),
        axes.x_axis(f"candidate − {rows[0].reference}, {unit}", most=6, line=False),
    ]
    above = axes.left < _BESIDE / 4
    for position, (row, label) in enumerate(zip(rows, labels, strict=True)):
        middle, verdict = position + (0.7 if above else 0.5), row.verdict or ""
        place = (0.0, axes.y(position) + 11, "start") if above else (axes.left - 12, axes.y(middle) + 4, "end")
        parts += [
            svg.text(*place[:2], svg.shortened(label, _WIDTH), anchor=place[2], css="label"),
            axes.line(f"interval {verdict}", [(scale * (end or 0), middle) for end in (row.low, row.high)]),
            svg.verdict_mark(axes.x(scale * (row.difference or 0)), axes.y(middle), verdict),
        ]
    worst = min(rows, key=lambda row: row.gain or 0)
    description = (
        f"{len(rows)} differences with their intervals; the lowest is {difference_in_words(worst)}, "
        f"{worst.name} on {worst.slice}."
    )
    return axes.drawing(name, f"Differences of candidate and {worst.reference}", description, *parts)


def _axes(rows: Sequence[ComparisonRow], labels: Sequence[str], margin: float, scale: int) -> Axes:
    low, high = _limits(rows, margin)
    widest = max(map(svg.text_width, labels))
    in_one_line = widest <= _BESIDE
    return Axes(
        width=_WIDTH,
        height=(_LINE if in_one_line else 1.7 * _LINE) * len(rows) + 12 + _BOTTOM,
        left=widest + 20 if in_one_line else 8,
        right=12,
        bottom=_BOTTOM,
        x_limits=(scale * low, scale * (high if high > low else low + 0.01)),
        y_limits=(len(rows), 0),
    )
