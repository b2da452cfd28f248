"""The result of one model and a bar: the verdict, and the rows in words."""

from dataclasses import dataclass
from typing import Any

from scipy.special import bdtr

from ..._common.drawing import Drawn, forest
from ..._common.messages import Note
from ..._common.numerals import NBSP, both_ends, p_number, significant
from ..._common.tabular import Table
from ...intervals import Interval, clopper_pearson
from ...multiplicity import IN_WORDS
from ..answer import Answer, others_in_words, qualified, state_limits
from ..cells import in_points, items_in_words, label_of, named, value_of
from ..deciding import Bound, fewest_rows
from ..result import MOST_ROWS
from ..rows import Row, with_turned, worst_verdict
from ..rule import NO_TEST, ComparisonRule, RowTest, Verdict

HEADER = ("slice", "measure", "rows", "value", "interval", "p", "p adjusted", "verdict")
_ORDER = {"fail": 0, "inconclusive": 1, None: 2, "pass": 3}


@dataclass(frozen=True, kw_only=True)
class CheckedRow(Row):
    """One measure of one model on one slice.

    Attributes
    ----------
    slice, measure : str
    n : int
    items : int or None
        The number of items that the rows answer, if items have several answers.
    counted : int or None
        The number of rows on which the measure rests, such as those predicted to be positive for precision.
    value, low, high : float or None
        The measure and its interval.
    other_interval : Interval or None
        As of `ComparisonRow`.
    standard_error : float or None
        The standard error of a mean, by rows or groups; None if the test has none.
    pvalue : float or None
        One-sided p-value of "the measure is at least the bar".
    adjusted_pvalue : float or None
        `pvalue`, adjusted over all measures and slices.
    verdict : "pass", "inconclusive", "fail" or None
        None if nothing was tested.
    test, note, unit, score : str
        `score` is the name of the marks, as of `ComparisonRow`.
    confidence_level : float or None
        The confidence of the interval; None if nothing was tested.
    """

    slice: str
    measure: str
    n: int
    items: int | None = None
    counted: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    other_interval: Interval | None = None
    standard_error: float | None = None
    pvalue: float | None = None
    adjusted_pvalue: float | None = None
    verdict: Verdict | None = None
    test: RowTest = NO_TEST
    note: str = ""
    unit: str = ""
    score: str = ""
    confidence_level: float | None = None

    @property
    def usual(self) -> float | None:  # noqa: D102
        return self.value

    def turned(self) -> "CheckedRow":
        """Return the row with its values negated."""
        return with_turned(self, "value")


