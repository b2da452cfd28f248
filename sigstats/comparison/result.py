"""The result of a comparison: a row for each measure on each slice, and the verdict."""

from dataclasses import dataclass
from typing import Any

from .._common.tabular import Table, Tabular
from .cells import HEADER, cells_of, verdict_of
from .rows import ComparedRows, frame_columns
from .rows import ComparisonRow as ComparisonRow
from .sentences import about_zero, counted, rule_in_words, title_of

#: So many rows are shown; `sigstats.results.ComparisonResult.to_pandas` has all.
MOST_ROWS = 20
_COLUMNS = [position for position, name in enumerate(HEADER) if name not in ("p", "PD", "NSD")]
_NAMES = ("verdict", *(HEADER[position] for position in _COLUMNS))


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
        Remarks about the data and the methods, a line each.
    identical : bool
        Whether the two inputs are identical: files of the same bytes, frames of the same content, or the same arrays.
        Then nothing was tested, and the verdict is "pass".
    joint : JointTasksResult or None
        The decision on the accuracy over several tasks (`sigstats.joint_tasks_test`, of which A is the baseline), a
        test by itself, which the verdict does not count; None without tasks, and where rows are in groups.

    Examples
    --------
    >>> import sigstats
    >>> found = sigstats.compare([0, 1] * 50, [0, 1] * 50, [0] * 100)
    >>> found.to_pandas()[["slice", "difference", "verdict"]]
          slice  difference verdict
    0  all rows        -0.5    fail
    """

    def _columns(self) -> dict[str, list[Any]]:
        return frame_columns(self.rows, ComparisonRow)

    def _table(self) -> Table:
        shown, rest, rows = self.ranked[:MOST_ROWS], self.ranked[MOST_ROWS:], []
        for row in shown:
            cells = cells_of(row)
            rows.append((verdict_of(row), *(cells[position] for position in _COLUMNS)))
        columns = dict(zip(_NAMES, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
        tests = ", ".join(dict.fromkeys(row.test for row in self.rows if row.test))
        said = [
            f"and {len(rest):,} more: {counted(rest)}" if rest else "",
            about_zero(shown),
            f"Rule: {rule_in_words(self.rule, self.measures)}.",
            f"Tests: {tests}." if tests else "",
        ]
        return Table(title_of(self), columns, notes=(*filter(None, said), *self.notes), words=3)

    __repr__ = Tabular.__str__
