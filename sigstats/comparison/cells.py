"""The cells of a comparison's table, and the words for values, differences and effects."""

import math
from collections.abc import Sequence
from dataclasses import replace

from .._common.numerals import both_ends, index_number, p_number, significant
from ..measures.table import MEASURES
from ..ranking.means import MEAN_OVER_TASKS
from .rows import ComparisonRow, Row

HEADER = ("slice", "measure", "rows", "baseline", "candidate", "difference", "interval", "p", "p adjusted", "PD", "NSD")
#: The columns that are shown if there is little room.
FEW_COLUMNS = [name for name in HEADER if name not in ("p", "PD", "NSD")]


def cells_of(row: ComparisonRow) -> dict[str, str]:
    """Return the cells of a row by column."""
    values = [value_of(row, row.baseline), value_of(row, row.candidate), difference_of(row, row.difference)]
    ps = ["–" if p is None else p_number(p) for p in (row.pvalue, row.adjusted_pvalue)]
    indices = ["–" if index is None else index_number(index) for index in (row.pd, row.nsd)]
    cells = (row.slice, row.name, items_in_words(row.n, row.items), *values, interval_of(row), *ps, *indices)
    return dict(zip(HEADER, cells, strict=True))


def items_in_words(n: int, items: int | None) -> str:
    """Return the numbers of answers and items, or only of items if answers are averaged or items have one each."""
    if items is None:
        return f"{n:,}"
    named = f"{items:,} item{'s' * (items != 1)}"
    return named if n == items else f"{n:,} of {named}"


def sort_keys_of(row: ComparisonRow) -> dict[str, str]:
    """Return the keys by which the cells of a row are sorted, an empty string for text."""
    values = (
        row.n, row.baseline, row.candidate, row.difference, row.low, row.pvalue, row.adjusted_pvalue, row.pd, row.nsd,
    )  # fmt: skip
    keys = ("", "", *("" if value is None else repr(float(value)) for value in values))
    return dict(zip(HEADER, keys, strict=True))


def verdict_of(row: ComparisonRow) -> str:
    """Return the verdict of a row, or the information that it was not tested."""
    return row.verdict or "not tested"


def loss(row: ComparisonRow) -> str:
    """Return the word for the change of a worse candidate."""
    return "rise" if row.lower_is_better else "drop"


def in_points(row: Row) -> bool:
    """Return True if differences of the row's measure are counted in percentage points, not in a unit of its own."""
    return MEASURES[row.measure].in_points


def by_unit(rows: Sequence[ComparisonRow]) -> dict[str, list[ComparisonRow]]:
    """Return the rows with an interval, grouped by the unit of their differences. The first row's unit comes first."""
    rows_of: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        if row.low is not None:
            rows_of.setdefault("points" if in_points(row) else row.name, []).append(row)
    return rows_of


def label_of(row: Row, rows: Sequence[Row]) -> str:
    """Return the slice, and the measure if there are several."""
    return f"{row.slice}: {row.name}" if len({other.name for other in rows}) > 1 else row.slice


def value_of(row: Row, value: float | None) -> str:
    """Return a value of the row's measure: a percentage, or a mark or loss in its own unit."""
    if value is None:
        return "–"
    return f"{100 * value:.2f}%" if in_points(row) else f"{value:.{_decimals(row)}f}{_unit(row)}".replace("-", "−")


def difference_of(row: ComparisonRow, value: float | None) -> str:
    """Return a difference of two values of the row's measure, with its sign."""
    if value is None:
        return "–"
    return _signed(*_scaled(row, value))


def interval_of(row: ComparisonRow) -> str:
    """Return the interval of the difference, with enough digits to distinguish its ends; a dash if there is none."""
    if row.low is None or row.high is None:
        return "–"
    (low, decimals), (high, _) = _scaled(row, row.low), _scaled(row, row.high)
    return " to ".join(both_ends(low, high, _signed, decimals))


