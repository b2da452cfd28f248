"""Is the candidate worse than the baseline, anywhere? Every measure, on all rows and on every slice, and a verdict.

Several scores, and several candidates with one baseline, are one family of tests. `compare_pairs` tests the rows of
each pair (`_tested_rows`), then decides them together (`_decide`), since p-values are adjusted over the family, and
last adds the notes on dependent rows, which repeat both steps in groups or without copies.

When not to use: to find the best of many models, none of which is in use (`sigstats.rank_models`), or for models that
were tested on different rows.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .._common.messages import Note
from .._common.numerals import p_number
from .._common.scores import lower_is_better_note
from .._common.validation import refuse
from ..multiplicity import adjust_family
from ..possibilistic_indices import possibility
from ..ranking.means import MEAN_OVER_TASKS
from ..unseen_row.law import SharedDraws
from .cells import cells_of, interval_of
from .deciding import rows_that_decide, smallest_drop
from .evidence import Classes, Evidence, Judged
from .family import blank_rows, evidence_to_compare, tests_of
from .margins import check_margins
from .measure_names import check_used, reversed_scores
from .notes import about_predictions, limits_note, monte_carlo_note, notes_on_dependence, smooth_note
from .paired_predictions import PairedPredictions
from .result import ComparisonResult, ComparisonRow, in_words, unseen_group_note
from .row_tests import stages, test_part, uses_random_weights
from .row_tests.mean_tests import Tested, bounded
from .row_tests.task_means import joint_in_words, joint_over_tasks, test_task_mean, without_task_mean
from .rule import ComparisonRule, first_stage, in_stages
from .units import ALL_ROWS, too_fine


def compare_pair(paired: PairedPredictions, *given: Any, **options: Any) -> ComparisonResult:
    """Compare one candidate with its baseline, with the parameters of `compare_pairs`."""
    (result,) = compare_pairs([paired], *given, **options)
    return result


def compare_pairs(
    pairs: Sequence[PairedPredictions],
    rule: ComparisonRule | None = None,
    measures: Sequence[str] | None = None,
    *,
    positive: str | None = None,
    alone: bool = False,
    models: Sequence[str] = ("the baseline", "the candidate"),
) -> tuple[ComparisonResult, ...]:
    """Test every measure on all rows and every slice of several candidates: one family of tests.

    `alone`: test only these measures, without a cost that is compared with them and without the notes on this pair
    (results without copied rows, the decision over tasks, unknown limits). `models`: names of the two in notes. All
    else as `sigstats.compare`.

    Raises ValueError if the predictions lack data that a measure needs, or if there are too few rows to test anything.
    """
    if rule is None:
        rule = ComparisonRule()
    elif not isinstance(rule, ComparisonRule):
        raise refuse("rule", rule, "a ComparisonRule")
    given = [(paired, evidence_to_compare(paired, measures, positive, alone=alone)) for paired in pairs]
    check_used(dict.fromkeys(name for _, evidence in given for name in evidence), score_range=pairs[0].score_range)
    check_margins(rule, [row for paired, evidence in given for row, _ in blank_rows(paired, evidence)], alone=alone)
    tests = sum(tests_of(paired, evidence, rule) for paired, evidence in given)
    level, first = rule.level_of_one(max(1, tests)), rule.n_resamples
    notes: tuple[Note, ...] = ()
    if any(uses_random_weights(name, of) for _, evidence in given for name, of in evidence.items()):
        rule = rule.with_resamples_for(level)
        smallest = 1 / (rule.n_resamples + 1)
        if smallest > level:
            text = f"too few random weights for a fail: p is at least {p_number(smallest)}, above {p_number(level)}"
            notes = (Note("too-few-resamples", text),)
    rule_of_one = rule.of_family(max(1, tests))
    results = []
    for paired, evidence in given:
        result = _undecided(paired, evidence, rule_of_one, first=first, level=level, alone=alone)
        reversed_ = reversed_scores(paired, evidence, positive, models)
        results.append(replace(result, notes=(*result.notes, *reversed_)))
    tested = [result.rows for result in results]
    _check_tested(tested, rule)
    decided = _decide(tested, rule_of_one, level)
    results = [replace(result, rows=rows, rule=rule) for result, rows in zip(results, decided, strict=True)]

    def retest(place: int, paired: PairedPredictions, evidence: Mapping[str, Evidence], where: str) -> tuple[str, str]:
        """Decide again with other rows or groups of the pair at this place, and return the result in words."""
        rows = _rows(paired, evidence, rule_of_one, first, level)
        decided = _decide([*tested[:place], rows, *tested[place + 1 :]], rule_of_one, level)
        return in_words(replace(results[place], rows=decided[place]), results[place], where, cells_of)

    for place, (paired, evidence) in enumerate(given):
        if not alone and paired.units.candidates is None:
            dependence = notes_on_dependence(paired, evidence, partial(retest, place), rule, single=False)
            results[place] = replace(results[place], notes=(*results[place].notes, *dependence))
    return tuple(replace(result, notes=(*result.notes, *notes)) for result in results)


def _undecided(
    paired: PairedPredictions,
    evidence: Mapping[str, Evidence],
    rule: ComparisonRule,
    *,
    first: int,
    level: float,
    alone: bool,
) -> ComparisonResult:
    """Return the result before verdicts: every measure on all rows and every slice, with notes.

    `first`: the number of random weightings, unless a decision at `level`, that of one test, needs more.
    """
    units, names = paired.units, [*evidence]
    rows = _rows(paired, evidence, rule, first, level)
    notes = [*paired.notes, *too_fine(units.slices, rule.smallest_slice), *without_task_mean(paired, names)]
    joint, same_rows = None, units.candidates is None
    if not alone and same_rows:
        models, whole = ("the baseline", "the candidate"), evidence[names[0]]
        notes += whole.notes(models) if isinstance(whole, Judged) else ()
        notes += about_predictions(paired, names, models)
        joint = joint_over_tasks(paired, rule) if "accuracy" in names or paired.predicted is None else None
        notes += joint_in_words(joint, paired, rule) if joint is not None else ()
    if not alone or not same_rows:
        notes += [*limits_note(rows), *monte_carlo_note(rows), *smooth_note(names)]
    if not alone and same_rows:
        notes += unseen_group_note(rows, lambda row: interval_of(row.turned()), rule.unseen_group)
    if paired.scored is not None and any(row.lower_is_better for row in rows):
        notes.append(lower_is_better_note(paired.scored.column))
    items = units.n_items()
    averaged = any(of and of.totals for of in (paired.predicted, paired.scored))
    return ComparisonResult(
        rows=tuple(rows),
        rule=rule,
        n=items if items is not None and averaged else paired.n,
        notes=tuple(notes),
        identical=paired.identical,
        items=items,
        subjects=paired.subjects,
        joint=joint,
    )


def _rows(
    paired: PairedPredictions, evidence: Mapping[str, Evidence], rule: ComparisonRule, first: int, level: float
) -> list[ComparisonRow]:
    """Return all rows of a pair, undecided. The parameters are those of `_undecided`."""
    rows = bounded([*_tested_rows(paired, evidence, rule, first, level)], rule)
    if rule.gaps:
        from .gaps import gaps_of, tested_change  # most comparisons need none

        rows += map(tested_change, gaps_of(paired, evidence, rule))
    return rows


def _tested_rows(
    paired: PairedPredictions, evidence: Mapping[str, Evidence], rule: ComparisonRule, first: int, level: float
) -> Iterator[Tested]:
    """Test the measures on all rows, in the mean over tasks and on each slice. Parameters as for `_undecided`.

    If there are many slices, they share their random weights and begin with fewer.
    """
    units = paired.units
    few = rule.n_resamples if rule.simultaneous else first
    start = first_stage(few, len(units.parts)) if units.single and not rule.simultaneous else few
    draws = SharedDraws(rule.rng, start) if start < few else paired.draws
    for blank, places in blank_rows(paired, evidence):
        part, size = evidence[blank.measure], few
        if blank.slice == MEAN_OVER_TASKS:
            if units.tasks is not None and blank.n >= rule.smallest_slice:
                yield test_task_mean(blank, part, units.tasks, rule)
            continue
        if blank.slice != ALL_ROWS:
            part, size = replace(part, draws=draws) if isinstance(part, Classes) else part, start
        sizes = stages(blank.measure, size, few, rule.n_resamples, level)
        yield in_stages(partial(test_part, blank, part, places), rule, sizes)
    if draws is not None and draws is not paired.draws:
        draws.clear()  # cached laws refer to them


def _check_tested(pairs: Sequence[Sequence[ComparisonRow]], rule: ComparisonRule) -> None:
    for rows in pairs:
        if all(row.pvalue is None for row in rows):
            few = rows[0].n < rule.smallest_slice or (rows[0].items or rows[0].n) < rule.smallest_slice
            if rows[0].test.kind == "infinite":
                raise ValueError(f"scores: {rows[0].note}")
            wanted = f"; expected more, or a smallest_slice below {rule.smallest_slice}" if few else ""
            raise ValueError(f"rows: {rows[0].n:,} are not enough; nothing can be tested ({rows[0].note}){wanted}")


def _decide(
    pairs: Sequence[Sequence[ComparisonRow]], rule: ComparisonRule, level: float
) -> list[tuple[ComparisonRow, ...]]:
    """Return the rows of each pair with adjusted p-values, possibilistic indices and verdicts, if they were tested."""
    pvalues = [row.pvalue for rows in pairs for row in rows if row.pvalue is not None]
    of_row = iter(adjust_family(pvalues, rule.adjust))
    return [
        tuple(row if row.pvalue is None else decide_row(row, next(of_row), rule, level) for row in rows)
        for rows in pairs
    ]


def decide_row(
    row: ComparisonRow,
    adjusted_pvalue: float,
    rule: ComparisonRule,
    level: float,
    deciding: Callable[..., int | None] = rows_that_decide,
) -> ComparisonRow:
    """Return a tested row with its indices and its verdict; `level`: that of one test."""
    assert row.pvalue is not None
    assert row.difference is not None
    # Both hypotheses fit if nothing differs. They also fit if p is large on both sides, as for bounds on few rows,
    # where 1 - p is not a p-value of the other side.
    neither = row.silent or (row.pvalue > 0.75 and row.two_sided_pvalue == 1)
    indices = possibility(1.0, 1.0) if neither else possibility(row.pvalue)
    low = -math.inf if row.low is None else row.low
    margin, effect = rule.margin_of(row), rule.effect_of(row)
    verdict = rule.verdict(
        adjusted_pvalue=adjusted_pvalue, difference=row.difference, low=low, margin=margin, effect=effect
    )
    if verdict == "pass" and row.without_limits:
        verdict = "inconclusive"  # one row may differ by any amount
    unclear = verdict == "inconclusive"
    row = replace(
        row,
        adjusted_pvalue=adjusted_pvalue,
        pd=indices.pd,
        psd=indices.psd,
        nsd=indices.nsd,
        verdict=verdict,
        margin=margin,
        confidence_level=rule.confidence_level,
        detectable=smallest_drop(row, level) if unclear else None,
        deciding=deciding(row, rule=rule, level=level) if unclear else None,
    )
    return row.turned()


def with_names(pairs: Sequence[PairedPredictions], scores: Sequence[str | None]) -> list[PairedPredictions]:
    """Return a candidate's pairs with the names of several scores. Only the first pair compares predictions."""
    if len(pairs) == 1:
        return list(pairs)
    named = []
    for place, (pair, score) in enumerate(zip(pairs, scores, strict=True)):
        scored = pair.scored and replace(pair.scored, name=str(score))
        named.append(replace(pair, scored=scored, compared=place > 0 and not pair.graded))
    return named


