"""Which measures can be compared, and what each one needs of the predictions."""

from collections.abc import Sequence

from .._common.validation import as_choice, refuse
from ..measures.table import MEASURES, MeasureSpec, base_of
from .paired_predictions import PairedPredictions

_POSITIVE_NAMES = (
    {"0", "1"},
    {"-1", "1"},
    {"False", "True"},
    {"false", "true"},
    {"no", "yes"},
    {"negative", "positive"},
)


def _is_comparable(spec: MeasureSpec) -> bool:
    """Whether greater is better, no parameter is needed, and any number of classes will do.

    A measure of one class's counts is averaged over the classes, all of which count the same.
    """
    if not spec.greater_is_better or spec.parameters:
        return False
    average, base = base_of(spec.name)
    if not average:
        return spec.of_counts is None or spec.of_classes is not None
    return average == "macro" and MEASURES[base].of_classes is None


#: The measures that a comparison takes, in the order of the table of measures.
COMPARED_MEASURES: tuple[str, ...] = tuple(name for name, spec in MEASURES.items() if _is_comparable(spec))

#: Those that need scores.
_OF_SCORES = tuple(name for name in COMPARED_MEASURES if MEASURES[name].of_counts is None)


def as_compared_measures(names: Sequence[str]) -> tuple[str, ...]:
    """The names of measures of a comparison, each known and there once, or ValueError."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise refuse("measures", names, "a sequence of names of measures")
    chosen = tuple(as_choice(name, "measures", COMPARED_MEASURES) for name in names)
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"measures: {name!r} is named twice; expected each measure once")
    if not chosen:
        raise refuse("measures", names, "one measure or more")
    return chosen


def default_measures(paired: PairedPredictions) -> tuple[str, ...]:
    """What is compared where nobody says: the accuracy, and the area under the curve where there are scores."""
    if not paired.predicted:
        return ("mean-score",) if paired.graded or len(paired.classes) != 2 else ("auc",)
    return ("accuracy", "auc") if paired.scores is not None and not paired.graded else ("accuracy",)


def require(paired: PairedPredictions, measure: str) -> None:
    """Refuse a measure that the predictions do not hold the data of."""
    needs = MEASURES[measure].needs
    if needs in ("answers", "classes"):
        _require_predictions(paired, measure)
        return
    if paired.scores is None:
        raise ValueError(f"measures: {measure!r} is not valid without scores; expected a column of scores")
    if needs != "marks" and paired.graded:
        raise ValueError(f"measures: {measure!r} is not valid for marks; expected mean-score")
    low, high = min(each.min() for each in paired.scores), max(each.max() for each in paired.scores)
    if needs == "probabilities" and (low < 0 or high > 1):
        raise ValueError(f"scores: {low:g} to {high:g} are not valid for {measure}; expected probabilities")


def _require_predictions(paired: PairedPredictions, measure: str) -> None:
    if not paired.predicted:
        what = "marks between right and wrong" if paired.graded else "scores without predictions"
        raise ValueError(f"measures: {measure!r} is not valid for {what}; expected one of {', '.join(_OF_SCORES)}")
    if paired.graded and MEASURES[measure].needs != "answers":
        raise ValueError("measures: these files say only which answers were right; expected accuracy or mean-score")


def positive_code(paired: PairedPredictions, positive: str | None) -> int:
    """The code of the class whose probability the scores are, or ValueError."""
    classes = paired.classes
    if len(classes) != 2:
        raise ValueError(f"label: {len(classes)} classes are not valid for measures of scores; expected two")
    if positive is None:
        if set(classes) not in _POSITIVE_NAMES:
            raise ValueError(f"positive: is missing; expected {' or '.join(classes)}")
        return classes.index(max(classes))
    if positive not in classes:
        raise refuse("positive", positive, " or ".join(classes))
    return classes.index(positive)
