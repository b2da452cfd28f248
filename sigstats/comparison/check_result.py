"""The result of one model and a bar: the verdict, and the rows in words."""

from dataclasses import dataclass
from typing import Any

from scipy.special import bdtr

from .._common.messages import printable
from .._common.note import Note
from .._common.numerals import NBSP, p_number, significant, told_apart
from .._common.tabular import Table, Tabular, columns_of, in_columns
from ..intervals import clopper_pearson
from ..multiplicity import IN_WORDS
from ..ranking.means import MEAN_OVER_TASKS
from .cells import in_points, items_in_words, value_of
from .deciding import Bound, fewest_rows
from .result import MOST_ROWS
from .rows import WITHOUT_LIMITS, CheckedRow, worst_verdict
from .rule import ComparisonRule, Verdict

HEADER = ("slice", "measure", "rows", "value", "interval", "p", "p adjusted", "verdict")
#: The test of a share of single rows, and how that of runs begins.
BINOMIAL, RUNS = "binomial, exact", "signs of"
_ORDER = {"fail": 0, "inconclusive": 1, None: 2, "pass": 3}


@dataclass(frozen=True, kw_only=True, repr=False)
class CheckResult(Tabular):
    """The result of `sigstats.assert_at_least`; a table where it is printed.

    Attributes
    ----------
    rows : tuple of CheckedRow
        Every measure on all rows, then on each slice.
    rule : ComparisonRule
        Of which level, adjustment, confidence and smallest slice are used.
    bar : float
        The least value that is good enough.
    at_most : bool
        Whether it is the greatest one, of a cost.
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
        """The worst verdict of any row; inconclusive too where a measure was not tested on all rows."""
        return worst_verdict(self.rows)

    @property
    def wanted(self) -> str:
        """The bar in words."""
        return f"{'at most' if self.at_most else 'at least'} {bar_in_words(self)}"

    @property
    def missed(self) -> str:
        """What a value is that misses the bar."""
        return f"{'above' if self.at_most else 'below'} {bar_in_words(self)}"

    @property
    def ranked(self) -> tuple[CheckedRow, ...]:
        """The rows, the worst first: fails by their p-values, inconclusive, not tested, what passes."""
        return tuple(sorted(self.rows, key=lambda row: (_ORDER[row.verdict], row.pvalue or 0.0)))

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.rows, CheckedRow)

    def _table(self) -> Table:
        cells = list(map(cells_of, self.ranked))
        columns = {name: [each[name] for each in cells] for name in HEADER}
        return Table(title_of(self), columns, notes=(*self.notes, f"Rule: {rule_of(self)}."), words=2)

    def __repr__(self) -> str:
        return as_text(self)

    __str__ = __repr__


def cells_of(row: CheckedRow) -> dict[str, str]:
    """The cells of a row by column."""
    interval = "–" if row.value is None else "none"
    if row.low is not None and row.high is not None:
        interval = " to ".join(told_apart(row.low, row.high, lambda end, _: value_of(row, end), 2))
    ps = ["–" if p is None else p_number(p) for p in (row.pvalue, row.adjusted_pvalue)]
    rows, verdict = items_in_words(row.n, row.items), row.verdict or "not tested"
    cells = (row.slice, row.measure, rows, value_of(row, row.value), interval, *ps, verdict)
    return dict(zip(HEADER, cells, strict=True))


def bar_in_words(found: CheckResult) -> str:
    """The bar, in the unit of the measures."""
    share = f"{significant(100 * found.bar)}%"
    own = " ".join(filter(None, [significant(found.bar), next((row.unit for row in found.rows if row.unit), "")]))
    points = {in_points(row) for row in found.rows}
    return f"{share} ({own} of a mark)" if len(points) > 1 else share if points == {True} else own


def title_of(found: CheckResult) -> str:
    """The verdict in a line."""
    measures = list(dict.fromkeys(row.measure for row in found.rows))
    names = f"{', '.join(measures)} {'is' if len(measures) == 1 else 'are'}"
    everywhere = " on all slices" if len({row.slice for row in found.rows if row.verdict}) > 1 else ""
    if found.verdict == "pass":
        return f"PASS: {names} {found.wanted}{everywhere}"
    if found.verdict == "fail":
        first, *more = (row for row in found.ranked if row.verdict == "fail")
        others = f" and {len(more):,} more are" if more else " is"
        return f"FAIL: {_named(first)}{others} {found.missed}"
    that = found.wanted.removesuffix(bar_in_words(found)) + "that"
    return f"INCONCLUSIVE: {names} not shown to be {found.missed}, nor to be {that}{everywhere}"


def _named(row: CheckedRow) -> str:
    """The measure and the slice of a row."""
    return f"{row.measure} {'in the' if row.slice == MEAN_OVER_TASKS else 'on'} {row.slice}"


def rule_of(found: CheckResult) -> str:
    """The rule in a sentence."""
    rule, bar = found.rule, bar_in_words(found)
    level = significant(rule.alpha, 3) + ("" if rule.adjust == "none" else f", {IN_WORDS[rule.adjust]}")
    interval = f"{significant(100 * rule.confidence_level)}% interval"
    reached = f"ends at {bar} or below" if found.at_most else f"begins at {bar} or above"
    return (
        f"fail where the measure is {found.missed} with one-sided p{NBSP}≤{NBSP}{level}; "
        f"pass where the {interval} {reached}; else inconclusive"
    )


def reasons_of(found: CheckResult) -> list[str]:
    """A sentence for each row that does not pass, the worst first."""
    return [reason_of(row, found) for row in found.ranked if row.verdict in ("fail", "inconclusive") or row.unanswered]


def reason_of(row: CheckedRow, found: CheckResult) -> str:
    """The reason why a row does not pass."""
    if row.verdict is None or row.adjusted_pvalue is None:
        return f"not tested: {_named(row)}: {row.note}"
    cells = cells_of(row)
    interval = row.note if row.low is None else cells["interval"]
    of = f"{_named(row)}: {cells['value']} ({interval})"
    if row.verdict == "fail":
        return f"{found.missed}: {of}, adjusted p {p_number(row.adjusted_pvalue).replace(NBSP, ' ')}"
    if row.test.endswith(WITHOUT_LIMITS):
        of += "; no limit of a row is known: --score-range (score_range) names it"
    wanted = rows_that_decide(row, found)
    how = "with this share" if row.test == BINOMIAL else "or so, with these values,"
    return f"not shown to be {found.wanted}: {of}" + (f"; {wanted:,} rows {how} would decide" if wanted else "")


def rows_that_decide(row: CheckedRow, found: CheckResult) -> int | None:
    """The number of rows of which the observed values would fail or pass; None where no number would.

    Exact for a share of single rows; of means it is that at which their bounds decide (`sigstats.comparison.deciding`).
    """
    level = found.rule.level_of_one(sum(each.pvalue is not None for each in found.rows) or 1)
    if row.value is None or row.low is None or row.high is None or row.pvalue is None or row.test.startswith(RUNS):
        return None
    if not row.counted or row.test != BINOMIAL:
        room = found.bar - row.value if found.at_most else row.value - found.bar
        if room > 0 and row.test.endswith(WITHOUT_LIMITS):
            return None
        wanted = (1 - found.rule.confidence_level) / 2
        reach = row.high - row.value if found.at_most == (room > 0) else row.value - row.low
        bound, level = Bound.of(reach, row.standard_error, row.n, wanted), wanted if room > 0 else level
        return fewest_rows(row.n, lambda n: bound.share_beyond(abs(room), n) <= level)
    share, bar = (each / (2 - each) if row.measure == "f1" else each for each in (row.value, found.bar))

    def decides(n: int) -> bool:
        hits = round(share * n)
        low = clopper_pearson(hits, n, confidence_level=found.rule.confidence_level).low
        return low >= bar or float(bdtr(hits, n, bar)) <= level

    counted = fewest_rows(row.counted, decides)
    return None if counted is None else -(-counted * row.n // row.counted)


def as_text(found: CheckResult) -> str:
    """The verdict, the worst rows in columns, what would decide the first that is undecided, and the rule."""
    shown = found.ranked[:MOST_ROWS]
    table = [[printable(" ".join(cell.split())) for cell in cells_of(row).values()] for row in shown]
    lines = [title_of(found), *(f"note: {note}" for note in found.notes), *in_columns([HEADER, *table], left=2)]
    if len(found.rows) > MOST_ROWS:
        lines.append(f"and {len(found.rows) - MOST_ROWS:,} more")
    unsure = [row for row in shown if row.verdict == "inconclusive" or row.unanswered]
    lines += [reason_of(row, found) for row in unsure[:1]]
    return "\n".join(map(printable, [*lines, f"rule: {rule_of(found)}"]))
