"""Errors against a number in the names ``NAME = VALUE`` of data sets, with one curve per classifier."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...report import sections
from ...report.evidence import Evidence, Figure
from ...report.rows import distinct, group_by
from .null_histograms import null_distribution

_WIDTH, _HEIGHT = 236.0, 178.0
_NAMED = re.compile(r"(?P<name>\S(?:.*\S)?) *+= *+(?P<value>[-+]?[0-9.]+(?:e[-+]?[0-9]+)?)")


@dataclass(frozen=True)
class Point:
    """One data set: its value, the observed error, mean and middle 90% of the permuted errors, the decision."""

    value: float
    observed: float
    mean: float
    low: float
    high: float
    rejected: bool


def curves_of(test: str, evidence: Evidence) -> tuple[str, dict[str, list[Point]]]:
    """Return the number in which data sets of a test on retrains differ, and a curve for each classifier, if any."""
    rows = [row for row in evidence.rows_of(test) if row.measure == "error"]
    names = distinct(named[0] for row in rows if (named := _parameter_of(row)) is not None)
    curves = {
        classifier: sorted(_points(group, evidence), key=lambda point: point.value)
        for classifier, group in group_by(rows, lambda row: row.classifier or "").items()
        if len(names) == 1
    }
    # Fewer than four data sets make no curve.
    return "".join(names[:1]), {name: points for name, points in curves.items() if len(points) >= 4}


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each test on retrains whose data sets differ in one number."""
    for number, section in enumerate(sections.of_study(evidence)):
        name, curves = curves_of(section.test, evidence)
        if not curves:
            continue
        panels = [
            _panel(f"trend-{number}-{index}", classifier, points, name, _axes_over(curves.values()))
            for index, (classifier, points) in enumerate(curves.items())
        ]
        yield Figure(
            title=f"{section.name}: error against {name}",
            caption=(
                "The band contains the middle 90% of the errors of classifiers retrained on permuted data, and the "
                "line in it is their mean; the other line is the observed error. ● marks a rejected null hypothesis."
            ),
            body=svg.panels(panels),
        )


def _parameter_of(row: Hypothesis) -> tuple[str, float] | None:
    """The name and the value of a data set that is called ``NAME = VALUE``."""
    match = _NAMED.fullmatch(row.dataset or "")
    try:
        return None if match is None else (match["name"], float(match["value"]))
    except ValueError:
        return None


def _points(rows: Sequence[Hypothesis], evidence: Evidence) -> Iterator[Point]:
    for row in rows:
        null, named = null_distribution(row, evidence), _parameter_of(row)
        if null is None or named is None or row.estimate is None or not row.n:
            continue
        errors = null.values
        low, high = np.quantile(errors, [0.05, 0.95])
        yield Point(named[1], row.estimate, float(errors.mean()), float(low), float(high), row.decision == "reject")


def _axes_over(curves: Iterable[Sequence[Point]]) -> Axes:
    """The axes that all panels share: the value, and the error in percent."""
    points = [point for curve in curves for point in curve]
    values = [point.value for point in points]
    top = max(0.01, *(max(point.observed, point.high) for point in points))
    return Axes(width=_WIDTH, height=_HEIGHT, x_limits=(min(values), max(values)), y_limits=(0, 100 * top))


def _panel(name: str, classifier: str, points: Sequence[Point], label: str, axes: Axes) -> Markup:
    values = [point.value for point in points]
    low, high, mean, observed = (
        [100 * getattr(point, error) for point in points] for error in ("low", "high", "mean", "observed")
    )
    parts = [
        axes.band(values, low, high),
        axes.line("mean", zip(values, mean, strict=True)),
        axes.line("observed", zip(values, observed, strict=True)),
        *(axes.dot(point.value, 100 * point.observed, 3) for point in points if point.rejected),
        axes.y_axis(unit="%"),
        axes.x_axis(label),
    ]
    first, last = points[0], points[-1]
    share = sum(point.rejected for point in points)
    description = (
        f"Observed error {100 * first.observed:.1f}% at {first.value:g} and {100 * last.observed:.1f}% at "
        f"{last.value:g}; mean permuted error {100 * first.mean:.1f}% and {100 * last.mean:.1f}%. Rejected at {share} "
        f"of {len(points)} values."
    )
    title = f"Error of {classifier} against {label}"
    return svg.panel(classifier, axes.drawing(name, title, description, *parts))
