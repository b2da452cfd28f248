"""The law of p where the null hypothesis is true: its distribution function from 0.0001 to 0.2 with an exact band."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from sigstats.ecdf_band import ecdf_band, shares
from sigstats.tasks.rates import ERROR
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import join_words
from ..evidence import Evidence, group_by, some_of
from ..section import Figure

ORDER = 14
_SIDE = 236.0
#: The levels, even on the logarithmic axis.
LEVELS = tuple(float(level) for level in np.geomspace(1e-4, 0.2, 23))


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each population in which null hypotheses are true, a panel a test, a curve a size."""
    rows = [row for row in evidence.of("calibration") if row.measure == ERROR and row.estimate is not None]
    for number, ((dataset, part), group) in enumerate(group_by(rows, lambda row: (row.dataset, row.slice)).items()):
        panels = [
            _panel(f"law-{number}-{index}", method, some_of(sorted(of_test, key=lambda row: row.n or 0)), evidence)
            for index, (method, of_test) in enumerate(group_by(group, lambda row: row.method).items())
        ]
        yield Figure(
            title=f"The law of p where the null hypothesis is true, {dataset}{', ' + part if part else ''}",
            caption=(
                "Both axes are logarithmic: across a level from 0.0001 to 0.2, upwards the share of test sets whose p "
                "is at most that. Uniform p-values stay in the band at all levels at once with probability 95%; "
                "a test whose curve leaves it upwards rejects too often, one below it is careful."
            ),
            body=svg.panels(panels),
        )


def _logarithm(share: float, least: float) -> float:
    return math.log10(max(share, least))


def _panel(name: str, method: str, rows: Sequence[Hypothesis], evidence: Evidence) -> Markup:
    trials = min(row.replicates or 0 for row in rows)
    least = 0.5 * LEVELS[0]
    low, high = (bound / trials for bound in ecdf_band(trials, LEVELS))
    curves, said = [], []
    for number, row in enumerate(rows):
        table = evidence.results.table(evidence.cells_of(row)[0])
        assert table is not None
        achieved = shares(table.column("p_value").to_numpy(), LEVELS)
        points = [(level, _logarithm(share, least)) for level, share in zip(LEVELS, achieved.tolist(), strict=True)]
        axes = _axes(least)
        curves.append(Markup('<g class="curve c{}">{}</g>').format(number, axes.line("observed", points)))
        outside = bool((achieved > high).any())
        said.append(f"{row.n:,} rows {'above the band' if outside else 'not above the band'}")
    axes = _axes(least)
    ends = [[_logarithm(share, least) for share in bound.tolist()] for bound in (low, high)]
    parts = [
        axes.band(list(LEVELS), *ends),
        axes.line("level", [(level, math.log10(level)) for level in (LEVELS[0], LEVELS[-1])]),
        *curves,
        _powers(axes),
        axes.x_axis("level", ticks=[(10.0**-power, f"{10.0**-power:g}") for power in (4, 3, 2, 1)]),
        _key(axes, rows),
    ]
    return svg.panel(method, axes.drawing(name, f"{method}: the law of p", f"{join_words(said)}.", *parts))


def _axes(least: float) -> Axes:
    return Axes(
        width=_SIDE,
        height=_SIDE,
        left=44.0,
        x_limits=(LEVELS[0], LEVELS[-1]),
        y_limits=(math.log10(least), 0.0),
        log_x=True,
    )


def _powers(axes: Axes) -> Markup:
    """The upright axis, with a tick at each power of ten."""
    powers = range(-4, 1)
    marks = "".join(f"M{svg.coordinate(axes.left)} {svg.coordinate(axes.y(power))}h-3" for power in powers)
    line = f"M{svg.coordinate(axes.left)} {svg.coordinate(axes.top)}V{svg.coordinate(axes.base)}"
    labels = (
        svg.text(axes.left - 6, axes.y(power) + 4, f"{10.0**power:g}", anchor="end", css="tick") for power in powers
    )
    return svg.path("axis", line + marks) + Markup("").join(labels)


def _key(axes: Axes, rows: Sequence[Hypothesis]) -> Markup:
    """The sizes in the colours of their curves, at the upper left."""
    lines = (
        Markup('<g class="curve c{}">{}</g>').format(
            number, svg.text(axes.left + 8, axes.top + 10 + 13 * number, f"{row.n:,} rows", anchor="start", css="value")
        )
        for number, row in enumerate(rows)
    )
    return Markup("").join(lines)
