"""The measures that can be compared, and the data that each one needs."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._common.class_names import (
    is_number,
    refuse_no_classes,
    refuse_other_names,
    refuse_two_spellings,
    require_class_names,
)
from .._common.positive_class import positive_place
from .._common.scores import refuse_uncertain, require_one_scale
from .._common.validation import IntArray, as_choice, refuse, require_squarable, shown
from ..measures.metrics import metric_of
from ..measures.table import MEASURES, MeasureSpec, base_of, in_our_words, is_pass_at, offered
from .paired_predictions import PairedPredictions


def _is_comparable(spec: MeasureSpec) -> bool:
    """True if greater is better and no parameter is needed; an average counts all classes alike."""
    if not spec.greater_is_better or spec.parameters:
        return False
    average, base = base_of(spec.name)
    return not average or (average == "macro" and MEASURES[base].of_classes is None)


#: The measures that a comparison takes, in the order of the table of measures.
COMPARED_MEASURES: tuple[str, ...] = tuple(name for name, spec in MEASURES.items() if _is_comparable(spec))

#: Those that need scores.
_OF_SCORES = tuple(name for name in COMPARED_MEASURES if MEASURES[name].needs in ("scores", "probabilities", "marks"))

#: Labels of so many distinct numbers, most of them no whole ones, are measurements and no classes.
_MANY_NUMBERS = 20


def as_compared_measures(names: str | Sequence[str]) -> tuple[str, ...]:
    """The names of measures of a comparison, or one name, each known and there once, or ValueError."""
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, Sequence):
        raise refuse("measures", names, "the name of a measure, or several")
    chosen = tuple(
        name
        if isinstance(name, str) and is_pass_at(name)
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
    return measure in _OF_SCORES


def are_scores(y: object, a: object, b: object, measures: str | Sequence[str] | None) -> bool:
    """True if both predictions are fractions instead of classes, and all measures are measures of scores."""
    if measures is None or not all(map(is_of_scores, as_compared_measures(measures))):
        return False
    said = [np.asarray(side) for side in (a, b)]
    return all(side.dtype.kind == "f" and side.ndim == 1 and not np.isin(side, np.asarray(y)).all() for side in said)


def default_measures(paired: PairedPredictions) -> tuple[str, ...]:
    """The measures by default: the accuracy, and the area of probabilities or the mean of marks and costs."""
    if paired.predicted and paired.scores is not None and not paired.graded and _are_numbers(paired):
        return (mean_of(paired),)  # of measurements nobody asks how many are equal
    refuse_mistaken_classes(paired)
    if not paired.predicted:
        return (mean_of(paired) if paired.graded or paired.per or len(paired.classes) != 2 else _of_labelled(paired),)
    if paired.scores is None or paired.graded:
        return ("accuracy",)
    if paired.of_truth:
        return ("accuracy", "neg-log-loss")
    return ("accuracy", mean_of(paired) if paired.per else _of_labelled(paired))


def _of_labelled(paired: PairedPredictions) -> str:
    """The area under the curve of a class's scores, or the mean of marks; ValueError if the name implies neither."""
    known = metric_of(paired.score_column)
    if paired.score_column in ("", "scores") or (known and known.direction == "class"):
        return "auc"
    if known and known.name == "score":
        raise refuse("score", paired.score_column, "--measure mean-score for marks, --measure auc for probabilities")
    if paired.lower is None:
        refuse_uncertain(paired.score_column, labelled=True)
    return mean_of(paired)


def with_cost(paired: PairedPredictions, names: tuple[str, ...]) -> tuple[str, ...]:
    """The measures, and the mean of a named cost, which is always compared."""
    wanted = paired.scores is not None and paired.lower and not any(map(is_of_scores, names))
    return (*names, mean_of(paired)) if wanted else names


def require_score_used(paired: PairedPredictions, names: Sequence[str]) -> None:
    """Refuse a named score if all measures are of predictions."""
    if paired.score_column and paired.predicted and not paired.graded and not any(map(is_of_scores, names)):
        raise ValueError(
            f"measures: {names[0]!r} makes no use of the score {shown(paired.score_name or paired.score_column)}; "
            f"expected a measure of scores, such as {mean_of(paired)}, or no score"
        )


