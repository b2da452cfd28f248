"""Zip plots: the intervals of a method, sorted by how far the estimate is from the truth in its standard errors.

If a method keeps its confidence, the share 1 - alpha of its intervals contains the truth; those that miss are on top,
like the open part of a zip (Morris, White and Crowther 2019).
"""

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats.tasks.calibration.rates import COVERAGE
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import percent
from ...report.evidence import Evidence, Figure
from ...report.rows import group_by
from .design import estimand, size

_SIDE, _HEIGHT = 252.0, 300.0
_LEFT, _RIGHT = 42.0, 18.0
#: The most intervals that are drawn, at even distances among the sorted ones.
_DRAWN = 150


def worst_of(evidence: Evidence) -> dict[str | None, list[Hypothesis]]:
    """For each data set and method, the row with the lowest coverage."""
    rows = [row for row in evidence.rows_of("performance") if row.measure == COVERAGE and row.truth is not None]
    return {
        dataset: [
            min(of_method, key=lambda row: row.estimate or 0)
            for of_method in group_by(group, lambda row: row.method).values()
        ]
        for dataset, group in group_by(rows, lambda row: row.dataset).items()
    }


def draw(evidence: Evidence) -> Iterator[Figure]:
    """Draw one figure for each data set, with a panel for the lowest coverage of each method."""
    for number, (dataset, worst) in enumerate(worst_of(evidence).items()):
        panels = [_panel(f"zip-{number}-{index}", row, evidence) for index, row in enumerate(worst)]
        yield Figure(
            title=f"Zip plots: the intervals of each method where its coverage is lowest, {dataset}",
            caption=(
                "Each line is the interval of one test set; the farther the estimate is from the truth, in standard "
                "errors, the higher it stands. Those that contain the truth cross the vertical line; "
                "above the dashed line is the share that may miss it."
            ),
            body=svg.panels(panels),
        )


def distances(estimates: NDArray[np.float64], errors: NDArray[np.float64], true: float) -> NDArray[np.float64]:
    """The distance of each estimate from the truth in standard errors; if these are 0, infinity (0 if exact)."""
    away = np.abs(estimates - true)
    with np.errstate(divide="ignore", invalid="ignore"):
        values: NDArray[np.float64] = np.where(errors > 0, away / errors, np.where(away > 1e-12, np.inf, 0.0))
    return values


def intervals(
    row: Hypothesis, evidence: Evidence
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """The ends of some intervals from the nearest to the farthest, and whether each contains the truth."""
    table, true = evidence.results.table(evidence.cells_of(row)[0]), row.truth
    assert table is not None
    assert true is not None
    low, high, estimate, error = (table.column(key).to_numpy() for key in ("low", "high", "estimate", "standard_error"))
    order = np.lexsort((np.abs(estimate - true), distances(estimate, error, true)))
    order = order[~np.isnan(low[order])]
    shown = order[np.unique(np.linspace(0, order.size - 1, min(_DRAWN, order.size)).round().astype(int))]
    return low[shown], high[shown], table.column("covers").to_numpy()[shown]


def _panel(name: str, row: Hypothesis, evidence: Evidence) -> Markup:
    (cell,), true = evidence.cells_of(row), row.truth or 0.0
    low, high, covers = intervals(row, evidence)
    heights = 100 * (np.arange(low.size) + 0.5) / low.size
    left, right = min(float(low.min()), true), max(float(high.max()), true)
    least = 0.01 * (right - left)  # so that an interval of length 0 is seen, at the ends too
    limits = (left - 3 * least, right + 3 * least)
    axes = Axes(width=_SIDE, height=_HEIGHT, left=_LEFT, right=_RIGHT, x_limits=limits, y_limits=(0.0, 100.0))
    paths = {
        css: "".join(
            axes.path([(low[index] - least, y), (high[index] + least, y)])
            for index, y in enumerate(heights.tolist())
            if bool(covers[index]) is contains
        )
        for css, contains in (("mean", True), ("observed", False))
    }
    parts = [
        *(svg.path(css, path) for css, path in paths.items() if path),
        axes.upwards("axis", true),
        axes.across("level", 100 * (1 - evidence.alpha)),
        axes.y_axis(unit="%"),
        axes.x_axis(estimand(cell)),
    ]
    where = ", ".join(part for part in (row.slice, size(cell)) if part)
    coverage = percent(row.estimate or 0)
    drawn = axes.drawing(name, f"{row.method}: zip plot", f"{coverage} contain the truth.", *parts)
    return svg.panel(row.method, drawn, f"{where}: {coverage}")
