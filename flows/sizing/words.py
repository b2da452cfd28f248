"""A sample-size plan in words, in the terminal and as JSON."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from string import ascii_lowercase
from typing import Any

from sigstats._common.messages import printable
from sigstats._common.numerals import significant
from sigstats._common.tabular import in_columns
from sigstats.multiplicity import IN_WORDS
from sigstats.sizing.comparison import AnswersPlan, DropPlan, PartPlan, SizePlan

DROPS_HEADER = ("drop", "needed", "power now", "fresh rows until shown")
_COLUMNS, _LINES = 64, 11
PARTS_HEADER = ("slice", "at hand", "one model alone right", "smallest drop shown")


def points(share: float) -> str:
    """A difference of accuracies in percentage points.

    >>> points(0.01), points(0.0312), points(0.000043)
    ('1 point', '3.12 points', '0.0043 points')
    """
    shown = significant(100 * share, 3)
    return f"{shown} point" if shown == "1" else f"{shown} points"


def units(found: SizePlan, n: int) -> str:
    """A number of rows, or of items or groups with their answers or rows."""
    pilot = found.pilot
    if pilot.unit == "rows":
        return f"{n:,} rows"
    each = "answers" if pilot.unit == "items" else "rows"
    return f"{n:,} {pilot.unit} of {pilot.answers} {each}"


def headline(found: SizePlan) -> str:
    """The drop that the units at hand can show, or the number that the smallest of the drops needs."""
    often = "four times in five" if found.target == 0.8 else f"with probability {significant(found.target)}"
    if found.parts:
        whole = found.parts[0]
        if whole.detectable is None:
            return f"{units(found, whole.part.n)} show no drop {often}"
        return f"{units(found, whole.part.n)} show a drop of {points(whole.detectable)} {often}"
    first = next((each for each in found.drops if each.needed), None)
    if first is None or first.needed is None:
        return "no number of rows shows these drops"
    return f"{units(found, first.needed)} show a drop of {points(first.drop)} {often}"


def basis(found: SizePlan) -> Iterator[str]:
    """The basis of the numbers, in sentences."""
    pilot, rule, whole = found.pilot, found.rule, found.pilot.parts[0]
    yield f"One model alone is right on about {significant(100 * whole.discordance, 3)}% of the rows"
    adjusted = (
        "" if pilot.tests == 1 else f": {significant(rule.alpha)}, {IN_WORDS[rule.adjust]} over {pilot.tests} tests"
    )
    if any(each.arriving for each in found.drops):
        yield "Fresh rows are those of nights that add up, looked at any time without a plan"
    yield f"Each one-sided exact test of McNemar has the level {significant(found.level, 3)}{adjusted}"
    if found.chances:
        enough = "No number of rows lets" if found.passing is None else f"{found.passing:,} rows let"
        yield f"{enough} an equal candidate pass with probability {significant(found.target)}"
    if rule.minimum_effect:
        yield f"A drop observed of less than {points(rule.minimum_effect)} is no failure, however certain"
    if pilot.unit != "rows":
        yield (
            f"Rows of one of the {pilot.unit} have a correlation of {pilot.correlation:.2g}: "
            f"{pilot.design_effect:.2f} of them count as one"
        )


def drop_cells(found: SizePlan, each: DropPlan) -> tuple[str, ...]:
    """The cells of a drop under `DROPS_HEADER`."""
    if each.needed is not None:
        needed = units(found, each.needed)
    elif each.drop <= found.rule.minimum_effect:
        needed = f"no number, as the smallest effect that counts is {points(found.rule.minimum_effect)}"
    else:
        needed = "over 100,000,000 rows"
    power = "–" if each.power is None else f"{100 * each.power:.1f}%"
    return points(each.drop), needed, power, "none" if each.arriving is None else f"{each.arriving:,} expected"


def answers_header(found: SizePlan) -> tuple[str, ...]:
    """The header of the table of answers to an item: a column for each drop."""
    return ("answers an item", *(f"items for {points(each.drop)}" for each in found.drops))


def answers_cells(each: AnswersPlan) -> tuple[str, ...]:
    """The cells of a number of answers under `answers_header`."""
    return str(each.answers), *("–" if needed is None else f"{needed:,}" for needed in each.needed)


def chances_header(found: SizePlan) -> tuple[str, ...]:
    """The header of the table of chances: an equal candidate, and each drop."""
    return ("pass / inconclusive / fail", "equal", *(points(each.drop) for each in found.drops))


def chances_rows(found: SizePlan) -> list[tuple[str, ...]]:
    """A row for each number of rows under `chances_header`, in percent."""
    rows: dict[int, list[str]] = {}
    for each in found.chances:
        cell = " / ".join(f"{100 * chance:.0f}" for chance in (each.passes, each.inconclusive, each.fails))
        rows.setdefault(each.n, []).append(f"{cell}%")
    return [(f"{n:,} rows", *cells) for n, cells in rows.items()]


def part_cells(each: PartPlan) -> tuple[str, ...]:
    """The cells of a part under `PARTS_HEADER`."""
    smallest = "none" if each.detectable is None else points(each.detectable)
    return each.part.name, f"{each.part.n:,}", f"{significant(100 * each.part.discordance, 3)}%", smallest


#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 1


def as_json(found: SizePlan) -> str:
    """All results, under the names of the fields of `sigstats.sizing.comparison.SizePlan`."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "headline": headline(found),
        "basis": list(basis(found)),
        "measure": "accuracy",
        **asdict(found),
        "rule": found.rule.by_keys(),
    }
    return json.dumps(content, indent=2, allow_nan=False)


