"""Drawings: elements of SVG, and `Axes`, in which they are placed by values. All text from data is escaped."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.numerals import number

#: The smallest distance of two labels of curves.
_APART = 13.0


def coordinate(value: float) -> str:
    """Return a coordinate with one decimal at most."""
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers between `low` and `high`, at most `most` + 1 of them."""
    span = high - low
    if not span > 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if span / (factor * power) <= most)
    return [step * index for index in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def tick_labels(values: list[float], unit: str = "") -> list[str]:
    """Return labels with enough decimals to distinguish the ticks, the last one with its unit."""
    if not values:
        return []
    step = values[1] - values[0] if len(values) > 1 else abs(values[0]) or 1
    decimals = next(d for d in range(12) if abs(round(step, d) - step) < 1e-9 * step or d == 11)
    labels = [number(value, decimals) for value in values]
    return [*labels[:-1], labels[-1] + unit]


def bars(heights: NDArray[np.float64], left: NDArray[np.float64], width: float, baseline: float) -> str:
    """Return the path of a histogram's outline; runs of empty bins are left out."""
    path, previous = [], False
    for height, x in zip(heights, left, strict=True):
        if height > 0:
            top = coordinate(baseline - height)
            start = f"V{top}" if previous else f"M{coordinate(x)} {coordinate(baseline)}V{top}"
            path.append(f"{start}H{coordinate(x + width)}")
        elif previous:
            path.append(f"V{coordinate(baseline)}Z")
        previous = bool(height > 0)
    if previous:
        path.append(f"V{coordinate(baseline)}Z")
    return "".join(path)


def text(x: float, y: float, content: str, *, anchor: str = "middle", css: str = "") -> Markup:
    """Return a line of text."""
    return Markup('<text x="{}" y="{}" text-anchor="{}"{}>{}</text>').format(
        coordinate(x), coordinate(y), anchor, Markup(' class="{}"').format(css) if css else "", content
    )


def text_width(content: str) -> float:
    """Return the largest width of a line of text in pixels, in the fonts of common browsers."""
    return 7.0 * len(content) + 4.0 * content.count("%")


def shortened(content: str, room: float) -> str:
    """Return a line of text, cut to the available room."""
    most = int(room / text_width("x"))
    return content if len(content) <= most else f"{content[: most - 1]}…"


def spread(heights: Sequence[float], base: float) -> list[float]:
    """Return heights of labels near the given ones, at which labels overlap neither each other nor the axis."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    placed, least = list(heights), float("-inf")
    for index in order:
        placed[index] = least = max(heights[index], least + _APART)
    most = base - _APART / 2
    for index in reversed(order):
        placed[index] = min(placed[index], most)
        most = placed[index] - _APART
    return placed


def path(css: str, d: str) -> Markup:
    """Return a path."""
    return Markup('<path class="{}" d="{}"/>').format(css, d)


#: The number of colours of curves.
COLOURS = 6


def curve(number: int, *parts: Markup) -> Markup:
    """Return an element of one of several curves, in its colour."""
    return Markup('<g class="curve c{}">{}</g>').format(number % COLOURS, Markup("").join(parts))


def verdict_mark(x: float, y: float, verdict: str) -> Markup:
    """Return a point whose shape also shows the verdict: a disc passes, a square fails, a diamond is inconclusive."""
    if verdict == "fail":
        return path("point fail", f"M{coordinate(x - 4)} {coordinate(y - 4)}h8v8h-8Z")
    if verdict == "inconclusive":
        return path("point inconclusive", f"M{coordinate(x)} {coordinate(y - 5.5)}l5.5 5.5l-5.5 5.5l-5.5 -5.5Z")
    return Markup('<circle class="point {}" cx="{}" cy="{}" r="4"/>').format(verdict, coordinate(x), coordinate(y))


def drawing(name: str, width: float, height: float, title: str, description: str, *parts: Markup) -> Markup:
    """Return an SVG element with a description; `name` is unique in the page."""
    return Markup(
        '<svg viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-labelledby="{n}-t {n}-d">'
        '<title id="{n}-t">{t}</title><desc id="{n}-d">{d}</desc>{parts}</svg>'
    ).format(w=coordinate(width), h=coordinate(height), n=name, t=title, d=description, parts=Markup("").join(parts))


def side_by_side(drawings: Iterable[Markup], css: str = "trends") -> Markup:
    """Return drawings side by side, up to the width of the page; `css`: the class of their container."""
    return Markup('<div class="{}">{}</div>').format(css, Markup("").join(drawings))


def panel(name: str, drawing: Markup, summary: str = "") -> Markup:
    """Return one of several drawings under its name, and a few words."""
    head = Markup("<strong>{}</strong>{}").format(name, f" {summary}" if summary else "")
    return Markup("<figure><figcaption>{}</figcaption>{}</figure>").format(head, drawing)


Tick = tuple[float, str]

_TICK = 3.0
#: The room between two labels of the x-axis.
_GAP = 8.0
#: The room for a label of the y-axis.
_LINE = 28.0


@dataclass(frozen=True, kw_only=True)
class Axes:
    """A drawing with an x-axis below and a y-axis to the left."""

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
    log_x: bool = False

    @property
    def base(self) -> float:
        """The height of the x-axis."""
        return self.height - self.bottom

    def x(self, value: float) -> float:
        """Return the horizontal position of a value."""
        low, high = self.x_limits
        if self.log_x:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.left + (value - low) / ((high - low) or 1) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """Return the vertical position of a value."""
        low, high = self.y_limits
        return self.base - (value - low) / ((high - low) or 1) * (self.base - self.top)

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        """Return the SVG path through points."""
        return "M" + "L".join(f"{coordinate(self.x(x))} {coordinate(self.y(y))}" for x, y in points)

    def line(self, css: str, points: Iterable[tuple[float, float]]) -> Markup:
        """Return a line through points."""
        return path(css, self.path(points))

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Markup:
        """Return the area between two lines."""
        upper, lower = list(zip(x, high, strict=True)), list(zip(x, low, strict=True))
        return path("band", self.path([*upper, *reversed(lower)]) + "Z")

    def across(self, css: str, y: float) -> Markup:
        """Return a horizontal line, from end to end."""
        return self.line(css, [(x, y) for x in self.x_limits])

    def upwards(self, css: str, x: float) -> Markup:
        """Return a vertical line, from end to end."""
        return self.line(css, [(x, y) for y in self.y_limits])

    def dot(self, x: float, y: float, radius: float) -> Markup:
        """Return a disc."""
        return Markup('<circle class="dot" cx="{}" cy="{}" r="{}"/>').format(
            coordinate(self.x(x)), coordinate(self.y(y)), coordinate(radius)
        )

    def labelled(self, number: int, label: str, y: float, *parts: Markup) -> Markup:
        """Return one of several curves, with its label to the right of the axes."""
        return curve(number, *parts, text(self.width - self.right + 8, y, label, anchor="start", css="value"))

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
        """Return the x-axis, with as many ticks as there is room for labels.

        `label`: name of the axis.
        `most`: the number of ticks, or one more; at least 3.
        `unit`: suffix of the last tick.
        `least`: lower bound of the ticks.
        `ticks`: the ticks, if they are not round numbers: those without room are left out.
        `line`: whether the axis itself is drawn.
        """
        shown = self._round(most, unit, least) if ticks is None else self._spaced(ticks)
        marks = "".join(f"M{coordinate(self.x(value))} {coordinate(self.base)}v{_TICK:g}" for value, _ in shown)
        axis = f"M{coordinate(self.left)} {coordinate(self.base)}H{coordinate(self.width - self.right)}"
        parts = [path("axis", (axis if line else "") + marks)] if line or marks else []
        parts += [text(self._centre(tick), self.base + 15, tick[1], css="tick") for tick in shown]
        if label:
            parts.append(text((self.left + self.width - self.right) / 2, self.base + 32, label))
        return Markup("").join(parts)

    def y_axis(self, *, unit: str = "", shown: Sequence[Tick] = ()) -> Markup:
        """Return the y-axis, with as many round ticks as fit, or with the ticks `shown`."""
        values = ticks(*self.y_limits, max(3, int((self.base - self.top) / _LINE)))
        labels = shown or list(zip(values, tick_labels(values, unit), strict=True))
        marks = "".join(f"M{coordinate(self.left)} {coordinate(self.y(value))}h-{_TICK:g}" for value, _ in labels)
        axis = f"M{coordinate(self.left)} {coordinate(self.top)}V{coordinate(self.base)}"
        return path("axis", axis + marks) + Markup("").join(
            text(self.left - _TICK - 3, self.y(value) + 4, words, anchor="end", css="tick") for value, words in labels
        )

    def drawing(self, name: str, title: str, description: str, *parts: Markup) -> Markup:
        """Return the SVG element; `name` is unique in the page."""
        return drawing(name, self.width, self.height, title, description, *parts)

    def _round(self, most: int, unit: str, least: float) -> list[Tick]:
        low, high = self.x_limits
        rounded: list[Tick] = []
        for count in range(most, 0, -1):
            values = ticks(max(low, least), high, count)
            if not values:
                break
            rounded = list(zip(values, tick_labels(values, unit), strict=True))
            if len(self._spaced(rounded)) == len(rounded):
                return rounded
        return rounded[-1:]

    def _spaced(self, ticks: Sequence[Tick]) -> list[Tick]:
        shown: list[Tick] = []
        reached = -math.inf
        for tick in ticks:
            half, centre = text_width(tick[1]) / 2, self._centre(tick)
            if centre - half >= reached:
                shown.append(tick)
                reached = centre + half + _GAP
        return shown

    def _centre(self, tick: Tick) -> float:
        """Centre of the label of a tick of the x-axis: below it, and within the drawing."""
        half = text_width(tick[1]) / 2
        return max(half, min(self.x(tick[0]), self.width - half))
