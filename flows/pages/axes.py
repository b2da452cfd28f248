"""The axes of a figure: where values stand in a drawing, with ticks and labels that leave each other room."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from . import svg

#: A tick with its label.
Tick = tuple[float, str]

_TICK = 3.0
#: The room between two labels of the x-axis.
_GAP = 8.0
#: The room for a label of the y-axis.
_LINE = 28.0


@dataclass(frozen=True, kw_only=True)
class Axes:
    """A drawing with an x-axis below and a y-axis to the left.

    >>> axes = Axes(width=150, height=100, x_limits=(0, 10), y_limits=(0, 1), left=40, bottom=20, right=10, top=10)
    >>> axes.x(5), axes.y(0.5)
    (90.0, 45.0)
    >>> axes.path([(0, 0), (10, 1)])
    'M40 80L140 10'
    """

    #: The size of the drawing in pixels.
    width: float
    height: float
    #: The values at the ends of the axes, from left to right and from the bottom up.
    x_limits: tuple[float, float]
    y_limits: tuple[float, float] = (0.0, 1.0)
    #: The room between its edges and the axes, for ticks and labels.
    left: float = 38.0
    right: float = 10.0
    top: float = 12.0
    bottom: float = 40.0
    #: Whether the x-axis is logarithmic.
    log_x: bool = False

    @property
    def base(self) -> float:
        """The height of the x-axis."""
        return self.height - self.bottom

    def x(self, value: float) -> float:
        """Where a value stands across."""
        low, high = self.x_limits
        if self.log_x:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.left + (value - low) / ((high - low) or 1) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """Where a value stands upwards."""
        low, high = self.y_limits
        return self.base - (value - low) / ((high - low) or 1) * (self.base - self.top)

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        """The SVG path through points."""
        return "M" + "L".join(f"{svg.coordinate(self.x(x))} {svg.coordinate(self.y(y))}" for x, y in points)

    def line(self, css: str, points: Iterable[tuple[float, float]]) -> Markup:
        """A line through points."""
        return svg.path(css, self.path(points))

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Markup:
        """The area between two lines."""
        upper, lower = list(zip(x, high, strict=True)), list(zip(x, low, strict=True))
        return svg.path("band", self.path([*upper, *reversed(lower)]) + "Z")

    def across(self, css: str, y: float) -> Markup:
        """A level line, from end to end."""
        return self.line(css, [(x, y) for x in self.x_limits])

    def upwards(self, css: str, x: float) -> Markup:
        """An upright line, from end to end."""
        return self.line(css, [(x, y) for y in self.y_limits])

    def dot(self, x: float, y: float, radius: float) -> Markup:
        """A disc."""
        return Markup('<circle class="dot" cx="{}" cy="{}" r="{}"/>').format(
            svg.coordinate(self.x(x)), svg.coordinate(self.y(y)), svg.coordinate(radius)
        )

    def x_axis(
        self,
        label: str = "",
        *,
        most: int = 4,
        unit: str = "",
        least: float = -math.inf,
        ticks: Sequence[Tick] | None = None,
        line: bool = True,
    ) -> Markup:
        """The x-axis, with as many ticks as have room for their labels.

        `label`: what the axis shows.
        `most`: the number of ticks, or one more; at least 3.
        `unit`: what follows the number of the last tick.
        `least`: no tick is below it.
        `ticks`: the ticks, where they are not round numbers: those without room are left out.
        `line`: whether the axis itself is drawn.
        """
        shown = self._round(most, unit, least) if ticks is None else self._spaced(ticks)
        marks = "".join(f"M{svg.coordinate(self.x(value))} {svg.coordinate(self.base)}v{_TICK:g}" for value, _ in shown)
        axis = f"M{svg.coordinate(self.left)} {svg.coordinate(self.base)}H{svg.coordinate(self.width - self.right)}"
        parts = [svg.path("axis", (axis if line else "") + marks)] if line or marks else []
        parts += [svg.text(self._centre(tick), self.base + 15, tick[1], css="tick") for tick in shown]
        if label:
            parts.append(svg.text((self.left + self.width - self.right) / 2, self.base + 32, label))
        return Markup("").join(parts)

    def y_axis(self, *, unit: str = "") -> Markup:
        """The y-axis, with as many round ticks as have room."""
        values = svg.ticks(*self.y_limits, max(3, int((self.base - self.top) / _LINE)))
        marks = "".join(f"M{svg.coordinate(self.left)} {svg.coordinate(self.y(value))}h-{_TICK:g}" for value in values)
        axis = f"M{svg.coordinate(self.left)} {svg.coordinate(self.top)}V{svg.coordinate(self.base)}"
        labels = zip(values, svg.tick_labels(values, unit), strict=True)
        return svg.path("axis", axis + marks) + Markup("").join(
            svg.text(self.left - _TICK - 3, self.y(value) + 4, text, anchor="end", css="tick") for value, text in labels
        )

    def drawing(self, name: str, title: str, description: str, *parts: Markup) -> Markup:
        """The SVG element; `name` is unique in the page."""
        return svg.drawing(name, self.width, self.height, title, description, *parts)

    def _round(self, most: int, unit: str, least: float) -> list[Tick]:
        low, high = self.x_limits
        ticks: list[Tick] = []
        for count in range(most, 0, -1):
            values = svg.ticks(max(low, least), high, count)
            if not values:
                break
            ticks = list(zip(values, svg.tick_labels(values, unit), strict=True))
            if len(self._spaced(ticks)) == len(ticks):
                return ticks
        return ticks[-1:]

    def _spaced(self, ticks: Sequence[Tick]) -> list[Tick]:
        """The ticks whose labels do not touch the one before."""
        shown: list[Tick] = []
        reached = -math.inf
        for tick in ticks:
            half, centre = svg.text_width(tick[1]) / 2, self._centre(tick)
            if centre - half >= reached:
                shown.append(tick)
                reached = centre + half + _GAP
        return shown

    def _centre(self, tick: Tick) -> float:
        """Where the label of a tick of the x-axis stands: below it, and within the drawing."""
        half = svg.text_width(tick[1]) / 2
        return max(half, min(self.x(tick[0]), self.width - half))
