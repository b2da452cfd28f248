"""Compared measures: the names that are accepted, the inputs that they use, and the positive class of scores."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._common.class_columns import positive_place
from .._common.class_spelling import is_finite_number
from .._common.messages import Note
from .._common.validation import as_choice, refuse, shown
from ..measures import own
from ..measures.measure import Measure, as_own_measure
from ..measures.metrics import is_made
from ..measures.score_formulas import area_under_curve, is_reversed
from ..measures.table import (
    MEASURES,
    TOP,
    MeasureSpec,
    OwnMeasure,
    in_our_words,
    is_named_alone,
    is_pass_at,
    is_quantile,
)

if TYPE_CHECKING:
    from .paired_predictions import PairedPredictions

#: Measures of a comparison, in the order of the table of measures. The error is one minus the accuracy.
COMPARED_MEASURES = tuple(name for name, spec in MEASURES.items() if is_named_alone(spec) and name != "error")
#: The inputs of measures of scores.
_SCORES = ("scores", "probabilities", "tables", "marks")
OF_SCORES = tuple(name for name in COMPARED_MEASURES if MEASURES[name].needs in _SCORES)
#: Labels with more distinct numbers than this, most of them not integers, are measurements, not classes.
MANY_NUMBERS = 20
#: Fewer scores may all be 0.5 to 1 by chance. Scores with an area of the second number or more separate classes.
_FEWEST, _SEPARATED = 20, 0.7
#: Measures that a `Measure` may name, with parameters or with a direction of its own.
_OF_COUNTS = ("error", "dcf", "f-beta", "macro-f-beta", "weighted-f-beta")
#: Patterns of names that are not supported measures, and the alternative to each.
_NO_MEASURES = {
    "n?dcg": "mean-score of a column with the ndcg of each query, one row per query",
    "f-?beta(-score)?": "f-beta(beta=2), with your beta, or macro-f-beta(beta=2)",
    "top-k": "a number in place of k, as in top-5-accuracy",
    "ece|calibration-error": "neg-brier or neg-log-loss; its estimate depends on bins and has no known distribution",
}


def as_compared_measures(names: Any) -> tuple[str, ...]:
    """Check the names of measures of a comparison; raise ValueError if unknown or repeated."""
    listed = [names] if isinstance(names, (str, Measure)) or callable(names) else names
    if not isinstance(listed, Sequence):
        raise refuse("measures", names, "the name of a measure, or several")
    chosen = tuple(map(_as_measure, listed))
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"measures: {name!r} is named twice")
    if not chosen:
        raise refuse("measures", names, "one measure or more")
    return chosen


def _as_measure(measure: Any) -> str:
    """Return a measure by its name or synonym, ``pass@k``, ``p95``, or a user's own, or raise ValueError."""
    if isinstance(measure, OwnMeasure):
        return measure
    if isinstance(measure, Measure) and measure.function is None and measure.name not in _OF_COUNTS:
        measure = measure.name
    if isinstance(measure, Measure) or callable(measure):
        return as_own_measure(measure)
    name = in_our_words(measure)
    words = str(name).replace("_", "-").lower()
    if is_pass_at(words) or is_quantile(words) or TOP.fullmatch(words):
        return words
    if is_made(name):
        return MEASURES[name].name
    if cure := next((cure for part, cure in _NO_MEASURES.items() if re.search(rf"\b({part})\b", words)), ""):
        raise refuse("measures", measure, cure)
    if name in ("micro-f1", "micro-precision", "micro-recall", "weighted-recall"):
        raise ValueError(f"measures: {name!r} is the accuracy if every row has one class; use accuracy")
    return as_compared_measure(name, (*COMPARED_MEASURES, "pass@1"))


def as_compared_measure(name: str, ours: Sequence[str]) -> str:
    """Return one of these measures, or one of an installed package if greater is better. Raise ValueError otherwise."""
    if name in ours:
        return name
    of_packages = (f"macro-{other}" for other in own.named(MEASURES))
    known = as_choice(name, "measures", (*ours, *of_packages))
    if not MEASURES[known].greater_is_better:
        raise refuse("measures", name, "a measure of which greater is better, or a sigstats.Measure of its function")
    return known


def is_of_scores(measure: str) -> bool:
    """Return True if a measure needs scores, not predictions."""
    return MEASURES[measure].needs in _SCORES


def are_scores(y: object, a: object, b: object, measures: str | Sequence[str] | None) -> bool:
    """Return True if both predictions are fractions instead of classes, and all measures are measures of scores."""
    if measures is None or not all(map(is_of_scores, as_compared_measures(measures))):
        return False
    sides = [np.asarray(side) for side in (a, b)]
    return all(side.dtype.kind == "f" and side.ndim == 1 and not np.isin(side, np.asarray(y)).all() for side in sides)


def are_measurements(classes: Sequence[str]) -> bool:
    """Return True if names of classes are many numbers, mostly not whole numbers."""
    if len(classes) <= MANY_NUMBERS or not all(map(is_finite_number, classes)):
        return False
    return 2 * sum(not float(name).is_integer() for name in classes) > len(classes)


