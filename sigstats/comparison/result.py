"""A comparison: its result, and in sentences title, rule, costs beside quality, and why a row does not pass."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .._common.messages import some_of
from .._common.numerals import NBSP, p_number, significant
from .._common.tabular import Table, Tabular, columns_of
from ..measures.table import MEASURES
from ..multiplicity import IN_WORDS, adjust_pvalues
from ..ranking.means import MEAN_OVER_TASKS
from .cells import FEW_COLUMNS, cells_of, difference_in_words, in_points, interval_of, loss, verdict_of, with_unit
from .margins import margin_in_words
from .paired_predictions import ALL_ROWS
from .rows import ComparedRows
from .rows import ComparisonRow as ComparisonRow
from .rule import ComparisonRule

_NONE, _NEITHER = "no evidence", "no evidence either way"
#: As many slices are named.
_NAMED = 5
TITLES = {
    "pass": "PASS: no regression",
    "inconclusive": "INCONCLUSIVE: no regression shown, none excluded",
    "fail": "FAIL: regression",
}
_IDENTICAL = "PASS: identical, there is nothing to test"


def title_of(found: ComparedRows) -> str:
    """The verdict in a line: what all rows exclude, and where they disagree in sign with the mean over tasks."""
    if found.identical:
        return _IDENTICAL
    title = TITLES[found.verdict]
    unsure = [row for row in found.rows if row.verdict == "inconclusive" and not row.without_limits]
    undecided = {row.slice for row in unsure} - {ALL_ROWS, MEAN_OVER_TASKS}
    small = (
        f"{len(undecided):,} slice{'s are' if len(undecided) > 1 else ' is'} too small to tell; " if undecided else ""
    )
    first = next((row for row in found.rows if row.slice == ALL_ROWS), None)
    known = first is not None and first.verdict is not None and not first.without_limits
    if found.verdict == "inconclusive" and first is not None and known and first.worst is not None:
        behind = (first.worst > 0) == first.lower_is_better and first.worst != 0
        excluded = f"a {loss(first)} of more than {with_unit(first, first.worst).lstrip('−+')}"
        title = f"INCONCLUSIVE: no regression shown; {small}on all rows {first.name} excludes "
        title += excluded if behind else f"any {loss(first)}"
    both = not_worse_and_cheaper(found)
    better = "" if both or found.verdict == "fail" else significantly_better(found)
    return "; ".join([title, *apart_in_sign(found), *filter(None, (both, better))])


def significantly_better(found: ComparedRows) -> str:
    """The measures by which the candidate is better on all rows, two-sided, adjusted by Holm over the measures."""
    rows = [row for row in found.rows if row.slice == ALL_ROWS and row.two_sided_pvalue is not None]
    adjusted = adjust_pvalues([row.two_sided_pvalue or 0.0 for row in rows], method="holm").tolist() if rows else []
    better = [row for row, p in zip(rows, adjusted, strict=True) if (row.gain or 0) > 0 and p <= found.rule.alpha]
    if not better:
        return ""
    return "significantly better on all rows: " + ", ".join(f"{row.name} {difference_in_words(row)}" for row in better)


def apart_in_sign(found: ComparedRows) -> list[str]:
    """The measures that say one thing of all rows and the opposite of the mean over tasks."""
    means = {row.name: row for row in found.rows if row.slice == MEAN_OVER_TASKS}
    said = []
    for row in found.rows:
        mean = means.get(row.name)
        if row.slice == ALL_ROWS and mean is not None and (row.difference or 0) * (mean.difference or 0) < 0:
            rows, tasks = difference_in_words(row), difference_in_words(mean)
            said.append(f"{row.name}: {rows} on all rows, {tasks} in the mean over tasks")
    return said


def rule_in_words(found: ComparedRows) -> str:
    """The rule in a sentence, for the measures that were compared."""
    rule, costs = found.rule, {row.lower_is_better for row in found.rows}
    adjusted = "" if rule.adjust == "none" else f", {IN_WORDS[rule.adjust]},"
    points = {MEASURES[measure].in_points for measure in found.measures}
    side, sign = ("above", "+") if costs == {True} else ("below", "−")
    of_costs = f", or above +{significant(rule.margin)} of a cost" if len(costs) > 1 else ""

    def amount(value: float) -> str:
        of_marks = f" ({significant(value)} of a mark or loss)" if False in points else ""
        return significant(value) if points == {False} else f"{significant(100 * value)} points{of_marks}"

    level, confidence = significant(rule.alpha, 3), significant(100 * rule.confidence_level)
    named = [margin_in_words(name, each, found.rows, sign + amount(each)) for name, each in rule.margins.items()]
    together = "simultaneous " if rule.simultaneous else ""
    return (
        f"fail where the candidate is worse with one-sided p{NBSP}≤{NBSP}{level}{adjusted} and by at least "
        f"{amount(rule.minimum_effect)}; inconclusive where the {confidence}% {together}interval reaches {side} "
        + ", ".join([sign + amount(rule.margin) + of_costs, *named])
    )


def reasons(found: ComparedRows, *, folded: bool = False) -> list[str]:
    """A sentence for each row that does not pass, the worst first; one for all in which nothing differs.

    `folded`: one too for all slices that are inconclusive and lean neither way.
    """
    if found.identical:
        return []
    open_ = [
        row for row in found.ranked if (row.verdict in ("fail", "inconclusive") and not row.silent) or row.unanswered
    ]
    said = [reason_of(row, found.rule) for row in open_ if not folded or tells(row)]
    silent, rest = silent_rows(found), [row for row in open_ if folded and not tells(row)]
    said += [in_one_sentence(silent, found.rule)] if silent else []
    return [*said, neither_way(rest)] if rest else said


def tells(row: ComparisonRow) -> bool:
    """False for a slice that is inconclusive and leans neither way."""
    whole = row.slice in (ALL_ROWS, MEAN_OVER_TASKS)
    return whole or row.verdict != "inconclusive" or evidence(row) not in (_NEITHER, _NONE)


def neither_way(rows: Sequence[ComparisonRow]) -> str:
    """A sentence for inconclusive rows that lean neither way."""
    slices = list(dict.fromkeys(row.slice for row in rows))
    return f"no evidence either way on {some_of(slices, _NAMED)}"


def silent_rows(found: ComparedRows) -> list[ComparisonRow]:
    """The inconclusive rows in which nothing differs, because so few objects exclude nothing."""
    return [row for row in found.rows if row.silent and row.verdict == "inconclusive"]


def in_one_sentence(silent: Sequence[ComparisonRow], rule: ComparisonRule) -> str:
    """A sentence for all `silent_rows`."""
    first = silent[0]
    slices = list(dict.fromkeys(row.slice for row in silent))
    where = first.slice if len(slices) == 1 else f"{first.slice} and {len(slices) - 1:,} more"
    if first.low is None:
        return f"no difference on {where}, and none is excluded: no limit of {first.name} is known"
    decide = "" if first.deciding is None else f"; about {_rounded(first.deciding)} without a difference decide"
    return (
        f"no difference on {where}, but {first.n:,} rows exclude no {loss(first)} of more than "
        f"{_amount(first, rule.margin_of(first))} ({first.name}: {with_unit(first, first.worst)} is possible){decide}"
    )


def about_zero(rows: Iterable[ComparisonRow]) -> str:
    """The reason why a row may fail whose interval holds 0, if one does; else empty."""
    odd = any(row.verdict == "fail" and row.holds_zero for row in rows)
    return "an interval beside fail that holds 0 is two-sided, and p is one-sided" if odd else ""


def counted(rows: Iterable[ComparisonRow]) -> str:
    """The number of rows with each verdict."""
    count: Counter[str] = Counter(row.verdict or "not tested" for row in rows)
    verdicts = ("fail", "inconclusive", "pass", "not tested")
    return ", ".join(f"{count[verdict]:,} {verdict}" for verdict in verdicts if count[verdict])


def reason_of(row: ComparisonRow, rule: ComparisonRule) -> str:
    """The reason why a row does not pass."""
    if row.verdict is None:
        return f"not tested: {row.name} on {row.slice}: {row.note}"
    if row.silent:
        return in_one_sentence([row], rule)
    change = f"{row.name} on {row.slice}: {_change(row)}"
    if row.verdict == "fail":
        return f"worse: {change}" + ("; the interval holds 0 because it is two-sided" if row.holds_zero else "")
    if row.adjusted_pvalue is not None and row.adjusted_pvalue <= rule.alpha:
        least, margin = _amount(row, rule.minimum_effect), _amount(row, rule.margin_of(row))
        return f"worse, though by less than {least}, and a {loss(row)} of more than {margin} is not excluded: {change}"
    limits = "; no limit of a row is known: --score-range (score_range) names it" if row.without_limits else ""
    return f"a {loss(row)} is not excluded: {change}{limits}; {hint(row)}"


def hint(row: ComparisonRow) -> str:
    """The lean of the evidence of an inconclusive row, and what so many rows would have shown."""
    shown, deciding = row.detectable, row.deciding
    drop = (
        "" if shown is None else f"; {row.n:,} rows show a drop of {significant(100 * shown, 2)} points with power 0.8"
    )
    return evidence(row) + drop + ("" if deciding is None else f"; about {_rounded(deciding)} with these values decide")


def _rounded(rows: int) -> str:
    """A number of rows to three figures, rounded up."""
    unit = 10 ** max(0, len(str(rows)) - 3)
    return f"{-(-rows // unit) * unit:,} rows"


def _change(row: ComparisonRow) -> str:
    """The difference of a row, its interval and its p-value."""
    assert row.adjusted_pvalue is not None
    between = "" if row.low is None else f" ({interval_of(row)})"
    return f"{difference_in_words(row)}{between}, adjusted p {p_number(row.adjusted_pvalue).replace(NBSP, ' ')}"


def _amount(row: ComparisonRow, value: float) -> str:
    """A size of a drop with its unit."""
    return f"{significant(100 * value)} points" if in_points(row) else f"{significant(value)} {row.unit}".rstrip()


def evidence(row: ComparisonRow) -> str:
    """The possibilistic indices of "not worse", in words: a large p-value is no evidence of itself."""
    if row.pd is None or row.nsd is None:
        return _NONE
    if row.pd < 0.5:
        return "the evidence leans to worse"
    return "the evidence leans to not worse" if row.nsd > 0.5 else _NEITHER


def not_worse_and_cheaper(found: ComparedRows) -> str:
    """The statement on quality and costs together, on all rows; empty where not both are compared.

    The claim that the candidate is not worse and cheaper is made where each part is shown by itself, which needs no
    adjustment (Berger 1982, Technometrics 24, 295-300).
    """
    rows = [row for row in found.rows if row.slice == ALL_ROWS and row.pvalue is not None]
    costs, others = [row for row in rows if row.lower_is_better], [row for row in rows if not row.lower_is_better]
    if not costs or not others:
        return ""
    as_good = all(row.verdict == "pass" for row in others)
    cheaper = [row for row in costs if _p_better(row) <= found.rule.alpha]
    if len(cheaper) < len(costs):
        dearer = next(row for row in costs if row not in cheaper)
        cost = dearer.score or dearer.name
        return f"not worse, but {cost} is not shown to be lower" if as_good else f"nor is {cost} shown to be lower"
    said = ", ".join(f"{row.score or row.name} {difference_in_words(row)} ({interval_of(row)})" for row in cheaper)
    open_ = [row.score or row.name for row in cheaper if row.verdict != "pass"]
    alone = ""
    if open_:
        unknown = any(row.without_limits for row in cheaper if row.verdict != "pass")
        why = "as no limit of a row is known" if unknown else "as its interval does not exclude a rise"
        alone = f", though {' and '.join(open_)} alone {'is' if len(open_) == 1 else 'are'} inconclusive, {why}"
    return (
        f"not worse and cheaper: {said}{alone}" if as_good else f"cheaper ({said}){alone}, but not shown to be as good"
    )


def _p_better(row: ComparisonRow) -> float:
    """The one-sided p-value of "the candidate is not better"."""
    return 1.0 if row.two_sided_pvalue is None or (row.gain or 0.0) <= 0 else row.two_sided_pvalue / 2


#: So many rows are shown; `sigstats.results.ComparisonResult.to_pandas` has all.
MOST_ROWS = 20


@dataclass(frozen=True, kw_only=True, repr=False)
class ComparisonResult(Tabular, ComparedRows):
    """The result of a comparison; a table where it is printed, and in a notebook.

    Attributes
    ----------
    rows : tuple of ComparisonRow
        Every measure on all rows, then on each slice.
    rule : ComparisonRule
        The rule of the verdict.
    n : int
        The number of rows that both models predicted, for the score with most rows; the number of items if all answers
        to each are averaged.
    items : int or None
        The number of items that the rows answer, if items have several answers.
    subjects : pair of mappings of str to str, or None
        The task, model, score and similar attributes of baseline and candidate, for display.
    notes : tuple of str
        Remarks about the data and the methods, a line each, with a short name for programs in `.name`.
    identical : bool
        Whether the two inputs are identical: files of the same bytes, frames of the same content, or the same arrays.
        Then nothing was tested, and the verdict is "pass".
    joint : JointTasksResult or None
        The decision on what was right over several tasks (`sigstats.joint_tasks_test`, of which A is the baseline), a
        test by itself, which the verdict does not count; None without tasks, of rows in groups, and of marks that
        are not all 0 or 1.

    Examples
    --------
    >>> import sigstats
    >>> found = sigstats.compare([0, 1] * 50, [0, 1] * 50, [0] * 100)
    >>> found.to_pandas()[["slice", "difference", "verdict"]]
          slice  difference verdict
    0  all rows        -0.5    fail
    """

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.rows, ComparisonRow)

    def _table(self) -> Table:
        shown, rest = self.ranked[:MOST_ROWS], self.ranked[MOST_ROWS:]
        cells = [{"verdict": verdict_of(row), **cells_of(row)} for row in shown]
        columns = {name: [each[name] for each in cells] for name in ("verdict", *FEW_COLUMNS)}
        tests = ", ".join(dict.fromkeys(row.test for row in self.rows if row.test))
        said = [
            f"and {len(rest):,} more: {counted(rest)}" if rest else "",
            about_zero(shown),
            f"Rule: {rule_in_words(self)}.",
            f"Tests: {tests}." if tests else "",
        ]
        return Table(title_of(self), columns if shown else {}, notes=(*filter(None, said), *self.notes), words=3)

    __repr__ = Tabular.__str__
