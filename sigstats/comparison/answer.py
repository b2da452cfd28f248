"""The answer of a comparison or a check: the verdict, the row that decides it, its effect, and what to do.

Terminal, notebook, page, Markdown, JUnit, JSON, assertions and the messages of schedulers render this one value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from .._common.messages import some_of
from ..multiplicity import adjust_pvalues
from ..ranking.means import MEAN_OVER_TASKS
from .cells import amount, difference_in_words, effect_of, in_points, interval_of, loss, named, with_unit
from .paired_predictions import ALL_ROWS
from .rows import CheckedRow, ComparedRows, ComparisonRow
from .rule import ComparisonRule, Verdict

R = TypeVar("R", ComparisonRow, CheckedRow)

#: A sentence names at most this many slices.
MOST_NAMED = 5
NEITHER = "no evidence either way"
_BESIDES = {"fail": ("fails", "fail"), "inconclusive": ("is inconclusive", "are inconclusive")}


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[R]):
    """The answer of a comparison or a check.

    Attributes
    ----------
    verdict : "pass", "inconclusive" or "fail"
    row : ComparisonRow, CheckedRow or None
        The row that decides: the failing row with the smallest adjusted p (of equal ones that with the largest drop in
        margins), else the row that is inconclusive, all rows before slices, else the first measure on all rows. None
        if the inputs are identical.
    finding : str
        The measure, the slice and the effect with its interval, in a sentence.
    advice : str
        What to do, in an imperative sentence.
    better : tuple of ComparisonRow
        The measures by which the candidate is better on all rows: two-sided, adjusted over the measures by Holm's
        method.
    also : tuple of pair of str
        Statements about several rows: a label, and a sentence that does not contradict the verdict.
    """

    verdict: Verdict
    row: R | None
    finding: str
    advice: str
    better: tuple[R, ...] = ()
    also: tuple[tuple[str, str], ...] = ()

    @property
    def headline(self) -> str:
        """The verdict and the finding."""
        return f"{self.verdict.upper()}: {self.finding}"


def answer_of(found: ComparedRows) -> Answer[ComparisonRow]:
    """The answer of a comparison."""
    if found.identical:
        return Answer(verdict="pass", row=None, finding="identical, there is nothing to test", advice="Take either.")
    row, better = found.ranked[0], _better(found)
    together = _not_worse_and_cheaper(found)
    gains = ", ".join(f"{named(each)} {effect_of(each)}" for each in better if each is not row)
    finding = _finding(row, found.rule)
    if found.verdict == "pass":
        finding = f"no regression{f' in {len(found.rows):,} tests' if len(found.rows) > 1 else ''}; {finding}"
    elif found.verdict == "inconclusive" and gains:
        finding, gains = f"{gains}, but {_unexcluded(row, found.rule)}: {named(row)} {effect_of(row)}", ""
    also = [
        ("Better:", "" if together else gains),
        ("Together:", together),
        *(("Beware:", words) for words in _apart_in_sign(found)),
    ]
    return Answer(
        verdict=found.verdict,
        row=row,
        finding=finding + others_in_words(found.ranked),
        advice=_advice(found, row, better),
        better=better,
        also=tuple((label, words) for label, words in also if words),
    )


def others_in_words(ranked: Sequence[ComparisonRow] | Sequence[CheckedRow]) -> str:
    """The number of rows that do not pass for the same verdict as the first, after a semicolon; empty if none."""
    verdict = ranked[0].verdict
    others = sum(row.verdict == verdict for row in ranked[1:])
    if verdict in (None, "pass") or not others:
        return ""
    return f"; {others:,} other test{'s' * (others > 1)} {_BESIDES[str(verdict)][others > 1]}"


def evidence(row: ComparisonRow) -> str:
    """The possibilistic indices of "not worse", in words: a large p-value is no evidence of itself."""
    if row.pd is None or row.nsd is None:
        return "no evidence"
    if row.pd < 0.5:
        return "the candidate looks worse, but not significantly"
    return "the candidate looks no worse" if row.nsd > 0.5 else NEITHER


def settled_by(row: ComparisonRow) -> str:
    """The number of rows that would settle an inconclusive row, rounded up to three figures; empty if none would."""
    if row.deciding is None:
        return ""
    unit = 10 ** max(0, len(str(row.deciding)) - 3)
    how = "without a difference" if row.silent else f"with the same {'rates' if in_points(row) else 'values'}"
    return f"about {-(-row.deciding // unit) * unit:,} rows {how} would settle it"


def no_difference(silent: Sequence[ComparisonRow], rule: ComparisonRule) -> str:
    """A sentence for rows in which the models differ nowhere."""
    first, slices = silent[0], list(dict.fromkeys(row.slice for row in silent))
    where = named(first) if len(silent) == 1 else f"{first.slice} and {len(slices) - 1:,} more"
    if first.low is None:
        return f"no difference in {where}, and none is excluded: no limits of {first.name} are known"
    return (
        f"no difference in {where}, but {first.n:,} rows do not exclude a {loss(first)} of more than "
        f"{amount(first, rule.margin_of(first))} ({with_unit(first, first.worst)} is possible)"
    )


def _finding(row: ComparisonRow, rule: ComparisonRule) -> str:
    if row.verdict is None:
        return f"{named(row)} was not tested: {row.note}"
    if row.silent and row.verdict == "inconclusive":
        return no_difference([row], rule)
    unsure = f"; {_unexcluded(row, rule)}" if row.verdict == "inconclusive" else ""
    return f"{named(row)} {effect_of(row)}{unsure}"


def _unexcluded(row: ComparisonRow, rule: ComparisonRule) -> str:
    """The change that keeps an inconclusive row from passing."""
    if row.verdict is None:
        return "not all was tested"
    if row.without_limits:
        return f"no limits of {row.score or row.name} are known, so that no {loss(row)} is excluded"
    return f"a {loss(row)} of more than {amount(row, rule.margin_of(row))} is not excluded"


def _better(found: ComparedRows) -> tuple[ComparisonRow, ...]:
    """The measures by which the candidate is better on all rows, two-sided, adjusted by Holm over the measures."""
    rows = [row for row in found.rows if row.slice == ALL_ROWS and row.two_sided_pvalue is not None]
    adjusted = adjust_pvalues([row.two_sided_pvalue or 0.0 for row in rows], method="holm").tolist() if rows else []
    pairs = zip(rows, adjusted, strict=True)
    return tuple(row for row, p in pairs if (row.gain or 0) > 0 and p <= found.rule.alpha)


def _advice(found: ComparedRows, row: ComparisonRow, better: Sequence[ComparisonRow]) -> str:
    if found.verdict == "fail":
        first = next((each.slice for each in found.ranked if each.verdict == "fail" and not each.whole), None)
        return "Keep the baseline." + (f" Look at {first} first: the evidence is clearest there." if first else "")
    if found.verdict == "pass":
        if better:
            return "Replace the baseline: the candidate is better, and worse nowhere."
        return "You may replace the baseline: the candidate is not worse, and not shown to be better."
    if row.verdict is None:
        return f"Compare on data that {row.name} can be computed from, or by other measures."
    if row.adjusted_pvalue is not None and row.adjusted_pvalue <= found.rule.alpha:
        least = amount(row, found.rule.effect_of(row))
        return (
            f"The candidate is worse, though by less than {least}. Set --minimum-effect to a {loss(row)} that matters."
        )
    if row.without_limits:
        what = row.score or row.name
        return f"State the limits of {what} (--score-range LOW HIGH): without them no number of rows passes."
    plan, size = f"sigstats size --measure {row.measure} with the same files", settled_by(row)
    size = f"{size}; {plan} gives the power of others" if size else f"{plan} estimates how many"
    if row.whole:
        words = evidence(row)
        looks = "" if row.silent or words == NEITHER else f"{words[:1].upper()}{words[1:]}. "
        return f"{looks}Compare on more rows: {size}."
    size = settled_by(row) or size
    open_ = list(dict.fromkeys(each.slice for each in found.ranked if each.verdict == "inconclusive"))
    lead = f"The candidate is {'better' if better else 'not worse'} on all rows, but not shown to be safe on"
    there = f" on {row.slice}" * (len(open_) > 1) + (f" ({row.n:,} now)" if row.deciding is not None else "")
    return f"{lead} {some_of(open_, MOST_NAMED)}. Test more rows there: {size}{there}."


def _apart_in_sign(found: ComparedRows) -> list[str]:
    """The measures that say one thing of all rows and the opposite of the mean over tasks."""
    means = {row.name: row for row in found.rows if row.slice == MEAN_OVER_TASKS}
    said = []
    for row in found.rows:
        mean = means.get(row.name)
        if row.slice == ALL_ROWS and mean is not None and (row.difference or 0) * (mean.difference or 0) < 0:
            rows, tasks = difference_in_words(row), difference_in_words(mean)
            said.append(f"{row.name}: {rows} on all rows, {tasks} in the mean over tasks")
    return said


def _not_worse_and_cheaper(found: ComparedRows) -> str:
    """The statement on quality and costs together, on all rows; empty unless the quality is shown to be no worse.

    The claim that the candidate is not worse and cheaper is made where each part is shown by itself, which needs no
    adjustment (Berger 1982, Technometrics 24, 295-300).
    """
    rows = [row for row in found.rows if row.slice == ALL_ROWS and row.pvalue is not None]
    costs, others = [row for row in rows if row.lower_is_better], [row for row in rows if not row.lower_is_better]
    if found.verdict == "fail" or not costs or not others or any(row.verdict != "pass" for row in others):
        return ""
    dearer = next((row for row in costs if _p_better(row) > found.rule.alpha), None)
    if dearer is not None and (dearer.adjusted_pvalue or 0.0) <= found.rule.alpha:
        return ""
    if dearer is not None:
        return f"not worse, but {dearer.score or dearer.name} is not shown to be lower"
    return "not worse and cheaper: " + ", ".join(
        f"{row.score or row.name} {difference_in_words(row)} ({interval_of(row)})" for row in costs
    )


def _p_better(row: ComparisonRow) -> float:
    """The one-sided p-value of "the candidate is not better"."""
    return 1.0 if row.two_sided_pvalue is None or (row.gain or 0.0) <= 0 else row.two_sided_pvalue / 2
