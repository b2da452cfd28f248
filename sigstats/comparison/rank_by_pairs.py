"""A leaderboard by any measure of a comparison: each pair of models is tested as `sigstats.compare` tests it.

The p-values of all ordered pairs, of all rows or of a slice, become rank sets (`sigstats.ranking.rank_sets`).

When not to use: for the accuracy or the mean of scores, whose pairs are tested together (`sigstats.rank_models`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from .._common.class_names import NEVER_PREDICTED
from .._common.messages import Note
from .._common.numerals import p_number
from ..intervals import Interval
from ..mcnemar.quantile_difference import fewest_with_interval
from ..measures.table import COUNT_MEASURES, MEASURES, refers_to_one_class
from ..ranking.rank_sets import RankSets, sets_from
from ..ranking.result import RankedModel, RankedSlice, Ranking, models_in_order, pairs_in_order
from ..unseen_row.law import ModelDraws, SharedDraws
from .compare import compare_pair
from .evidence import Evidence
from .family import blank_row, default_measures, evidence_for, named_score
from .measure_names import check_used
from .notes import about_predictions, monte_carlo_note, notes_on_dependence, smooth_note
from .paired_predictions import PairedPredictions
from .row_tests import test_part
from .row_tests.mean_tests import bounded
from .rows import ComparisonRow
from .rule import ComparisonRule
from .units import ALL_ROWS

#: With more models than this, pairs share their random weights.
_FEW_MODELS = 4
#: For each ordered pair of models, the row with the first as the baseline.
_Rows = dict[tuple[int, int], ComparisonRow]


def rank_by_pairs(
    models: Sequence[str],
    pair: Callable[[int, int], PairedPredictions],
    measure: str | None = None,
    *,
    positive: str | None = None,
    confidence_level: float = 0.95,
    smallest_slice: int = 10,
) -> Ranking:
    """Rank models by one measure, on all rows and on each slice.

    `measure`: by default the mean of the scores, or the ratio of sums, that `pair` names, otherwise the accuracy.
    `pair(a, b)`: the predictions of two models, by their positions; ValueError unless all have the same rows.
    """
    rule = _rule_of_pairs(len(models), confidence_level, smallest_slice)
    draws = _shared_draws(pair, len(models), measure, rule) if len(models) > _FEW_MODELS else None
    by_slice: dict[str, _Rows] = {}
    notes: dict[Note, None] = {}

    def tested_rows(first: int, second: int) -> Sequence[ComparisonRow]:
        paired = replace(pair(first, second), draws=draws)
        if isinstance(draws, ModelDraws):
            draws.pair = first, second
        names, called = [measure or default_measure(paired)], (models[first], models[second])
        check_used(names, score=named_score(paired), score_range=paired.score_range)
        result = compare_pair(paired, rule, names, positive=positive, alone=True, models=called)
        of_pair = [*paired.notes, *about_predictions(paired, names, called), *result.notes]
        # A class that these two models never predict may be predicted by another one.
        notes.update(dict.fromkeys(note for note in of_pair if note.name != NEVER_PREDICTED))
        return result.rows

    for a, b in combinations(range(len(models)), 2):
        rows = tested_rows(a, b)
        # The last pair is tested in both orders: the scores of each model are checked as those of a baseline.
        exchanged = [] if draws is None or a == len(models) - 2 else _exchanged(rows)
        for place, of_place in (((a, b), rows), ((b, a), exchanged or tested_rows(b, a))):
            for row in of_place:
                by_slice.setdefault(row.slice, {})[place] = row
    if draws is not None:
        draws.clear()
    whole = by_slice.pop(ALL_ROWS)
    if len({row.n for row in whole.values()}) > 1:
        raise ValueError("rows: the pairs of models have different rows; expected the same ids in all files")
    tested = {name: rows for name, rows in by_slice.items() if not _reason_untested(rows)}
    level_of_slice = 1 - (1 - confidence_level) / max(1, len(tested))
    ranked = {name: _ranked(_sets(rows, models, level_of_slice), rows) for name, rows in tested.items()}
    sets = _sets(whole, models, confidence_level)
    any_row = whole[0, 1]
    pairs = pairs_in_order(sets, lower=any_row.lower_is_better, tests={place: row.test for place, row in whole.items()})
    return Ranking(
        models=_ranked(sets, whole),
        pairs=pairs,
        slices=tuple(
            RankedSlice(slice=name, n=rows[0, 1].n, models=ranked.get(name, ()), note=_reason_untested(rows))
            for name, rows in by_slice.items()
        ),
        measure=any_row.name,
        n=any_row.n,
        groups=None,
        confidence_level=confidence_level,
        notes=(
            *notes,
            *_too_few(any_row, confidence_level),
            *monte_carlo_note([row for rows in (whole, *by_slice.values()) for row in rows.values()]),
            *smooth_note([any_row.measure]),
        ),
        test=pairs[0].test,
    )


def _shared_draws(pair: Any, models: int, measure: str | None, rule: ComparisonRule) -> SharedDraws:
    """Return random weights that all pairs share: of rows, for a measure of several classes and rows without groups."""
    if measure in COUNT_MEASURES and measure != "accuracy" and not refers_to_one_class(measure):
        pairs = [pair(0, other) for other in range(1, models)]
        first, kinds = pairs[0], {(paired.n, paired.classes, paired.units.single) for paired in pairs}
        if all(paired.predicted for paired in pairs) and kinds == {(first.n, first.classes, True)}:
            columns = np.array([first.predicted.label, first.predicted.a, *(paired.predicted.b for paired in pairs)])
            return ModelDraws(columns, rule.rng, rule.n_resamples, rule.with_resamples_for(rule.alpha).n_resamples)
    return SharedDraws(rule.rng, rule.n_resamples)


def _rule_of_pairs(models: int, confidence_level: float, smallest_slice: int) -> ComparisonRule:
    """Return the rule by which each ordered pair of models is tested, at the first level of Holm's method."""
    alpha = (1 - confidence_level) / (models * (models - 1))
    options: dict[str, Any] = {"confidence_level": confidence_level, "smallest_slice": smallest_slice}
    rule = ComparisonRule(alpha=alpha, adjust="none", minimum_effect=0, relative_effect=0, **options)
    most = rule.with_resamples_for(alpha)
    return most if most.n_resamples <= 2 * rule.n_resamples else rule  # a second stage would draw the first one again


