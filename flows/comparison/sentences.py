"""What a comparison found, in sentences: the title, the rule, and a reason for each row that does not pass."""

from collections.abc import Iterable, Sequence

from sigstats.comparison.result import ComparisonResult, ComparisonRow
from sigstats.comparison.rule import ComparisonRule
from sigstats.measures.table import MEASURES

from ..report.wording import NBSP, p_number
from .cells import in_points, plain_difference

TITLES = {
    "pass": "PASS: no regression",
    "warn": "WARN: no regression shown, none excluded",
    "fail": "FAIL: regression",
}


def rule_in_words(rule: ComparisonRule, measures: Iterable[str]) -> str:
    """The rule in a sentence, for these measures."""
    adjusted = "" if rule.adjust == "none" else f", adjusted by {rule.adjust}"
    points = {MEASURES[measure].in_points for measure in measures}

    def amount(value: float) -> str:
        if points == {False}:
            return f"{value:g}"
        return f"{100 * value:g} points" + (f" ({value:g} of a mark or loss)" if False in points else "")

    return (
        f"fail where the candidate is worse with one-sided p <= {rule.alpha:.3g}{adjusted} and by at least "
        f"{amount(rule.minimum_effect)}; warn where the {100 * rule.confidence:g}% interval reaches below "
        f"-{amount(rule.margin)}"
    )


def reasons(found: ComparisonResult) -> list[str]:
    """A sentence for each row that does not pass; one for all in which nothing differs."""
    if found.identical:
        return []
    said = [
        f"not tested: {row.measure} on {row.slice}: {row.note}" if row.unanswered else _reason(row, found.rule)
        for row in found.rows
        if (row.verdict in ("fail", "warn") and not row.silent) or row.unanswered
    ]
    silent = [row for row in found.rows if row.silent and row.verdict == "warn"]
    return said + ([_of_silent(silent, found.rule)] if silent else [])


def _of_silent(rows: Sequence[ComparisonRow], rule: ComparisonRule) -> str:
    """One sentence for the rows that warn because so few objects exclude nothing."""
    first = rows[0]
    slices = list(dict.fromkeys(row.slice for row in rows))
    where = first.slice if len(slices) == 1 else f"{first.slice} and {len(slices) - 1:,} more"
    if first.low is None:
        return f"no difference on {where}, and none is excluded: no bound of {first.measure} is known"
    allowed = plain_difference(first, first.low)
    return (
        f"no difference on {where}, but {first.n:,} rows exclude no drop of more than {_amount(first, rule.margin)} "
        f"({first.measure}: {allowed} is possible)"
    )


def _reason(row: ComparisonRow, rule: ComparisonRule) -> str:
    assert row.difference is not None
    assert row.low is not None
    assert row.high is not None
    assert row.p_adjusted is not None
    points = " points" if in_points(row) else ""
    change = (
        f"{row.measure} on {row.slice}: {plain_difference(row, row.difference)}{points} "
        f"({plain_difference(row, row.low)} to {plain_difference(row, row.high)}), "
        f"adjusted p {p_number(row.p_adjusted).replace(NBSP, ' ')}"
    )
    if row.verdict == "fail":
        return f"worse: {change}"
    margin = _amount(row, rule.margin)
    if row.p_adjusted <= rule.alpha:
        least = _amount(row, rule.minimum_effect)
        return f"worse, though by less than {least}, and a drop of more than {margin} is not excluded: {change}"
    reason = f"not shown to be worse, but a drop of more than {margin} is not excluded: {change}; {evidence(row)}"
    if row.detectable is not None:
        reason += f"; {row.n:,} rows show a drop of {100 * row.detectable:.2g} points with power 0.8"
    return reason


def _amount(row: ComparisonRow, value: float) -> str:
    """A size of a drop with its unit."""
    return f"{100 * value:g} points" if in_points(row) else f"{value:g}"


def evidence(row: ComparisonRow) -> str:
    """What the possibilistic indices say of "not worse", in words: a large p-value is no evidence of itself."""
    if row.pd is None or row.nsd is None:
        return "no evidence"
    if row.pd < 0.5:
        return f"the evidence leans to worse (possibility of not worse {row.pd:.2g})"
    if row.nsd > 0.5:
        return f"the evidence leans to not worse (necessity {row.nsd:.2g})"
    return f"no evidence either way (possibility of not worse {row.pd:.2g}, necessity {row.nsd:.2g})"