def _scaled(row: ComparisonRow, value: float) -> tuple[float, int]:
    """Return a difference in its unit, and its number of decimals."""
    return (100 * value, 2) if in_points(row) else (value, _decimals(row))


def _decimals(row: Row) -> int:
    """Return the decimals of a value in its own unit: four, or enough for three digits of the row's value."""
    size = abs(row.usual or 0.0)
    return min(max(4, 2 - math.floor(math.log10(2 * size))), 12) if size > 0 else 4


def _signed(value: float, decimals: int) -> str:
    text = f"{value:+.{decimals}f}"
    return text.replace("-", "−") if float(text) else text[1:]


def difference_in_words(row: ComparisonRow) -> str:
    """Return the difference with its unit."""
    return with_unit(row, row.difference)


def with_unit(row: ComparisonRow, value: float | None) -> str:
    """Return a difference of the row's measure with its unit."""
    return difference_of(row, value) + (" points" if in_points(row) else _unit(row))


def amount(row: ComparisonRow, value: float) -> str:
    """Return the size of a drop, such as a margin, with its unit."""
    return f"{significant(100 * value)} points" if in_points(row) else f"{significant(value, 4)}{_unit(row)}"


def titles_of(columns: Sequence[str], rows: Sequence[ComparisonRow]) -> list[str]:
    """Return the titles of columns. The baseline is called "bar" if rows are compared with a bar."""
    return [rows[0].reference if rows and name == "baseline" else name for name in columns]


def named(row: Row) -> str:
    """Return the measure and the slice of a row: "mean cost_usd on all rows"."""
    score = row.score if row.measure == "mean-score" else ""
    where = "" if row.test.kind == "gap" else "in the " if row.slice == MEAN_OVER_TASKS else "on "
    return f"{f'mean {score}' if score else row.name} {where}{row.slice}"


def effect_of(row: ComparisonRow) -> str:
    """Return the change of a measure: "fell by 4.20 points (1.90 to 6.50)", with signs if the interval includes 0."""
    change, between = row.difference or 0.0, interval_of(row)
    if row.low is not None and row.high is not None and not row.holds_zero:
        low, high = sorted((abs(row.low), abs(row.high)))
        between = interval_of(replace(row, low=low, high=high)).replace("+", "")
    if row.against_bar:
        size = f"{with_unit(row, abs(change)).lstrip('+')} {'above' if change > 0 else 'below'}" if change else "at"
        return f"is {size} the bar" + ("" if between == "–" else f" ({between})")
    size = f"{'rose' if change > 0 else 'fell'} by {with_unit(row, abs(change)).lstrip('+')}"
    relative = bool(change) and (row.baseline or 0.0) > 0 and not in_points(row)
    of = f", {significant(100 * abs(change) / (row.baseline or 1.0), 3)}% of the baseline" if relative else ""
    since = "" if row.change is None else " since look {:,} ({:,} to {:,})".format(*row.change)
    return (size if change else "did not change") + ("" if between == "–" else f" ({between})") + of + since


def detected_by(row: ComparisonRow) -> str:
    """Return the drop that the number of rows of an inconclusive result detects; empty if it is not known."""
    if row.detectable is None:
        return ""
    return f"{row.n:,} rows detect a drop of {significant(100 * row.detectable, 2)} points with a power of 0.8"


def settled_by(row: ComparisonRow) -> str:
    """Return how many rows would settle an inconclusive result, to three figures, or empty if no number would."""
    if row.deciding is None:
        return ""
    unit = 10 ** max(0, len(str(row.deciding)) - 3)
    how = "without a difference" if row.silent else f"with the same {'rates' if in_points(row) else 'values'}"
    return f"about {-(-row.deciding // unit) * unit:,} rows {how} would settle it"


def _unit(row: Row) -> str:
    """Return the unit of a mark or loss, after a space."""
    return f" {row.unit}" if row.unit else ""
