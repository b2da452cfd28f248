"""The evidence for a measure in the predictions of two models, or the reason why it is missing.

`evidence_of` chooses a function by what the measure needs (`_EVIDENCE_BY_NEEDS`): right answers, classes, numbers,
scores, probabilities or marks. Each raises ValueError if the predictions lack this input.
"""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._common.class_columns import numbers_or_names
from .._common.class_names import NO_ANSWER
from .._common.class_spelling import is_finite_number, refuse_thousands
from .._common.messages import Note
from .._common.scores import ends_of, refuse_beyond, unknown_direction, unlike_units
from .._common.validation import require_squarable, shown
from ..measures.metrics import limits_of
from ..measures.score_formulas import rank_of_truth
from ..measures.table import MEASURES, MeasureSpec, Needs, OwnMeasure, base_of, is_pass_at, refers_to_one_class
from ..measures.weighted import FIRST, LAST, POWERS, macro_area
from .evidence import Attempts, Classes, Evidence, Judged, Pair, Ratios, Runs, Scores, Values, signed
from .measure_names import OF_SCORES, is_of_scores, is_positive, positive_code
from .paired_predictions import PairedPredictions, Predicted, Scored
from .units import Units


def evidence_of(paired: PairedPredictions, measure: str, positive: str | None = None) -> Evidence:
    """Return the evidence for a measure in predictions, or raise ValueError. `positive`: the positive class."""
    if paired.units.in_time and (MEASURES[measure].test not in ("mcnemar", "means") or is_pass_at(measure)):
        raise ValueError(f"measures: {measure!r} is not a mean over rows; omit order, or name accuracy or another mean")
    if paired.units.weights is not None and (measure in ("auc", "ratio") or is_pass_at(measure)):
        raise ValueError(f"measures: {measure!r} is not valid with weights; expected accuracy, f1 or a mean over rows")
    spec = dataclasses.replace(MEASURES[measure], name=measure)  # includes the properties of a user's own measure
    if paired.people is not None:
        return _judged(paired, paired.people, spec)
    if paired.runs:
        return _runs(paired, spec, positive)
    evidence = _EVIDENCE_BY_NEEDS[spec.needs](paired, spec, positive)
    unlimited = evidence.limits is None and not spec.share and not isinstance(evidence, Classes)
    if paired.units.candidates is not None and unlimited:
        raise _invalid(spec, "different rows without the limits of a row; expected score_range")
    return evidence


def _runs(paired: PairedPredictions, spec: MeasureSpec, positive: str | None) -> Runs:
    if spec.share:
        raise _invalid(spec, "several runs")
    if is_of_scores(spec.name):
        answers: list[Any] = [scores for pair in paired.runs if pair.scored for scores in pair.scored.scores]
    else:
        answers = [codes for pair in paired.runs if pair.predicted for codes in (pair.predicted.a, pair.predicted.b)]
    runs = [dataclasses.replace(pair, score_range=paired.score_range) for pair in paired.runs]
    pairs = tuple(_EVIDENCE_BY_NEEDS[spec.needs](run, spec, positive) for run in runs)
    differs = np.any([of_run != answers[0] for of_run in answers], axis=0)
    return Runs(units=paired.units, limits=pairs[0].limits, pairs=pairs, differs=differs)


def _invalid(spec: MeasureSpec, reason: str) -> ValueError:
    return ValueError(f"measures: {spec.name!r} is not valid for {reason}")


def _no_wrong(spec: MeasureSpec, reason: str) -> ValueError:
    return ValueError(f"unscored: 'wrong' is not valid for {spec.name} of {reason}")


def _judged(paired: PairedPredictions, people: Pair, spec: MeasureSpec) -> Judged:
    predicted, scored, units = paired.predicted, paired.scored, paired.units
    wanted = "accuracy" if predicted else "mean-score"
    if spec.name != wanted or units.weights is not None or units.in_time or units.runs:
        raise _invalid(spec, f"labels of people; expected {wanted}, without weights, order and runs")
    judge = predicted.right if predicted else _given_scores(paired, spec).scores if scored else people
    a, b = (side.astype(np.float64) for side in judge)
    return Judged(units=units, limits=paired.score_range or (0.0, 1.0), judge=(a, b), people=people)


