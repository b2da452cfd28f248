"""Small drawings as SVG text: a few hundred bytes each, where a plotting library writes tens of thousands."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from .wording import number

#: Labels of curves are at least so far apart.
_APART = 13.0


def coordinate(value: float) -> str:
    """A coordinate with one decimal at most."""
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between `low` and `high`, at most `most` + 1 of them.

    >>> ticks(0.3, 71.0)
    [20.0, 40.0, 60.0]
    """
    span = high - low
    if not span > 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if span / (factor * power) <= most)
    return [step * index for index in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def tick_labels(values: list[float], unit: str = "") -> list[str]:
    """Labels with as many decimals as tell the ticks apart, the last one with its unit."""
    if not values:
        return []
    step = values[1] - values[0] if len(values) > 1 else abs(values[0]) or 1
    decimals = next(d for d in range(12) if abs(round(step, d) - step) < 1e-9 * step or d == 11)
    labels = [number(value, decimals) for value in values]
    return [*labels[:-1], labels[-1] + unit]


def bars(heights: NDArray[np.float64], left: NDArray[np.float64], width: float, baseline: float) -> str:
    """The path of a histogram's outline; runs of empty bins are left out."""
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
    """A line of text."""
    return Markup('<text x="{}" y="{}" text-anchor="{}"{}>{}</text>').format(
        coordinate(x), coordinate(y), anchor, Markup(' class="{}"').format(css) if css else "", content
    )


def text_width(content: str) -> float:
    """The room that a line of text takes at most, in pixels, in the fonts that browsers have."""
    return 7.0 * len(content) + 4.0 * content.count("%")


def shortened(content: str, room: float) -> str:
    """A line of text as far as there is room for it."""
    most = int(room / text_width("x"))
    return content if len(content) <= most else f"{content[: most - 1]}…"


def spread(heights: Sequence[float], base: float) -> list[float]:
    """Where labels stand so that none covers another, nor the axis: each as near to its height as that allows."""
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
    """A path."""
    return Markup('<path class="{}" d="{}"/>').format(css, d)


def verdict_mark(x: float, y: float, verdict: str) -> Markup:
    """A point whose shape says the verdict too: a disc passes, a square fails, a diamond is inconclusive."""
    if verdict == "fail":
        return path("point fail", f"M{coordinate(x - 4)} {coordinate(y - 4)}h8v8h-8Z")
    if verdict == "inconclusive":
        return path("point inconclusive", f"M{coordinate(x)} {coordinate(y - 5.5)}l5.5 5.5l-5.5 5.5l-5.5 -5.5Z")
    return Markup('<circle class="point {}" cx="{}" cy="{}" r="4"/>').format(verdict, coordinate(x), coordinate(y))


def drawing(name: str, width: float, height: float, title: str, description: str, *parts: Markup) -> Markup:
    """An SVG element that says what it shows; `name` is unique in the page."""
    return Markup(
        '<svg viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-labelledby="{n}-t {n}-d">'
        '<title id="{n}-t">{t}</title><desc id="{n}-d">{d}</desc>{parts}</svg>'
    ).format(w=coordinate(width), h=coordinate(height), n=name, t=title, d=description, parts=Markup("").join(parts))


def side_by_side(drawings: Iterable[Markup], css: str = "trends") -> Markup:
    """Drawings beside each other, as far as the page is wide."""
    return Markup('<div class="{}">{}</div>').format(css, Markup("").join(drawings))


def panel(name: str, drawing: Markup, said: str = "") -> Markup:
    """One of several drawings under its name, and a few words."""
    head = Markup("<strong>{}</strong>{}").format(name, f" {said}" if said else "")
    return Markup("<figure><figcaption>{}</figcaption>{}</figure>").format(head, drawing)


def panels(drawings: Iterable[Markup]) -> Markup:
    """Such drawings beside each other."""
    return side_by_side(drawings, "panels")
