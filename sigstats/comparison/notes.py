"""Notes on the data, such as scores of the other class, and on the limits of a comparison."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._common.class_names import answer_notes
from .._common.messages import Note, join_words
from .._common.numerals import significant
from .._common.validation import shown
from ..measures.table import MEASURES, is_quantile
from ..unseen_row.means import RAREST, UnseenGroup
from .dependence import copies_in, note_on_copies
from .measured import units_of_numbers
from .paired_predictions import PairedPredictions
from .rows import ComparisonRow
from .units import ALL_ROWS


def pair_notes(paired: PairedPredictions, measures: Sequence[str], models: Sequence[str]) -> list[Note]:
    """Return notes on the data of a pair, on models with one answer, and on copies, without any test."""
    copies = copies_in(paired)
    note = [] if copies is None else [note_on_copies(copies)]
    return [*paired.notes, *about_predictions(paired, measures, models), *note]


def reversed_scores(
    rows: Iterable[ComparisonRow], positive: str, *, named: bool, models: Sequence[str]
) -> Iterator[Note]:
    """Yield a note on scores that favour the other class, for which the worse model would be the better one.

    They do if the area under the curve is below one half by more than twice the half-width of its interval. Raises
    ValueError if those of the baseline do, and `positive`, the class whose probability they are taken for, was not
    `named`.
    """
    row = next(row for row in rows if row.measure == "auc" and row.slice == ALL_ROWS)
    sides = (row.baseline, row.baseline_interval), (row.candidate, row.candidate_interval)
    for side, (area, interval) in enumerate(sides):
        if area is None or interval is None or area + 2 * (interval[1] - area) >= 0.5:
            continue
        problem = f"scores of {models[side]} are lower for the class {shown(positive)} (area {area:.1%})"
        if side == 0 and not named:
            raise ValueError(f"{problem}; expected its probabilities, or positive, the class of these probabilities")
        yield Note("reversed-scores", f"{problem}: they may be those of the other class")


def about_predictions(paired: PairedPredictions, measures: Sequence[str], models: Sequence[str]) -> Iterator[Note]:
    """Yield notes on spellings, units, scores of 0 and 1, constant or perfect predictions, and copies."""
    predicted, scored = paired.predicted, paired.scored
    yield from paired.units.notes_on_names()
    needs = {MEASURES[name].needs for name in measures}
    if paired.score_range is None or "numbers" in needs:  # the limits of marks state their unit
        yield from units_of_numbers(paired, needs, models)
    answers: list[tuple[Any, Any]] = [] if predicted is None else [(predicted.a, predicted.b)]
    answers += [] if scored is None else [scored.scores]
    pairs = [*answers, *([] if scored is None or scored.per is None else [scored.per])]
    other = paired.identical or paired.runs or paired.people is not None or paired.units.candidates is not None
    unlike = any(part is not None and part.totals is not None for part in (predicted, scored))
    if paired.people is not None and len(models) > 1 and answers:
        from ..unseen_row.judged import same_labels  # few comparisons have a judge

        yield from same_labels(answers[0], paired.people, join_words(sorted(models)))
    # Models that are right (or wrong) in all rows agree without being copies.
    telling = [first for first, _ in answers if predicted is None or not np.array_equal(first, predicted.label)]
    varied = len(models) > 1 and any(first.min() < first.max() for first in telling)
    if varied and not (other or unlike) and all(np.array_equal(*pair) for pair in pairs):
        copied = f"{models[1]} and {models[0]} have the same answers in all {paired.n:,} rows; one may be a copy"
        yield Note("identical-models", copied)
    if scored is not None and not needs.isdisjoint(("scores", "probabilities")):
        hard = [model for model, values in zip(models, scored.scores, strict=False) if np.isin(values, (0, 1)).all()]
        text = f"all {paired.n:,} scores of {join_words(hard)} are 0 or 1, like predictions, not probabilities"
        yield from [Note("hard-scores", text)] * bool(hard)
    if predicted is None or paired.graded or needs.isdisjoint(("answers", "classes", "numbers")):
        return
    answers_of = zip(models, (predicted.a, predicted.b), strict=False)
    yield from answer_notes((model, paired.classes, predicted.label, answer) for model, answer in answers_of)


def limits_note(rows: Sequence[ComparisonRow]) -> list[Note]:
    """Return notes on measures that cannot pass: values without known limits, or quantiles of too few rows."""
    unknown = (
        "values have no known limits: no row can pass, and a fail assumes that no difference exceeds those observed; "
        "state the limits with --score-range LOW HIGH (score_range)"
    )
    unlimited = [row for row in rows if row.pvalue is not None and row.without_limits]
    short = {row.name: "too few rows for an interval: no row can pass" for row in unlimited if is_quantile(row.measure)}
    others = join_words(list(dict.fromkeys(row.name for row in unlimited if not is_quantile(row.measure))))
    texts = short | ({others: unknown} if others else {})
    return [Note("few-rows" if name in short else "no-limits", f"{name}: {text}") for name, text in texts.items()]


def monte_carlo_note(rows: Sequence[ComparisonRow]) -> list[Note]:
    """Return a note on the standard error of p-values by random weights, if there are any."""
    drawn = [row for row in rows if row.pvalue_error is not None]
    names = join_words(list(dict.fromkeys(row.name for row in drawn)))
    error = significant(max((row.pvalue_error or 0.0 for row in drawn), default=0.0), 2)
    text = f"{names}: p-values by random weights have a Monte-Carlo standard error of at most {error}"
    return [Note("monte-carlo-error", text)] * bool(drawn)


def smooth_note(measures: Iterable[str]) -> list[Note]:
    """Return a note on the assumption about functions of the user, if some measures are such functions."""
    functions = [name for name in measures if MEASURES[name].is_function]
    text = "assumed to be smooth; the level does not hold if a measure is the best or worst of several parts"
    return [Note("smooth-measure", f"{join_words(functions)}: {text}")] * bool(functions)


def unseen_group_note(rows: Sequence[Any], interval: Callable[[Any], str], unseen_group: UnseenGroup) -> list[Note]:
    """A line with the intervals on all rows under the other assumption about an unseen group, if any.

    `interval`: words for the interval of a row. `unseen_group`: that of the rule.
    """
    known = [(row, row.other_interval) for row in rows if row.slice == ALL_ROWS and row.other_interval is not None]
    tested = [(row, end) for row, end in known if (end.high - end.low > row.high - row.low) == row.test.like_seen]
    if not tested:
        return []
    kinds = f"rarer than 1 in {1 / RAREST:g}" if unseen_group == "auto" else "too rare to be seen"
    assumed = f"kinds of group {kinds} are assumed to resemble those seen; if they may lose all (--unseen-group any)"
    if not tested[0][0].test.like_seen:
        assumed = "a group that is not seen may lose all its rows; if it is like those seen (--unseen-group like-seen)"
    shown_ = ", ".join(f"{row.name} {interval(replace(row, low=end.low, high=end.high))}" for row, end in tested)
    return [Note("unseen-group", f"{assumed}, the interval is: {shown_}")]
