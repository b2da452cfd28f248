"""One model against a bar, on all rows and on every slice.

For single rows, accuracy, precision, recall, specificity, Jaccard's index and F1 depend on a number of hits that is
binomial given the rows that count, so that p-values and intervals (Clopper and Pearson 1934) are exact. Means of marks,
and rows in groups, use the bounds of `sigstats.unseen_row.means`, which generalise the binomial ones; other measures
use random weights and one more row.

If a model is below the bar on no slice, the probability of reporting that it is below on any is at most alpha (Holm
1979). The claim that it reaches the bar everywhere requires every interval to lie on the right side, but no adjustment
(Berger 1982, Technometrics 24, 295-300).

When not to use: two models on the same rows (`sigstats.compare`), which show a difference with fewer rows.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..._common.messages import Note, shown
from ..._common.scores import unlike_bar
from ..._common.validation import Limits, as_real, refuse
from ...measures.metrics import is_rate, require_marks
from ...measures.table import MEASURES
from ...multiplicity import adjust_family
from ...ranking.means import MEAN_OVER_TASKS
from ..cells import named
from ..evidence import Evidence, Judged
from ..family import blank_rows, default_measures, evidence_for, for_one_sample, named_score
from ..gaps import Slices, gap_of, gaps_of
from ..margins import Amount, StatedShare, number_of
from ..measure_names import as_compared_measures, check_used, reversed_scores
from ..notes import about_predictions, notes_on_dependence, smooth_note
from ..paired_predictions import PairedPredictions, Scored
from ..result import in_words, unseen_group_note
from ..row_tests.task_means import without_task_mean
from ..rule import ComparisonRule, Verdict
from .result import CheckedRow, CheckResult, cells_of
from .tests import test_row

#: Measures in the unit of the labels.
_ERRORS = ("rmse", "neg-mae", "neg-mse")


def check_predictions(
    paired: PairedPredictions,
    bar: float,
    rule: ComparisonRule | None = None,
    measures: Sequence[str] | None = None,
    *,
    positive: str | None = None,
    at_most: bool = False,
) -> CheckResult:
    """Test whether one model (both of the pair) reaches a bar by every measure, on all rows and every slice.

    `bar`: the lowest acceptable value, in the unit of the measure: a share for the accuracy. A `StatedShare` is a
    share of the range of marks. `at_most`: True if the bar is the highest acceptable cost. `rule`: only its level,
    adjustment, confidence and smallest slice are used.
    `measures`: as of a comparison; by default the accuracy, or the mean of marks.
    `positive`: the class of precision, recall, specificity, Jaccard's index and F1.

    Raises ValueError if the predictions lack data that a measure needs, if no value of it could be below the bar, or if
    nothing can be tested.
    """
    rule = ComparisonRule() if rule is None else rule
    evidence = evidence_checked(paired, measures, positive)
    names = [*evidence]
    marks = paired.scored if MEASURES[names[0]].needs == "marks" else None
    is_share = isinstance(bar, StatedShare)
    bar = _bar_of(bar, evidence, paired.scored, rule, at_most=at_most)
    result = _checked(paired, evidence, bar, rule, at_most=at_most)
    rows = result.rows
    if all(row.pvalue is None for row in rows):
        raise ValueError(f"rows: {paired.n:,} are not enough; nothing can be tested ({rows[0].note})")

    def retest(paired: PairedPredictions, evidence: Mapping[str, Evidence], where: str) -> tuple[str, str]:
        return in_words(_checked(paired, evidence, bar, rule, at_most=at_most), result, where, cells_of)

    whole = evidence[names[0]]
    values = np.array([rows[0].value or 0.0]) if marks is None or marks.per else marks.scores[0]
    rate = marks is not None and is_rate(marks.column)
    in_own_unit = (marks is not None or names[0] in _ERRORS) and not rule.gaps and not is_share
    notes = (
        *paired.notes,
        *(whole.notes(("the model",)) if isinstance(whole, Judged) else ()),
        *without_task_mean(paired, names),
        *unseen_group_note(rows, lambda row: cells_of(row)["interval"], rule.unseen_group),
        *smooth_note(names),
        *about_predictions(paired, names, ("the model",)),
        *reversed_scores(paired, names, positive, ("the model",)),
        *(unlike_bar(values, bar, limited=whole.limits is not None, rate=rate) if in_own_unit else ()),
        *(Note("gap", f"{named(row)}: {row.note}; {row.test}") for row in rows if row.test.kind == "gap" and row.test),
        *notes_on_dependence(paired, evidence, retest, rule, single=True),
    )
    return replace(result, notes=notes)


def _checked(
    paired: PairedPredictions, evidence: Mapping[str, Evidence], bar: float, rule: ComparisonRule, *, at_most: bool
) -> CheckResult:
    """Return the result without notes. The parameters are those of `check_predictions`."""
    signed = -bar if at_most else bar
    if rule.gaps:
        rows = [_of_gap(slices, bar) for slices in gaps_of(paired, evidence, rule)]
    else:
        rows = [*_tested_rows(paired, evidence, signed, rule)]
    decided = _decided(rows, signed, rule)
    turned = tuple(row.turned() for row in decided) if at_most else decided
    return CheckResult(rows=turned, rule=rule, bar=bar, at_most=at_most, n=paired.n)


def _bar_of(
    bar: float, evidence: Mapping[str, Evidence], scored: Scored | None, rule: ComparisonRule, *, at_most: bool
) -> float:
    """Return the bar in the unit of the measures.

    Refuse one that does not suit a measure or, if gaps are tested, a gap that is never exceeded.
    """
    option = "at_most" if at_most else "at_least"
    unit = scored.unit if scored and MEASURES[next(iter(evidence))].needs == "marks" else ""
    if isinstance(bar, Amount) and not bar.is_in(unit):
        raise refuse(option, f"{bar:g}{bar.unit}", number_of(unit))
    marks = {name: scored if MEASURES[name].needs == "marks" else None for name in evidence}
    if rule.gaps:
        bars = {_in_unit(bar, option, name, of.limits, marks[name], gaps=True) for name, of in evidence.items()}
        widest = min((of.limits[1] - of.limits[0] for of in evidence.values() if of.limits), default=math.inf)
        if not (at_most and max(bars) < widest):
            raise refuse(option, max(bars), f"at_most, the largest acceptable gap, below {widest:g}")
    else:
        bars = {_required(bar, name, of.limits, marks[name], at_most=at_most) for name, of in evidence.items()}
    if len(bars) > 1:
        raise refuse(option, f"{100 * bar:g}%", f"one measure, since it means {min(bars):g} and {max(bars):g}")
    return bars.pop()


def _in_unit(bar: float, option: str, name: str, limits: Limits, marks: Scored | None, *, gaps: bool = False) -> float:
    """Return a bar in the unit of its measure; a share of marks is a share of their range.

    Refuse a share of amounts without a range, and a number that may be a share or a mark. Gaps may be small marks.
    """
    what = marks.column if marks else name
    low, high = limits or (-math.inf, math.inf)
    low, high = (-high, -low) if marks and marks.lower else (low, high)
    if marks is None or name == "ratio" or not 1 < high < math.inf:
        of_marks = marks and (marks.unit or (name != "ratio" and high - low != 1))
        if isinstance(bar, StatedShare) and (of_marks or name in _ERRORS or name.startswith("expected-cost")):
            unlimited = f", which has no known limits ({bar:g} if it is a share), or score_range with its limits"
            of_what = what + unlimited * (marks is not None and limits is None and not marks.unit)
            raise refuse(option, f"{100 * bar:g}%", f"a number in the unit of {of_what}")
        return bar
    in_range = float(f"{bar * (high - low) + (0 if gaps else low):.12g}")
    if isinstance(bar, StatedShare):
        return in_range
    # At most 1 cannot mean 100% of a range, which every mark meets; a unit in the name of a score shows a mark.
    if not gaps and not marks.unit and max(low, 0) < bar <= 1 and (bar, option) != (1, "at_most"):
        share = f"{100 * (bar - low) / (high - low):.12g}%"
        both = f"{in_range:g} (write {100 * bar:.12g}%) or {bar:g} (write {share}) of {low:g} to {high:g}"
        raise ValueError(f"{option}: {bar:g} may be {both}, the range of {shown(what)}")
    return bar


def _required(bar: float, name: str, limits: Limits, marks: Scored | None, *, at_most: bool) -> float:
    """Return a bar in the unit of its measure. Refuse one of the wrong direction, or one that every value reaches."""
    option, other, better = ("at_most", "at_least", "higher") if at_most else ("at_least", "at_most", "lower")
    what, sign = marks.column if marks else name, -1 if at_most else 1
    if at_most != (bool(marks.lower) if marks else not MEASURES[name].greater_is_better):
        raise refuse(option, bar, f"{other}, since of {what} the {better} is better")
    bar, (low, high) = _in_unit(bar, option, name, limits, marks), limits or (-math.inf, math.inf)
    as_real(bar, option, low=min(sign * low, sign * high), high=max(sign * low, sign * high))
    if sign * bar == low:
        wanted = f"less than {bar:g}, the most" if at_most else f"more than {low:g}, the least"
        raise refuse(option, bar, f"{wanted} that {name} can be")
    return bar


def _tested_rows(
    paired: PairedPredictions, evidence: Mapping[str, Evidence], bar: float, rule: ComparisonRule
) -> Iterator[CheckedRow]:
    """Test the measures on all rows, in the mean over tasks and on each slice. `bar`: with the sign of the measure."""
    for blank, places in blank_rows(paired, evidence):
        name, part = blank.measure, evidence[blank.measure].take(places)
        n, items = part.units.n, part.units.n_items()
        row = CheckedRow(slice=blank.slice, measure=name, n=n, items=items, unit=blank.unit, score=blank.score)
        yield test_row(row, part, bar, rule, paired.units.tasks if blank.slice == MEAN_OVER_TASKS else None)


def _of_gap(slices: Slices, bar: float) -> CheckedRow:
    blank = slices.row
    row = CheckedRow(slice=blank.slice, measure=blank.measure, n=blank.n, test=blank.test, note=blank.note)
    if not row.test:
        return row
    gap, (low, high), pvalue = gap_of(slices, bar)
    return replace(row, value=-gap, low=-high, high=-low, pvalue=pvalue, note=slices.extremes(0))


def evidence_checked(
    paired: PairedPredictions, measures: Sequence[str] | None, positive: str | None
) -> dict[str, Evidence]:
    """Return the evidence for each measure that is checked, or raise ValueError."""
    if measures is None:
        scored = None if paired.graded else paired.scored
        marks = scored and (scored.lower or not scored.of_truth)
        if scored and marks and not scored.per and not paired.graded and len(paired.classes) == 2:
            require_marks(scored.column, "; a bar for probabilities needs --measure neg-brier or neg-log-loss")
        names = (scored.mean,) if scored and marks else default_measures(paired)[:1]
    else:
        names = as_compared_measures(measures)
    names = for_one_sample(names)
    check_used(names, score=named_score(paired), score_range=paired.score_range)
    return evidence_for(paired, names, positive)


def _decided(rows: Sequence[CheckedRow], bar: float, rule: ComparisonRule) -> tuple[CheckedRow, ...]:
    """Return the rows with adjusted p-values and verdicts, if they were tested."""
    pvalues = [row.pvalue for row in rows if row.pvalue is not None]
    adjusted = iter(adjust_family(pvalues, rule.adjust))

    def decided(row: CheckedRow) -> CheckedRow:
        p = next(adjusted)
        reached = row.low is not None and row.low >= bar and row.test.limited
        verdict: Verdict = "fail" if p <= rule.alpha else "pass" if reached else "inconclusive"
        return replace(row, adjusted_pvalue=p, verdict=verdict, confidence_level=rule.confidence_level)

    return tuple(row if row.pvalue is None else decided(row) for row in rows)
