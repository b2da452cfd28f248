"""The kinds of study by their names in study files; a kind is imported when a study uses it."""

import importlib
from typing import Any

#: The modules whose `KIND` is a kind of study, a `sigstats.flows.running.kind.Kind`.
KINDS = {
    "benchmark": "sigstats.flows.benchmark.plan",
    "calibration": "sigstats.flows.calibration.plan",
    "regression": "sigstats.flows.regression.result",
    "significance": "sigstats.flows.significance.plan",
}


def kind_named(name: str) -> Any:
    """Return the kind of this name."""
    return importlib.import_module(KINDS[name]).KIND
