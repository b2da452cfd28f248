"""One model against a bar, on all rows and on every slice.

Of single rows, accuracy, precision, recall, specificity, Jaccard's index and F1 rest on a number of hits that is
binomial given the rows that count, so that their p-values and intervals (Clopper and Pearson 1934) are exact. Means of
marks, and rows in groups, have the bounds of `sigstats.unseen_row.means`, of which these are the special case.

A model that is below the bar on no slice is reported to be below it on any with a probability of at most alpha (Holm
1979). That it is at least as good everywhere is claimed where every interval says so, which needs no adjustment (Berger
1982, Technometrics 24, 295-300).

When not to use: two models on the same rows (`sigstats.compare`), which show a difference with fewer rows.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..._common.validation import as_choice, as_real, refuse
from ...measures.metrics import unit_of
from ...measures.table import MEASURES, is_pass_at
from ...multiplicity import adjusted
from ...ranking.means import MEAN_OVER_TASKS
from ..margins import SaidShare, require_limits_used
from ..notes import about_predictions, clusters_note, unseen_group_note
from ..paired_predictions import PairedPredictions
from ..part import Part, whole
from ..requirements import (
    COMPARED_MEASURES,
    default_measures,
    known_measure,
    mean_of,
    positive_code,
    require,
    require_known_positive,
    require_score_used,
)
from ..rule import ComparisonRule, Verdict
from ..task_means import has_task_mean, without_task_mean
from ..units import ALL_ROWS
from .result import CheckResult, cells_of
from .row import CheckedRow
from .tests import HITS, Limits, test_row

_MEANS = tuple(name for name in COMPARED_MEASURES if MEASURES[name].test == "means")
#: The measures with an exact test of one model.
CHECKED_MEASURES = ("accuracy", *HITS, *_MEANS, "ratio")


def check_predictions(
    paired: PairedPredictions,
    bar: float,
    rule: ComparisonRule | None = None,
    measures: Sequence[str] | None = None,
    *,
    positive: str | None = None,
    at_most: bool = False,
) -> CheckResult:
    """Test whether one model, both of the pair, reaches a bar by every measure, on all rows and every slice.

    `bar`: the least value that is good enough, in the unit of the measure: a share for the accuracy. `at_most`: it is
    the greatest one, of a cost. `rule`: its level, adjustment, confidence and smallest slice.
    `measures`: of `CHECKED_MEASURES`, or ``pass@k``, and of runs any that is compared; by default the accuracy, or the
    mean of marks.
    `positive`: the class of precision, recall, specificity, Jaccard's index and F1.

    Raises ValueError if the predictions lack data that a measure needs, if no value of it could be below the bar, or if
    nothing can be tested.
    """
    rule = ComparisonRule() if rule is None else rule
    names = measures_checked(paired, measures)
    code = None
    if any(name in HITS or MEASURES[name].needs in ("probabilities", "scores") for name in names):
        code = None if paired.of_truth else positive_code(paired, positive, among_several=True)
    else:
        require_known_positive(paired, positive)
    with_numbers = any(MEASURES[name].needs == "numbers" for name in names)
    everything = whole(paired, positive=code, with_numbers=with_numbers)
    unit_of_score = unit_of(paired.score_column.partition("/")[0])
    option, sign = ("at_most", -1) if at_most else ("at_least", 1)
    limits = {name: _limits(everything, name) for name in names}
    for name, known in limits.items():
        if at_most != (MEASURES[name].needs == "marks" and bool(paired.lower)):
            other, way = ("at_least", "higher") if at_most else ("at_most", "lower")
            what = paired.score_column if MEASURES[name].needs == "marks" else name
            raise refuse(option, bar, f"{other}, since of {what} the {way} is better")
        low, high = (-math.inf, math.inf) if known is None else known
        marks = MEASURES[name].needs == "marks" and (unit_of_score or (name != "ratio" and high - low != 1))
        if isinstance(bar, SaidShare) and marks:
            raise refuse(option, f"{100 * bar:g}%", f"a number in the unit of {paired.score_column}")
        as_real(bar, option, low=min(sign * low, sign * high), high=max(sign * low, sign * high))
        if sign * bar == low:
            wanted = f"less than {bar:g}, the most" if at_most else f"more than {low:g}, the least"
            raise refuse(option, bar, f"{wanted} that {name} can be")
    rows = []
    parts = dict(paired.units.parts())
    if paired.units.tasks is not None:
        parts = {ALL_ROWS: parts[ALL_ROWS], MEAN_OVER_TASKS: parts[ALL_ROWS], **parts}
    for slice_, where in parts.items():
        part, tasks = everything.rows(where()), paired.units.tasks if slice_ == MEAN_OVER_TASKS else None
        n, items = len(part.label), None if part.units.items is None else len(np.unique(part.units.items))
        for name in names if tasks is None else filter(has_task_mean, names):
            unit, score = (unit_of_score, paired.own_name) if MEASURES[name].needs == "marks" else ("", "")
            row = CheckedRow(slice=slice_, measure=name, n=n, items=items, unit=unit, score=score)
            rows.append(test_row(row, part, limits[name], sign * bar, rule, tasks))
    if all(row.pvalue is None for row in rows):
        raise ValueError(f"rows: {paired.n:,} are not enough; nothing can be tested ({rows[0].note})")
    decided = _decided(rows, sign * bar, rule)
    checked_rows = tuple(row.turned() for row in decided) if at_most else decided
    bare = CheckedRow(slice=ALL_ROWS, measure=names[0], n=paired.n)
    notes = (
        *paired.notes,
        *without_task_mean(paired, names),
        *unseen_group_note(checked_rows, lambda row: cells_of(row)["interval"], rule.unseen_group),
        *about_predictions(paired, names, ("the model",)),
        *clusters_note(
            paired,
            lambda group: test_row(bare, everything.in_groups(group), limits[names[0]], sign * bar, rule, None),
            seed=rule.rng,
            single=True,
        ),
    )
    return CheckResult(rows=checked_rows, rule=rule, bar=bar, at_most=at_most, n=paired.n, notes=notes)


def measures_checked(paired: PairedPredictions, measures: Sequence[str] | None) -> tuple[str, ...]:
    """The measures to check, after checking that the predictions have their data."""
    if measures is None:
        marks = paired.scores is not None and not paired.graded and (paired.lower or not paired.of_truth)
        names = (mean_of(paired),) if marks else default_measures(paired)[:1]
    elif not isinstance(measures, Sequence) or not measures:
        raise refuse("measures", measures, "the name of a measure, or several")
    else:
        known = (*(CHECKED_MEASURES if paired.runs is None else COMPARED_MEASURES), "pass@1")
        names = tuple(
            item if isinstance(item, str) and is_pass_at(item) else as_choice(known_measure(item), "measures", known)
            for item in ([measures] if isinstance(measures, str) else measures)
        )
    if len(set(names)) < len(names):
        raise refuse("measures", ", ".join(names), "each measure once")
    require_score_used(paired, names)
    require_limits_used(paired.score_range, names)
    for name in names:
        require(paired, name)
    return names


def _limits(part: Part, measure: str) -> Limits:
    """The smallest and the largest value of a row, with the sign turned for costs; None if unknown."""
    spec, span = MEASURES[measure], part.span(MEASURES[measure])
    if spec.needs == "marks":
        known = part.score_range if measure == "ratio" else part.bounds
        return None if known is None else known if part.sign > 0 else (-known[1], -known[0])
    if spec.test == "means" and not spec.answers:  # of losses, of which none is below 0
        least = 0.0
        if measure == "neg-log-loss" and part.score_range is not None:
            least = math.log(max(part.score_range[1], 1 - part.score_range[0]))
        return None if span is None else (least - span, least)
    return (-1.0, 1.0) if measure in ("mcc", "kappa", "linear-kappa", "quadratic-kappa") else (0.0, 1.0)


def _decided(rows: Sequence[CheckedRow], bar: float, rule: ComparisonRule) -> tuple[CheckedRow, ...]:
    """The rows with adjusted p-values and verdicts, if they were tested."""
    pvalues = [row.pvalue for row in rows if row.pvalue is not None]
    of_row = iter(adjusted(pvalues, rule.adjust))

    def decided(row: CheckedRow) -> CheckedRow:
        if row.pvalue is None:
            return row
        adjusted_pvalue = next(of_row)
        reached = row.low is not None and row.low >= bar and row.test.limited
        verdict: Verdict = "fail" if adjusted_pvalue <= rule.alpha else "pass" if reached else "inconclusive"
        level = rule.confidence_level
        return replace(row, adjusted_pvalue=adjusted_pvalue, verdict=verdict, confidence_level=level)

    return tuple(map(decided, rows))
