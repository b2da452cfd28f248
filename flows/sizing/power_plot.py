"""Power against the number of rows, a curve for each drop: as a drawing, and in characters."""

import math
from string import ascii_lowercase

from markupsafe import Markup

from sigstats.comparison.size import DropPlan, SizePlan

from ..pages import svg
from ..pages.axes import Axes, Tick
from .words import points

_WIDTH, _HEIGHT, _LABELS, _COLOURS = 640.0, 340.0, 110.0, 6
_COLUMNS, _LINES = 64, 11


def power_plot(found: SizePlan) -> Markup:
    """The drawing; empty if no number of rows is known."""
    curves = [each for each in found.drops if each.curve]
    if not curves:
        return Markup("")
    low, high = _limits(curves)
    axes = Axes(
        width=_WIDTH, height=_HEIGHT, left=42, right=_LABELS, x_limits=(low, high), y_limits=(0, 100), log_x=True
    )
    parts = [axes.across("level", 100 * found.target)]
    if found.parts:
        parts.append(axes.upwards("margin", found.pilot.parts[0].n))
    ends = svg.spread([axes.y(100 * each.curve[-1][1]) for each in curves], axes.base)
    for number, (each, end) in enumerate(zip(curves, ends, strict=True)):
        line = axes.line("observed", [(n, 100 * power) for n, power in each.curve])
        label = svg.text(axes.width - axes.right + 8, end + 4, points(each.drop), anchor="start", css="value")
        parts.append(Markup('<g class="curve c{}">{}{}</g>').format(number % _COLOURS, line, label))
    parts += [axes.y_axis(unit="%"), axes.x_axis(found.pilot.unit, ticks=_ticks(low, high))]
    steps = [
        f"{points(each.drop)}: {100 * each.curve[0][1]:.0f}% at {low:,} {found.pilot.unit}, "
        f"{100 * each.curve[-1][1]:.0f}% at {high:,}"
        for each in curves
    ]
    return axes.drawing("power", f"Power against the number of {found.pilot.unit}", "; ".join(steps) + ".", *parts)


def _limits(curves: list[DropPlan]) -> tuple[int, int]:
    return curves[0].curve[0][0], curves[0].curve[-1][0]


def _ticks(low: int, high: int) -> list[Tick]:
    """One, two and five times each power of ten within the limits."""
    decades = range(int(math.log10(low)), int(math.log10(high)) + 1)
    values = (factor * 10.0**power for power in decades for factor in (1, 2, 5))
    return [(each, f"{each:,.0f}") for each in values if low <= each <= high]


def power_text(found: SizePlan) -> list[str]:
    """The same in ASCII: a letter for each curve, dashes for the target power, bars for the number at hand."""
    curves = [each for each in found.drops if each.curve]
    if not curves:
        return []
    low, high = _limits(curves)
    scale = (_COLUMNS - 1) / math.log(high / low)
    grid = [[" "] * _COLUMNS for _ in range(_LINES)]
    grid[_line(found.target)] = ["-"] * _COLUMNS
    if found.parts:
        for line in grid:
            line[round(math.log(found.pilot.parts[0].n / low) * scale)] = "|"
    letters = [ascii_lowercase[number % len(ascii_lowercase)] for number in range(len(curves))]
    for letter, each in zip(letters, curves, strict=True):
        for n, power in each.curve:
            grid[_line(power)][round(math.log(n / low) * scale)] = letter
    legend = ", ".join(f"{letter} {points(each.drop)}" for letter, each in zip(letters, curves, strict=True))
    lines = [f"{100 - 100 * number // (_LINES - 1):>4}% {''.join(line).rstrip()}" for number, line in enumerate(grid)]
    ends = f"{low:,}".ljust(_COLUMNS - len(f"{high:,}")) + f"{high:,}"
    return ["power", *lines, f"      {ends}", f"      {found.pilot.unit}; {legend}"]


def _line(power: float) -> int:
    return round((1 - power) * (_LINES - 1))
