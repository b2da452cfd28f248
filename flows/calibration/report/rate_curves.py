"""Rates of tests and intervals against the size of the test set, with a curve for each population."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from sigstats.tasks.calibration.rejections import COVERAGE
from sigstats.tasks.calibration.work import OnTestSets
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import join_words, percent, significant
from ...report.evidence import Evidence, Figure
from ...report.rows import group_by

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
