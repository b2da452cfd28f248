"""Drawings of the rates of tests and intervals: against the size of the test set, or over all settings of a grid.

Curves have a line for each population; nested-loop plots have the factors as steps below (Ruecker, Schwarzer 2014).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from markupsafe import Markup

from sigstats._common.messages import join_words
from sigstats._common.numerals import percent, percent_range, significant
from sigstats.tasks.calibration.rejections import COVERAGE, ERROR
from sigstats.tasks.calibration.work import OnTestSets, Tested
from sigstats.tasks.schema import POWER, Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...report.evidence import Evidence, Figure
from ...report.rows import group_by
from .design import estimand

#: The size of a figure without the labels of its curves, and the room for the numbers of rates.
_WIDTH, _HEIGHT, _LEFT = 412.0, 324.0, 42.0
#: Least number of sizes for a curve.
_FEWEST = 3


@dataclass(frozen=True)
class Curve:
    """One population: its rates in the order of the sizes."""

    label: str
    rows: tuple[Hypothesis, ...]

    @property
    def exact(self) -> bool:
        """True if every rate is known exactly."""
        return all(row.statistic is not None for row in self.rows)


class CurveGroup(NamedTuple):
    """The curves of a method on the populations of a data set."""

    dataset: str | None
    method: str
    #: True for rates of coverage, False for rates of rejections.
    covers: bool
    curves: list[Curve]


def curves_of(evidence: Evidence) -> Iterator[CurveGroup]:
    """Yield the curves of populations with enough sizes, by data set, method and kind of rate."""
    known = [row for row in evidence.rows_of("calibration") if row.estimate is not None]
    rated = [row for row in known if not _is_exchanged(row, evidence)]
    groups = group_by(rated, lambda row: (row.dataset, row.method, row.measure == COVERAGE))
    for (dataset, method, covers), rows in groups.items():
        curves = [
            Curve(label or "", tuple(sorted(group, key=lambda row: row.n or 0)))
            for label, group in group_by(rows, lambda row: row.slice).items()
        ]
        if curves := [curve for curve in curves if len(curve.rows) >= _FEWEST]:
            yield CurveGroup(dataset, method, covers, curves)


def draw_curves(evidence: Evidence) -> Iterator[Figure]:
    """Draw a figure for each test and data set, with a curve for each population; coverage has separate figures."""
    for number, (dataset, method, covers, curves) in enumerate(curves_of(evidence)):
        level = 1 - evidence.alpha if covers else evidence.alpha
        what = "Coverage" if covers else "Power"
        exact = "; the line is the exact rate" if any(curve.exact for curve in curves) else ""
        yield Figure(
            title=f"{what} of {method} against the size of the test set, {dataset}",
            caption=(
                f"A point is the share of test sets {'whose interval contains the truth' if covers else 'rejected'}, "
                f"its bar a 95% interval{exact}. The dashed line is {significant(100 * level)}%, the "
                f"{'confidence' if covers else 'level'} that is stated."
            ),
            body=_curves_panel(f"power-{number}", f"{what} of {method}", curves, level, covers=covers),
        )


def _is_exchanged(row: Hypothesis, evidence: Evidence) -> bool:
    """Return True for a rate, other than coverage, of randomly exchanged outputs: there is nothing to detect."""
    exchanged = any(
        isinstance(cell.work, OnTestSets) and cell.work.population.swapped for cell in evidence.cells_of(row)
    )
    return exchanged and row.measure != COVERAGE


def _axes_over(curves: Sequence[Curve], level: float, *, covers: bool) -> Axes:
    """Return the axes of a figure, in percent; sizes that crowd on the left are spread on a logarithmic scale."""
    rows = [row for curve in curves for row in curve.rows]
    sizes = _sizes(curves)
    bottom = min(level, *(row.estimate_low or 0 for row in rows)) if covers else 0.0
    highest = max(level, *(row.estimate_high or 0 for row in rows))
    logarithmic = sizes[len(sizes) // 2] < sizes[-1] / 4
    is_narrow = sizes[-1] < 4 * sizes[0]
    labels = 16 + max(svg.text_width(curve.label) for curve in curves)
    return Axes(
        width=_WIDTH + labels,
        height=_HEIGHT,
        left=_LEFT,
        right=labels,
        x_limits=(sizes[0] if logarithmic or is_narrow else 0, sizes[-1]),
        y_limits=(100 * bottom, 100 * (1.0 if highest > 0.5 else 1.1 * highest)),
        log_x=logarithmic,
    )


def _sizes(curves: Sequence[Curve]) -> list[int]:
    return sorted({row.n or 0 for curve in curves for row in curve.rows})


def _curves_panel(name: str, title: str, curves: Sequence[Curve], level: float, *, covers: bool) -> Markup:
    axes = _axes_over(curves, level, covers=covers)
    sizes = [(float(size), f"{size:,}") for size in _sizes(curves)]
    ends = svg.spread([axes.y(100 * (curve.rows[-1].estimate or 0)) for curve in curves], axes.base)
    parts = [
        axes.across("level", 100 * level),
        *(
            axes.labelled(number, curve.label, end + 4, _curve(curve, axes))
            for number, (curve, end) in enumerate(zip(curves, ends, strict=True))
        ),
        axes.y_axis(unit="%"),
        axes.x_axis("rows of the test set", most=5, ticks=sizes if axes.log_x else None),
    ]
    steps = [
        f"{curve.label or 'the rate'} from {percent(curve.rows[0].estimate or 0)} at {curve.rows[0].n:,} rows to "
        f"{percent(curve.rows[-1].estimate or 0)} at {curve.rows[-1].n:,}"
        for curve in curves
    ]
    return axes.drawing(name, title, f"{join_words(steps)}.", *parts)


def _curve(curve: Curve, axes: Axes) -> Markup:
    sizes = [float(row.n or 0) for row in curve.rows]
    rates = [100 * (row.estimate or 0) for row in curve.rows]
    exact = [100 * (row.statistic or 0) for row in curve.rows] if curve.exact else rates
    intervals = [(100 * (row.estimate_low or 0), 100 * (row.estimate_high or 0)) for row in curve.rows]
    bars = "".join(axes.path([(n, low), (n, high)]) for n, (low, high) in zip(sizes, intervals, strict=True))
    dots = [axes.dot(n, rate, 2.5) for n, rate in zip(sizes, rates, strict=True)]
    return axes.line("mean", zip(sizes, exact, strict=True)) + svg.path("observed", bars) + Markup("").join(dots)


#: Width of the left margin, height of the plot of rates, and height of the steps of one factor.
_LOOPS_LEFT, _LOOPS_HEIGHT, _STEP = 44.0, 300.0, 30.0
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
        width=_LOOPS_LEFT + width + labels,
        height=_LOOPS_HEIGHT + bottom,
        left=_LOOPS_LEFT,
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
