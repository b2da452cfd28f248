"""Rows of a comparison that are copies of others, and what is found without them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._common.copies import copied_rows
from .._common.numerals import p_number
from .._common.validation import FloatArray, IntArray
from .mean_tests import bounded
from .paired_predictions import PairedPredictions
from .part import Part, outcome_counts
from .rows import ComparisonRow
from .rule import ComparisonRule
from .tests import test_part

#: Of more rows nothing is said: it would take a share of the time that reading them takes.
_MOST_ROWS = 200_000


def copies_note(
    paired: PairedPredictions, everything: Part, rows: Sequence[ComparisonRow], rule: ComparisonRule
) -> list[str]:
    """A line where rows are copies of others, with the p-values of all rows without them; else none.

    `rows`: the measures on all rows, not yet tested. Groups, items and runs say themselves what is independent.
    """
    content = _content(paired)
    if content is None:
        return []
    beside = [paired.label, paired.a, paired.b, *(codes for _, codes in paired.slices.values())]
    copies = copied_rows(content, [*beside, *map(_codes, paired.scores or ())])
    if copies is None:
        return []
    kept = np.flatnonzero(~copies)
    outcomes = outcome_counts(everything.rows(kept), [])[0]
    again = [replace(row, n=len(kept)) for row in rows]
    again = bounded([test_part(row, everything, lambda: kept, outcomes, rule=rule) for row in again], rule)
    found = [f"{p_number(row.p_worse)} ({row.name})" for row in again if row.p_worse is not None]
    without = f"without them p is {', '.join(found)}" if found else "without them nothing can be tested"
    told = f"{len(copies) - len(kept):,} of {paired.n:,} rows equal others in all columns, as copies do: {without}"
    return [f"{told}; groups keep copies together"]


def _content(paired: PairedPredictions) -> IntArray | None:
    """What tells a row from others: what its file holds beside, or the coarser of two scores; None if nothing does."""
    grouped = paired.group is not None or paired.items is not None or paired.runs is not None
    if grouped or not 0 < paired.n <= _MOST_ROWS:
        return None
    if paired.content is not None or paired.scores is None:
        return paired.content
    return min(map(_codes, paired.scores), key=lambda codes: int(codes.max()))


def _codes(values: FloatArray) -> IntArray:
    return np.unique(values, return_inverse=True)[1]
