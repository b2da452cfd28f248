"""Errors, or another measure, under the null hypothesis, and the observed ones: histograms for each cell, and trends.

A trend is over a number in the names ``NAME = VALUE`` of data sets, with one curve per classifier.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.numerals import count_of, p_equation
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...report import sections
from ...report.evidence import Evidence, Figure
from ...report.rows import at_smallest_p, distinct, group_by, is_proportion
from ...report.usual_columns import measured

_WIDTH, _HEIGHT = 236.0, 104.0
_BINS = 56
#: The step of measures that are not shares of rows.
_STEP = 1e-5


@dataclass(frozen=True)
class NullDistribution:
    """The null distribution of one hypothesis, in whole steps of its measure; a step of an error is a row."""

    row: Hypothesis
    #: The measure of each replicate in steps; for an error, the number of rows that are wrong.
    counts: NDArray[np.int64]
    #: The measure without permutation, in steps.
    observed: int
    step: float

    @property
    def values(self) -> NDArray[np.float64]:
        """The measure of each replicate."""
        return self.counts / (self.row.n or 1) if self.row.measure == "error" else self.counts.astype(float) * self.step


def null_distribution(row: Hypothesis, evidence: Evidence) -> NullDistribution | None:
    """Return the null distribution behind a row, or None if it is missing."""
    cells = [cell for cell in evidence.cells_of(row) if cell.fanout in ("retrain", "measured-retrain")]
    if not cells or row.estimate is None or not row.n:
        return None
    table = evidence.results.table(cells[0])
    if table is None:
        return None
    if cells[0].fanout == "retrain":
        wrong = table.column("wrong").to_numpy().astype(np.int64)
        return NullDistribution(row, wrong[: row.replicates], round(row.estimate * row.n), 1 / row.n)
    values = (1 if row.alternative == "greater" else -1) * table.column("value").to_numpy()[: row.replicates]
    return NullDistribution(row, np.rint(values / _STEP).astype(np.int64), round(row.estimate / _STEP), _STEP)


def draw_histograms(evidence: Evidence) -> Iterator[Figure]:
    """Yield one figure for all tests on retrains."""
    tests, measure, more = [], "error", False
    for number, section in enumerate(sections.of_study(evidence)):
        rows = evidence.rows_of(section.test)
        if any(cell.fanout in ("retrain", "measured-retrain") for row in rows for cell in evidence.cells_of(row)):
            groups = group_by(rows, lambda row: row.dataset or "").items()
            parts = [_group(f"h{number}-{i}", dataset, group, evidence) for i, (dataset, group) in enumerate(groups)]
            tests.append(Markup("<h4>{}</h4>{}").format(section.name, Markup("").join(parts)))
            measure, more = rows[0].measure or "error", rows[0].alternative == "greater"
    if tests:
        by_error = measure == "error"
        better = f"{measure} ({'more' if more else 'less'} is better)"
        unit = "in percent of rows got wrong" if by_error else f"the {better}"
        yield Figure(
            title="Errors under the null hypothesis" if by_error else f"{measure} under the null hypothesis",
            caption=(
                f"The histogram shows the {measure} of classifiers retrained on permuted data, the line the observed "
                f"one. Permutations to the {'right' if more else 'left'} are at least as extreme; unless the test "
                "ended early, p is their share, including the observed result. All classifiers of a data set share the "
                f"axis, {unit}, but not the height of the histogram. ● marks a rejected null hypothesis."
            ),
            body=Markup("").join(tests),
        )


def _group(name: str, dataset: str, rows: Sequence[Hypothesis], evidence: Evidence) -> Markup:
    nulls = [null_distribution(row, evidence) for row in rows]
    present = [null for null in nulls if null is not None]
    bins = Bins.of(present)
    panels = [
        _histogram_panel(f"{name}-{index}", row, null, bins)
        for index, (row, null) in enumerate(zip(rows, nulls, strict=True))
    ]
    size = f", {count_of(present[0].row.n or 0, 'row')}" if present else ""
    return Markup(
        '<div class="group"><h5>{}<span class="quiet">{}</span></h5>'
        '<div class="panels" tabindex="0" role="region" aria-label="Histograms of {}">{}</div></div>'
    ).format(dataset, size, dataset, Markup("").join(panels))


@dataclass(frozen=True)
class Bins:
    """The bins that all panels of a data set share, in rows or other steps of the measure."""

    low: float
    high: float
    #: A whole number of steps, so that all bins contain equally many possible counts.
    width: int
    #: The number of steps in one unit of the axis: percent, or the unit of the measure.
    in_unit: float

    @classmethod
    def of(cls, nulls: Sequence[NullDistribution]) -> "Bins":
        """Return bins for every count of these distributions."""
        low = min((min(int(null.counts.min()), null.observed) for null in nulls), default=0)
        high = max((max(int(null.counts.max()), null.observed) for null in nulls), default=1)
        return cls.over(low, high, nulls[0] if nulls else None)

    @classmethod
    def over(cls, low: int, high: int, null: NullDistribution | None = None) -> "Bins":
        """Return bins for every count from `low` to `high`, and for zero if it is near."""
        low = 0 if 0 <= low < 0.3 * high else low  # zero is the error everyone looks for
        width = max(1, math.ceil((high - low + 1) / _BINS))
        if null is None:
            return cls(low - width, high + width, width, 1 / 100)
        steps = null.row.n or 1.0 if null.row.measure == "error" else 1 / null.step
        return cls(low - width, high + width, width, steps / (100 if is_proportion(null.row) else 1))

    @property
    def axes(self) -> Axes:
        """The axes of a panel: the measure, an error in percent, and bars up to 1."""
        limits = (self.low / self.in_unit, self.high / self.in_unit)
        return Axes(width=_WIDTH, height=_HEIGHT, left=9, right=9, top=20, bottom=20, x_limits=limits)

    def count(
        self, values: NDArray[np.int64], observed: int, *, more: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Counts and left ends of the bins; a bin ends at the observed value, or begins there if `more` is extreme."""
        ends = 0 if more else 1
        position = np.floor_divide(values - observed - ends, self.width)
        first = int(position.min())
        counts = np.bincount(position - first)
        left = observed + ends - 0.5 + (first + np.arange(len(counts), dtype=np.float64)) * self.width
        return counts.astype(np.int64), left


