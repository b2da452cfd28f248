"""For each cell of retrains: the errors under the null hypothesis, with the observed one marked."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats.tasks.schema import Hypothesis

from .. import sections, svg
from ..evidence import Evidence, at_floor, grouped
from ..figure import Figure, FigureKind
from ..null_distribution import NullDistribution, null_distribution
from ..wording import counted, p_equation, percent

_WIDTH, _TOP, _BASE, _HEIGHT, _MARGIN = 236.0, 20.0, 84.0, 104.0, 9.0
_BINS = 56


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for all tests on retrains."""
    tests = []
    for number, section in enumerate(sections.of(evidence)):
        rows = evidence.of(section.test)
        if any(cell.fanout == "retrain" for row in rows for cell in evidence.cells_of(row)):
            groups = grouped(rows, lambda row: row.dataset or "").items()
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
    axis = Axis.over(low, high, present[0].row.n or 1 if present else 1)
    panels = [
        _panel(f"{name}-{index}", row, null, axis) for index, (row, null) in enumerate(zip(rows, nulls, strict=True))
    ]
    size = f", {counted(present[0].row.n or 0, 'row')}" if present else ""
    return Markup(
        '<div class="group"><h5>{}<span class="quiet">{}</span></h5>'
        '<div class="panels" tabindex="0" role="region" aria-label="Histograms of {}">{}</div></div>'
    ).format(dataset, size, dataset, Markup("").join(panels))


@dataclass(frozen=True)
class Axis:
    """The axis that all panels of a data set share, in rows.

    Attributes
    ----------
    low, high : float
        Its ends.
    bin_width : int
        A whole number of rows, so that every bin holds as many possible counts as any other.
    n : int
        The number of rows in all.
    """

    low: float
    high: float
    bin_width: int
    n: int

    @classmethod
    def over(cls, low: int, high: int, n: int) -> "Axis":
        """An axis that shows every count from `low` to `high`, and zero where it is near."""
        low = 0 if low < 0.3 * high else low  # zero is the error everyone looks for
        width = max(1, math.ceil((high - low + 1) / _BINS))
        return cls(low - width, high + width, width, n)

    def x(self, rows: float) -> float:
        """Where a count is drawn."""
        return _MARGIN + (rows - self.low) / (self.high - self.low) * (_WIDTH - 2 * _MARGIN)

    def bins(self, wrong: NDArray[np.int64], observed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Counts and left ends of the bins; the observed count ends its bin, so that no bin is half extreme."""
        position = np.floor_divide(wrong - observed - 1, self.bin_width)
        first = int(position.min())
        counts = np.bincount(position - first)
        left = observed + 0.5 + (first + np.arange(len(counts), dtype=np.float64)) * self.bin_width
        return counts.astype(np.int64), left


def _panel(name: str, row: Hypothesis, null: NullDistribution | None, axis: Axis) -> Markup:
    head = Markup("<strong>{}</strong>").format(row.classifier or "")
    if null is None or row.p_value is None:
        return Markup('<figure><figcaption>{}</figcaption><p class="absent">missing</p></figure>').format(head)
    equation = p_equation(row.p_value, at_most=at_floor(row))
    mark = Markup('<span class="mark">●</span> ') if row.decision == "reject" else ""
    return Markup("<figure><figcaption>{} <span>{}{}</span></figcaption>{}</figure>").format(
        head, mark, equation, _histogram(name, null, axis, equation)
    )


def _histogram(name: str, null: NullDistribution, axis: Axis, equation: str) -> Markup:
    row = null.row
    counts, left = axis.bins(null.wrong, null.observed)
    heights = np.maximum(counts / counts.max() * (_BASE - _TOP), np.where(counts > 0, 0.8, 0.0))
    extreme = left < null.observed
    width = axis.x(axis.bin_width) - axis.x(0)
    positions = np.array([axis.x(value) for value in left])
    rest = svg.bars(np.where(extreme, 0.0, heights), positions, width, _BASE)
    beyond = svg.bars(np.where(extreme, heights, 0.0), positions, width, _BASE)
    at = axis.x(null.observed)
    to_the_right = at < _WIDTH * 0.6
    labels = svg.ticks(100 * max(axis.low, 0) / axis.n, 100 * axis.high / axis.n)
    low, mean, high, seen = (
        percent(float(value) / axis.n, axis.n)
        for value in (null.wrong.min(), null.wrong.mean(), null.wrong.max(), null.observed)
    )
    description = (
        f"Observed error {seen}. {counted(len(null.wrong), 'permutation')}: mean {mean}, from {low} to {high}; "
        f"{row.exceedances} as extreme as observed."
    )
    parts = [
        Markup('<path class="null" d="{}"/>').format(rest),
        Markup('<path class="extreme" d="{}"/>').format(beyond) if beyond else Markup(""),
        Markup('<path class="axis" d="M{} {}H{}{}"/>').format(
            svg.coordinate(_MARGIN),
            svg.coordinate(_BASE),
            svg.coordinate(_WIDTH - _MARGIN),
            "".join(f"M{svg.coordinate(axis.x(v / 100 * axis.n))} {svg.coordinate(_BASE)}v3" for v in labels),
        ),
        *(
            svg.text(axis.x(value / 100 * axis.n), _BASE + 14, label, css="tick")
            for value, label in zip(labels, svg.tick_labels(labels, "%"), strict=True)
        ),
        Markup('<path class="observed" d="M{} {}V{}"/>').format(svg.coordinate(at), svg.coordinate(_BASE), "12"),
        svg.text(
            at + (4 if to_the_right else -4),
            12,
            seen,
            anchor="start" if to_the_right else "end",
            css="value",
        ),
    ]
    title = f"{row.classifier} on {row.dataset}, {equation}"
    return svg.drawing(name, _WIDTH, _HEIGHT, title, description, *parts)


KIND = FigureKind(order=30, draw=draw)
