"""A sample-size plan in words."""

from collections.abc import Iterator

from sigstats._common.numerals import significant
from sigstats.comparison.size import AnswersPlan, DropPlan, PartPlan, SizePlan
from sigstats.multiplicity import IN_WORDS

DROPS_HEADER = ("drop", "needed", "power now")
PARTS_HEADER = ("slice", "at hand", "one model alone right", "smallest drop shown")


def points(share: float) -> str:
    """A difference of accuracies in percentage points.

    Examples
    --------
    >>> from sigstats.flows.sizing.words import points
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
    often = _often(found.target)
    if found.parts:
        whole = found.parts[0]
        if whole.detectable is None:
            return f"{units(found, whole.part.n)} show no drop {often}"
        return f"{units(found, whole.part.n)} show a drop of {points(whole.detectable)} {often}"
    first = next((each for each in found.drops if each.needed), None)
    if first is None or first.needed is None:
        return "no number of rows shows these drops"
    return f"{units(found, first.needed)} show a drop of {points(first.drop)} {often}"


def _often(power: float) -> str:
    return "four times in five" if power == 0.8 else f"with probability {significant(power)}"


def basis(found: SizePlan) -> Iterator[str]:
    """The basis of the numbers, in sentences."""
    pilot, rule, whole = found.pilot, found.rule, found.pilot.parts[0]
    yield f"One model alone is right on about {significant(100 * whole.discordance, 3)}% of the rows"
    adjusted = (
        "" if pilot.tests == 1 else f": {significant(rule.alpha)}, {IN_WORDS[rule.adjust]} over {pilot.tests} tests"
    )
    yield f"Each one-sided exact test of McNemar has the level {significant(found.level, 3)}{adjusted}"
    if rule.minimum_effect:
        yield f"A drop observed of less than {points(rule.minimum_effect)} fails nothing"
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
        needed = f"no number: the smallest effect that counts is {points(found.rule.minimum_effect)}"
    else:
        needed = "over 100,000,000 rows"
    return points(each.drop), needed, "–" if each.power is None else f"{100 * each.power:.1f}%"


def answers_header(found: SizePlan) -> tuple[str, ...]:
    """The header of the table of answers to an item: a column for each drop."""
    return ("answers an item", *(f"items for {points(each.drop)}" for each in found.drops))


def answers_cells(each: AnswersPlan) -> tuple[str, ...]:
    """The cells of a number of answers under `answers_header`."""
    return str(each.answers), *("–" if needed is None else f"{needed:,}" for needed in each.needed)


def part_cells(each: PartPlan) -> tuple[str, ...]:
    """The cells of a part under `PARTS_HEADER`."""
    smallest = "none" if each.detectable is None else points(each.detectable)
    return each.part.name, f"{each.part.n:,}", f"{significant(100 * each.part.discordance, 3)}%", smallest