def compare_scores(
    pairs: Sequence[Sequence[PairedPredictions]],
    rule: ComparisonRule,
    measures: Sequence[str] | None,
    positive: str | None,
) -> tuple[ComparisonResult, ...]:
    """Compare each candidate by each of its scores; p-values are adjusted over all of them.

    `pairs`: for each candidate, its predictions paired with the baseline's by each score. The rest: as `compare_pairs`.
    """
    all_pairs = [pair for by_score in pairs for pair in by_score]
    results = iter(compare_pairs(all_pairs, rule, measures, positive=positive))
    return tuple(_merged([next(results) for _ in by_score]) for by_score in pairs)


def _merged(results: Sequence[ComparisonResult]) -> ComparisonResult:
    if len(results) == 1:
        return results[0]
    first = max(results, key=lambda result: result.n)
    subjects = [result.subjects for result in results if result.subjects is not None]
    return replace(
        first,
        rows=tuple(row for result in results for row in result.rows),
        notes=tuple(dict.fromkeys(note for result in results for note in result.notes)),
        identical=any(result.identical for result in results),
        subjects=(_listed(subjects, 0), _listed(subjects, 1)) if subjects else None,
        joint=next((result.joint for result in results if result.joint is not None), None),
    )


def _listed(subjects: Sequence[tuple[Mapping[str, str], Mapping[str, str]]], side: int) -> dict[str, str]:
    """Return the attributes of a file. Several values of an attribute are joined in a list."""
    values: dict[str, dict[str, None]] = {}
    for subject in subjects:
        for name, value in subject[side].items():
            values.setdefault(name, {})[value] = None
    return {name: ", ".join(distinct) for name, distinct in values.items()}
