"""A sample-size plan as one page of HTML that needs no network, with the curves of power."""

import math

from markupsafe import Markup

from sigstats._common.numerals import significant
from sigstats.sizing.comparison import SizePlan

from ..pages import svg
from ..pages.page import Answer, page
from ..pages.svg import Axes, Tick
from .words import (
    DROPS_HEADER,
    PARTS_HEADER,
    answers_cells,
    answers_header,
    basis,
    chances_header,
    chances_rows,
    drop_cells,
    ends_of,
    headline,
    part_cells,
    points,
)


def as_html(found: SizePlan) -> str:
    """The page: the headline, its basis, the power curves, the tables."""
    answer = _answer(found)
    return page(
        "tables.html.j2",
        kind="size of a comparison",
        title=answer.title,
        answer=answer,
        tables=[
            ("Drops", DROPS_HEADER, [drop_cells(found, each) for each in found.drops]),
            ("Chances", chances_header(found), chances_rows(found)),
            ("Answers", answers_header(found), list(map(answers_cells, found.answers))),
            ("Slices", PARTS_HEADER, [part_cells(each) for each in found.parts] if len(found.parts) > 1 else []),
        ],
        about="What the numbers rest on",
        basis=list(basis(found)),
    )


def _answer(found: SizePlan) -> Answer:
    """The first screen: what the rows at hand show, and how many each drop needs."""
    target = f"{significant(100 * found.target)}%"
    whole, numbers = found.pilot.parts[0], []
    if found.parts:
        smallest = found.parts[0].detectable
        numbers = [("at hand", f"{whole.n:,}", found.pilot.unit)]
        numbers.append(("smallest drop shown", "none" if smallest is None else points(smallest), f"power {target}"))
    numbers.append(("one model alone right", f"{significant(100 * whole.discordance, 3)}%", "of the rows"))
    return Answer(
        headline=headline(found),
        numbers=numbers,
        shown=[(f"To show a drop of {points(each.drop)}:", f"{drop_cells(found, each)[1]}.") for each in found.drops],
        to_do="Collect as many rows as the smallest drop that matters needs." if found.parts else "",
        figure=power_plot(found),
        caption=(
            "How often a comparison of so many rows fails a candidate whose accuracy has dropped by so much. "
            f"Dashed: the power wanted, {target}.{' Dotted: what is at hand.' if found.parts else ''}"
        ),
    )


#: As wide as a phone shows it; a wider screen enlarges it.
_WIDTH, _HEIGHT, _LABELS, _COLOURS = 360.0, 250.0, 72.0, 6


def power_plot(found: SizePlan) -> Markup:
    """The drawing; empty if no number of rows is known."""
    curves = [each for each in found.drops if each.curve]
    if not curves:
        return Markup("")
    low, high = ends_of(curves)
    axes = Axes(
        width=_WIDTH, height=_HEIGHT, left=42, right=_LABELS, x_limits=(low, high), y_limits=(0, 100), log_x=True
    )
    parts = [axes.across("level", 100 * found.target)]
    if found.parts:
        parts.append(axes.upwards("margin", found.pilot.parts[0].n))
    ends = svg.spread([axes.y(100 * each.curve[-1][1]) for each in curves], axes.base)
    for number, (each, end) in enumerate(zip(curves, ends, strict=True)):
        line = axes.line("observed", [(n, 100 * power) for n, power in each.curve])
        label = svg.text(axes.width - axes.right + 8, end + 4, points(each.drop), anchor="start", css="value")
        parts.append(Markup('<g class="curve c{}">{}{}</g>').format(number % _COLOURS, line, label))
    parts += [axes.y_axis(unit="%"), axes.x_axis(found.pilot.unit, ticks=_ticks(low, high))]
    steps = [
        f"{points(each.drop)}: {100 * each.curve[0][1]:.0f}% at {low:,} {found.pilot.unit}, "
        f"{100 * each.curve[-1][1]:.0f}% at {high:,}"
        for each in curves
    ]
    return axes.drawing("power", f"Power against the number of {found.pilot.unit}", "; ".join(steps) + ".", *parts)


def _ticks(low: int, high: int) -> list[Tick]:
    """One, two and five times each power of ten within the limits."""
    decades = range(int(math.log10(low)), int(math.log10(high)) + 1)
    values = (factor * 10.0**power for power in decades for factor in (1, 2, 5))
    return [(each, f"{each:,.0f}") for each in values if low <= each <= high]
