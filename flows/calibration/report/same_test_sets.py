"""The answers of all methods on the same test sets.

Methods are compared pairwise by the rejections, or misses, of only one of the two. Zip plots show the intervals of a
method, sorted by how far the estimate is from the truth in its standard errors. If a method keeps its confidence, the
share 1 - alpha of its intervals contains the truth; those that miss are on top, like the open part of a zip (Morris,
White and Crowther 2019).
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.extreme import at_most
from sigstats._common.numerals import p_equation, percent
from sigstats.mcnemar.mcnemar_test import mcnemar_test
from sigstats.tasks.calibration.rejections import COVERAGE
from sigstats.tasks.plan import Cell
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.page import HeatCell, p_legend, p_shade, pair_table, side_by_side
from ...pages.svg import Axes
from ...report.evidence import Evidence, Figure
from ...report.rows import group_by, some_sizes
from .design import estimand, size

_MOST_METHODS = 8
#: The events that are compared, and the fan-outs whose cells have them.
_EVENTS = {"rejections": ("subsample", "own-test", "fold-test"), "misses of the truth": ("interval",)}
#: The size of a zip plot, and the room beside its intervals.
_WIDTH, _HEIGHT = 252.0, 300.0
_LEFT, _RIGHT = 42.0, 18.0
#: The most intervals that are drawn, at even distances among the sorted ones.
_DRAWN = 150


def draw_pairs(evidence: Evidence) -> Iterator[Figure]:
    """Yield a figure of rejections, and one of misses of intervals, for each population, with a panel per size."""
    for event, fan_outs in _EVENTS.items():
        cells = [cell for fan_out in fan_outs for cell in evidence.results.cells(fan_out)]
        of_population = group_by(
            cells, lambda cell: (cell.subject["dataset"], cell.subject.get("slice", ""), estimand(cell))
        )
        for population, group in of_population.items():
            sizes = sorted(group_by(group, lambda cell: int(cell.subject["n"])).items())
            drawn = (_pairs_panel(of_size, event, evidence) for _, of_size in some_sizes(sizes))
            panels = [panel for panel in drawn if panel is not None]
            if panels:
                yield Figure(
                    title=f"Methods on the same test sets: {event}, {', '.join(filter(None, population))}",
                    caption=(
                        f"Test sets with {event} only by the method of the row, and only by that of the column; the "
                        "colour is McNemar's exact two-sided p, not adjusted, of the hypothesis of equal rates."
                    ),
                    body=Markup("{}{}").format(side_by_side(panels, len(group)), p_legend()),
                )


def flags(cells: Sequence[Cell], evidence: Evidence) -> dict[str, NDArray[np.bool_]]:
    """Return, by method, a mask of rejections or misses on the test sets that all methods have."""
    masks: dict[str, NDArray[np.bool_]] = {}
    for cell in cells[:_MOST_METHODS]:
        table = evidence.results.table(cell)
        if table is not None:
            masks[evidence.method_names[cell.subject["test"]]] = (
                ~table.column("covers").to_numpy()
                if cell.fanout == "interval"
                else at_most(table.column("p_value").to_numpy(), evidence.alpha)
            )
    shortest = min((values.size for values in masks.values()), default=0)
    return {method: values[:shortest] for method, values in masks.items()}


def _pairs_panel(cells: Sequence[Cell], event: str, evidence: Evidence) -> Markup | None:
    masks = flags(cells, evidence)
    if len(masks) < 2:
        return None
    caption = f"{size(cells[0])}, {next(iter(masks.values())).size:,} test sets"
    return pair_table(caption, f"{event}, {caption}", list(masks), lambda a, b: _cell(masks, a, b))


def _cell(masks: Mapping[str, NDArray[np.bool_]], row: str, column: str) -> HeatCell:
    only_row = int(np.count_nonzero(masks[row] & ~masks[column]))
    only_column = int(np.count_nonzero(masks[column] & ~masks[row]))
    p = mcnemar_test(only_row, only_column).pvalue
    return HeatCell(f"{only_row:,} : {only_column:,}", p_shade(p), hint=p_equation(p))


def worst_of(evidence: Evidence) -> dict[str | None, list[Hypothesis]]:
    """Return the row with the lowest coverage for each data set and method."""
    rows = [row for row in evidence.rows_of("performance") if row.measure == COVERAGE and row.truth is not None]
    return {
        dataset: [
            min(of_method, key=lambda row: row.estimate or 0)
            for of_method in group_by(group, lambda row: row.method).values()
        ]
        for dataset, group in group_by(rows, lambda row: row.dataset).items()
    }


def draw_zips(evidence: Evidence) -> Iterator[Figure]:
    """Draw one figure for each data set, with a panel for the lowest coverage of each method."""
    for number, (dataset, worst) in enumerate(worst_of(evidence).items()):
        panels = [_zip_panel(f"zip-{number}-{index}", row, evidence) for index, row in enumerate(worst)]
        yield Figure(
            title=f"Zip plots: the intervals of each method where its coverage is lowest, {dataset}",
            caption=(
                "Each line is the interval of one test set; the farther the estimate is from the truth, in standard "
                "errors, the higher it stands. Those that contain the truth cross the vertical line; "
                "above the dashed line is the share that may miss it."
            ),
            body=svg.side_by_side(panels, "panels"),
        )


def distances(estimates: NDArray[np.float64], errors: NDArray[np.float64], true: float) -> NDArray[np.float64]:
    """Return the distance of each estimate from the truth in standard errors; if these are 0, infinity (0 if exact)."""
    away = np.abs(estimates - true)
    with np.errstate(divide="ignore", invalid="ignore"):
        values: NDArray[np.float64] = np.where(errors > 0, away / errors, np.where(away > 1e-12, np.inf, 0.0))
    return values


def intervals(
    row: Hypothesis, evidence: Evidence
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the ends of some intervals from the nearest to the farthest, and whether each contains the truth."""
    table, true = evidence.results.table(evidence.cells_of(row)[0]), row.truth
    assert table is not None
    assert true is not None
    low, high, estimate, error = (table.column(key).to_numpy() for key in ("low", "high", "estimate", "standard_error"))
    order = np.lexsort((np.abs(estimate - true), distances(estimate, error, true)))
    order = order[~np.isnan(low[order])]
    shown = order[np.unique(np.linspace(0, order.size - 1, min(_DRAWN, order.size)).round().astype(int))]
    return low[shown], high[shown], table.column("covers").to_numpy()[shown]


def _zip_panel(name: str, row: Hypothesis, evidence: Evidence) -> Markup:
    (cell,), true = evidence.cells_of(row), row.truth or 0.0
    low, high, covers = intervals(row, evidence)
    heights = 100 * (np.arange(low.size) + 0.5) / low.size
    left, right = min(float(low.min()), true), max(float(high.max()), true)
    least = 0.01 * (right - left)  # so that an interval of length 0 is seen, at the ends too
    limits = (left - 3 * least, right + 3 * least)
    axes = Axes(width=_WIDTH, height=_HEIGHT, left=_LEFT, right=_RIGHT, x_limits=limits, y_limits=(0.0, 100.0))
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
