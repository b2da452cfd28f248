"""Stated against achieved: how often a test whose null hypothesis is true rejects, at every level up to a fifth."""

from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.extreme import at_most
from sigstats.intervals import clopper_pearson
from sigstats.tasks.analyses.calibration import ERROR
from sigstats.tasks.schema import Hypothesis

from .. import svg
from ..evidence import Evidence, grouped
from ..figure import Figure, FigureKind
from ..wording import counted, percent

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BASE = 236.0, 236.0, 34.0, 10.0, 12.0, 196.0
#: The levels that are looked at.
_LEVELS = np.arange(1, 41) / 200
#: So many sizes are shown: the smallest, the largest and some between.
_MOST = 4


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each test and population in which its null hypothesis is true, a panel for some of its sizes."""
    rows = [row for row in evidence.of("calibration") if row.measure == ERROR and row.estimate is not None]
    for number, group in enumerate(grouped(rows, lambda row: (row.dataset, row.slice, row.method)).values()):
        first = group[0]
        shown = _some(sorted(group, key=lambda row: row.n or 0))
        panels = [_panel(f"calibration-{number}-{index}", row, evidence) for index, row in enumerate(shown)]
        yield Figure(
            title=f"Stated and achieved type I error of {first.method}, {first.slice or first.dataset}",
            caption=(
                "Across the level that is stated, upwards the share of the test sets that are rejected at it, with its "
                "95% interval. A test that keeps its level stays on or below the dashed line."
            ),
            body=Markup('<div class="panels">{}</div>').format(Markup("").join(panels)),
        )


def _some(rows: Sequence[Hypothesis]) -> list[Hypothesis]:
    if len(rows) <= _MOST:
        return list(rows)
    return [rows[round(index * (len(rows) - 1) / (_MOST - 1))] for index in range(_MOST)]


def achieved(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each level how many are rejected, as a share, and the ends of its interval: an array of shape (levels, 3)."""
    counts = [int(np.count_nonzero(at_most(p_values, level))) for level in _LEVELS.tolist()]
    return np.array([[count / p_values.size, *clopper_pearson(count, p_values.size)[:2]] for count in counts])


def _panel(name: str, row: Hypothesis, evidence: Evidence) -> Markup:
    (cell,) = evidence.cells_of(row)
    table = evidence.results.table(cell)
    assert table is not None
    rates = achieved(table.column("p_value").to_numpy())
    top = max(float(_LEVELS[-1]), float(rates[:, 2].max()))

    def x(level: float) -> float:
        return _LEFT + level / float(_LEVELS[-1]) * (_WIDTH - _LEFT - _RIGHT)

    def y(rate: float) -> float:
        return _BASE - rate / top * (_BASE - _TOP)

    def path(levels: NDArray[np.float64], values: NDArray[np.float64]) -> str:
        pairs = zip(levels.tolist(), values.tolist(), strict=True)
        return "M" + "L".join(f"{svg.coordinate(x(level))} {svg.coordinate(y(value))}" for level, value in pairs)

    ends = np.concatenate([_LEVELS, _LEVELS[::-1]]), np.concatenate([rates[:, 2], rates[::-1, 1]])
    across, up = svg.ticks(0, 100 * float(_LEVELS[-1]), 4), svg.ticks(0, 100 * top, 4)
    parts = [
        Markup('<path class="band" d="{}Z"/>').format(path(*ends)),
        Markup('<path class="level" d="{}"/>').format(path(*2 * [np.array([0.0, _LEVELS[-1]])])),
        Markup('<path class="observed" d="{}"/>').format(path(_LEVELS, rates[:, 0])),
        Markup('<path class="axis" d="M{} {}V{}H{}"/>').format(
            svg.coordinate(_LEFT), svg.coordinate(_TOP), svg.coordinate(_BASE), svg.coordinate(_WIDTH - _RIGHT)
        ),
        *(
            svg.text(x(value / 100), _BASE + 15, label, css="tick")
            for value, label in zip(across, svg.tick_labels(across, "%"), strict=True)
        ),
        *(
            svg.text(_LEFT - 5, y(value / 100) + 4, label, anchor="end", css="tick")
            for value, label in zip(up, svg.tick_labels(up, "%"), strict=True)
        ),
        svg.text((_LEFT + _WIDTH - _RIGHT) / 2, _BASE + 31, "stated"),
    ]
    at = [list(_LEVELS).index(level) for level in (0.01, 0.05, 0.1)]
    said = ", ".join(f"{percent(float(rates[i, 0]))} at {percent(float(_LEVELS[i]))}" for i in at)
    size = counted(row.n or 0, "row")
    return Markup("<figure><figcaption><strong>{}</strong></figcaption>{}</figure>").format(
        size, svg.drawing(name, _WIDTH, _HEIGHT, f"{row.method}, {size}: achieved type I error", f"{said}.", *parts)
    )


KIND = FigureKind(order=7, draw=draw)
