"""A comparison as one page of HTML that needs no network."""

from collections.abc import Sequence

from markupsafe import Markup

from ..report import svg
from ..report.axes import Axes
from ..report.page import page
from .compare import IN_UNITS, Comparison, Row
from .text import TITLES, cells_of, difference_in_words, header, verdict_of

_WIDTH, _LINE = 530.0, 22.0
#: The room for the longest label, in pixels.
_WIDEST = 420.0


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
    several = len({row.measure for row in rows}) > 1
    labels = [f"{row.slice}: {row.measure}" if several else row.slice for row in rows]
    left = min(max(map(svg.text_width, labels)), _WIDEST) + 24
    axes = Axes(
        width=left + _WIDTH,
        height=_LINE * len(rows) + 12 + 34,
        left=left,
        right=20,
        bottom=34,
        x_limits=(scale * low, scale * (high if high > low else low + 0.01)),
        y_limits=(len(rows), 0),
    )
    parts = [
        axes.upwards("axis", 0),
        axes.upwards("margin", -scale * margin),
        axes.x_axis(f"candidate − baseline, {unit}", most=6, line=False),
    ]
    for position, (row, label) in enumerate(zip(rows, labels, strict=True)):
        middle = position + 0.5
        parts += [
            svg.text(left - 12, axes.y(middle) + 4, _shortened(label), anchor="end"),
            axes.line(f"interval {row.verdict or ''}", [(scale * (end or 0), middle) for end in (row.low, row.high)]),
            svg.verdict_mark(axes.x(scale * (row.difference or 0)), axes.y(middle), row.verdict or ""),
        ]
    worst = min(rows, key=lambda row: row.difference or 0)
    description = (
        f"{len(rows)} differences with their intervals; the lowest is {difference_in_words(worst)}, "
        f"{worst.measure} on {worst.slice}."
    )
    return axes.drawing(name, "Differences of candidate and baseline", description, *parts)


def _shortened(label: str) -> str:
    """A label that has room."""
    return label if svg.text_width(label) <= _WIDEST else f"{label[: int(_WIDEST / svg.text_width('x')) - 1]}…"
