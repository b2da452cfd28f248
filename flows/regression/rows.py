"""The rows of a comparison as the history keeps them, and back."""

from collections.abc import Mapping
from typing import Any

from sigstats._common.scores import is_lower_better, unit_of
from sigstats.comparison.rows import ComparisonRow, measure_and_score
from sigstats.tasks.storage import history

from ..comparison.json import KEYS_OF_ROWS, row_as_object
from .study import ColumnNames

_KEPT = ("slice", "n", "difference", "low", "high", "pvalue", "adjusted_pvalue", "pd", "psd", "nsd", "test", "note")


def kept_row(row: ComparisonRow) -> dict[str, object]:
    """The columns of the history."""
    low, high = row.candidate_interval or (None, None)
    values = row_as_object(row)
    return {
        **{name.name: values.get(name.name) for name in history.ROWS},
        "measure": row.name,
        "baseline_value": row.baseline,
        "candidate_value": row.candidate,
        "candidate_low": low,
        "candidate_high": high,
        "row_verdict": row.verdict,
    }


def row_of(kept: Mapping[str, Any], columns: ColumnNames) -> ComparisonRow:
    """The row that was kept, as far as it was; `columns` say of which scores the lower is better."""
    measure, score = measure_and_score(kept["measure"])
    return ComparisonRow(
        **{name: kept[KEYS_OF_ROWS.get(name, name)] for name in _KEPT},
        measure=measure,
        score=score,
        baseline=kept["baseline_value"],
        candidate=kept["candidate_value"],
        verdict=kept["row_verdict"],
        lower_is_better=is_lower_better(score, lower=columns.lower_is_better, higher=columns.higher_is_better) is True,
        unit=unit_of(score),
    )
