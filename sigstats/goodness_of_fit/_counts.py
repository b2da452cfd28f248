"""Counts and the probabilities that are required of them, checked."""

import math
from typing import Any

from .._common.validation import FloatArray, IntArray, as_counts, as_probabilities, refuse, require_same_index
from .distance import LEAST_PROBABILITY


def as_counts_and_probabilities(counts: Any, probabilities: Any) -> tuple[IntArray, FloatArray, int]:
    """Counts and probabilities of the classes that may occur, and how many objects are in a class that may not."""
    require_same_index(counts=counts, probabilities=probabilities)
    x = as_counts(counts, "counts", ndim=1)
    p = as_probabilities(probabilities, "probabilities")
    if len(x) != len(p):
        raise refuse("probabilities (length)", len(p), f"{len(x)} classes, as counts has")
    if not x.any():
        raise refuse("counts (total)", 0, "at least one object")
    possible = p > 0
    if p[possible].min() < LEAST_PROBABILITY:
        raise refuse("probabilities", p[possible].min(), f"0, or at least {LEAST_PROBABILITY:g}")
    return x[possible], p[possible] / math.fsum(p[possible]), int(x[~possible].sum())
