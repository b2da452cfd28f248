"""Measures of counts with parameters in their names, such as ``macro-f-beta(beta=2)``."""

from dataclasses import replace
from functools import partial
from typing import Any

from .measure import as_measure
from .table import MEASURES, MeasureSpec


def named(name: str) -> MeasureSpec:
    """Return the properties of the measure with this name, or raise ValueError."""
    measure = as_measure(name)
    of_counts: Any = MEASURES[measure.name].of_counts
    return replace(MEASURES[measure.name], name=name, of_counts=partial(of_counts, **dict(measure.parameters)))
