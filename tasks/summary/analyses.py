"""The analyses of studies by name, each imported when a study asks for it."""

import importlib
from collections.abc import Iterator
from typing import Any

from ..results import Results
from ..schema import Hypothesis

#: The module of each analysis.
ANALYSES = {
    "calibration": "sigstats.tasks.calibration.rejections",
    "confidence": "sigstats.tasks.calibration.confidence",
    "corrected-resampled": "sigstats.tasks.benchmark.corrected_resampled",
    "likeness": "sigstats.tasks.significance.likeness",
    "measures": "sigstats.tasks.benchmark.measures",
    "performance": "sigstats.tasks.calibration.performance",
    "permutation": "sigstats.tasks.benchmark.permutation",
    "resampled-measures": "sigstats.tasks.benchmark.resampled_measures",
    "sample-size": "sigstats.tasks.calibration.sample_size",
    "significance": "sigstats.tasks.significance.hypotheses",
    "trained": "sigstats.tasks.calibration.trained",
}


def rows_of(name: str, results: Results) -> Iterator[Hypothesis]:
    """The hypotheses of an analysis, or of a test of runs."""
    module: Any = importlib.import_module(ANALYSES.get(name, "sigstats.tasks.benchmark.runs"))
    hypotheses: Iterator[Hypothesis] = module.rows(results) if name in ANALYSES else module.rows_of_runs(results, name)
    return hypotheses
