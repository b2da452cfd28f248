"""Rates against the size of the test set: the power of a test in each population of a calibration study."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sigstats.tasks.analyses.calibration import COVERAGE
from sigstats.tasks.schema import Hypothesis

from .. import svg
from ..evidence import Evidence, grouped
from ..figure import Figure, FigureKind
from ..wording import listed, percent

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BASE = 520.0, 330.0, 42.0, 108.0, 12.0, 284.0
#: As many sizes make a curve.
_FEWEST = 3
#: A label of a size needs so much room.
_ROOM = 38.0
#: Labels of curves are at least so far apart.
_APART = 13.0
#: So many colours tell curves apart.
_COLOURS = 6


@dataclass(frozen=True)
class Curve:
    """One population: its rates in the order of the sizes."""

    label: str
    rows: tuple[Hypothesis, ...]

    @property
    def exact(self) -> bool:
        """Whether every rate has its exact one."""
        return all(row.statistic is not None for row in self.rows)


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each test and data set, a curve for each of its populations; coverage has figures of its own."""
    found = [row for row in evidence.of("calibration") if row.estimate is not None]
    groups = grouped(found, lambda row: (row.dataset, row.method, row.measure == COVERAGE))
    for number, ((dataset, method, covers), rows) in enumerate(groups.items()):
        curves = [
            Curve(label or "", tuple(sorted(group, key=lambda row: row.n or 0)))
            for label, group in grouped(rows, lambda row: row.slice).items()
        ]
        curves = [curve for curve in curves if len(curve.rows) >= _FEWEST]
        if not curves:
            continue
        level = 1 - evidence.alpha if covers else evidence.alpha
        what = "Coverage" if covers else "Power"
        exact = "; the line is the exact rate" if any(curve.exact for curve in curves) else ""
        yield Figure(
            title=f"{what} of {method} against the size of the test set, {dataset}",
            caption=(
                f"A point is the share of the test sets {'whose interval holds the truth' if covers else 'rejected'}, "
                f"its bar a 95% interval{exact}. "
                f"The dashed line is {100 * level:g}%, {'the confidence' if covers else 'the level'} that is stated."
            ),
            body=_panel(f"power-{number}", f"{what} of {method}", curves, level, covers=covers),
        )


@dataclass(frozen=True)
class _Axes:
    """The scales of a figure: sizes that crowd at the left are spread by their logarithm."""

    sizes: tuple[int, ...]
    bottom: float
    top: float

    @classmethod
    def over(cls, curves: Sequence[Curve], level: float, *, covers: bool) -> "_Axes":
        rows = [row for curve in curves for row in curve.rows]
        bottom = min(level, *(row.estimate_low or 0 for row in rows)) if covers else 0.0
        highest = max(level, *(row.estimate_high or 0 for row in rows))
        return cls(tuple(sorted({row.n or 0 for row in rows})), bottom, 1.0 if highest > 0.5 else 1.1 * highest)

    @property
    def logarithmic(self) -> bool:
        return self.sizes[len(self.sizes) // 2] < self.sizes[-1] / 4

    @property
    def left(self) -> float:
        crowded = self.sizes[-1] < 4 * self.sizes[0]
        return self.sizes[0] if self.logarithmic or crowded else 0

    def x(self, n: float | None) -> float:
        left, right, value = self.left, float(self.sizes[-1]), float(n or 0)
        if self.logarithmic:
            left, right, value = math.log(left), math.log(right), math.log(value)
        return _LEFT + (value - left) / ((right - left) or 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, rate: float | None) -> float:
        return _BASE - ((rate or 0) - self.bottom) / ((self.top - self.bottom) or 1) * (_BASE - _TOP)

    def ticks(self) -> list[float]:
        """Round sizes; on a logarithmic axis those of the study that have room for their labels."""
        if not self.logarithmic:
            return svg.ticks(self.left, self.sizes[-1], 5)
        kept: list[float] = []
        for size in self.sizes:
            if not kept or self.x(size) - self.x(kept[-1]) >= _ROOM:
                kept.append(size)
        return kept


def _panel(name: str, title: str, curves: Sequence[Curve], level: float, *, covers: bool) -> Markup:
    axes = _Axes.over(curves, level, covers=covers)
    across, up = axes.ticks(), svg.ticks(100 * axes.bottom, 100 * axes.top, 5)
    ends = _spread([axes.y(curve.rows[-1].estimate) for curve in curves])
    parts = [
        Markup('<path class="level" d="M{} {}H{}"/>').format(
            svg.coordinate(_LEFT), svg.coordinate(axes.y(level)), svg.coordinate(_WIDTH - _RIGHT)
        ),
        *(
            Markup('<g class="curve c{}">{}{}</g>').format(
                number % _COLOURS,
                _curve(curve, axes),
                svg.text(_WIDTH - _RIGHT + 8, end + 4, curve.label, anchor="start", css="value"),
            )
            for number, (curve, end) in enumerate(zip(curves, ends, strict=True))
        ),
        Markup('<path class="axis" d="M{} {}V{}H{}"/>').format(
            svg.coordinate(_LEFT), svg.coordinate(_TOP), svg.coordinate(_BASE), svg.coordinate(_WIDTH - _RIGHT)
        ),
        *(svg.text(axes.x(value), _BASE + 15, f"{value:,g}", css="tick") for value in across),
        *(
            svg.text(_LEFT - 5, axes.y(value / 100) + 4, shown, anchor="end", css="tick")
            for value, shown in zip(up, svg.tick_labels(up, "%"), strict=True)
        ),
        svg.text((_LEFT + _WIDTH - _RIGHT) / 2, _BASE + 34, "rows of the test set"),
    ]
    steps = [
        f"{curve.label or 'the rate'} from {percent(curve.rows[0].estimate or 0)} at {curve.rows[0].n:,} rows to "
        f"{percent(curve.rows[-1].estimate or 0)} at {curve.rows[-1].n:,}"
        for curve in curves
    ]
    return svg.drawing(name, _WIDTH, _HEIGHT, title, f"{listed(steps)}.", *parts)


def _curve(curve: Curve, axes: _Axes) -> Markup:
    """The exact rates as a line, the simulated ones as points, each with its interval as a bar."""
    known = [(axes.x(row.n), axes.y(row.statistic if curve.exact else row.estimate)) for row in curve.rows]
    line = "M" + "L".join(f"{svg.coordinate(x)} {svg.coordinate(y)}" for x, y in known)
    bars = "".join(
        f"M{svg.coordinate(axes.x(row.n))} {svg.coordinate(axes.y(row.estimate_low))}"
        f"V{svg.coordinate(axes.y(row.estimate_high))}"
        for row in curve.rows
    )
    dots = [
        Markup('<circle class="dot" cx="{}" cy="{}" r="2.5"/>').format(
            svg.coordinate(axes.x(row.n)), svg.coordinate(axes.y(row.estimate))
        )
        for row in curve.rows
    ]
    return Markup('<path class="mean" d="{}"/><path class="observed" d="{}"/>{}').format(
        line, bars, Markup("").join(dots)
    )


def _spread(heights: Sequence[float]) -> list[float]:
    """Where labels stand so that none covers another, nor the axis: each as near to its height as that allows."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    placed, least = list(heights), float("-inf")
    for index in order:
        placed[index] = least = max(heights[index], least + _APART)
    most = _BASE - _APART / 2
    for index in reversed(order):
        placed[index] = min(placed[index], most)
        most = placed[index] - _APART
    return placed


KIND = FigureKind(order=6, draw=draw)
