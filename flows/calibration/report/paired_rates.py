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


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for the rejections of each population, and one for the misses of its intervals; one panel per size."""
    for kinds, what in ((("subsample", "own-test", "fold-test"), "rejections"), (("interval",), "misses of the truth")):
        cells = [cell for kind in kinds for cell in evidence.results.cells(kind)]
        of_population = group_by(
            cells, lambda cell: (cell.subject["dataset"], cell.subject.get("slice", ""), estimand(cell))
        )
        for (dataset, part, of), group in of_population.items():
            sizes = sorted(group_by(group, lambda cell: int(cell.subject["n"])).items())
            drawn = (_panel(of_size, what, evidence) for _, of_size in some_sizes(sizes))
            panels = [panel for panel in drawn if panel is not None]
            if panels:
                yield Figure(
                    title=f"Methods on the same test sets: {what}, {', '.join(filter(None, (dataset, part, of)))}",
                    caption=(
                        f"Test sets with {what} only by the method of the row, and only by that of the column; the "
                        "colour is McNemar's exact two-sided p, not adjusted, of the hypothesis of equal rates."
                    ),
                    body=Markup("{}{}").format(side_by_side(panels, len(group)), p_legend()),
                )


def flags(cells: Sequence[Cell], evidence: Evidence) -> dict[str, NDArray[np.bool_]]:
    """For each method and test set, whether it rejects, or misses; on the test sets that all of them have."""
    entries: dict[str, NDArray[np.bool_]] = {}
    for cell in cells[:_MOST_METHODS]:
        table = evidence.results.table(cell)
        if table is not None:
            entries[evidence.method_names[cell.subject["test"]]] = (
                ~table.column("covers").to_numpy()
                if cell.fanout == "interval"
                else at_most(table.column("p_value").to_numpy(), evidence.alpha)
            )
    shortest = min((values.size for values in entries.values()), default=0)
    return {method: values[:shortest] for method, values in entries.items()}


def _panel(cells: Sequence[Cell], what: str, evidence: Evidence) -> Markup | None:
    entries = flags(cells, evidence)
    if len(entries) < 2:
        return None
    caption = f"{size(cells[0])}, {next(iter(entries.values())).size:,} test sets"
    return pair_table(caption, f"{what}, {caption}", list(entries), lambda a, b: _cell(entries, a, b))


def _cell(value: Mapping[str, NDArray[np.bool_]], row: str, column: str) -> HeatCell:
    only_row = int(np.count_nonzero(value[row] & ~value[column]))
    only_column = int(np.count_nonzero(value[column] & ~value[row]))
    p = mcnemar_test(only_row, only_column).pvalue
    return HeatCell(f"{only_row:,} : {only_column:,}", p_shade(p), hint=p_equation(p))
