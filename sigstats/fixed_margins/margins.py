"""The margins of a square table, and how large a table each way of counting takes."""

from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np

from .._common.data_frames import require_same_index
from .._common.validation import IntArray, as_counts, refuse
from .rook_factor import DIGITS
from .rook_polynomial import Classes

#: Up to here whole numbers take hundredths of a second, and give all of the distribution to full precision.
SMALL = 1_000
#: Up to here they take up to a minute; the last resort where nothing quicker applies.
FEASIBLE = 20_000
#: As many coefficients of the rook polynomial take milliseconds, tenths of a second, and seconds.
FEW, SOME, MANY = 40, 500, 2_500
LOG_10 = DIGITS.ln(Decimal(10))


def as_margins(row_totals: Any, column_totals: Any) -> tuple[IntArray, IntArray, int]:
    """Both margins of a square table and their total, or ValueError."""
    require_same_index(row_totals=row_totals, column_totals=column_totals)
    rows = as_counts(row_totals, "row_totals", ndim=1)
    columns = as_counts(column_totals, "column_totals", ndim=1)
    if len(rows) != len(columns):
        raise refuse("column_totals (length)", len(columns), f"as many as row_totals, {len(rows)}")
    total = int(rows.sum())
    if int(columns.sum()) != total:
        raise refuse("column_totals (total)", int(columns.sum()), f"the total of row_totals, {total}")
    if total == 0:
        raise refuse("row_totals (total)", 0, "at least one object")
    return rows, columns, total


def correct_range(rows: IntArray, columns: IntArray) -> tuple[int, int]:
    """The smallest and the largest number correct that the margins allow."""
    return max(0, int((rows + columns).max() - rows.sum())), int(np.minimum(rows, columns).sum())


def classes_of(rows: IntArray, columns: IntArray) -> Classes:
    """The number of classes with each pair of totals, of those that can be right at all."""
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return Counter(pair for pair in pairs if min(pair) > 0)


def decided_by_one_cell(total: int, classes: Classes) -> bool:
    """True if one cell decides the number correct: one class that can be right, or two that are all there is."""
    pairs = list(Counter(dict(classes)).elements()) if sum(classes.values()) <= 2 else []
    return len(pairs) == 1 or (len(pairs) == 2 and all(a + b == total for a, b in zip(*pairs, strict=True)))
