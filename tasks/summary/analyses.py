"""The analyses of studies by name, each imported when a study asks for it."""

import importlib
from collections.abc import Iterator
from typing import Any

from ..results import Results
from ..schema import Hypothesis

#: The module of each analysis.
ANALYSES = {
    "calibration": "sigstats.tasks.analyses.calibration",
    "confidence": "sigstats.tasks.analyses.confidence",
    "corrected-resampled": "sigstats.tasks.analyses.corrected_resampled",
    "likeness": "sigstats.tasks.analyses.likeness",
    "measures": "sigstats.tasks.analyses.measures",
    "performance": "sigstats.tasks.analyses.performance",
    "permutation": "sigstats.tasks.analyses.permutation",
    "resampled-measures": "sigstats.tasks.analyses.resampled_measures",
    "sample-size": "sigstats.tasks.analyses.sample_size",
    "significance": "sigstats.tasks.analyses.significance",
    "trained": "sigstats.tasks.analyses.trained",
}
#: The module of the tests of cross-validated runs, which are made of their records alone.
_OF_RUNS = "sigstats.tasks.analyses.runs"


def rows_of(name: str, results: Results) -> Iterator[Hypothesis]:
    """The hypotheses of an analysis, or of a test of runs."""
    module: Any = importlib.import_module(ANALYSES.get(name, _OF_RUNS))
    found: Iterator[Hypothesis] = module.rows(results) if name in ANALYSES else module.rows_of_runs(results, name)
    return found
