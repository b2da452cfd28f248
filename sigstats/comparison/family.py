"""The family of tests of a comparison: its measures, their evidence, and its rows before they are tested."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from .._common.scores import unknown_direction
from .._common.validation import IntArray
from ..measures.metrics import metric_of, require_marks
from ..measures.table import MEASURES, MeasureSpec, OwnMeasure
from ..measures.weighted import weighted_area
from ..ranking.means import MEAN_OVER_TASKS
from .evidence import Evidence
from .measure_names import MANY_NUMBERS, are_measurements, as_compared_measures, check_used, is_of_scores, positive_code
from .measured import evidence_of
from .paired_predictions import PairedPredictions, Scored, Verdicts
from .row_tests.task_means import has_task_mean
from .rows import ComparisonRow
from .rule import ComparisonRule
from .units import ALL_ROWS


def default_measures(paired: PairedPredictions) -> tuple[str, ...]:
    """Return the measures by default: the accuracy, and the area of probabilities or the mean of marks and costs."""
    scored, predicted = paired.scored, None if isinstance(paired.outcomes, Verdicts) else paired.predicted
    labels = predicted.of_labels if predicted and are_measurements(predicted.classes) else []
    if predicted and (len(labels) > MANY_NUMBERS or any(not float(name).is_integer() for name in labels)):
        if scored:
            return (scored.mean,)  # accuracy of measurements is hardly ever wanted
        fraction = next(name for name in predicted.classes if not float(name).is_integer())
        raise ValueError(
            f"label and prediction: {len(predicted.classes):,} different numbers such as {fraction} are not valid as "
            "classes; expected the measure neg-mae or neg-mse (or accuracy, if only equal numbers are right)"
        )
    if predicted:
        predicted.check_names(wanted="classes of the labels, or the measure accuracy, if only equal names are right")
    if scored is None or (paired.graded and paired.predicted):
        return ("accuracy",)
    if paired.predicted is None:
        marks = paired.graded or scored.per or len(paired.classes) != 2
        return (scored.mean if marks else _measure_of_labelled(scored),)
    if scored.of_truth:
        return ("accuracy", "neg-log-loss")
    return ("accuracy", scored.mean if scored.per else _measure_of_labelled(scored))


def _measure_of_labelled(scored: Scored) -> str:
    """Return the measure of scores with labels: the AUC of probabilities, the mean of marks; or raise ValueError."""
    known = metric_of(scored.column)
    if scored.column in ("", "scores") or (known and known.direction == "class"):
        return "auc"
    require_marks(scored.column)
    if scored.lower is None:
        raise unknown_direction(scored.column, labelled=True)
    return scored.mean


def with_cost(paired: PairedPredictions, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the measures, and the mean of a named cost, which is always compared."""
    cost = paired.scored if paired.scored and paired.scored.lower and not any(map(is_of_scores, names)) else None
    return names if cost is None else (*names, cost.mean)


def named_score(paired: PairedPredictions) -> str | None:
    """Return the score that was named in addition to predictions, if any."""
    scored = paired.scored
    return (scored.name or scored.column or None) if scored and paired.predicted and not paired.graded else None


def measures_to_compare(
    paired: PairedPredictions, measures: str | Sequence[str] | None, *, alone: bool = False
) -> tuple[str, ...]:
    """Return the measures to compare: the default ones, or those named and (unless `alone`) a cost."""
    if measures is None:
        return default_measures(paired)
    names = as_compared_measures(measures)
    return names if alone else with_cost(paired, names)


def tests_of(paired: PairedPredictions, measures: Collection[str], rule: ComparisonRule) -> int:
    """Return the number of tests of a pair: of each measure on all rows, on each slice, and in the mean over tasks."""
    rows = [row for row, _ in blank_rows(paired, measures)]
    units = [row.n if row.slice == MEAN_OVER_TASKS else row.items or row.n for row in rows]
    return sum(n >= rule.smallest_slice for n in units) + (len(measures) * len(paired.units.slices) if rule.gaps else 0)


def evidence_to_compare(
    paired: PairedPredictions, measures: Sequence[str] | None, positive: str | None, *, alone: bool = False
) -> dict[str, Evidence]:
    """Return the evidence of a pair for each of its measures. `alone`: leave out a named cost."""
    names = measures_to_compare(paired, measures, alone=alone)
    if paired.units.candidates is not None:
        names = for_one_sample(names)
    if not alone:
        check_used(names, score=named_score(paired))
    return evidence_for(paired, [name for name in names if not paired.compared or is_of_scores(name)], positive)


def for_one_sample(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the measures, with the AUC tested by weights, since its usual test compares two models."""
    area = OwnMeasure(replace(MEASURES["auc"], of_weights=weighted_area, test="counts"))
    return tuple(area if name == "auc" else name for name in names)


def evidence_for(paired: PairedPredictions, names: Sequence[str], positive: str | None) -> dict[str, Evidence]:
    """Return the evidence for each of these measures, or raise ValueError."""
    evidence = {name: evidence_of(paired, name, positive) for name in names}
    if positive is not None and paired.predicted and len(paired.classes) > 1:  # named where no measure is of a class
        positive_code(paired, positive, among_several=True)
    return evidence


def blank_row(
    paired: PairedPredictions, measure: str, where: str = ALL_ROWS, n: int | None = None, items: int | None = None
) -> ComparisonRow:
    """Return a row that is not tested, with the name of its score."""
    spec, scored = MEASURES[measure], paired.scored if is_of_scores(measure) or paired.graded else None
    marks = scored if spec.needs == "marks" else None
    span = _span_of_points(paired, spec)
    return ComparisonRow(
        slice=where,
        measure=measure,
        n=paired.n if n is None else n,
        items=items,
        relative=span is None,
        span=span or 1.0,
        lower_is_better=bool(marks.lower) if marks else not spec.greater_is_better,
        score=marks.own_name if marks else scored.name if scored else "",
        unit=marks.unit if marks else "",
    )


def _span_of_points(paired: PairedPredictions, spec: MeasureSpec) -> float | None:
    """Return the range that a hundred points cover; None if drops are parts of the baseline."""
    marks = paired.scored if spec.needs == "marks" else None
    limits = paired.bounds if marks else paired.score_range
    if spec.in_points or (spec.span is not None and spec.greater_is_better):
        return 1.0
    amount = marks and (marks.lower or marks.unit) and limits != marks.limits
    if limits is None or amount or spec.name in ("neg-mse", "neg-log-loss"):  # of which limits are far too wide
        return None
    return 1.0 if spec.name == "r2" else limits[1] - limits[0]


def blank_rows(paired: PairedPredictions, names: Collection[str]) -> Iterator[tuple[ComparisonRow, IntArray]]:
    """Yield the rows of a pair before anything is computed, each with the places of its data."""
    units = paired.units
    for (part, places), items in zip(units.parts, units.items_of_parts, strict=True):
        yield from ((blank_row(paired, name, part, len(places), items), places) for name in names)
        if part == ALL_ROWS and units.tasks is not None:
            yield from ((blank_row(paired, name, MEAN_OVER_TASKS), places) for name in filter(has_task_mean, names))
