"""The result of a comparison, and its rule in words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._common.drawing import Drawn, forest
from .._common.messages import some_of
from .._common.numerals import NBSP, significant
from .._common.tabular import Table, Tabular
from ..multiplicity import IN_WORDS
from .answer import Answer, answer_of
from .cells import FEW_COLUMNS, amount, by_unit, cells_of, in_points, label_of, verdict_of
from .margins import margin_in_words
from .rows import ComparedRows
from .rows import ComparisonRow as ComparisonRow


def rule_in_words(comparison: ComparedRows) -> str:
    """The rule in a sentence, for the measures that were compared."""
    rule, alike = comparison.rule, dict[tuple[bool, bool, bool], list[ComparisonRow]]()
    for row in comparison.rows:
        alike.setdefault((row.relative, in_points(row), row.lower_is_better), []).append(row)

    def size(rows: Sequence[ComparisonRow], value: float, part: float) -> str:
        of = f" of {some_of(list(dict.fromkeys(row.name for row in rows)))}" if len(alike) > 1 else ""
        first = replace(rows[0], unit="")
        return (f"{significant(100 * part)}% of the baseline" if first.relative else amount(first, value)) + of

    def as_amount(rows: Sequence[ComparisonRow]) -> str:
        first, one = rows[0], len({row.name for row in rows}) == 1
        part = float(f"{rule.relative_margin * abs(first.baseline or 0.0):.3g}")
        return f" ({amount(first, part)} on {first.slice})" if first.relative and one else ""

    least = [size(rows, rule.minimum_effect, rule.relative_effect) for rows in alike.values()]
    most = [
        f"{'above +' if rows[0].lower_is_better else 'below −'}{size(rows, rule.margin, rule.relative_margin)}"
        f"{as_amount(rows)}"
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
    """The number of rows with each verdict."""
    count: Counter[str] = Counter(row.verdict or "not tested" for row in rows)
    verdicts = ("fail", "inconclusive", "pass", "not tested")
    return ", ".join(f"{count[verdict]:,} {verdict}" for verdict in verdicts if count[verdict])


#: The most rows that are shown; `sigstats.results.ComparisonResult.to_pandas` has all.
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
