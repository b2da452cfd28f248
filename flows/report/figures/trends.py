"""Errors as one number of the data changes: data sets that are called ``NAME = VALUE``, one curve a classifier."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats.tasks.schema import Hypothesis

from .. import sections, svg
from ..evidence import Evidence, distinct, grouped
from ..figure import Figure, FigureKind
from ..null_distribution import null_distribution

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BASE = 236.0, 178.0, 34.0, 10.0, 12.0, 138.0
#: As many data sets make a curve.
_FEWEST = 4
_NAMED = re.compile(r"(?P<name>\S.*?) *= *(?P<value>[-+]?[0-9.]+(?:e[-+]?[0-9]+)?)")


@dataclass(frozen=True)
class Point:
    """One data set: its value, the observed error, mean and middle 90% of the permuted errors, the decision."""

    value: float
    observed: float
    mean: float
    low: float
    high: float
    rejected: bool


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each test on retrains whose data sets differ in one number."""
    for number, section in enumerate(sections.of(evidence)):
        rows = [row for row in evidence.of(section.test) if _value(row) is not None]
        names = distinct(_name(row) for row in rows)
        curves = {
            classifier: sorted(_points(group, evidence), key=lambda point: point.value)
            for classifier, group in grouped(rows, lambda row: row.classifier or "").items()
        }
        curves = {classifier: points for classifier, points in curves.items() if len(points) >= _FEWEST}
        if len(names) != 1 or not curves:
            continue
        panels = [
            _panel(f"trend-{number}-{index}", classifier, points, names[0], _Axes.over(curves.values()))
            for index, (classifier, points) in enumerate(curves.items())
        ]
        yield Figure(
            title=f"{section.name}: error against {names[0]}",
            caption=(
                "The orange line is the observed error, the grey line the mean error of retrains on permuted data, the "
                "band its middle 90%. ● marks a rejected null hypothesis."
            ),
            body=Markup('<div class="panels">{}</div>').format(Markup("").join(panels)),
        )


def _value(row: Hypothesis) -> float | None:
    found = _NAMED.fullmatch(row.dataset or "")
    try:
        return None if found is None else float(found["value"])
    except ValueError:
        return None


def _name(row: Hypothesis) -> str:
    found = _NAMED.fullmatch(row.dataset or "")
    return "" if found is None else found["name"]


def _points(rows: Sequence[Hypothesis], evidence: Evidence) -> Iterator[Point]:
    for row in rows:
        null, value = null_distribution(row, evidence), _value(row)
        if null is None or value is None or row.estimate is None or not row.n:
            continue
        errors: NDArray[np.float64] = null.wrong / row.n
        low, high = np.quantile(errors, [0.05, 0.95])
        yield Point(value, row.estimate, float(errors.mean()), float(low), float(high), row.decision == "reject")


@dataclass(frozen=True)
class _Axes:
    """The scales that all panels share."""

    left: float
    right: float
    top: float

    @classmethod
    def over(cls, curves: Iterable[Sequence[Point]]) -> "_Axes":
        points = [point for curve in curves for point in curve]
        values = [point.value for point in points]
        top = max(max(point.observed, point.high) for point in points)
        return cls(min(values), max(values), max(top, 0.01))

    def x(self, value: float) -> float:
        return _LEFT + (value - self.left) / ((self.right - self.left) or 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, error: float) -> float:
        return _BASE - error / self.top * (_BASE - _TOP)


def _panel(name: str, classifier: str, points: Sequence[Point], label: str, axes: _Axes) -> Markup:
    def path(pairs: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{svg.coordinate(axes.x(v))} {svg.coordinate(axes.y(e))}" for v, e in pairs)

    band = [(point.value, point.high) for point in points] + [(point.value, point.low) for point in reversed(points)]
    across, up = svg.ticks(axes.left, axes.right, 4), svg.ticks(0, 100 * axes.top, 4)
    parts = [
        Markup('<path class="band" d="{}Z"/>').format(path(band)),
        Markup('<path class="mean" d="{}"/>').format(path([(point.value, point.mean) for point in points])),
        Markup('<path class="observed" d="{}"/>').format(path([(point.value, point.observed) for point in points])),
        *(
            Markup('<circle class="dot" cx="{}" cy="{}" r="3"/>').format(
                svg.coordinate(axes.x(point.value)), svg.coordinate(axes.y(point.observed))
            )
            for point in points
            if point.rejected
        ),
        Markup('<path class="axis" d="M{} {}V{}H{}"/>').format(
            svg.coordinate(_LEFT), svg.coordinate(_TOP), svg.coordinate(_BASE), svg.coordinate(_WIDTH - _RIGHT)
        ),
        *(
            svg.text(axes.x(value), _BASE + 15, shown, css="tick")
            for value, shown in zip(across, svg.tick_labels(across), strict=True)
        ),
        *(
            svg.text(_LEFT - 5, axes.y(value / 100) + 4, shown, anchor="end", css="tick")
            for value, shown in zip(up, svg.tick_labels(up, "%"), strict=True)
        ),
        svg.text((_LEFT + _WIDTH - _RIGHT) / 2, _BASE + 31, label),
    ]
    first, last = points[0], points[-1]
    share = sum(point.rejected for point in points)
    description = (
        f"Observed error {100 * first.observed:.1f}% at {first.value:g} and {100 * last.observed:.1f}% at "
        f"{last.value:g}; mean permuted error {100 * first.mean:.1f}% and {100 * last.mean:.1f}%. Rejected at {share} "
        f"of {len(points)} values."
    )
    title = f"Error of {classifier} against {label}"
    return Markup("<figure><figcaption><strong>{}</strong></figcaption>{}</figure>").format(
        classifier, svg.drawing(name, _WIDTH, _HEIGHT, title, description, *parts)
    )


KIND = FigureKind(order=5, draw=draw)
