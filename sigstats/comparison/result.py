"""The result of a comparison, also of several candidates with one baseline, and its rule in words."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .._common.drawing import Drawn, forest
from .._common.messages import Note, some_of
from .._common.numerals import NBSP, p_number, significant
from .._common.tabular import Table, Tabular
from ..multiplicity import IN_WORDS, adjust_pvalues
from ..unseen_row.means import RAREST, UnseenGroup
from .answer import Answer, answer_of, in_doubt
from .cells import FEW_COLUMNS, amount, by_unit, cells_of, effect_of, in_points, label_of, named, verdict_of
from .margins import margin_in_words
from .rows import ComparedRows
from .rows import ComparisonRow as ComparisonRow
from .rule import Verdict
from .units import ALL_ROWS


def rule_in_words(comparison: ComparedRows) -> str:
    """Return the rule in a sentence, for the measures that were compared."""
    rule = comparison.rule
    # Rows whose effects and margins are stated in the same words.
    alike: dict[tuple[Any, ...], list[ComparisonRow]] = {}
    for row in comparison.rows:
        alike.setdefault((row.relative, in_points(row), row.lower_is_better, row.span), []).append(row)

    def size(rows: Sequence[ComparisonRow], value: float, part: float) -> str:
        of = f" of {some_of(list(dict.fromkeys(row.name for row in rows)))}" if len(alike) > 1 else ""
        first = replace(rows[0], unit="")
        return (f"{significant(100 * part)}% of the baseline" if first.relative else amount(first, value)) + of

    def as_amount(rows: Sequence[ComparisonRow]) -> str:
        first = rows[0]
        if not first.relative or len({row.name for row in rows}) > 1:
            return ""
        part = float(f"{rule.relative_margin * abs(first.baseline or 0.0):.3g}")
        return f" ({amount(first, part)} on {first.slice})"

    least = [size(rows, rule.minimum_effect * rows[0].span, rule.relative_effect) for rows in alike.values()]
    most = [
        f"{'above +' if rows[0].lower_is_better else 'below −'}"
        f"{size(rows, rule.margin * rows[0].span, rule.relative_margin)}{as_amount(rows)}"
        for rows in alike.values()
    ]
    others = [margin_in_words(name, margin, comparison.rows) for name, margin in rule.margins.items()]
    adjusted = "" if rule.adjust == "none" else f", {IN_WORDS[rule.adjust]},"
    level, confidence = significant(rule.alpha, 3), significant(100 * rule.confidence_level)
    if comparison.rows[0].against_bar:
        fails = f"fail where the value is on the wrong side of the bar with one-sided p{NBSP}≤{NBSP}{level}{adjusted}"
        return f"{fails.rstrip(',')}; pass where its {confidence}% interval is on the right side; else inconclusive"
    together = "simultaneous " if rule.simultaneous else ""
    return (
        f"fail where the candidate is worse with one-sided p{NBSP}≤{NBSP}{level}{adjusted} and by at least "
        f"{' or '.join(dict.fromkeys(least))}; inconclusive where the {confidence}% {together}interval reaches "
        + ", ".join([", or ".join(most), *others])
    )


def counted(rows: Iterable[ComparisonRow]) -> str:
    """Return how many rows have each verdict."""
    count: Counter[str] = Counter(row.verdict or "not tested" for row in rows)
    verdicts = ("fail", "inconclusive", "pass", "not tested")
    return ", ".join(f"{count[verdict]:,} {verdict}" for verdict in verdicts if count[verdict])


def in_words(after: Any, before: Any, where: str, cells: Callable[[Any], dict[str, str]]) -> tuple[str, str]:
    """State a result in groups or without copies, and its verdict if it differs from the one `before`.

    The results are of a comparison or of a check. `cells`: the cells of a row.
    """
    slices = {row.slice for row in after.rows}
    same = replace(before, rows=tuple(row for row in before.rows if row.slice in slices))
    row, verdict, interval = after.answer.row, after.verdict.upper(), cells(after.answer.row)["interval"]
    tested = f"{named(row)} has none ({row.note})" if row.low is None else f"the interval of {named(row)} is {interval}"
    p = "" if row.pvalue is None else f" and p is {p_number(row.pvalue)}"
    doubt = ""
    if after.verdict != same.verdict == before.verdict:
        of = "" if named(row) == named(same.answer.row) else f"{named(row)}: "
        doubt = f"{verdict} {where}" + ("" if row.low is None else f" ({of}{interval})")
    elif bool(after.answer.better) != bool(same.answer.better):
        doubt = f"not shown to be better {where}"
    return f"{tested}, the verdict is {verdict}{p}", doubt


def unseen_group_note(rows: Sequence[Any], interval: Callable[[Any], str], unseen_group: UnseenGroup) -> list[Note]:
    """Return a line with the intervals on all rows under the other assumption about an unseen group, if any.

    `interval`: words for the interval of a row. `unseen_group`: that of the rule.
    """
    known = [(row, row.other_interval) for row in rows if row.slice == ALL_ROWS and row.other_interval is not None]
    tested = [(row, end) for row, end in known if (end.high - end.low > row.high - row.low) == row.test.like_seen]
    if not tested:
        return []
    kinds = f"rarer than 1 in {1 / RAREST:g}" if unseen_group == "auto" else "too rare to be seen"
    assumed = f"kinds of group {kinds} are assumed to resemble the observed ones; if one may lose all of its rows"
    if not tested[0][0].test.like_seen:
        assumed = "an unobserved group may lose all of its rows; if it resembles the observed groups"
    words = [f"{row.name} {interval(replace(row, low=end.low, high=end.high))}" for row, end in tested]
    return [Note("unseen-group", f"{assumed}, the interval is: {', '.join(words)}")]


#: At most this many rows are shown; `sigstats.results.ComparisonResult.to_pandas` has all.
MOST_ROWS = 20


@dataclass(frozen=True, kw_only=True, repr=False)
class ComparisonResult(Drawn, ComparedRows):
    """The result of a comparison, which prints as a table, also in a notebook.

    `plot` draws each difference with its interval, in the unit of the first one, and dashed lines at 0 and the margin.

    Attributes
    ----------
    rows : tuple of ComparisonRow
        Every measure on all rows, then on each slice.
    rule : ComparisonRule
        The rule of the verdict.
    n : int
        The number of rows that both models predicted, for the score with most rows; the number of items if answers are
        averaged.
    items : int or None
        The number of items that the rows answer, if items have several answers.
    subjects : pair of mappings of str to str, or None
        The task, model, score and similar attributes of baseline and candidate, for display.
    notes : tuple of str
        Remarks about the data and the methods, a line each, with a short name for programs in `.name`.
    identical : bool
        Whether the two inputs are identical: files of the same bytes, frames of the same content, or the same arrays.
        The verdict is that of the rows, and `answer` has a warning.
    joint : JointTasksResult or None
        The joint decision over several tasks by right answers (`sigstats.joint_tasks_test`, with the baseline as A), a
        separate test that does not affect the verdict; None without tasks, for rows in groups, and for marks that are
        not all 0 or 1.

    Examples
    --------
    >>> import sigstats
    >>> found = sigstats.compare([0, 1] * 50, [0, 1] * 50, [0] * 100)
    >>> found.to_pandas()[["slice", "difference", "verdict"]]
          slice  difference verdict
    0  all rows        -0.5    fail
    """

    @property
    def answer(self) -> Answer[ComparisonRow]:
        """The verdict, the row that decides it, its effect in words, and the advice."""
        return answer_of(self)

    _records = "rows"

    def _table(self) -> Table:
        shown, rest = self.ranked[:MOST_ROWS], self.ranked[MOST_ROWS:]
        cells = [{"verdict": verdict_of(row), **cells_of(row)} for row in shown]
        columns = {name: [cell[name] for cell in cells] for name in ("verdict", *FEW_COLUMNS)}
        tests = ", ".join(dict.fromkeys(row.test for row in self.rows if row.test))
        answer = self.answer
        sentences = [
            *(f"{label} {words}." for label, words in answer.also),
            answer.advice,
            f"and {len(rest):,} more: {counted(rest)}" if rest else "",
            f"Rule: {rule_in_words(self)}.",
            f"Tests: {tests}." if tests else "",
        ]
        return Table(answer.headline, columns if shown else {}, notes=(*filter(None, sentences), *self.notes), words=3)

    def _draw(self, ax: Any) -> Any:
        unit, rows = next(iter(by_unit(self.rows).items()), ("", []))
        lines = [(label_of(row, rows), row.difference or 0.0, row.low or 0.0, row.high or 0.0) for row in rows]
        margins = {row.margin or 0.0 if row.lower_is_better else -(row.margin or 0.0) for row in rows[:1]}
        what = "difference" if unit == "points" else f"difference of {unit}"
        return forest(ax, lines, unit=what, marks=(0.0, *margins))

    __repr__ = Tabular.__str__


@dataclass(frozen=True, kw_only=True)
class CandidatesResult:
    """The comparisons of several candidates with one baseline, by `compare_scores`, and the recommended candidate."""

    baseline: str
    candidates: tuple[str, ...]
    #: One result per candidate. P-values are adjusted over all candidates, measures and slices.
    results: tuple[ComparisonResult, ...]

    @cached_property
    def p_better(self) -> tuple[float, ...]:
        """The p-values of "the candidate is not better" by the first measure on all rows, adjusted by Holm's method.

        Two-sided if the candidate is ahead, otherwise 1.
        """
        rows = map(overall, self.results)
        raw = [1.0 if row.two_sided_pvalue is None or (row.gain or 0) <= 0 else row.two_sided_pvalue for row in rows]
        return tuple(adjust_pvalues(raw, method="holm").tolist())

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any candidate."""
        return min((result.verdict for result in self.results), key=("fail", "inconclusive", "pass").index)

    @property
    def better(self) -> tuple[str, ...]:
        """The candidates that pass and are shown to be better than the baseline, the best first."""
        indices = [i for i in self._ranked("pass") if self.p_better[i] <= self.results[i].rule.alpha]
        return tuple(self.candidates[i] for i in indices)

    @property
    def take(self) -> str | None:
        """The best candidate of those that are better, else of those that pass and are not behind; or None."""
        if self.better:
            return self.better[0]
        passing = self._ranked("pass")
        return self.candidates[passing[0]] if passing and _difference(self.results[passing[0]]) >= 0 else None

    @property
    def recommendation(self) -> str:
        """The candidate to take, or to test on more rows, in an imperative sentence."""
        better, taken = self.better, self.take
        if taken is not None:
            result = self.results[self.candidates.index(taken)]
            row = overall(result)
            change = f"{named(row)} {effect_of(row)}{in_doubt(result.notes)}"
            if not better:
                return f"Keep {self.baseline} or take {taken}, which is not worse, and not shown to be better: {change}"
            rest = f"; {', '.join(better[1:])} pass too, and sigstats rank compares them" if better[1:] else ""
            return f"Take {taken}: it is worse nowhere and {change}{rest}"
        if self._ranked("pass"):
            return f"Keep {self.baseline}: the candidates that are not worse do not score higher"
        answers = {self.candidates[i]: self.results[i].answer for i in self._ranked("inconclusive")}
        for name, answer in answers.items():
            if answer.better and answer.row is not None and not answer.row.whole:
                return f"Test {name} on more rows before you take it: {answer.finding}"
        for name, answer in answers.items():
            return f"Keep {self.baseline} for now; {name} is undecided: {answer.finding}"
        doubt = in_doubt(note for result in self.results for note in result.notes)
        return f"Keep {self.baseline}: each candidate is worse{doubt}"

    @property
    def deciding(self) -> tuple[ComparisonRow, ...]:
        """The row that decides the verdict of each candidate."""
        return tuple(result.answer.row or overall(result) for result in self.results)

    def _ranked(self, verdict: Verdict) -> list[int]:
        indices = [i for i, result in enumerate(self.results) if result.verdict == verdict]
        return sorted(indices, key=lambda i: -_difference(self.results[i]))


def overall(result: ComparisonResult) -> ComparisonRow:
    """Return the row of the first measure on all rows."""
    return next(row for row in result.rows if row.slice == ALL_ROWS)


def _difference(result: ComparisonResult) -> float:
    gain = overall(result).gain
    return -1.0 if gain is None else gain
