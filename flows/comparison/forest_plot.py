"""The forest plot of a comparison: each difference with its interval, beside zero and the margin; drawn or in text."""

from collections.abc import Sequence

from markupsafe import Markup

from sigstats.comparison.cells import difference_in_words, in_points, with_unit
from sigstats.comparison.result import ComparisonRow

from ..pages import svg
from ..pages.svg import Axes

#: As wide as a phone shows it; a wider screen enlarges it.
_WIDTH, _LINE, _BOTTOM = 360.0, 22.0, 34.0
#: The room beside the axes for the longest label, in pixels; longer ones stand above their intervals.
_BESIDE = 130.0
#: The characters of the axis in text, and of the longest label beside it.
_COLUMNS, _LONGEST = 41, 40


def forest_plots(rows: Sequence[ComparisonRow], margin: float, name: str = "forest") -> Markup:
    """The differences of all rows that were tested: those in points on one scale, each mark or loss on its own."""
    return Markup("").join(
        _forest_plot(f"{name}-{number}", unit, of_unit, margin) for number, (unit, of_unit) in enumerate(_by_unit(rows))
    )


def forest_in_text(rows: Sequence[ComparisonRow], margin: float) -> str:
    """The same in characters of one width, for what shows no drawings; empty where no row has an interval.

    A line stands for zero, a dashed one for the margin.
    """
    return "\n\n".join(_in_text(unit, of_unit, margin) for unit, of_unit in _by_unit(rows))


def _by_unit(rows: Sequence[ComparisonRow]) -> list[tuple[str, list[ComparisonRow]]]:
    """The rows that have an interval by the unit of their differences, points first."""
    by_unit: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        if row.low is not None:
            by_unit.setdefault("points" if in_points(row) else row.name, []).append(row)
    return sorted(by_unit.items(), key=lambda each: each[0] != "points")


def _in_text(unit: str, rows: Sequence[ComparisonRow], margin: float) -> str:
    labels = [" ".join(_label(row, rows).split())[:_LONGEST] for row in rows]
    low, high = _limits(rows, margin)
    scale = (_COLUMNS - 1) / (high - low or 1)

    def column(value: float) -> int:
        return round((value - low) * scale)

    lines = []
    for row, label in zip(rows, labels, strict=True):
        first, last = column(row.low or 0), column(row.high or 0)
        line = [" "] * _COLUMNS
        line[column(_margin_of(rows, margin))], line[column(0)] = "┊", "│"
        line[first : last + 1] = "├" + "─" * (last - first - 1) + "┤" if last > first else "│"
        line[column(row.difference or 0)] = "●"
        lines.append(f"{label:>{max(map(len, labels))}} {''.join(line)}".rstrip())
    ends = [with_unit(rows[0], value).removesuffix(" points") for value in (low, high)]
    left, middle, right = ends[0], "0", f"{ends[1]} {unit}"
    axis = f"{left:<{max(column(0), len(left) + 1)}}{middle}"
    axis += " " * max(_COLUMNS - len(axis) - len(ends[1]), 1) + right
    return "\n".join([*lines, " " * (max(map(len, labels)) + 1) + axis])


def _label(row: ComparisonRow, rows: Sequence[ComparisonRow]) -> str:
    """The slice, and the measure where there are several."""
    return f"{row.slice}: {row.name}" if len({each.name for each in rows}) > 1 else row.slice


def _limits(rows: Sequence[ComparisonRow], margin: float) -> tuple[float, float]:
    """From where to where every interval and the margin reach."""
    return min(-margin, *(row.low or 0 for row in rows)), max(margin, *(row.high or 0 for row in rows))


def _margin_of(rows: Sequence[ComparisonRow], margin: float) -> float:
    """The difference that a pass must exclude, with its sign."""
    return margin if rows[0].lower_is_better else -margin


def _forest_plot(name: str, unit: str, rows: Sequence[ComparisonRow], margin: float) -> Markup:
    """One line a row: its label, its interval and its mark."""
    scale = 100 if unit == "points" else 1
    labels = [_label(row, rows) for row in rows]
    axes = _axes(rows, labels, margin, scale)
    parts = [
        axes.upwards("axis", 0),
        axes.upwards("margin", scale * _margin_of(rows, margin)),
        axes.x_axis(f"candidate − baseline, {unit}", most=6, line=False),
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
    return axes.drawing(name, "Differences of candidate and baseline", description, *parts)


def _axes(rows: Sequence[ComparisonRow], labels: Sequence[str], margin: float, scale: int) -> Axes:
    """Axes that hold every interval and the margin, with room for the labels."""
    low, high = _limits(rows, margin)
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