def _histogram_panel(name: str, row: Hypothesis, null: NullDistribution | None, bins: Bins) -> Markup:
    head = Markup("<strong>{}</strong>").format(row.classifier or "")
    if null is None or row.p_value is None:
        return Markup('<figure><figcaption>{}</figcaption><p class="absent">missing</p></figure>').format(head)
    equation = p_equation(row.p_value, at_most=at_smallest_p(row))
    mark = Markup('<span class="mark">●</span> ') if row.decision == "reject" else ""
    return Markup("<figure><figcaption>{} <span>{}{}</span></figcaption>{}</figure>").format(
        head, mark, equation, _histogram(name, null, bins, equation)
    )


def _histogram(name: str, null: NullDistribution, bins: Bins, equation: str) -> Markup:
    row, axes, more = null.row, bins.axes, null.row.alternative == "greater"
    counts, left = bins.count(null.counts, null.observed, more=more)
    heights = np.maximum(counts / counts.max() * (axes.base - axes.top), np.where(counts > 0, 0.8, 0.0))
    extreme = left > null.observed - 1 if more else left < null.observed
    values = (np.append(left, left[-1] + bins.width) / bins.in_unit).tolist()
    positions = np.array([axes.x(value) for value in values])
    width = float(positions[1] - positions[0])
    rest = svg.bars(np.where(extreme, 0.0, heights), positions[:-1], width, axes.base)
    beyond = svg.bars(np.where(extreme, heights, 0.0), positions[:-1], width, axes.base)
    at = axes.x(null.observed / bins.in_unit)
    anchor, offset = ("start", 4) if at < _WIDTH * 0.6 else ("end", -4)
    spread = null.values
    low, mean, high, seen = (
        measured(row, value) for value in (*map(float, (spread.min(), spread.mean(), spread.max())), row.estimate)
    )
    description = (
        f"Observed {row.measure} {seen}. {count_of(len(spread), 'permutation')}: mean {mean}, from {low} to {high}; "
        f"{row.exceedances} as extreme as observed."
    )
    parts = [
        svg.path("null", rest),
        svg.path("extreme", beyond) if beyond else Markup(""),
        axes.x_axis(most=5, unit="%", least=0) if is_proportion(row) else axes.x_axis(most=5),
        svg.path("observed", f"M{svg.coordinate(at)} {svg.coordinate(axes.base)}V12"),
        svg.text(at + offset, 12, seen, anchor=anchor, css="value"),
    ]
    title = f"{row.classifier} on {row.dataset}, {equation}"
    return axes.drawing(name, title, description, *parts)


_TREND_WIDTH, _TREND_HEIGHT = 236.0, 178.0
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
    """Return the parameter that varies between data sets of a retraining test, and each classifier's curve, if any."""
    rows = [row for row in evidence.rows_of(test) if row.measure == "error"]
    names = distinct(named[0] for row in rows if (named := _parameter_of(row)) is not None)
    curves = {
        classifier: sorted(_points(group, evidence), key=lambda point: point.value)
        for classifier, group in group_by(rows, lambda row: row.classifier or "").items()
        if len(names) == 1
    }
    # Fewer than four data sets make no curve.
    return "".join(names[:1]), {name: points for name, points in curves.items() if len(points) >= 4}


def draw_trends(evidence: Evidence) -> Iterator[Figure]:
    """Yield one figure for each test on retrains whose data sets differ in one number."""
    for number, section in enumerate(sections.of_study(evidence)):
        name, curves = curves_of(section.test, evidence)
        if not curves:
            continue
        panels = [
            _trend_panel(f"trend-{number}-{index}", classifier, points, name, _axes_over(curves.values()))
            for index, (classifier, points) in enumerate(curves.items())
        ]
        yield Figure(
            title=f"{section.name}: error against {name}",
            caption=(
                "The band contains the middle 90% of the errors of classifiers retrained on permuted data, and the "
                "line in it is their mean; the other line is the observed error. ● marks a rejected null hypothesis."
            ),
            body=svg.side_by_side(panels, "panels"),
        )


def _parameter_of(row: Hypothesis) -> tuple[str, float] | None:
    """Return the name and the value of a data set that is called ``NAME = VALUE``."""
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
    """Return the axes that all panels share: the value, and the error in percent."""
    points = [point for curve in curves for point in curve]
    values = [point.value for point in points]
    top = max(0.01, *(max(point.observed, point.high) for point in points))
    return Axes(width=_TREND_WIDTH, height=_TREND_HEIGHT, x_limits=(min(values), max(values)), y_limits=(0, 100 * top))


def _trend_panel(name: str, classifier: str, points: Sequence[Point], label: str, axes: Axes) -> Markup:
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
