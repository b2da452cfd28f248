"""The names of the measures that can be compared, and whether labels are classes at all."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._common.class_names import is_number
from .._common.validation import as_choice, refuse
from ..measures.table import MEASURES, MeasureSpec, OwnMeasure, base_of, in_our_words, is_pass_at, is_quantile, offered


def _is_comparable(spec: MeasureSpec) -> bool:
    """True if greater is better and no parameter is needed; an average counts all classes alike."""
    if not spec.greater_is_better or spec.parameters:
        return False
    average, base = base_of(spec.name)
    return not average or (average == "macro" and MEASURES[base].of_classes is None)


#: The measures that a comparison takes, in the order of the table of measures.
COMPARED_MEASURES: tuple[str, ...] = tuple(name for name, spec in MEASURES.items() if _is_comparable(spec))

#: Those that need scores.
OF_SCORES = tuple(name for name in COMPARED_MEASURES if MEASURES[name].needs in ("scores", "probabilities", "marks"))

#: Labels of so many distinct numbers, most of them no whole ones, are measurements and no classes.
MANY_NUMBERS = 20


def as_compared_measures(names: str | Sequence[str]) -> tuple[str, ...]:
    """The names of measures of a comparison, or one name, each known and there once, or ValueError."""
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, Sequence):
        raise refuse("measures", names, "the name of a measure, or several")
    chosen = tuple(
        name
        if isinstance(name, OwnMeasure) or (isinstance(name, str) and is_pass_at(name))
        else as_compared_measure(known_measure(name), (*COMPARED_MEASURES, "pass@1"))
        for name in names
    )
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"measures: {name!r} is named twice")
    if not chosen:
        raise refuse("measures", names, "one measure or more")
    return chosen


def known_measure(name: Any) -> Any:
    """The name of a measure given by a synonym; ValueError for another name of the accuracy."""
    result = in_our_words(name)
    if result in ("micro-f1", "micro-precision", "micro-recall"):
        raise ValueError(f"measures: {result!r} is the accuracy if every row has one class; use accuracy")
    return result


def as_compared_measure(name: str, ours: Sequence[str]) -> str:
    """One of these measures, or one of an installed package of which greater is better; ValueError otherwise."""
    if name in ours:
        return name
    known = as_choice(name, "measures", (*ours, *offered()))
    if not MEASURES[known].greater_is_better:
        raise refuse("measures", name, "a measure of which greater is better (subtract a cost from its maximum)")
    return known


def is_of_scores(measure: str) -> bool:
    """True if a measure is one of scores, not of predictions."""
    return measure in OF_SCORES or is_quantile(measure)


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
