"""Methods compared pairwise on the same test sets, by the rejections or misses of only one of the two."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.extreme import at_most
from sigstats.mcnemar.mcnemar_test import mcnemar_test
from sigstats.tasks.plan import Cell

from ...pages.heat_table import HeatCell, p_legend, p_shade, pair_table, side_by_side
from ...pages.wording import p_equation
from ...report.evidence import Evidence, Figure
from ...report.rows import group_by, some_sizes
from .design import estimand, size

_MOST_METHODS = 8
#: The events that are compared, and the fan-outs whose cells have them.
_EVENTS = {"rejections": ("subsample", "own-test", "fold-test"), "misses of the truth": ("interval",)}


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for the rejections of each population, and one for the misses of its intervals; one panel per size."""
    for event, fan_outs in _EVENTS.items():
        cells = [cell for fan_out in fan_outs for cell in evidence.results.cells(fan_out)]
        of_population = group_by(
            cells, lambda cell: (cell.subject["dataset"], cell.subject.get("slice", ""), estimand(cell))
        )
        for population, group in of_population.items():
            sizes = sorted(group_by(group, lambda cell: int(cell.subject["n"])).items())
            drawn = (_panel(of_size, event, evidence) for _, of_size in some_sizes(sizes))
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
    """For each method, a mask of the test sets on which it rejects, or misses; on the test sets that all have."""
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


def _panel(cells: Sequence[Cell], event: str, evidence: Evidence) -> Markup | None:
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
