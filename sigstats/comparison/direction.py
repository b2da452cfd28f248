"""Whether scores speak for the class whose probability they are taken for."""

from collections.abc import Iterator
from dataclasses import replace

from .._common.validation import shown
from .paired_predictions import ALL_ROWS
from .result import ComparisonResult
from .rows import ComparisonRow


def with_direction(found: ComparisonResult, positive: str, *, named: bool) -> ComparisonResult:
    """A result with a note on scores that speak for the other class: of these, the worse model would be the better.

    They do where the area under the curve is further below one half than twice the half of its interval.

    `positive`: the class whose probability the scores are taken for. `named`: whether a person said so. Raises
    ValueError if those of the baseline do, and the class was not named.
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