@dataclass(frozen=True, kw_only=True, repr=False)
class CheckResult(Drawn):
    """The result of `sigstats.check`, which prints as a table.

    `plot` draws each measure with its interval, and a dashed line at the bar.

    Attributes
    ----------
    rows : tuple of CheckedRow
        Every measure on all rows, then on each slice.
    rule : ComparisonRule
        Only its level, adjustment, confidence and smallest slice are used.
    bar : float
        The lowest acceptable value.
    at_most : bool
        Whether the bar is the highest acceptable value, as of a cost.
    n : int
        The number of rows.
    notes : tuple of str
        Remarks about the data, a line each, with a short name for programs in `.name`.
    """

    rows: tuple[CheckedRow, ...]
    rule: ComparisonRule
    bar: float
    n: int
    at_most: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any row; at best inconclusive if a measure was not tested on all rows."""
        return worst_verdict(self.rows)

    @property
    def wanted(self) -> str:
        """The bar in words."""
        return f"{'at most' if self.at_most else 'at least'} {bar_in_words(self)}"

    @property
    def missed(self) -> str:
        """The words for a value that misses the bar."""
        return f"{'above' if self.at_most else 'below'} {bar_in_words(self)}"

    @property
    def ranked(self) -> tuple[CheckedRow, ...]:
        """The rows, beginning with the one that decides: fails by p; inconclusive, all rows before slices; passes."""

        def key(row: CheckedRow) -> tuple[int, bool, float]:
            p = 0.0 if row.verdict == "pass" else row.pvalue or 0.0
            return _ORDER[row.verdict], row.verdict == "inconclusive" and not row.whole, p

        return tuple(sorted(self.rows, key=key))

    @property
    def answer(self) -> Answer[CheckedRow]:
        """The verdict, the row that decides it, its value in words, and the advice."""
        row, verdict = self.ranked[0], self.verdict
        made = sum(row.verdict is not None for row in self.rows)
        more = f"; all {made:,} tests pass" if made > 1 else "; 1 test passes" * (len(self.rows) > 1)
        how = {"runs": "Check more runs", "judged": "Label more rows"}.get(row.test.kind, "Check more rows")
        advice = {"pass": "Accept the model.", "fail": "Do not accept the model."}.get(verdict)
        if advice is None and not row.test.limited:
            advice = state_limits(row.measure, "the marks")
        answer = Answer(
            verdict=verdict,
            row=row,
            finding=finding_of(row, self) + more * (verdict == "pass") + others_in_words(self.ranked),
            advice=advice or f"{': '.join(filter(None, [how, settled_by(row, self)]))}.",
        )
        return qualified(answer, self.notes)

    _records = "rows"

    def _table(self) -> Table:
        shown = list(map(cells_of, self.ranked[:MOST_ROWS]))
        more = [f"and {len(self.rows) - MOST_ROWS:,} more"] if len(self.rows) > MOST_ROWS else []
        columns = {name: [cells[name] for cells in shown] for name in HEADER}
        notes = (*more, self.answer.advice, *self.notes, f"Rule: {rule_of(self)}.")
        return Table(self.answer.headline, columns, notes=notes, words=2)

    def _draw(self, ax: Any) -> Any:
        rows = [row for row in self.rows if row.low is not None]
        lines = [(label_of(row, rows), row.value or 0.0, row.low or 0.0, row.high or 0.0) for row in rows]
        return forest(ax, lines, unit=", ".join(dict.fromkeys(row.name for row in rows)), marks=(self.bar,))

    __repr__ = Drawn.__str__


def cells_of(row: CheckedRow) -> dict[str, str]:
    """Return the cells of a row by column."""
    interval = "–" if row.value is None else "none"
    if row.low is not None and row.high is not None:
        interval = " to ".join(both_ends(row.low, row.high, lambda end, _: value_of(row, end), 2))
    ps = ["–" if p is None else p_number(p) for p in (row.pvalue, row.adjusted_pvalue)]
    rows, verdict = items_in_words(row.n, row.items), row.verdict or "not tested"
    cells = (row.slice, row.measure, rows, value_of(row, row.value), interval, *ps, verdict)
    return dict(zip(HEADER, cells, strict=True))


def bar_in_words(result: CheckResult) -> str:
    """Return the bar, in the unit of the measures."""
    share = f"{significant(100 * result.bar)}%"
    text = " ".join(filter(None, [significant(result.bar), next((row.unit for row in result.rows if row.unit), "")]))
    points = {in_points(row) for row in result.rows}
    return f"{share} ({text} of a mark)" if len(points) > 1 else share if points == {True} else text


def finding_of(row: CheckedRow, result: CheckResult) -> str:
    """Return the measure and its interval, below, above or at the bar."""
    if row.verdict is None:
        return f"{named(row)} was not tested: {row.note}"
    meets = {"pass": result.wanted, "fail": result.missed, "inconclusive": f"not shown to be {result.wanted}"}
    interval = row.note if row.low is None else cells_of(row)["interval"]
    return f"{named(row)} is {value_of(row, row.value)} ({interval}), {meets[row.verdict]}".replace(" ()", "")


def settled_by(row: CheckedRow, result: CheckResult) -> str:
    """Return the number of rows that would settle an inconclusive row, or an empty text if none would."""
    wanted = rows_that_decide(row, result) if row.verdict == "inconclusive" else None
    how = "with this share" if row.test.kind == "binomial" else "or so, with these values,"
    what = "labels" if row.test.kind == "judged" else "rows"
    return f"{wanted:,} {what} {how} would settle it" if wanted else ""


def rule_of(result: CheckResult) -> str:
    """Return the rule in a sentence."""
    rule, bar = result.rule, bar_in_words(result)
    level = significant(rule.alpha, 3) + ("" if rule.adjust == "none" else f", {IN_WORDS[rule.adjust]}")
    interval = f"{significant(100 * rule.confidence_level)}% interval"
    reached = f"ends at {bar} or below" if result.at_most else f"begins at {bar} or above"
    return (
        f"fail where the measure is {result.missed} with one-sided p{NBSP}≤{NBSP}{level}; "
        f"pass where the {interval} {reached}; else inconclusive"
    )


def reasons_of(result: CheckResult, *, others: bool = False) -> list[str]:
    """Return a sentence for each row that does not pass, the worst first; `others`: except the row of the headline."""
    rows = result.ranked[1:] if others else result.ranked
    return [reason_of(row, result) for row in rows if row.verdict in ("fail", "inconclusive") or row.unanswered]


def reason_of(row: CheckedRow, result: CheckResult) -> str:
    """Return the finding of a row that does not pass, its p-value, and how many rows would settle it."""
    p = "" if row.adjusted_pvalue is None else f"adjusted p {p_number(row.adjusted_pvalue).replace(NBSP, ' ')}"
    return "; ".join(filter(None, [finding_of(row, result), p, settled_by(row, result)]))


def rows_that_decide(row: CheckedRow, result: CheckResult) -> int | None:
    """Return the number of rows with which the observed values would fail or pass; None if no number would.

    Exact for a share of single rows; for means the number at which bounds decide (`sigstats.comparison.deciding`).
    """
    if row.test.kind == "gap":
        return None
    level = result.rule.level_of_one(sum(checked_row.pvalue is not None for checked_row in result.rows) or 1)
    if row.value is None or row.low is None or row.high is None or row.pvalue is None or row.test.kind == "runs":
        return None
    if not row.counted or row.test.kind != "binomial":
        room = result.bar - row.value if result.at_most else row.value - result.bar
        if room > 0 and not row.test.limited:
            return None
        wanted = (1 - result.rule.confidence_level) / 2
        reach = row.high - row.value if result.at_most == (room > 0) else row.value - row.low
        n_now = row.counted or row.n if row.test.kind == "judged" else row.n
        bound, level = Bound.of(reach, row.standard_error, n_now, wanted), wanted if room > 0 else level
        return fewest_rows(n_now, lambda n: bound.share_beyond(abs(room), n) <= level)
    share, bar = (value / (2 - value) if row.measure == "f1" else value for value in (row.value, result.bar))

    def decides(n: int) -> bool:
        hits = round(share * n)
        low = clopper_pearson(hits, n, confidence_level=result.rule.confidence_level).low
        return low >= bar or float(bdtr(hits, n, bar)) <= level

    counted = fewest_rows(row.counted, decides)
    return None if counted is None else -(-counted * row.n // row.counted)
