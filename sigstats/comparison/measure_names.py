"""The names of the measures that can be compared, and whether labels are classes at all."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._common.class_names import is_number
from .._common.validation import as_choice, refuse
from ..measures import own
from ..measures.measure import Measure, as_own_measure
from ..measures.table import MAKERS, MEASURES, OwnMeasure, in_our_words, is_named_alone, is_pass_at, is_quantile

#: The measures that a comparison takes, in the order of the table of measures; the error is one minus the accuracy.
COMPARED_MEASURES = tuple(name for name, spec in MEASURES.items() if is_named_alone(spec) and name != "error")

#: Those that need scores.
_SCORES = ("scores", "probabilities", "marks")
OF_SCORES = tuple(name for name in COMPARED_MEASURES if MEASURES[name].needs in _SCORES)

#: Labels of so many distinct numbers, most of them no whole ones, are measurements and no classes.
MANY_NUMBERS = 20


def as_compared_measures(names: Any) -> tuple[str, ...]:
    """Check the names of measures of a comparison; ValueError if unknown or repeated."""
    several = [names] if isinstance(names, (str, Measure)) or callable(names) else names
    if not isinstance(several, Sequence):
        raise refuse("measures", names, "the name of a measure, or several")
    chosen = tuple(map(_as_measure, several))
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"measures: {name!r} is named twice")
    if not chosen:
        raise refuse("measures", names, "one measure or more")
    return chosen


def _as_measure(measure: Any) -> str:
    """A measure by its name or a synonym, ``pass@k``, ``p95``, or a user's own; or ValueError."""
    if isinstance(measure, OwnMeasure) or (isinstance(measure, str) and (is_pass_at(measure) or is_quantile(measure))):
        return measure
    if isinstance(measure, Measure) or callable(measure):
        return as_own_measure(measure)
    name = in_our_words(measure)
    if str(name).partition("(")[0] in MAKERS:
        return MEASURES[name].name
    if name in ("micro-f1", "micro-precision", "micro-recall", "weighted-recall"):
        raise ValueError(f"measures: {name!r} is the accuracy if every row has one class; use accuracy")
    return as_compared_measure(name, (*COMPARED_MEASURES, "pass@1"))


def as_compared_measure(name: str, ours: Sequence[str]) -> str:
    """One of these measures, or one of an installed package of which greater is better; ValueError otherwise."""
    if name in ours:
        return name
    of_packages = (f"macro-{other}" for other in own.named(MEASURES))
    known = as_choice(name, "measures", (*ours, *of_packages))
    if not MEASURES[known].greater_is_better:
        raise refuse("measures", name, "a measure of which greater is better, or a sigstats.Measure of its function")
    return known


def is_of_scores(measure: str) -> bool:
    """True if a measure is one of scores, not of predictions."""
    return MEASURES[measure].needs in _SCORES


def are_scores(y: object, a: object, b: object, measures: str | Sequence[str] | None) -> bool:
    """True if both predictions are fractions instead of classes, and all measures are measures of scores."""
    if measures is None or not all(map(is_of_scores, as_compared_measures(measures))):
        return False
    said = [np.asarray(side) for side in (a, b)]
    return all(side.dtype.kind == "f" and side.ndim == 1 and not np.isin(side, np.asarray(y)).all() for side in said)


def are_measurements(classes: Sequence[str]) -> bool:
    """True if names of classes are many numbers, most of them not whole."""
    if len(classes) <= MANY_NUMBERS or not all(map(is_number, classes)):
        return False
    return 2 * sum(not float(name).is_integer() for name in classes) > len(classes)
