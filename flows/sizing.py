"""The number of rows that a comparison needs: text, page and JSON."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from markupsafe import Markup

from sigstats._common.messages import printable
from sigstats._common.numerals import points, significant
from sigstats._common.tabular import in_columns
from sigstats.multiplicity import IN_WORDS
from sigstats.sizing.comparison import DropPlan, PartPlan, SizePlan

from .pages import svg
from .pages.page import Answer, page
from .pages.svg import Axes, Tick


def units(plan: SizePlan, n: int) -> str:
    """Return a number of rows, or of items or groups with their answers or rows."""
    pilot = plan.pilot
    if pilot.unit == "rows":
        return f"{n:,} rows"
    text = "answers" if pilot.unit == "items" else "rows"
    return f"{n:,} {pilot.unit} of {pilot.answers} {text}"


def headline(plan: SizePlan) -> str:
    """State the drop that the present units can show, or the number that the smallest drop needs."""
    often = f"with {significant(100 * plan.target)}% power"
    if plan.parts:
        whole = plan.parts[0]
        if whole.detectable is None:
            return f"{units(plan, whole.part.n)} detect no drop {often}"
        return f"{units(plan, whole.part.n)} detect a drop of {points(whole.detectable)} {often}"
    first = next((drop for drop in plan.drops if drop.needed), None)
    if first is None or first.needed is None:
        return "no number of rows detects these drops"
    return f"{units(plan, first.needed)} detect a drop of {points(first.drop)} {often}"


def basis(plan: SizePlan) -> Iterator[str]:
    """Yield the basis of the numbers, in sentences."""
    pilot, rule, whole = plan.pilot, plan.rule, plan.pilot.parts[0]
    excluded = any(pilot.discordance(drop.drop) != whole.discordance for drop in plan.drops)
    nearest = "; if a drop is impossible with it, the nearest possible share is used" * excluded
    yield f"Exactly one model is right on about {significant(100 * whole.discordance, 3)}% of the rows{nearest}"
    adjusted = (
        "" if pilot.tests == 1 else f" ({significant(rule.alpha)}, {IN_WORDS[rule.adjust]} over {pilot.tests} tests)"
    )
    if any(drop.arriving for drop in plan.drops):
        yield "Fresh rows accumulate over nightly runs and may be tested after any run"
    test = "McNemar's exact test" if pilot.unit == "rows" else f"a test of {pilot.unit} that allows for an unseen one"
    yield f"Each test is {test}, one-sided at the level {significant(plan.level, 3)}{adjusted}"
    if plan.chances:
        often = f"{significant(100 * plan.target)}% of the time"
        if plan.passing is None:
            yield f"No number of rows is enough for an equally good candidate to pass {often}"
        else:
            yield f"With {plan.passing:,} rows, an equally good candidate passes {often}"
    if rule.minimum_effect:
        yield f"An observed drop of less than {points(rule.minimum_effect)} never fails, even if it is significant"
    if pilot.unit != "rows":
        yield (
            f"Rows within {pilot.unit} have a correlation of {pilot.correlation:.2g}; powers are those of 400 "
            "simulated comparisons, with a standard error of 2 points"
        )
    yield from pilot.notes


def needed_in_words(plan: SizePlan, result: DropPlan) -> str:
    """Return the number of units that show a drop."""
    if result.needed is not None:
        return units(plan, result.needed)
    if result.drop <= plan.rule.minimum_effect:
        return f"no number: the minimum effect is {points(plan.rule.minimum_effect)}"
    return "over 100,000,000 rows"


#: Cells of a row of a table.
Cells = tuple[str, ...]


def tables(plan: SizePlan) -> list[tuple[str, Cells, list[Cells]]]:
    """Return the title, the header and the rows of each table; tables without rows are left out."""
    drops = [points(drop.drop) for drop in plan.drops]
    answers: list[Cells] = [
        (str(part.answers), *("–" if needed is None else f"{needed:,}" for needed in part.needed))
        for part in plan.answers
    ]
    every: list[tuple[str, Cells, list[Cells]]] = [
        ("Drops", ("drop", "needed", "power now", "fresh rows until shown"), [_of_drop(plan, x) for x in plan.drops]),
        ("Chances", ("pass / inconclusive / fail", "equal", *drops), _of_chances(plan)),
        ("Answers", ("answers an item", *(f"items for {drop}" for drop in drops)), answers),
        (
            "Slices",
            ("slice", "at hand", "only one model right", "smallest drop shown"),
            [_of_part(part) for part in plan.parts] if len(plan.parts) > 1 else [],
        ),
    ]
    return [table for table in every if table[2]]


def _of_drop(plan: SizePlan, result: DropPlan) -> Cells:
    power = "–" if result.power is None else f"{100 * result.power:.1f}%"
    arriving = "none" if result.arriving is None else f"{result.arriving:,} expected"
    return points(result.drop), needed_in_words(plan, result), power, arriving


def _of_chances(plan: SizePlan) -> list[Cells]:
    """Return a row for each number of rows: the chances of an equal candidate and of each drop, in percent."""
    rows: dict[int, list[str]] = {}
    for chances in plan.chances:
        cell = " / ".join(f"{100 * chance:.0f}" for chance in (chances.passes, chances.inconclusive, chances.fails))
        rows.setdefault(chances.n, []).append(f"{cell}%")
    return [(f"{n:,} rows", *cells) for n, cells in rows.items()]


def _of_part(plan: PartPlan) -> Cells:
    smallest = "none" if plan.detectable is None else points(plan.detectable)
    return plan.part.name, f"{plan.part.n:,}", f"{significant(100 * plan.part.discordance, 3)}%", smallest


#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 1


def as_json(plan: SizePlan) -> str:
    """Return all results, under the names of the fields of `sigstats.sizing.comparison.SizePlan`."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "headline": headline(plan),
        "basis": list(basis(plan)),
        "measure": "accuracy",
        **asdict(plan),
        "rule": plan.rule.by_keys(),
    }
    return json.dumps(content, indent=2, allow_nan=False)


