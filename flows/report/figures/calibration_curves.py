"""Stated against achieved: how often a test whose null hypothesis is true rejects, at every level up to a fifth."""

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.extreme import at_most
from sigstats.intervals import clopper_pearson
from sigstats.tasks.rates import ERROR
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import count_of, percent
from ..evidence import Evidence, group_by, some_of
from ..section import Figure

ORDER = 7
_SIDE = 236.0
#: The levels at which the rate of rejections is drawn.
_LEVELS = np.arange(1, 41) / 200


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each test and population in which its null hypothesis is true, a panel for some of its sizes."""
    rows = [row for row in evidence.of("calibration") if row.measure == ERROR and row.estimate is not None]
    for number, group in enumerate(group_by(rows, lambda row: (row.dataset, row.slice, row.method)).values()):
        first = group[0]
        shown = some_of(sorted(group, key=lambda row: row.n or 0))
        panels = [_panel(f"calibration-{number}-{index}", row, evidence) for index, row in enumerate(shown)]
        yield Figure(
            title=f"Stated and achieved type I error of {first.method}, {first.slice or first.dataset}",
            caption=(
                "Across the level that is stated, upwards the share of the test sets that are rejected at it, with its "
                "95% interval. A test that keeps its level stays on or below the dashed line."
            ),
            body=svg.panels(panels),
        )


def achieved(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each level how many are rejected, as a share, and the ends of its interval: an array of shape (levels, 3)."""
    counts = [int(np.count_nonzero(at_most(p_values, level))) for level in _LEVELS.tolist()]
    return np.array([[count / p_values.size, *clopper_pearson(count, p_values.size)] for count in counts])


def _panel(name: str, row: Hypothesis, evidence: Evidence) -> Markup:
    (cell,) = evidence.cells_of(row)
    table = evidence.results.table(cell)
    assert table is not None
    rates = achieved(table.column("p_value").to_numpy())
    stated, (share, low, high) = 100 * _LEVELS, 100 * rates.T
    axes = Axes(
        width=_SIDE, height=_SIDE, x_limits=(0, float(stated[-1])), y_limits=(0, float(max(stated[-1], high.max())))
    )
    parts = [
        axes.band(stated.tolist(), low.tolist(), high.tolist()),
        axes.line("level", [(0, 0), (float(stated[-1]), float(stated[-1]))]),
        axes.line("observed", zip(stated.tolist(), share.tolist(), strict=True)),
        axes.y_axis(unit="%"),
        axes.x_axis("stated", unit="%"),
    ]
    at = [list(_LEVELS).index(level) for level in (0.01, 0.05, 0.1)]
    said = ", ".join(f"{percent(float(rates[i, 0]))} at {percent(float(_LEVELS[i]))}" for i in at)
    size = count_of(row.n or 0, "row")
    return svg.panel(size, axes.drawing(name, f"{row.method}, {size}: achieved type I error", f"{said}.", *parts))