def mean_of(paired: PairedPredictions) -> str:
    """The measure of marks: their mean, or the ratio of two sums."""
    return "mean-score" if paired.per is None else "ratio"


def refuse_mistaken_classes(paired: PairedPredictions) -> None:
    """Refuse labels that are measurements, and predictions that name the classes otherwise.

    Does not apply if the user named the measure accuracy: then every unequal prediction is wrong.
    """
    if not paired.predicted or paired.graded:
        return
    if _are_numbers(paired):
        broken = next(name for name in paired.classes if not float(name).is_integer())
        raise ValueError(
            f"label and prediction: {len(paired.classes):,} different numbers such as {broken} are not valid as "
            "classes; expected the measure neg-mae or neg-mse (or accuracy, if only equal numbers are right)"
        )
    refuse_two_spellings([paired.classes[code] for code in _present(paired.label)], paired.n, "label")
    wanted = "classes of the labels, or the measure accuracy, if only equal names are right"
    for who, labels, said in _names_said(paired):
        require_class_names(labels, said, paired.n, who, wanted=wanted)


def require(paired: PairedPredictions, measure: str) -> None:
    """Refuse a measure without its data in the predictions, and slices of which two look alike."""
    for column, (of_slices, _) in paired.units.slices.items():
        refuse_two_spellings(of_slices, paired.n, column, "slice")
    of_predictions = MEASURES[measure].needs in ("answers", "classes", "repeated answers", "numbers")
    problems = _of_predictions(paired, measure) if of_predictions else _of_scores(paired, measure)
    for problem in (*_of_units(paired, measure), *itertools.islice(problems, 1)):
        raise ValueError(problem)


def _of_units(paired: PairedPredictions, measure: str) -> Iterator[str]:
    """Problems of a measure of rows with weights, or in the order of times."""
    if paired.units.in_time and (MEASURES[measure].test not in ("mcnemar", "means") or is_pass_at(measure)):
        yield f"measures: {measure!r} is not a mean over rows; omit order, or name accuracy or another mean"
    if paired.units.weights is not None and (measure in ("auc", "ratio") or is_pass_at(measure)):
        yield f"measures: {measure!r} is not valid with weights; expected accuracy, f1 or a mean over rows"


def _of_predictions(paired: PairedPredictions, measure: str) -> Iterator[str]:
    """Problems of a measure of classes, or of right answers."""
    spec, limits = MEASURES[measure], paired.score_range
    if not paired.predicted:
        what = "marks between right and wrong" if paired.graded else "scores without predictions"
        yield f"measures: {measure!r} is not valid for {what}; expected one of {', '.join(_OF_SCORES)}"
    if spec.needs == "classes":
        refuse_two_spellings([paired.classes[code] for code in _present(paired.label)], paired.n, "label")
    if paired.graded and spec.needs not in ("answers", "repeated answers"):
        yield "measures: these files say only which answers were right; expected accuracy or mean-score"
    for who, labels, said in () if paired.graded or spec.needs == "numbers" else _names_said(paired):
        refuse_no_classes(labels, said, paired.n, who)
        if spec.needs == "classes":
            refuse_other_names(labels, said, paired.n, who, wanted="classes of the labels")
    if spec.needs == "numbers":
        if (numbers := paired.numbers()) is None:
            odd = next(name for name in paired.classes if not is_number(name))
            yield f"measures: {measure!r} is not valid for {shown(odd)}; expected labels and predictions in numbers"
        elif limits is not None:
            yield from _beyond(limits, float(numbers.min()), float(numbers.max()), "numbers")
    if spec.needs == "repeated answers":
        if paired.units.group is None:
            yield f"measures: {measure!r} needs the item of each answer; expected groups (--group id)"
        units = paired.units.group if paired.units.items is None else paired.units.items
        few = 0 if units is None else int(np.unique(units, return_counts=True)[1].min())
        if few < spec.answers:
            wanted = f"expected {spec.answers} or more"
            yield f"measures: {measure!r} is not valid for an item of {few} answers; {wanted}"