def _too_few(row: ComparisonRow, confidence_level: float) -> list[Note]:
    """Return a note on rows that are too few for the interval of a quantile."""
    share, level = MEASURES[row.measure].share, (1 - confidence_level) / 2
    fewest = fewest_with_interval(share, level, lower=row.lower_is_better)
    text = f"{row.n:,} rows are too few for intervals of {row.name}; {fewest:,} are needed"
    return [Note("too-few-rows", text)] * (row.n < fewest)


def default_measure(paired: PairedPredictions) -> str:
    """Return the measure by which models are ranked by default: the mean of a score, or else the accuracy."""
    return paired.scored.mean if paired.scored and not paired.graded else default_measures(paired)[0]


def notes_on_best(
    ranking: Ranking, paired: PairedPredictions, measure: str | None, positive: str | None
) -> Iterator[Note]:
    """Return lines on dependent rows and copies, with the p-value of the best two models. `paired`: predictions."""
    if paired.units.stated:
        return
    rule, both = ComparisonRule(smallest_slice=1), " and ".join(model.model for model in ranking.models[:2])
    evidence = evidence_for(paired, [measure or default_measure(paired)], positive)

    def retest(paired: PairedPredictions, evidence: Mapping[str, Evidence], _: str) -> tuple[str, str]:
        tested = [test_part(blank_row(paired, name), of, None, rule=rule) for name, of in evidence.items()]
        (row,) = bounded(tested, rule)
        return f"nothing can be tested ({row.note})" if row.pvalue is None else f"p is {p_number(row.pvalue)}", ""

    for note in notes_on_dependence(paired, evidence, retest, rule, single=False):
        yield Note(note.name, f"{both}: {note}".replace("--order", "sigstats compare --order"))


def _exchanged(rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """Return the rows with the two models swapped; empty if these must be tested.

    Twice the smaller one-sided p-value is the two-sided one, if that is below 1. The larger one is at least one half
    and shows nothing; 1 replaces it, unless it is reported because its baseline has the better score. A ranking reads
    the p-value and the baseline of a row only; the difference stays that of the first order.
    """
    others: list[ComparisonRow] = []
    for row in rows:
        p, twice, ahead = row.pvalue, row.two_sided_pvalue, (row.candidate or 0.0) - (row.baseline or 0.0)
        if p is None or twice is None or MEASURES[row.measure].test not in ("areas", "counts"):
            return []
        known = twice < 1 and p > twice / 2
        if not known and (-ahead if row.lower_is_better else ahead) > 0:
            return []
        value, interval = row.candidate, row.candidate_interval
        others.append(replace(row, baseline=value, baseline_interval=interval, pvalue=twice / 2 if known else 1.0))
    return others


def _reason_untested(rows: _Rows) -> str:
    return next((row.note for row in rows.values() if row.pvalue is None), "")


def _sets(rows: _Rows, models: Sequence[str], level: float) -> RankSets:
    """Return the rank sets of a slice. The p-value of a pair is that of "the second is not worse than the first"."""
    k = len(models)
    pvalues = np.ones((k, k))
    for place, row in rows.items():
        assert row.pvalue is not None
        pvalues[place] = row.pvalue
    sign = -1 if rows[0, 1].lower_is_better else 1
    scores = [sign * float(rows[model, (model + 1) % k].baseline or 0) for model in range(k)]
    return sets_from(pvalues, scores, models, level, rows[0, 1].n)


def _ranked(sets: RankSets, rows: _Rows) -> tuple[RankedModel, ...]:
    k, any_row = len(sets.models), rows[0, 1]
    of_one = [rows[model, (model + 1) % k].baseline_interval for model in range(k)]
    intervals = [interval or Interval(-np.inf, np.inf, sets.confidence_level) for interval in of_one]
    return models_in_order(sets, intervals, right=any_row.measure == "accuracy", lower=any_row.lower_is_better)
