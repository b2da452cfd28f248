"""Notes on the data: rows that are copies of others, with what is found without them, and scores of the other class."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._common.copies import copied_rows
from .._common.numerals import p_number
from .._common.validation import FloatArray, IntArray, shown
from .mean_tests import bounded
from .paired_predictions import ALL_ROWS, PairedPredictions
from .part import Part, outcome_counts
from .result import ComparisonResult
from .rows import ComparisonRow
from .rule import ComparisonRule
from .tests import test_part

#: Of more rows nothing is said: it would take a share of the time that reading them takes.
_MOST_ROWS = 200_000


def copies_in(paired: PairedPredictions) -> tuple[NDArray[np.bool_] | None, str]:
    """Which rows are copies of others, and a line on them; None where there are none.

    Groups, items and runs say themselves what is independent.
    """
    content = _content(paired)
    beside = [paired.label, paired.a, paired.b, *(codes for _, codes in paired.slices.values())]
    copies = None if content is None else copied_rows(content, [*beside, *map(_codes, paired.scores or ())])
    if copies is None:
        return None, ""
    told = f"{np.count_nonzero(copies):,} of {paired.n:,} rows equal others in all columns, as copies do"
    return copies, f"{told}; groups keep copies together"


def copies_note(
    paired: PairedPredictions, everything: Part, rows: Sequence[ComparisonRow], rule: ComparisonRule
) -> list[str]:
    """A line where rows are copies of others, with the p-values of all rows without them; else none."""
    copies, told = copies_in(paired)
    if copies is None:
        return []
    kept = np.flatnonzero(~copies)
    outcomes = outcome_counts(everything.rows(kept), [])[0]
    again = [replace(row, n=len(kept)) for row in rows]
    again = bounded([test_part(row, everything, lambda: kept, outcomes, rule=rule) for row in again], rule)
    found = [f"{p_number(row.pvalue)} ({row.name})" for row in again if row.pvalue is not None]
    without = f"without them p is {', '.join(found)}" if found else "without them nothing can be tested"
    return [told.replace(";", f": {without};")]


def _content(paired: PairedPredictions) -> IntArray | None:
    """Codes that tell rows apart: what their file holds beside, or the coarser of two scores; None if nothing does."""
    grouped = paired.group is not None or paired.items is not None or paired.runs is not None
    if grouped or not 0 < paired.n <= _MOST_ROWS:
        return None
    if paired.content is not None or paired.scores is None:
        return paired.content
    return min(map(_codes, paired.scores), key=lambda codes: int(codes.max()))


def _codes(values: FloatArray) -> IntArray:
    return np.unique(values, return_inverse=True)[1]


def with_direction(found: ComparisonResult, positive: str, *, named: bool) -> ComparisonResult:
    """A result with a note on scores that speak for the other class: of these, the worse model would be the better.

    They do where the area under the curve is further below one half than twice the half of its interval. ValueError if
    those of the baseline do, and `positive`, the class whose probability they are taken for, was not `named`.
    """
    notes = []
    for who, area in _reversed(found.rows):
        told = f"scores of the {who} are lower for the class {shown(positive)} (area {area:.1%})"
        if who == "baseline" and not named:
            raise ValueError(f"{told}; expected its probabilities, or positive, which names the class that they are of")
        notes.append(f"{told}: they may be those of the other class")
    return replace(found, notes=(*found.notes, *dict.fromkeys(notes))) if notes else found


def _reversed(rows: tuple[ComparisonRow, ...]) -> Iterator[tuple[str, float]]:
    for row in rows:
        if row.measure != "auc" or row.slice != ALL_ROWS:
            continue
        sides = (
            ("baseline", row.baseline, row.baseline_interval),
            ("candidate", row.candidate, row.candidate_interval),
        )
        for who, area, interval in sides:
            if area is not None and interval is not None and area + 2 * (interval[1] - area) < 0.5:
                yield who, area