def _answers(paired: PairedPredictions, spec: MeasureSpec, _: str | None) -> Values:
    predicted = _predictions(paired, spec)
    return Values.of_answers(paired.units, predicted.right, predicted.totals)


def _attempts(paired: PairedPredictions, spec: MeasureSpec, _: str | None) -> Attempts:
    predicted, units = _predictions(paired, spec), paired.units
    if units.group is None:
        raise ValueError(f"measures: {spec.name!r} needs the item of each answer; expected groups (--group id)")
    fewest = int(np.unique(units.group if units.items is None else units.items, return_counts=True)[1].min())
    if fewest < spec.answers:
        raise _invalid(spec, f"an item of {fewest} answers; expected {spec.answers} or more")
    a, b = (right.astype(np.float64) for right in predicted.right)
    return Attempts(units=units, k=spec.answers, every="^" in spec.name, right=(a, b), totals=predicted.totals)


def _classes(paired: PairedPredictions, spec: MeasureSpec, positive: str | None) -> Classes | Values:
    predicted = _predictions(paired, spec)
    if NO_ANSWER in predicted.classes and spec.name not in _OF_RIGHT:
        wanted = f"{', '.join(_OF_RIGHT)}, or --unscored drop"
        raise _no_wrong(spec, f"several classes, since it depends on which wrong class is predicted; expected {wanted}")
    of_one_class = spec.of_one_class or (spec.of_rows is None and refers_to_one_class(spec.name))
    code = positive_code(paired, positive, among_several=True) if of_one_class else -1
    if spec.of_weights is not None:
        return _of_codes(paired, spec, predicted, values=numbers_or_names(paired.classes), limits=spec.limits)
    if spec.of_rows is None:
        return _of_codes(paired, spec, predicted, code=code)
    k, sign = len(paired.classes), 1 if spec.greater_is_better else -1
    names = np.where(np.arange(k) == code, "positive", "negative") if of_one_class else np.array(paired.classes)
    # The formula is computed once for each cell of the table of true and predicted classes.
    cells, of_cell = np.unique([predicted.label * k + side for side in (predicted.a, predicted.b)], return_inverse=True)
    a, b = (sign * spec.of_rows(names[cells // k], names[cells % k]))[of_cell.reshape(2, -1)]
    return Values(units=paired.units, values=(a, b), span=spec.span, limits=signed(spec.limits, sign))


def _of_codes(paired: PairedPredictions, spec: MeasureSpec, predicted: Predicted, **known: Any) -> Classes:
    limits = (-1.0 if base_of(spec.name)[1] in ("mcc", "kappa", *POWERS) else 0.0), 1.0
    codes = {"label": predicted.label, "a": predicted.a, "b": predicted.b, "limits": limits, **known}
    return Classes(units=paired.units, measure=spec.name, draws=paired.draws, **codes)


def _of_numbers(
    units: Units, spec: MeasureSpec, columns: Sequence[Any], labels: Sequence[float], ends: Any, *, limited: bool
) -> Classes:
    """Return numbers as classes. `columns`: labels, both predictions; `labels`, `ends`: those of an unseen row."""
    arrays = [*columns, np.array(labels), np.array(ends)]
    values, codes = np.unique(np.concatenate(arrays), return_inverse=True)
    label, a, b, *unseen = np.split(codes, np.cumsum([len(array) for array in arrays])[:-1])
    known: Any = {"label": label, "a": a, "b": b, "values": values, "unseen": (unseen[0], unseen[1])}
    return Classes(units=units, measure=spec.name, limits=(0, 1) if spec.in_points else None, limited=limited, **known)


def _numbers(paired: PairedPredictions, spec: MeasureSpec, _: str | None) -> Classes | Values:
    predicted, limits = _predictions(paired, spec), paired.score_range
    if word := next((name for name in predicted.classes if not is_finite_number(name)), None):
        raise _invalid(spec, f"{shown(word)}; expected labels and predictions in numbers")
    refuse_thousands("prediction", predicted.classes)
    numbers = np.array([float(name) for name in predicted.classes])
    refuse_beyond(limits, [numbers], "numbers")
    if spec.name in POWERS:
        return _of_codes(paired, spec, predicted, values=numbers)
    if spec.of_rows is None:
        columns = [numbers[codes] for codes in (predicted.label, predicted.a, predicted.b)]
        ends = limits or (float(numbers.min()), float(numbers.max()))
        labels = [*ends, float(columns[0].mean())]
        return _of_numbers(paired.units, spec, columns, labels, ends, limited=limits is not None)
    a, b = (spec.of_rows(numbers[predicted.label], numbers[side]) for side in (predicted.a, predicted.b))
    width = None if limits is None else limits[1] - limits[0]
    span = width**2 if width is not None and spec.name == "neg-mse" else width
    return Values(units=paired.units, values=(a, b), span=span, limits=None if span is None else (-span, 0.0))


def _predictions(paired: PairedPredictions, spec: MeasureSpec) -> Predicted:
    """Return the predictions of both models. Raise ValueError if they are missing or spell classes differently."""
    predicted = paired.predicted
    if predicted is None:
        kind = "marks between right and wrong" if paired.graded else "scores without predictions"
        raise _invalid(spec, f"{kind}; expected one of {', '.join(OF_SCORES)}")
    if paired.graded and spec.needs not in ("answers", "repeated answers"):
        raise ValueError("measures: these files state only which answers were right; expected accuracy or mean-score")
    if not paired.graded and spec.needs != "numbers":
        predicted.check_names(exact=spec.needs != "classes")
    return predicted


def _scores(paired: PairedPredictions, spec: MeasureSpec, positive: str | None) -> Scores | Classes:
    scored, true = _given_scores(paired, spec), is_positive(paired, positive)
    if spec.of_weights is None:
        return Scores(units=paired.units, positive=true, scores=scored.scores, draws=paired.draws)
    low, high = ends_of(scored.scores)
    beyond = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    classes = _of_numbers(paired.units, spec, [1.0 * true, *scored.scores], (0.0, 1.0), beyond, limited=True)
    return dataclasses.replace(classes, measure=OwnMeasure(spec))


def _probabilities(paired: PairedPredictions, spec: MeasureSpec, positive: str | None) -> Values:
    scored = _given_scores(paired, spec)
    low, high = ends_of(scored.scores)
    if low < 0 or high > 1:
        raise ValueError(f"scores: {low:g} to {high:g} are not valid for {spec.name}; expected probabilities")
    low, high = paired.score_range or (0.001, 0.999)
    if spec.span is None and not 0 < low < high < 1:
        wanted = "the limits of probabilities, such as 0.001 to 0.999"
        raise ValueError(f"score_range: {low:g} to {high:g} is not valid for {spec.name}; expected {wanted}")
    true = np.full(paired.n, True) if scored.of_truth else is_positive(paired, positive)
    return Values.of_probabilities(spec, paired.units, true, scored.scores, paired.score_range)


def _all_probabilities(paired: PairedPredictions, spec: MeasureSpec, _: str | None) -> Values | Classes:
    tables = _given_scores(paired, spec).tables
    if tables is None and len(paired.classes) == 2:
        raise _invalid(spec, f"two classes; expected {'accuracy' if spec.answers else 'auc'}")
    if tables is None:
        raise _invalid(spec, "scores of one class; expected a table of probabilities of all classes (--probabilities)")
    if spec.answers:
        right = [rank_of_truth(table[:, 1:], table[:, 0]) <= spec.answers for table in tables]
        return Values.of_answers(paired.units, right)
    places, size = [table[:, 0] for table in tables], len(tables[0])
    if tables[0].shape != tables[1].shape or (places[0] != places[1]).any():
        raise _invalid(spec, "probabilities of other classes in the candidate; expected the same classes in both")
    # A prediction is a row of the two tables, one below the other; those of an unseen row are the best and the worst.
    columns, ends = [places[0], np.arange(size), size + np.arange(size)], (float(FIRST), float(LAST))
    classes = _of_numbers(paired.units, spec, columns, np.unique(places[0]).tolist(), ends, limited=True)
    of_weights = partial(macro_area, np.concatenate(tables)[:, 1:])
    return dataclasses.replace(classes, measure=OwnMeasure(dataclasses.replace(spec, of_weights=of_weights)))


def _marks(paired: PairedPredictions, spec: MeasureSpec, _: str | None) -> Values | Ratios:
    scored, limits, units = _given_scores(paired, spec), paired.score_range, paired.units
    sign, (a, b), per = -1 if scored.lower else 1, scored.scores, scored.per
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = None if per is None else [x / y for x, y in zip(scored.scores, per, strict=True)]
    refuse_beyond(limits, [x[~np.isnan(x)] for x in ratios] if ratios else scored.scores, "scores")
    models = ("the model",) if np.array_equal(*scored.scores) else ("baseline", "candidate")
    sides = scored.scores[: len(models)]
    if scored.lower is None:
        labelled = not paired.graded and len(paired.classes) == 2
        raise unknown_direction(scored.column, labelled=labelled, scores=sides, models=models)
    if limits is None:
        wanted = "one unit, or score_range if they are in one unit"
        costs = per is not None or bool(scored.unit) or (scored.lower and limits_of(scored.column) is None)
        unlike_units(sides, models, wanted=wanted, costs=costs, limits=scored.limits)
    if spec.share and (units.group is not None or units.weights is not None):
        raise _invalid(spec, "rows in groups or with weights")
    if per is not None:
        return Ratios(units=units, scores=scored.scores, per=per, sign=sign, limits=signed(limits, sign))
    known, totals = signed(paired.bounds, sign), scored.totals
    if totals is not None:
        totals = dataclasses.replace(totals, sums=(sign * totals.sums[0], sign * totals.sums[1]))
    span = None if known is None else known[1] - known[0]
    share = 1 - spec.share if spec.share and scored.lower else spec.share
    return Values(units=units, values=(sign * a, sign * b), span=span, limits=known, totals=totals, share=share)


def _given_scores(paired: PairedPredictions, spec: MeasureSpec) -> Scored:
    """Return the scores of both models; raise ValueError if they are missing or of another kind."""
    scored, needs_marks, name = paired.scored, spec.needs == "marks", spec.name
    if name == "ratio" and (scored is None or scored.per is None):
        raise ValueError("measures: 'ratio' is not valid without denominators; expected two columns, --measure A/B")
    if scored is None:
        raise ValueError(f"measures: {name!r} is not valid without scores; expected scores (--score COLUMN)")
    if name != "ratio" and scored.per is not None:
        raise _invalid(spec, "a ratio of sums; expected ratio, or the score alone")
    if scored.of_truth and name != "neg-log-loss" and spec.needs != "tables":
        one = ", or the column of one class as the score (--score)" * (len(paired.classes) == 2)
        raise _invalid(spec, f"{len(paired.classes)} classes; expected macro-auc or neg-log-loss{one}")
    if not needs_marks and scored.filled:
        raise _no_wrong(spec, "probabilities, which are not right or wrong; expected --unscored drop")
    if not needs_marks and paired.graded:
        raise _invalid(spec, "marks; expected mean-score")
    limits = paired.score_range if needs_marks and paired.score_range else (0.0,)
    for values in (*scored.scores, *(scored.per or ()), np.array(limits)):
        require_squarable(values, "scores")
    return scored


#: Measures of several classes that do not depend on which wrong class is predicted.
_OF_RIGHT = "accuracy", "balanced-accuracy", "macro-recall", "recall"
_EVIDENCE_BY_NEEDS: dict[Needs, Callable[[PairedPredictions, MeasureSpec, str | None], Evidence]] = {
    "answers": _answers,
    "repeated answers": _attempts,
    "classes": _classes,
    "numbers": _numbers,
    "scores": _scores,
    "probabilities": _probabilities,
    "tables": _all_probabilities,
    "marks": _marks,
}


def units_of_numbers(paired: PairedPredictions, needs: Collection[str], models: Sequence[str]) -> list[Note]:
    """Return the note of `unlike_units` on scores, ratios, or labels and predictions."""
    predicted, scored = paired.predicted, paired.scored
    if predicted is not None and "numbers" in needs:
        values = np.array([float(name) for name in predicted.classes])
        sides = [values[codes] for codes in (predicted.a, predicted.b, predicted.label)]
        return unlike_units([*sides[: len(models)], sides[2]], [*models, "the labels"], costs=True)
    if scored is None or "marks" not in needs:
        return []
    per = scored.per or (np.ones(1), np.ones(1))
    sides = [a / np.where(b == 0, np.inf, b) for a, b in zip(scored.scores, per, strict=True)]
    costs, limits = bool(scored.lower or scored.unit or scored.per), None if scored.per else scored.limits
    return unlike_units(sides[: len(models)], models, costs=costs, priced=bool(scored.unit), limits=limits)
