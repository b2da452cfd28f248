"""A comparison as one page of HTML that needs no network."""

from collections.abc import Sequence

from markupsafe import Markup

from ..report import svg
from ..report.page import page
from .compare import IN_UNITS, Comparison, Row
from .text import TITLES, cells_of, difference_in_words, header, verdict_of

_WIDTH, _LEFT, _RIGHT, _LINE, _TOP = 760.0, 230.0, 20.0, 22.0, 12.0


def as_html(found: Comparison, baseline: str, candidate: str) -> str:
    """The page: verdict, reasons, a forest plot of the differences, and the table."""
    return page(
        "comparison.html.j2",
        title=TITLES[found.verdict],
        verdict=found.verdict,
        baseline=baseline,
        candidate=candidate,
        n=found.n,
        rule=found.rule_in_words,
        reasons=found.reasons(),
        notes=found.notes,
        figure=forests(found.rows, found.rule.margin),
        header=(*header(), "verdict", "test", "note"),
        rows=[
            list(zip((*cells_of(row), verdict_of(row), row.test, row.note), _sort_keys(row), strict=True))
            for row in found.rows
        ],
    )


def _sort_keys(row: Row) -> tuple[str, ...]:
    """What the cells of a row are sorted by where that is a number."""
    values = (row.n, row.baseline, row.candidate, row.difference, row.low, row.p_worse, row.p_adjusted, row.pd, row.nsd)
    return ("", "", *("" if value is None else repr(float(value)) for value in values), "", "", "")


def forests(rows: Sequence[Row], margin: float) -> Markup:
    """The differences of all rows that were tested: shares on one scale, each mark or loss on its own."""
    drawn = [row for row in rows if row.low is not None]
    units = {row.measure if row.measure in IN_UNITS else "points": None for row in drawn}
    return Markup("").join(
        _forest(
            f"forest-{number}",
            unit,
            [row for row in drawn if (row.measure if row.measure in IN_UNITS else "points") == unit],
            margin,
        )
        for number, unit in enumerate(units)
    )


def _forest(name: str, unit: str, rows: Sequence[Row], margin: float) -> Markup:
    """Each difference with its interval, one line a row, beside zero and the margin."""
    scale = 100 if unit == "points" else 1
    low = min(-margin, *(row.low or 0 for row in rows))
    high = max(margin, *(row.high or 0 for row in rows))
    span = (high - low) or 0.01
    height = _TOP + _LINE * len(rows) + 34

    def x(value: float) -> float:
        return _LEFT + (value - low) / span * (_WIDTH - _LEFT - _RIGHT)

    base = _TOP + _LINE * len(rows)
    ticks = svg.ticks(scale * low, scale * high, 6)
    parts = [
        Markup('<path class="axis" d="M{} {}V{}"/>').format(svg.coordinate(x(0)), svg.coordinate(_TOP - 6), base),
        Markup('<path class="margin" d="M{} {}V{}"/>').format(
            svg.coordinate(x(-margin)), svg.coordinate(_TOP - 6), base
        ),
        *(
            svg.text(x(value / scale), base + 16, shown, css="tick")
            for value, shown in zip(ticks, svg.tick_labels(ticks), strict=True)
        ),
        svg.text((_LEFT + _WIDTH - _RIGHT) / 2, base + 31, f"candidate − baseline, {unit}"),
    ]
    for position, row in enumerate(rows):
        y = _TOP + _LINE * (position + 0.5)
        label = row.slice if len({one.measure for one in rows}) == 1 else f"{row.slice}: {row.measure}"
        parts += [
            svg.text(_LEFT - 12, y + 4, label if len(label) <= 34 else f"{label[:33]}…", anchor="end"),
            Markup('<path class="interval {}" d="M{} {}H{}"/>').format(
                row.verdict or "",
                svg.coordinate(x(row.low or 0)),
                svg.coordinate(y),
                svg.coordinate(x(row.high or 0)),
            ),
            svg.verdict_mark(x(row.difference or 0), y, row.verdict or ""),
        ]
    worst = min(rows, key=lambda row: row.difference or 0)
    description = (
        f"{len(rows)} differences with their intervals; the lowest is {difference_in_words(worst)}, "
        f"{worst.measure} on {worst.slice}."
    )
    return svg.drawing(name, _WIDTH, height, "Differences of candidate and baseline", description, *parts)
