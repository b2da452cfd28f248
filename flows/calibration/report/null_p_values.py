"""p-values under a true null hypothesis: the rate of rejections at every level, and the distribution of p near zero.

Stated against achieved: the rate of rejections at every level up to a fifth. Near zero: the distribution function of p
from 0.0001 to 0.2 with an exact band.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.extreme import at_most
from sigstats._common.messages import join_words
from sigstats._common.numerals import count_of, percent
from sigstats.intervals import clopper_pearson
from sigstats.multiplicity import ecdf_band, shares
from sigstats.tasks.calibration.rejections import ERROR
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...report.evidence import Evidence, Figure
from ...report.rows import group_by, some_sizes

_SIDE = 236.0
#: The levels at which the rate of rejections is drawn.
RATE_LEVELS = np.arange(1, 41) / 200
#: The levels at which the distribution of p is drawn, evenly spaced on a logarithmic axis.
LEVELS = tuple(float(level) for level in np.geomspace(1e-4, 0.2, 23))
#: The smallest share that is drawn.
_LEAST = 0.5 * LEVELS[0]


def true_nulls(evidence: Evidence) -> list[Hypothesis]:
    """Return the rates of rejections of true null hypotheses, for tests with stored p-values."""
    rates = [row for row in evidence.rows_of("calibration") if row.measure == ERROR and row.estimate is not None]
    return [row for row in rates if evidence.cells_of(row)[0].fanout != "tally"]


def p_values_of(row: Hypothesis, evidence: Evidence) -> NDArray[np.float64]:
    """Return the p-value on each test set."""
    table = evidence.results.table(evidence.cells_of(row)[0])
    assert table is not None
    return np.asarray(table.column("p_value").to_numpy())


def draw_rates(evidence: Evidence) -> Iterator[Figure]:
    """Yield a figure for each test and population with a true null hypothesis, with a panel for each of some sizes."""
    groups = group_by(true_nulls(evidence), lambda row: (row.dataset, row.slice, row.method))
    for number, group in enumerate(groups.values()):
        first = group[0]
        shown = some_sizes(sorted(group, key=lambda row: row.n or 0))
        panels = [_rates(f"calibration-{number}-{index}", row, evidence) for index, row in enumerate(shown)]
        yield Figure(
            title=f"Stated and achieved type I error of {first.method}, {first.slice or first.dataset}",
            caption=(
                "Horizontal: the stated level. Vertical: the share of test sets rejected at it, with its 95% "
                "interval. A test that keeps its level stays on or below the dashed line."
            ),
            body=svg.side_by_side(panels, "panels"),
        )


def achieved(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of rejections at each level and the ends of its interval, in shape (levels, 3)."""
    counts = [int(np.count_nonzero(at_most(p_values, level))) for level in RATE_LEVELS.tolist()]
    return np.array([[count / p_values.size, *clopper_pearson(count, p_values.size)] for count in counts])


def _rates(name: str, row: Hypothesis, evidence: Evidence) -> Markup:
    rates = achieved(p_values_of(row, evidence))
    stated, (share, low, high) = 100 * RATE_LEVELS, 100 * rates.T
    highest = float(max(stated[-1], high.max()))
    axes = Axes(width=_SIDE, height=_SIDE, x_limits=(0, float(stated[-1])), y_limits=(0, highest))
    parts = [
        axes.band(stated.tolist(), low.tolist(), high.tolist()),
        axes.line("level", [(0, 0), (float(stated[-1]), float(stated[-1]))]),
        axes.line("observed", zip(stated.tolist(), share.tolist(), strict=True)),
        axes.y_axis(unit="%"),
        axes.x_axis("stated", unit="%"),
    ]
    at = [list(RATE_LEVELS).index(level) for level in (0.01, 0.05, 0.1)]
    shown = ", ".join(f"{percent(float(rates[i, 0]))} at {percent(float(RATE_LEVELS[i]))}" for i in at)
    size = count_of(row.n or 0, "row")
    return svg.panel(size, axes.drawing(name, f"{row.method}, {size}: achieved type I error", f"{shown}.", *parts))


def draw_law(evidence: Evidence) -> Iterator[Figure]:
    """Yield one figure for each population with true null hypotheses, with a panel per test and a curve per size."""
    groups = group_by(true_nulls(evidence), lambda row: (row.dataset, row.slice))
    for number, ((dataset, part), group) in enumerate(groups.items()):
        panels = [
            _law(f"law-{number}-{index}", method, some_sizes(sorted(of_test, key=lambda row: row.n or 0)), evidence)
            for index, (method, of_test) in enumerate(group_by(group, lambda row: row.method).items())
        ]
        yield Figure(
            title=f"The law of p where the null hypothesis is true, {dataset}{', ' + part if part else ''}",
            caption=(
                "Both axes are logarithmic. Horizontal: a level from 0.0001 to 0.2; vertical: the share of test sets "
                "with a p of at most this level. Uniform p-values stay in the band at all levels at once with "
                "probability 95%. A test with a curve above the band rejects too often; one below it is conservative."
            ),
            body=svg.side_by_side(panels, "panels"),
        )


def _logarithm(share: float) -> float:
    return math.log10(max(share, _LEAST))


def _law(name: str, method: str, rows: Sequence[Hypothesis], evidence: Evidence) -> Markup:
    trials = min(row.replicates or 0 for row in rows)
    low, high = (bound / trials for bound in ecdf_band(trials, LEVELS))
    x_limits, y_limits = (LEVELS[0], LEVELS[-1]), (math.log10(_LEAST), 0.0)
    axes = Axes(width=_SIDE, height=_SIDE, left=44.0, x_limits=x_limits, y_limits=y_limits, log_x=True)
    curves, sizes = [], []
    for number, row in enumerate(rows):
        rates = shares(p_values_of(row, evidence), LEVELS)
        points = [(level, _logarithm(share)) for level, share in zip(LEVELS, rates.tolist(), strict=True)]
        curves.append(svg.curve(number, axes.line("observed", points)))
        is_above = bool((rates > high).any())
        sizes.append(f"{row.n:,} rows {'above the band' if is_above else 'not above the band'}")
    ends = [[_logarithm(share) for share in bound.tolist()] for bound in (low, high)]
    parts = [
        axes.band(list(LEVELS), *ends),
        axes.line("level", [(level, math.log10(level)) for level in (LEVELS[0], LEVELS[-1])]),
        *curves,
        axes.y_axis(shown=[(power, f"{10.0**power:g}") for power in range(-4, 1)]),
        axes.x_axis("level", ticks=[(10.0**-power, f"{10.0**-power:g}") for power in (4, 3, 2, 1)]),
        _key(axes, rows),
    ]
    return svg.panel(method, axes.drawing(name, f"{method}: the law of p", f"{join_words(sizes)}.", *parts))


def _key(axes: Axes, rows: Sequence[Hypothesis]) -> Markup:
    lines = (
        svg.curve(
            number, svg.text(axes.left + 8, axes.top + 10 + 13 * number, f"{row.n:,} rows", anchor="start", css="value")
        )
        for number, row in enumerate(rows)
    )
    return Markup("").join(lines)