def show(plan: SizePlan) -> None:
    """Print the headline, its basis and the tables."""
    lines = [f"{headline(plan)}.", *(f"{line}." for line in basis(plan))]
    for _, header, rows in tables(plan):
        lines += ["", *in_columns([header, *rows], left=len(header))]
    for line in lines:
        print(printable(line))  # noqa: T201


def as_html(plan: SizePlan) -> str:
    """Return the page: the headline, its basis, the power curves, the tables."""
    return page(
        "tables.html.j2",
        kind="size of a comparison",
        answer=_answer(plan),
        tables=tables(plan),
        about="Basis of the numbers",
        basis=list(basis(plan)),
    )


def _answer(plan: SizePlan) -> Answer:
    target = f"{significant(100 * plan.target)}%"
    whole, numbers = plan.pilot.parts[0], []
    if plan.parts:
        smallest = plan.parts[0].detectable
        numbers = [("at hand", f"{whole.n:,}", plan.pilot.unit)]
        numbers.append(("smallest drop shown", "none" if smallest is None else points(smallest), f"power {target}"))
    numbers.append(("only one model right", f"{significant(100 * whole.discordance, 3)}%", "of the rows"))
    return Answer(
        headline=headline(plan),
        numbers=numbers,
        shown=[(f"To detect a drop of {points(drop.drop)}:", f"{needed_in_words(plan, drop)}.") for drop in plan.drops],
        to_do="Collect enough rows for the smallest drop that matters." if plan.parts else "",
        figure=power_plot(plan),
        caption=(
            "The probability that a comparison fails, by the number of rows and the true drop of accuracy. "
            f"Dashed: the target power, {target}.{' Dotted: the present number.' if plan.parts else ''}"
        ),
    )


#: Width on a phone; a wider screen enlarges it.
_WIDTH, _HEIGHT, _LABELS = 360.0, 250.0, 72.0


def power_plot(plan: SizePlan) -> Markup:
    """Return the drawing; empty if no number of rows is known."""
    curves = [drop for drop in plan.drops if drop.curve]
    if not curves:
        return Markup("")
    low, high = curves[0].curve[0][0], curves[0].curve[-1][0]
    axes = Axes(
        width=_WIDTH, height=_HEIGHT, left=42, right=_LABELS, x_limits=(low, high), y_limits=(0, 100), log_x=True
    )
    parts = [axes.across("level", 100 * plan.target)]
    if plan.parts:
        parts.append(axes.upwards("margin", plan.pilot.parts[0].n))
    ends = svg.spread([axes.y(100 * drop_plan.curve[-1][1]) for drop_plan in curves], axes.base)
    for number, (curve, end) in enumerate(zip(curves, ends, strict=True)):
        line = axes.line("observed", [(n, 100 * power) for n, power in curve.curve])
        parts.append(axes.labelled(number, points(curve.drop), end + 4, line))
    parts += [axes.y_axis(unit="%"), axes.x_axis(plan.pilot.unit, ticks=_ticks(low, high))]
    steps = [
        f"{points(drop_plan.drop)}: {100 * drop_plan.curve[0][1]:.0f}% at {low:,} {plan.pilot.unit}, "
        f"{100 * drop_plan.curve[-1][1]:.0f}% at {high:,}"
        for drop_plan in curves
    ]
    return axes.drawing("power", f"Power against the number of {plan.pilot.unit}", "; ".join(steps) + ".", *parts)


def _ticks(low: int, high: int) -> list[Tick]:
    decades = range(int(math.log10(low)), int(math.log10(high)) + 1)
    values = (factor * 10.0**power for power in decades for factor in (1, 2, 5))
    return [(value, f"{value:,.0f}") for value in values if low <= value <= high]
