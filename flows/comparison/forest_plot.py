"""The forest plot of a comparison: each difference with its interval, beside zero and the margin."""

from collections.abc import Sequence

from markupsafe import Markup

from sigstats.comparison.cells import difference_in_words, in_points
from sigstats.comparison.result import ComparisonRow

from ..pages import svg
from ..pages.axes import Axes

#: As wide as a phone shows it; a wider screen enlarges it.
_WIDTH, _LINE, _BOTTOM = 360.0, 22.0, 34.0
#: The room beside the axes for the longest label, in pixels; longer ones stand above their intervals.
_BESIDE = 130.0


def forest_plots(rows: Sequence[ComparisonRow], margin: float, name: str = "forest") -> Markup:
    """The differences of all rows that were tested: those in points on one scale, each mark or loss on its own."""
    by_unit: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        if row.low is not None:
            by_unit.setdefault("points" if in_points(row) else row.name, []).append(row)
    return Markup("").join(
        _forest_plot(f"{name}-{number}", unit, of_unit, margin)
        for number, (unit, of_unit) in enumerate(sorted(by_unit.items(), key=lambda each: each[0] != "points"))
    )


def _forest_plot(name: str, unit: str, rows: Sequence[ComparisonRow], margin: float) -> Markup:
    """One line a row: its label, its interval and its mark."""
    scale = 100 if unit == "points" else 1
    several = len({row.name for row in rows}) > 1
    labels = [f"{row.slice}: {row.name}" if several else row.slice for row in rows]
    axes = _axes(rows, labels, margin, scale)
    parts = [
        axes.upwards("axis", 0),
        axes.upwards("margin", scale * (margin if rows[0].lower_is_better else -margin)),
        axes.x_axis(f"candidate − baseline, {unit}", most=6, line=False),
    ]
    above = axes.left < _BESIDE / 4
    for position, (row, label) in enumerate(zip(rows, labels, strict=True)):
        middle, verdict = position + (0.7 if above else 0.5), row.verdict or ""
        place = (0.0, axes.y(position) + 11, "start") if above else (axes.left - 12, axes.y(middle) + 4, "end")
        parts += [
            svg.text(*place[:2], _shortened(label), anchor=place[2]),
            axes.line(f"interval {verdict}", [(scale * (end or 0), middle) for end in (row.low, row.high)]),
            svg.verdict_mark(axes.x(scale * (row.difference or 0)), axes.y(middle), verdict),
        ]
    worst = min(rows, key=lambda row: row.gain or 0)
    description = (
        f"{len(rows)} differences with their intervals; the lowest is {difference_in_words(worst)}, "
        f"{worst.name} on {worst.slice}."
    )
    return axes.drawing(name, "Differences of candidate and baseline", description, *parts)


def _axes(rows: Sequence[ComparisonRow], labels: Sequence[str], margin: float, scale: int) -> Axes:
    """Axes that hold every interval and the margin, with room for the labels."""
    low = min(-margin, *(row.low or 0 for row in rows))
    high = max(margin, *(row.high or 0 for row in rows))
    widest = max(map(svg.text_width, labels))
    beside = widest <= _BESIDE
    return Axes(
        width=_WIDTH,
        height=(_LINE if beside else 1.7 * _LINE) * len(rows) + 12 + _BOTTOM,
        left=widest + 20 if beside else 8,
        right=12,
        bottom=_BOTTOM,
        x_limits=(scale * low, scale * (high if high > low else low + 0.01)),
        y_limits=(len(rows), 0),
    )


def _shortened(label: str) -> str:
    """A label, shortened if there is no room for it."""
    most = int(_WIDTH / svg.text_width("x"))
    return label if len(label) <= most else f"{label[: most - 1]}…"
