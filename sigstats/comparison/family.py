"""The family of tests of a comparison: its measures, and its rows before they are tested."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..measures.metrics import unit_of
from ..measures.table import MEASURES, MeasureSpec, refers_to_one_class
from ..ranking.means import MEAN_OVER_TASKS
from .paired_predictions import PairedPredictions
from .part import Part, whole
from .requirements import (
    as_compared_measures,
    default_measures,
    is_of_scores,
    positive_code,
    require,
    require_known_positive,
    require_score_used,
    with_cost,
)
from .rows import ComparisonRow
from .rule import ComparisonRule
from .task_means import has_task_mean
from .units import ALL_ROWS


def measures_meant(
    paired: PairedPredictions, measures: str | Sequence[str] | None, *, alone: bool = False
) -> tuple[str, ...]:
    """The measures to compare: the default ones, or those named, and a cost with them unless `alone`."""
    if measures is None:
        return default_measures(paired)
    names = as_compared_measures(measures)
    return names if alone else with_cost(paired, names)


def tests_of(paired: PairedPredictions, measures: Sequence[str], rule: ComparisonRule) -> int:
    """The number of tests of a pair: of each measure on all rows, on each slice, and in the mean over tasks."""
    parts = sum(size >= rule.smallest_slice for size in paired.units.part_sizes())
    return len(measures) * parts + (0 if paired.units.tasks is None else sum(map(has_task_mean, measures)))


def asked_of(
    paired: PairedPredictions, measures: Sequence[str] | None, positive: str | None, *, alone: bool = False
) -> tuple[tuple[str, ...], Part]:
    """The measures of a pair that has their data, and its rows; `alone`: without an additional cost."""
    names = measures_meant(paired, measures, alone=alone)
    if not alone:
        require_score_used(paired, names)
    if paired.compared:
        names = tuple(name for name in names if is_of_scores(name))
    for name in names:
        require(paired, name)
    of_scores = any(MEASURES[name].needs in ("scores", "probabilities") for name in names)
    code = None
    if (of_scores and not paired.of_truth) or any(map(refers_to_one_class, names)):
        code = positive_code(paired, positive, among_several=not of_scores or paired.of_truth or positive is not None)
    else:
        require_known_positive(paired, positive)
    return names, whole(paired, positive=code, with_numbers=any(MEASURES[name].needs == "numbers" for name in names))


def blank_row(
    paired: PairedPredictions, measure: str, where: str = ALL_ROWS, n: int | None = None, items: int | None = None
) -> ComparisonRow:
    """A row that is not tested, with the name of its score."""
    row = ComparisonRow(slice=where, measure=measure, n=paired.n if n is None else n, items=items)
    row = replace(row, relative=_is_relative(paired, MEASURES[measure]))
    if not (paired.graded or is_of_scores(measure)):
        return row
    if MEASURES[measure].needs != "marks":
        return replace(row, score=paired.score_name)
    lower, unit = bool(paired.lower), unit_of(paired.score_column.partition("/")[0])
    return replace(row, score=paired.score_name or paired.own_name, lower_is_better=lower, unit=unit)


def _is_relative(paired: PairedPredictions, spec: MeasureSpec) -> bool:
    """True if nothing states a scale on which a margin could be a number: of costs, amounts and without limits."""
    if spec.in_points or spec.span is not None:
        return False
    if spec.needs != "marks":
        return paired.score_range is None
    amount = paired.lower or unit_of(paired.score_column.partition("/")[0])
    return paired.bounds is None or bool(amount and paired.bounds != paired.limits)


def blank_rows(paired: PairedPredictions, names: Sequence[str]) -> Iterator[ComparisonRow]:
    """The rows of a pair, before anything is computed."""
    for part in [ALL_ROWS] if paired.identical else [part for part, _ in paired.units.parts()]:
        yield from (blank_row(paired, name, part) for name in names)
    if paired.units.tasks is not None and not paired.identical:
        yield from (blank_row(paired, name, MEAN_OVER_TASKS) for name in names if has_task_mean(name))
