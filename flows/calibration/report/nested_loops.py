"""Nested-loop plots: a rate over all settings of a grid, with the factors as steps below (Ruecker, Schwarzer 2014)."""

from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup

from sigstats.tasks.calibration.rates import COVERAGE, ERROR, POWER
from sigstats.tasks.calibration.work import Tested
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import percent, percent_range
from ...report.evidence import Evidence, Figure
from ...report.rows import distinct, group_by
from .design import estimand

_LEFT, _HEIGHT, _STEP = 44.0, 300.0, 30.0
#: The smallest widths of a setting, and of the whole plot without its labels.
_SETTING_WIDTH, _PLOT_WIDTH = 4.0, 280.0

#: Key of a setting: the values of its factors, the size last.
Setting = tuple[float, ...]


def grids(evidence: Evidence) -> Iterator[tuple[str | None, str | None, str, list[Hypothesis], list[str]]]:
    """Yield data set, measure, estimand, rows and factors of each grid with two or more varying factors or sizes."""
    rows = [row for row in evidence.rows if row.measure in (ERROR, POWER, COVERAGE) and row.estimate is not None]
    groups = group_by(rows, lambda row: (row.dataset, row.measure, estimand(evidence.cells_of(row)[0])))
    for (dataset, measure, of), group in groups.items():
        names = _varying(group, evidence)
        if len(names) >= 2 and len(settings(group, names, evidence)) >= 4:
            yield dataset, measure, of, group, names


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each measure of each grid."""
    for number, (dataset, measure, of, group, names) in enumerate(grids(evidence)):
        expected = 1 - evidence.alpha if measure == COVERAGE else evidence.alpha
        yield Figure(
            title=f"{str(measure)[:1].upper()}{str(measure)[1:]} over all settings, {dataset}{', ' + of if of else ''}",
            caption=(
                "Each step to the right is a setting, which the lines below show: a factor rises within the one above "
                f"it. The dashed line is the stated {percent(expected)}. There is a line for each method."
            ),
            body=_panel(f"loops-{number}", f"{measure}, {dataset}", group, names, expected, evidence),
        )


def _factors(row: Hypothesis, evidence: Evidence) -> dict[str, float]:
    cell = evidence.cells_of(row)[0]
    return {**(cell.work_of(Tested).factors or {}), "rows": float(row.n or 0)}


def _varying(rows: Sequence[Hypothesis], evidence: Evidence) -> list[str]:
    items = [_factors(row, evidence) for row in rows]
    names = distinct(name for factors in items for name in factors)
    return [name for name in names if len({factors.get(name) for factors in items}) > 1]


def settings(rows: Sequence[Hypothesis], names: Sequence[str], evidence: Evidence) -> list[Setting]:
    """All settings, in the order of nested loops."""
    return sorted({setting_of(row, names, evidence) for row in rows})


def setting_of(row: Hypothesis, names: Sequence[str], evidence: Evidence) -> Setting:
    """The values of the factors that vary."""
    factors = _factors(row, evidence)
    return tuple(factors.get(name, 0.0) for name in names)


def _panel(
    name: str, title: str, rows: Sequence[Hypothesis], names: Sequence[str], expected: float, evidence: Evidence
) -> Markup:
    order = settings(rows, names, evidence)
    place = {setting: index for index, setting in enumerate(order)}
    methods = group_by(rows, lambda row: row.method)
    labels = 16 + max(svg.text_width(text) for text in (*methods, *names))
    width = max(_PLOT_WIDTH, _SETTING_WIDTH * len(order))
    bottom = 20 + _STEP * len(names)
    rates = [row.estimate or 0 for row in rows]
    lowest, highest = min(expected, *rates), min(1.0, max(2 * expected, *rates))
    axes = Axes(
        width=_LEFT + width + labels,
        height=_HEIGHT + bottom,
        left=_LEFT,
        right=labels,
        bottom=bottom,
        x_limits=(0.0, float(len(order))),
        y_limits=(100 * min(lowest, 0.0 if expected < 0.5 else lowest), 100 * highest),
    )
    parts = [axes.across("level", 100 * expected), axes.y_axis(unit="%")]
    ranges = []
    for number, (method, group) in enumerate(methods.items()):
        known = {place[setting_of(row, names, evidence)]: 100 * (row.estimate or 0) for row in group}
        parts.append(axes.labelled(number, method, axes.top + 10 + 15 * number, _steps(axes, known, axes.y)))
        least, most = min(known.values()) / 100, max(known.values()) / 100
        ranges.append(f"{method} from {percent_range(least, most, to='% to ')}")
    parts += [_loop(axes, names, index, order) for index in range(len(names))]
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


def _loop(axes: Axes, names: Sequence[str], index: int, order: Sequence[Setting]) -> Markup:
    """The steps of a factor below the plot, with its name and the range of its values."""
    values = sorted({setting[index] for setting in order})
    top = axes.base + 12 + _STEP * index
    heights = {value: top + 16 - 12 * number / (len(values) - 1) for number, value in enumerate(values)}
    steps = _steps(axes, {place: setting[index] for place, setting in enumerate(order)}, heights.__getitem__, "axis")
    shown = ", ".join(f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}" for value in values)
    side = axes.width - axes.right + 8
    return (
        steps
        + svg.text(side, top + 8, names[index], anchor="start")
        + svg.text(side, top + 20, shown, anchor="start", css="tick")
    )