def _of_scores(paired: PairedPredictions, measure: str) -> Iterator[str]:
    """Problems of a measure of scores: of probabilities, marks or the ratio of sums."""
    needs = MEASURES[measure].needs
    if paired.scores is None:
        yield f"measures: {measure!r} is not valid without scores; expected scores (--score COLUMN)"
    if measure == "ratio" and paired.per is None:
        yield "measures: 'ratio' is not valid without denominators; expected --ratio NUMERATOR/DENOMINATOR"
    if measure != "ratio" and paired.per is not None:
        yield f"measures: {measure!r} is not valid for a ratio of sums; expected ratio, or the score alone"
    if paired.of_truth and measure != "neg-log-loss":
        yield f"measures: {measure!r} is not valid for {len(paired.classes)} classes; expected neg-log-loss"
    if needs != "marks" and paired.graded:
        yield f"measures: {measure!r} is not valid for marks; expected mean-score"
    scores = paired.scores or ()
    values = paired.row_ratios() if measure == "ratio" else scores
    low, high = min(array.min() for array in values), max(array.max() for array in values)
    limits = paired.score_range if needs == "marks" else None
    for value in (*scores, *(paired.per or ()), np.array(limits or (0.0,))):
        require_squarable(value, "scores")
    if limits is not None:
        yield from _beyond(limits, low, high, "scores")
    if needs == "marks" and paired.lower is None:
        refuse_uncertain(paired.score_column)
    if needs == "marks" and limits is None and not paired.identical:
        wanted = "one unit, or score_range, which says that they are in one"
        require_one_scale(scores, ("baseline", "candidate"), wanted=wanted)
    if needs == "probabilities" and (low < 0 or high > 1):
        yield f"scores: {low:g} to {high:g} are not valid for {measure}; expected probabilities"


def _beyond(limits: tuple[float, float], low: float, high: float, what: str) -> Iterator[str]:
    if low < limits[0] or high > limits[1]:
        odd = low if low < limits[0] else high
        yield f"score_range: {limits[0]:g} to {limits[1]:g} does not contain {odd:g}; expected all {what} in it"


def _are_numbers(paired: PairedPredictions) -> bool:
    """True if labels and predictions are measurements: many labels, or some that are no whole numbers."""
    labels = [paired.classes[code] for code in _present(paired.label)]
    return are_measurements(paired.classes) and (
        len(labels) > _MANY_NUMBERS or any(not float(name).is_integer() for name in labels)
    )


def are_measurements(classes: Sequence[str]) -> bool:
    """True if names of classes are many numbers, most of them not whole."""
    if len(classes) <= _MANY_NUMBERS or not all(map(is_number, classes)):
        return False
    return 2 * sum(not float(name).is_integer() for name in classes) > len(classes)


def _names_said(paired: PairedPredictions) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each model with the classes of the labels and those that it predicts, unless all classes are of labels."""
    labels = _present(paired.label)
    if len(labels) == len(paired.classes):
        return
    for who, codes in (("the baseline", paired.a), ("the candidate", paired.b)):
        theirs, said = ([paired.classes[code] for code in array] for array in (labels, _present(codes)))
        yield who, theirs, said


def _present(codes: IntArray) -> IntArray:
    """The codes that are there, in order."""
    return np.flatnonzero(np.bincount(codes))


def require_known_positive(paired: PairedPredictions, positive: str | None) -> None:
    """Refuse a positive class that is not a class, if no measure uses it."""
    if positive is not None and paired.predicted and len(paired.classes) > 1:
        positive_code(paired, positive, among_several=True)


def positive_code(paired: PairedPredictions, positive: str | None, *, among_several: bool = False) -> int:
    """The code of the class of scores or measures, of two, or `among_several` if named; or ValueError."""
    if len(paired.classes) != 2 and not (among_several and len(paired.classes) > 2):
        raise ValueError(f"label: {len(paired.classes)} classes are not valid for measures of scores; expected two")
    return positive_place(paired.classes, positive)
