"""The size of the next comparison: `plan_pair` computes it from the rows of this one; `as_text`, `as_object` show it.

Sizes are numbers of rows, of items with several answers, or of runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeAlias

from sigstats._common.messages import printable
from sigstats._common.numerals import points, significant
from sigstats._common.tabular import in_columns
from sigstats.comparison.family import blank_row, blank_rows, tests_of
from sigstats.comparison.margins import StatedShare, names_of
from sigstats.comparison.paired_predictions import PairedPredictions
from sigstats.comparison.rule import ComparisonRule
from sigstats.multiplicity import IN_WORDS
from sigstats.sizing.comparison import DropPlan, PartPlan, SizePlan, pilot_of, plan_size
from sigstats.sizing.leaderboards import LeaderboardSize
from sigstats.sizing.measures import SizeOfMeasure, plan_measure
from sigstats.sizing.runs import SizeOfRuns, plan_runs

#: A plan by accuracy, by another measure, or of runs.
Plan: TypeAlias = SizePlan | SizeOfMeasure | SizeOfRuns

_DROPS = (0.005, 0.01, 0.02, 0.05)


def default_drops(rule: ComparisonRule, largest: float = 1.0) -> list[float]:
    """Return the usual drops of an accuracy that count, up to the largest possible one."""
    return [drop for drop in _DROPS if rule.minimum_effect < drop <= largest] or [min(2 * rule.minimum_effect, largest)]


def plan_pair(
    paired: PairedPredictions,
    rule: ComparisonRule,
    measures: Sequence[str],
    *,
    named: int,
    power: float,
    drops: Sequence[float] = (),
    positive: str | None = None,
) -> Plan:
    """Plan the next comparison by one of the compared measures, at the level of one test of this comparison.

    It is the accuracy if that is compared and no score is named, otherwise the last of the `named` first measures.
    """
    tests = max(1, tests_of(paired, measures, rule))
    by_score = paired.scored is not None and not paired.graded and not named
    candidates = measures[: named or None]
    measure = "accuracy" if "accuracy" in candidates and not by_score else candidates[-1]
    row = blank_row(paired, measure)
    drops_in_unit = [row.span * drop if isinstance(drop, StatedShare) else drop for drop in drops]
    if (row.unit or row.relative) and any(isinstance(drop, StatedShare) for drop in drops):
        raise ValueError(
            f"drop: points are only for shares; expected a number of {row.unit or 'the unit of the score'}"
        )
    if paired.units.runs is not None:
        if measure != ("mean-score" if paired.predicted is None else "accuracy"):
            raise ValueError(f"power: runs cannot be planned by {row.name}; expected the measure accuracy")
        usual = [] if row.relative else [row.span * drop for drop in default_drops(rule)]
        return plan_runs(paired, rule, drops_in_unit or usual, target=power, tests=tests)
    if measure == "accuracy":
        rule = replace(rule, margin=StatedShare(rule.margin_of(row)))
        pilot = pilot_of(paired, rule, tests=tests)
        return plan_size(pilot, rule=rule, drops=drops or default_drops(rule), target=power)
    names = {name for of_measure, _ in blank_rows(paired, [measure]) for name in names_of(of_measure)}
    margins = {name: margin for name, margin in rule.margins.items() if name in names}
    # Margins of the other measures are not valid for this one, nor are parts of the baseline if it has limits.
    relative_margin, relative_effect = float(rule.relative_margin), float(rule.relative_effect)
    rule = replace(rule, margins=margins, relative_margin=relative_margin, relative_effect=relative_effect)
    return plan_measure(paired, measure, rule, drops_in_unit, target=power, tests=tests, positive=positive)


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
        return f"{units(plan, whole.part.n)} detect a drop of {points(whole.detectable)} of accuracy {often}"
    first = next((drop for drop in plan.drops if drop.needed), None)
    if first is None or first.needed is None:
        return "no number of rows detects these drops"
    return f"{units(plan, first.needed)} detect a drop of {points(first.drop)} of accuracy {often}"


def basis(plan: SizePlan) -> Iterator[str]:
    """Yield the basis of the numbers, in sentences."""
    pilot, rule, whole = plan.pilot, plan.rule, plan.pilot.parts[0]
    excluded = any(pilot.discordance(drop.drop) != whole.discordance for drop in plan.drops)
    nearest = "; if a drop is impossible with it, the nearest possible share is used" * excluded
    yield f"Exactly one model is right on about {significant(100 * whole.discordance, 3)}% of the rows{nearest}"
    family = f" ({significant(rule.alpha)}, {IN_WORDS[rule.adjust]} over {pilot.tests} tests)" * (pilot.tests > 1)
    if any(drop.arriving for drop in plan.drops):
        yield "Fresh rows accumulate over nightly runs and may be tested after any run"
    test = "McNemar's exact test" if pilot.unit == "rows" else f"a test of {pilot.unit} that allows for an unseen one"
    yield f"Each test is {test}, one-sided at the level {significant(plan.level, 3)}{family}"
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


def needed_in_words(plan: SizePlan, result: DropPlan) -> str:
    """Return the number of units that show a drop."""
    if result.needed is not None:
        return units(plan, result.needed)
    if result.drop <= plan.rule.minimum_effect:
        return f"no number: the minimum effect is {points(plan.rule.minimum_effect)}"
    return "over 100,000,000 rows"


#: Cells of a row of a table.
Cells = tuple[str, ...]


def tables(plan: SizePlan) -> list[tuple[Cells, list[Cells]]]:
    """Return the header and the rows of each table; tables without rows are left out."""
    drops = [points(drop.drop) for drop in plan.drops]
    answers: list[Cells] = [
        (str(part.answers), *("–" if needed is None else f"{needed:,}" for needed in part.needed))
        for part in plan.answers
    ]
    every: list[tuple[Cells, list[Cells]]] = [
        (("drop", "needed", "power now", "fresh rows until shown"), [_of_drop(plan, x) for x in plan.drops]),
        (("pass / inconclusive / fail", "equal", *drops), _of_chances(plan)),
        (("answers an item", *(f"items for {drop}" for drop in drops)), answers),
        (
            ("slice", "at hand", "only one model right", "smallest drop shown"),
            [_of_part(part) for part in plan.parts] if len(plan.parts) > 1 else [],
        ),
    ]
    return [table for table in every if table[1]]


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


def as_object(plan: Plan | LeaderboardSize | str) -> dict[str, Any]:
    """Return all results, under the names of the fields of the plan, or the problem that leaves no plan."""
    if isinstance(plan, str):
        return {"problem": plan}
    if not isinstance(plan, SizePlan):
        return asdict(plan)
    return {
        "headline": headline(plan),
        "basis": list(basis(plan)),
        "measure": "accuracy",
        **asdict(plan),
        "rule": plan.rule.by_keys(),
    }


def as_text(plan: Plan | LeaderboardSize | str) -> str:
    """Return the headline, its basis and the tables, or the problem that leaves no plan."""
    if isinstance(plan, str):
        return f"Sizes cannot be planned ({printable(plan)})."
    if not isinstance(plan, SizePlan):
        return str(plan)
    lines = [f"{headline(plan)}.", *(f"{line}." for line in basis(plan))]
    for header, rows in tables(plan):
        lines += ["", *in_columns([header, *rows], left=len(header))]
    return "\n".join(map(printable, lines))