#: For each input, the measures that use it, and the remedy.
_USED_BY: dict[str, tuple[Callable[[MeasureSpec], bool], str]] = {
    "score": (lambda spec: spec.needs in _SCORES, "a measure of scores, such as mean-score or auc, or no score"),
    "score_range": (
        lambda spec: spec.needs in ("marks", "numbers") or (spec.needs == "probabilities" and spec.span is None),
        "a measure of marks or numbers, neg-log-loss, or no limits",
    ),
    "prediction": (lambda spec: spec.needs not in _SCORES, "a measure of predictions, or no such column"),
    "label": (lambda spec: spec.needs != "marks", "a measure of labels, or no such column"),
}


def check_used(measures: Collection[str], **given: Any) -> None:
    """Raise ValueError if none of the measures uses a given input; None means that it is not given."""
    for name, value in given.items():
        uses, cure = _USED_BY[name]
        if value is not None and not any(uses(MEASURES[measure]) for measure in measures):
            text = shown(value) if isinstance(value, str) else " to ".join(f"{end:g}" for end in value)
            raise ValueError(f"{name}: {text} is not used by {', '.join(measures)}; expected {cure}")


def positive_code(paired: "PairedPredictions", positive: str | None, *, among_several: bool = False) -> int:
    """Return the code of the positive one of two classes, or of a named one `among_several`, or raise ValueError."""
    if len(paired.classes) != 2 and not (among_several and len(paired.classes) > 2):
        if len(paired.classes) == 1:
            raise ValueError(f"label: all rows have the class {shown(paired.classes[0])}; expected two classes")
        raise ValueError(f"label: {len(paired.classes)} classes are not valid for measures of scores; expected two")
    return positive_place(paired.classes, positive)


def is_positive(paired: "PairedPredictions", positive: str | None) -> NDArray[np.bool_]:
    """Return a mask of the rows of the positive class.

    Raises ValueError if the scores look like probabilities of the predicted class instead of the positive one.
    """
    code = positive_code(paired, positive, among_several=positive is not None)
    assert paired.outcomes is not None  # as it has two classes
    predicted, least, true = paired.predicted, 1 / len(paired.classes), np.equal(paired.outcomes.label, code)
    if predicted is None or paired.scored is None:
        return true
    for scores, prediction in zip(paired.scored.scores, (predicted.a, predicted.b), strict=True):
        called = prediction == code
        of_called, others = scores[called], scores[~called]
        # Negatives less positives, among the rows that are not called positive.
        surplus = len(others) - 2 * np.count_nonzero(true[~called])
        are_of_predicted = len(of_called) and surplus > 2 * len(others) ** 0.5
        if not are_of_predicted or scores.min() < least or scores.max() > 1:
            continue
        if others.max() >= max(np.median(of_called), 0.501):
            problem = f"none is below {least:g}, though other classes are predicted with scores up to {others.max():g}"
            wanted = f"the probability of {shown(paired.classes[code])}, not that of the predicted class"
            raise ValueError(f"scores: {problem}; expected {wanted}")
    return true


def reversed_scores(
    paired: "PairedPredictions", measures: Iterable[str], positive: str | None, models: Sequence[str]
) -> Iterator[Note]:
    """Yield a note on scores that favour the other class, so that the worse model would seem better.

    Without predictions, scores that may be those of the predicted class are noted, too. Raises ValueError if the
    positive class is only inferred, not given as `positive`, and the scores of the first model favour the other class,
    or a measure needs probabilities and these scores may be those of the predicted class.
    """
    first, named = paired.runs[0] if paired.runs else paired, positive is not None
    scored, labels = first.scored, first.outcomes
    needs = {MEASURES[name].needs for name in measures}
    if not needs & {"scores", "probabilities"} or scored is None or scored.of_truth or labels is None:
        return
    code, ours = positive_code(first, positive, among_several=named), first.units.candidates
    for side, (model, scores) in enumerate(zip(models, scored.scores, strict=False)):
        rows = np.flatnonzero(np.full(first.n, True) if ours is None else ours == bool(side))
        true, units = labels.label[rows] == code, first.units.take(rows)
        m, n = units.count(true), units.count(~true)
        if not min(m, n):
            continue
        area, share = area_under_curve(true, scores[rows]), n / (m + n)
        if is_reversed(area, m, n):
            problem = f"scores of {model} are lower for the class {shown(first.classes[code])} (area {area:.1%})"
            if side == 0 and not named:
                wanted = "its probabilities, or positive, the class of these probabilities"
                raise ValueError(f"{problem}; expected {wanted}")
            yield Note("reversed-scores", f"{problem}: they may be those of the other class")
        elif first.predicted is None and area < _SEPARATED and _are_too_high(scores[rows], m, n):
            positives = shown(first.classes[code])
            problem = f"no score of {model} is below 0.5, though {share:.0%} of the rows are not {positives}"
            if side == 0 and not named and "probabilities" in needs and n + (m + n) ** 0.5 > m:
                wanted = f"the probability of {positives}, not that of the predicted class"
                raise ValueError(f"{problem}; expected {wanted}; if it is, name the class (positive)")
            doubt = "the scores may be those of the predicted class"
            yield Note("reversed-scores", f"{problem}: they may be probabilities of the predicted class", doubt)


def _are_too_high(scores: NDArray[np.float64], positives: int, negatives: int) -> bool:
    """Return True for at least 20 scores of 0.5 to 1, with more negatives than such probabilities allow."""
    n = positives + negatives
    if n < _FEWEST or min(positives, negatives) < n / 10 or scores.min() < 0.5 or scores.max() > 1:
        return False
    return bool(negatives > n * (1 - scores).mean() + 4 * (n * (scores * (1 - scores)).mean()) ** 0.5)
