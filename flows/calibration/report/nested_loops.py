"""Nested-loop plots: a rate over all settings of a grid, with the factors as steps below (Ruecker, Schwarzer 2014)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from markupsafe import Markup

from sigstats.tasks.calibration.rejections import COVERAGE, ERROR
from sigstats.tasks.calibration.work import Tested
from sigstats.tasks.schema import POWER, Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import percent, percent_range
from ...report.evidence import Evidence, Figure
from ...report.rows import group_by
from .design import estimand

#: Width of the left margin, height of the plot of rates, and height of the steps of one factor.
_LEFT, _HEIGHT, _STEP = 44.0, 300.0, 30.0
#: The smallest widths of a setting, and of the whole plot without its labels.
_SETTING_WIDTH, _PLOT_WIDTH = 4.0, 280.0

#: The values of the varying factors, in the order of their names.
Setting: TypeAlias = tuple[float, ...]


@dataclass(frozen=True)
class Grid:
    """The rates of a measure over all settings of a data set."""

    dataset: str | None
    measure: str
    estimand: str
    rows: tuple[Hypothesis, ...]
    #: Names of the varying factors, and ``rows`` if sizes vary.
    names: tuple[str, ...]
    #: The setting of each row.
    settings: tuple[Setting, ...]

    @property
    def order(self) -> list[Setting]:
        """The distinct settings, in the order of nested loops."""
        return sorted(set(self.settings))


def grids(evidence: Evidence) -> Iterator[Grid]:
    """Yield each grid with two or more varying factors or sizes."""
    rows = [row for row in evidence.rows if row.measure in (ERROR, POWER, COVERAGE) and row.estimate is not None]
    groups = group_by(rows, lambda row: (row.dataset, row.measure or "", estimand(evidence.cells_of(row)[0])))
    for (dataset, measure, of), group in groups.items():
        factors = [_factors(row, evidence) for row in group]  # all rows of a data set have the same factors
        names = tuple(name for name in factors[0] if len({values[name] for values in factors}) > 1)
        settings = tuple(tuple(values[name] for name in names) for values in factors)
        if len(names) >= 2 and len(set(settings)) >= 4:
            yield Grid(dataset, measure, of, tuple(group), names, settings)


def _factors(row: Hypothesis, evidence: Evidence) -> dict[str, float]:
    cell = evidence.cells_of(row)[0]
    return {**(cell.work_of(Tested).factors or {}), "rows": float(row.n or 0)}


def draw_loops(evidence: Evidence) -> Iterator[Figure]:
    """Yield one figure for each measure of each grid."""
    for number, grid in enumerate(grids(evidence)):
        expected = 1 - evidence.alpha if grid.measure == COVERAGE else evidence.alpha
        of = f", {grid.estimand}" if grid.estimand else ""
        yield Figure(
            title=f"{grid.measure[:1].upper()}{grid.measure[1:]} over all settings, {grid.dataset}{of}",
            caption=(
                "Each step to the right is a setting, which the lines below show: a factor rises within the one above "
                f"it. The dashed line is the stated {percent(expected)}. There is a line for each method."
            ),
            body=_loops_panel(f"loops-{number}", f"{grid.measure}, {grid.dataset}", grid, expected),
        )


def _loops_panel(name: str, title: str, grid: Grid, expected: float) -> Markup:
    order = grid.order
    place = {setting: index for index, setting in enumerate(order)}
    methods = group_by(zip(grid.rows, grid.settings, strict=True), lambda item: item[0].method)
    labels = 16 + max(svg.text_width(text) for text in (*methods, *grid.names))
    width = max(_PLOT_WIDTH, _SETTING_WIDTH * len(order))
    bottom = 20 + _STEP * len(grid.names)
    rates = [row.estimate or 0 for row in grid.rows]
    lowest, highest = min(expected, *rates), min(1.0, max(2 * expected, *rates))
    axes = Axes(
        width=_LEFT + width + labels,
        height=_HEIGHT + bottom,
        left=_LEFT,
        right=labels,
        bottom=bottom,
        x_limits=(0.0, float(len(order))),
        y_limits=(100 * (lowest if expected >= 0.5 else 0.0), 100 * highest),
    )
    parts = [axes.across("level", 100 * expected), axes.y_axis(unit="%")]
    ranges = []
    for number, (method, group) in enumerate(methods.items()):
        known = {place[setting]: 100 * (row.estimate or 0) for row, setting in group}
        parts.append(axes.labelled(number, method, axes.top + 10 + 15 * number, _steps(axes, known, axes.y)))
        least, most = min(known.values()) / 100, max(known.values()) / 100
        ranges.append(f"{method} from {percent_range(least, most, to='% to ')}")
    parts += [_loop(axes, factor, index, order) for index, factor in enumerate(grid.names)]
    drawn = axes.drawing(name, title, f"{'; '.join(ranges)}.", *parts)
    return Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>').format(title, drawn)


def _steps(axes: Axes, values: dict[int, float], height: Callable[[float], float], css: str = "observed") -> Markup:
    """Draw a line of level steps, one step per setting, with gaps for missing ones."""
    path, before = [], None
    for index in sorted(values):
        x, y = svg.coordinate(axes.x(index)), svg.coordinate(height(values[index]))
        path.append(f"M{x} {y}" if before != index - 1 else f"V{y}")
        path.append(f"H{svg.coordinate(axes.x(index + 1))}")
        before = index
    return svg.path(css, "".join(path))


def _loop(axes: Axes, name: str, index: int, order: Sequence[Setting]) -> Markup:
    """Return the steps of a factor below the plot, with its name and the range of its values."""
    values = sorted({setting[index] for setting in order})
    top = axes.base + 12 + _STEP * index
    heights = {value: top + 16 - 12 * number / (len(values) - 1) for number, value in enumerate(values)}
    steps = _steps(axes, {place: setting[index] for place, setting in enumerate(order)}, heights.__getitem__, "axis")
    shown = ", ".join(f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}" for value in values)
    side = axes.width - axes.right + 8
    return (
        steps
        + svg.text(side, top + 8, name, anchor="start")
        + svg.text(side, top + 20, shown, anchor="start", css="tick")
    )