def show(found: SizePlan) -> None:
    """Print the headline, its basis, the tables and the curves."""
    lines = [f"{headline(found)}.", *(f"{line}." for line in basis(found))]
    tables: list[tuple[tuple[str, ...], list[tuple[str, ...]]]]
    tables = [(DROPS_HEADER, [drop_cells(found, each) for each in found.drops])]
    tables += [(chances_header(found), chances_rows(found))] if found.chances else []
    tables += [(answers_header(found), list(map(answers_cells, found.answers)))] if found.answers else []
    tables += [(PARTS_HEADER, list(map(part_cells, found.parts)))] if len(found.parts) > 1 else []
    for header, rows in tables:
        lines += ["", *in_columns([header, *rows], left=len(header))]
    for line in [*lines, "", *power_text(found)]:
        print(printable(line))  # noqa: T201


def ends_of(curves: list[DropPlan]) -> tuple[int, int]:
    """The numbers of rows between which the curves of power are drawn."""
    return curves[0].curve[0][0], curves[0].curve[-1][0]


def power_text(found: SizePlan) -> list[str]:
    """The curves of power in ASCII: a letter each, dashes for the target power, bars for the number at hand."""
    curves = [each for each in found.drops if each.curve]
    if not curves:
        return []
    low, high = ends_of(curves)
    scale = (_COLUMNS - 1) / math.log(high / low)
    grid = [[" "] * _COLUMNS for _ in range(_LINES)]
    grid[_line(found.target)] = ["-"] * _COLUMNS
    if found.parts:
        for line in grid:
            line[round(math.log(found.pilot.parts[0].n / low) * scale)] = "|"
    letters = [ascii_lowercase[number % len(ascii_lowercase)] for number in range(len(curves))]
    for letter, each in zip(letters, curves, strict=True):
        for n, power in each.curve:
            grid[_line(power)][round(math.log(n / low) * scale)] = letter
    legend = ", ".join(f"{letter} {points(each.drop)}" for letter, each in zip(letters, curves, strict=True))
    lines = [f"{100 - 100 * number // (_LINES - 1):>4}% {''.join(line).rstrip()}" for number, line in enumerate(grid)]
    ends = f"{low:,}".ljust(_COLUMNS - len(f"{high:,}")) + f"{high:,}"
    return ["power", *lines, f"      {ends}", f"      {found.pilot.unit}; {legend}"]


def _line(power: float) -> int:
    return round((1 - power) * (_LINES - 1))
