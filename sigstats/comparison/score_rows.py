"""A row of a comparison from the test of two areas or of two means."""

import math
from collections.abc import Sequence
from dataclasses import replace

from ..scores.result import ScoreResult
from .rows import ComparisonRow


def with_scores(row: ComparisonRow, found: ScoreResult) -> ComparisonRow:
    """The row with a two-sided test of two areas or means, and the one-sided p-value that goes with it."""
    half, z = found.pvalue / 2, -found.statistic  # of the candidate, B, less the baseline, A
    return replace(
        row,
        baseline=found.value_a,
        candidate=found.value_b,
        baseline_interval=(found.interval_a.low, found.interval_a.high),
        candidate_interval=(found.interval_b.low, found.interval_b.high),
        difference=0.0 - found.estimate,
        low=0.0 - found.confidence_interval.high,
        high=0.0 - found.confidence_interval.low,
        standard_error=found.standard_error,
        test=found.method,
        p_worse=half if z < 0 else 1.0 if math.isinf(z) else 1 - half,
        p_differs=found.pvalue,
        note=found.reason,
    )


def infinite_loss(counts: Sequence[int], what: str) -> str:
    """The note on a log loss that is infinite in so many rows or runs of baseline and candidate."""
    who = " and ".join(
        f"{count:,} {what} of the {name}"
        for count, name in zip(counts, ("baseline", "candidate"), strict=True)
        if count
    )
    return f"infinite loss: the true class has probability 0 in {who}; score_range names limits of probabilities"
