"""For each cell of retrains: the errors under the null hypothesis, with the observed one marked."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats.tasks.schema import Hypothesis

from .. import sections, svg
from ..axes import Axes
from ..evidence import Evidence, at_smallest_p, group_by
from ..figure import Figure, FigureKind
from ..null_distribution import NullDistribution, null_distribution
from ..wording import count_of, p_equation, percent

_WIDTH, _HEIGHT = 236.0, 104.0
_BINS = 56


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for all tests on retrains."""
    tests = []
    for number, section in enumerate(sections.of(evidence)):
        rows = evidence.of(section.test)
        if any(cell.fanout == "retrain" for row in rows for cell in evidence.cells_of(row)):
            groups = group_by(rows, lambda row: row.dataset or "").items()
            parts = [_group(f"h{number}-{i}", dataset, group, evidence) for i, (dataset, group) in enumerate(groups)]
            tests.append(Markup("<h4>{}</h4>{}").format(section.name, Markup("").join(parts)))
    if tests:
        yield Figure(
            title="Errors under the null hypothesis",
            caption=(
                "The histogram is the error of retrains on permuted data, the line the observed error. Permutations at "
                "least as extreme as observed are orange; their share, with the observed result counted in, is p, "
                "unless the test was ended early. All classifiers of a data set share the axis, in percent of rows got "
                "wrong; each histogram has its own height. ● marks a rejected null hypothesis."
            ),
            body=Markup("").join(tests),
        )


def _group(name: str, dataset: str, rows: Sequence[Hypothesis], evidence: Evidence) -> Markup:
    nulls = [null_distribution(row, evidence) for row in rows]
    present = [null for null in nulls if null is not None]
    low = min((min(int(null.wrong.min()), null.observed) for null in present), default=0)
    high = max((max(int(null.wrong.max()), null.observed) for null in present), default=1)
    bins = Bins.over(low, high, present[0].row.n or 1 if present else 1)
    panels = [
        _panel(f"{name}-{index}", row, null, bins) for index, (row, null) in enumerate(zip(rows, nulls, strict=True))
    ]
    size = f", {count_of(present[0].row.n or 0, 'row')}" if present else ""
    return Markup(
        '<div class="group"><h5>{}<span class="quiet">{}</span></h5>'
        '<div class="panels" tabindex="0" role="region" aria-label="Histograms of {}">{}</div></div>'
    ).format(dataset, size, dataset, Markup("").join(panels))


@dataclass(frozen=True)
class Bins:
    """The bins that all panels of a data set share, in rows.

    Attributes
    ----------
    low, high : float
        The ends of the axis.
    width : int
        A whole number of rows, so that every bin holds as many possible counts as any other.
    n : int
        The number of rows in all.
    """

    low: float
    high: float
    width: int
    n: int

    @classmethod
    def over(cls, low: int, high: int, n: int) -> "Bins":
        """Bins for every count from `low` to `high`, and zero where it is near."""
        low = 0 if low < 0.3 * high else low  # zero is the error everyone looks for
        width = max(1, math.ceil((high - low + 1) / _BINS))
        return cls(low - width, high + width, width, n)

    @property
    def axes(self) -> Axes:
        """The axes of a panel: the error in percent, and bars up to 1."""
        limits = (100 * self.low / self.n, 100 * self.high / self.n)
        return Axes(width=_WIDTH, height=_HEIGHT, left=9, right=9, top=20, bottom=20, x_limits=limits)

    def count(self, wrong: NDArray[np.int64], observed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Counts and left ends of the bins; the observed count ends its bin, so that no bin is half extreme."""
        position = np.floor_divide(wrong - observed - 1, self.width)
        first = int(position.min())
        counts = np.bincount(position - first)
        left = observed + 0.5 + (first + np.arange(len(counts), dtype=np.float64)) * self.width
        return counts.astype(np.int64), left


def _panel(name: str, row: Hypothesis, null: NullDistribution | None, bins: Bins) -> Markup:
    head = Markup("<strong>{}</strong>").format(row.classifier or "")
    if null is None or row.p_value is None:
        return Markup('<figure><figcaption>{}</figcaption><p class="absent">missing</p></figure>').format(head)
    equation = p_equation(row.p_value, at_most=at_smallest_p(row))
    mark = Markup('<span class="mark">●</span> ') if row.decision == "reject" else ""
    return Markup("<figure><figcaption>{} <span>{}{}</span></figcaption>{}</figure>").format(
        head, mark, equation, _histogram(name, null, bins, equation)
    )


def _histogram(name: str, null: NullDistribution, bins: Bins, equation: str) -> Markup:
    row, axes = null.row, bins.axes
    counts, left = bins.count(null.wrong, null.observed)
    heights = np.maximum(counts / counts.max() * (axes.base - axes.top), np.where(counts > 0, 0.8, 0.0))
    extreme = left < null.observed
    percents = (100 * np.append(left, left[-1] + bins.width) / bins.n).tolist()
    positions = np.array([axes.x(value) for value in percents])
    width = float(positions[1] - positions[0])
    rest = svg.bars(np.where(extreme, 0.0, heights), positions[:-1], width, axes.base)
    beyond = svg.bars(np.where(extreme, heights, 0.0), positions[:-1], width, axes.base)
    at = axes.x(100 * null.observed / bins.n)
    anchor, beside = ("start", 4) if at < _WIDTH * 0.6 else ("end", -4)
    low, mean, high, seen = (
        percent(float(value) / bins.n, bins.n)
        for value in (null.wrong.min(), null.wrong.mean(), null.wrong.max(), null.observed)
    )
    description = (
        f"Observed error {seen}. {count_of(len(null.wrong), 'permutation')}: mean {mean}, from {low} to {high}; "
        f"{row.exceedances} as extreme as observed."
    )
    parts = [
        svg.path("null", rest),
        svg.path("extreme", beyond) if beyond else Markup(""),
        axes.x_axis(most=5, unit="%", least=0),
        svg.path("observed", f"M{svg.coordinate(at)} {svg.coordinate(axes.base)}V12"),
        svg.text(at + beside, 12, seen, anchor=anchor, css="value"),
    ]
    title = f"{row.classifier} on {row.dataset}, {equation}"
    return axes.drawing(name, title, description, *parts)


KIND = FigureKind(order=30, draw=draw)
