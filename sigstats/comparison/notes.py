"""Notes on the data of a comparison and its limits.

`about_predictions` only looks at predictions and scores; `limits_note`, `monte_carlo_note` and `smooth_note` at how
they were tested. `notes_on_dependence` looks for rows that are not independent: copies of others, groups with similar
values (`clusters`), or neighbours in time. It states the result of the same tests in groups or without copies.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import answer_notes
from .._common.messages import Note, join_words
from .._common.numerals import significant
from .._common.repeats import copied_rows
from .._common.time_order import neighbours_alike, without_trend
from .._common.validation import FloatArray, IntArray, shown
from ..measures.table import MEASURES, is_quantile
from .evidence import Evidence
from .measured import units_of_numbers
from .paired_predictions import STARTS, OtherColumns, PairedPredictions
from .rows import ComparisonRow
from .rule import ComparisonRule

#: The most rows that are examined; more would take a noticeable share of the time for reading them.
_MOST_ROWS = 200_000
#: With more measures and slices than this, groups and rows without copies are tested only as a whole.
_MOST_TESTS = 100
#: Numbers with more decimals have all digits; this many values beyond twice the expected number are not by chance.
_MOST_DECIMALS, _CHANCE = 6, 5


def about_predictions(paired: PairedPredictions, measures: Sequence[str], models: Sequence[str]) -> Iterator[Note]:
    """Yield notes on spellings, units, scores of 0 and 1, constant or perfect predictions, and copies."""
    predicted, scored = paired.predicted, paired.scored
    yield from paired.units.notes_on_names()
    needs = {MEASURES[name].needs for name in measures}
    if paired.score_range is None or "numbers" in needs:  # the limits of marks state their unit
        yield from units_of_numbers(paired, needs, models)
    answers: list[tuple[Any, Any]] = [] if predicted is None else [(predicted.a, predicted.b)]
    answers += [] if scored is None else [scored.scores]
    if paired.people is not None and len(models) > 1 and answers:
        from ..unseen_row.judge_agreement import same_labels  # few comparisons have a judge

        yield from same_labels(answers[0], paired.people, join_words(sorted(models)))
    if len(models) > 1 and _are_copies(paired, answers):
        copied = f"{models[1]} and {models[0]} have the same answers in all {paired.n:,} rows; one may be a copy"
        yield Note("identical-models", copied)
    if scored is not None and not needs.isdisjoint(("scores", "probabilities")):
        hard = [model for model, values in zip(models, scored.scores, strict=False) if np.isin(values, (0, 1)).all()]
        if hard:
            text = f"all {paired.n:,} scores of {join_words(hard)} are 0 or 1, like predictions, not probabilities"
            yield Note("hard-scores", text)
    if predicted is None or paired.graded or needs.isdisjoint(("answers", "classes", "numbers")):
        return
    answers_of = zip(models, (predicted.a, predicted.b), strict=False)
    yield from answer_notes((model, paired.classes, predicted.label, answer) for model, answer in answers_of)


def _are_copies(paired: PairedPredictions, answers: Sequence[tuple[Any, Any]]) -> bool:
    """Return True if both models have the same answers to the same rows, though not only right (or wrong) ones."""
    predicted, scored = paired.predicted, paired.scored
    if paired.identical or paired.runs or paired.people is not None or paired.units.candidates is not None:
        return False
    if any(part is not None and part.totals is not None for part in (predicted, scored)):
        return False
    telling = [first for first, _ in answers if predicted is None or not np.array_equal(first, predicted.label)]
    pairs = [*answers, *([] if scored is None or scored.per is None else [scored.per])]
    return any(first.min() < first.max() for first in telling) and all(np.array_equal(*pair) for pair in pairs)


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
    errors = {row.name: row.pvalue_error for row in rows if row.pvalue_error is not None}
    if not errors:
        return []
    largest = significant(max(row.pvalue_error or 0.0 for row in rows), 2)
    text = f"p-values by random weights have a Monte-Carlo standard error of at most {largest}"
    return [Note("monte-carlo-error", f"{join_words([*errors])}: {text}")]


def smooth_note(measures: Iterable[str]) -> list[Note]:
    """Return a note on the assumption about functions of the user, if some measures are such functions."""
    functions = [name for name in measures if MEASURES[name].is_function]
    if not functions:
        return []
    text = "assumed to be smooth; the level does not hold if a measure is the best or worst of several parts"
    return [Note("smooth-measure", f"{join_words(functions)}: {text}")]


#: States the result of the same tests on other rows or in groups ("in groups by 'x'"), and any verdict that differs.
Retest = Callable[[PairedPredictions, Mapping[str, Evidence], str], tuple[str, str]]
#: The same of rows in the groups of such codes.
InGroups = Callable[[IntArray, str], tuple[str, str]]


def notes_on_dependence(
    paired: PairedPredictions, evidence: Mapping[str, Evidence], retest: Retest, rule: ComparisonRule, *, single: bool
) -> Iterator[Note]:
    """Yield notes on rows that cluster, follow one another or are copies, and the result that allows for this.

    There are none if the independent units are stated. `single`: there is only one model.
    """
    units = paired.units
    if units.stated:
        return
    if len(units.parts) * len(evidence) > _MOST_TESTS and not rule.gaps:
        units = replace(units, slices={})

    def in_groups(codes: IntArray, where: str) -> tuple[str, str]:
        grouped = {name: of.in_groups(codes) for name, of in evidence.items()}
        return retest(replace(paired, units=replace(units, group=codes)), grouped, where)

    yield from _clusters_note(paired, in_groups, seed=rule.rng, single=single)
    copies = _copies_in(paired)
    if copies is not None:
        kept = np.flatnonzero(~copies)
        slices = {column: (names, codes[kept]) for column, (names, codes) in units.slices.items()}
        once = replace(paired, units=replace(units.take(kept), slices=slices))
        words, doubt = retest(once, {name: of.take(kept) for name, of in evidence.items()}, "without the copies")
        text = f"{np.count_nonzero(copies):,} of {paired.n:,} rows equal others in all columns and may be copies"
        yield Note("duplicates", f"{text}: without them {words}; groups keep copies together", doubt)


def _copies_in(paired: PairedPredictions) -> NDArray[np.bool_] | None:
    """Return a mask of rows that are copies of others; None if there are none."""
    outcomes, predicted, scored = paired.outcomes, paired.predicted, paired.scored
    columns = [codes for _, codes in paired.units.slices.values()]
    columns += [predicted.label, predicted.a, predicted.b] if predicted else [outcomes.label] if outcomes else []
    columns += map(_codes, scored.scores) if scored else []
    content = _content(paired)
    return None if content is None else copied_rows(content, columns)


def _content(paired: PairedPredictions) -> IntArray | None:
    """Codes of the content of rows: other columns of the file, or the coarser of two scores; None if there is none."""
    if not 0 < paired.n <= _MOST_ROWS:
        return None
    if paired.other_columns.content is not None or paired.scored is None:
        return paired.other_columns.content
    coarser = min(paired.scored.scores, key=lambda value: len(np.unique(value)))
    return _codes(coarser) if _repeat_by_no_chance(coarser) else None


def _repeat_by_no_chance(scores: FloatArray) -> bool:
    """Return True if more scores repeat than values with this many digits would by chance.

    If nearby values of a grid are equally likely, at most as many values are expected to repeat as to have a
    neighbour: for Poisson counts, 1 - exp(-m) (1 + m) is at most (1 - exp(-m)) ** 2.
    """
    numbers = range(_MOST_DECIMALS + 1)
    decimals = next((d for d in numbers if np.allclose(np.round(scores, d), scores, rtol=1e-7, atol=0)), None)
    single = scores.astype(np.float32)
    if decimals is not None:
        grid = np.rint(scores * 10.0**decimals)
    else:  # numbers of a type follow each other as their bits do
        grid = (single.view(np.int32) if np.array_equal(single, scores) else scores.view(np.int64)).astype(np.float64)
    places, times = np.unique(grid, return_counts=True)
    return bool(np.count_nonzero(times > 1) > 2 * np.count_nonzero(np.diff(places) == 1) + _CHANCE)


def _codes(values: FloatArray) -> IntArray:
    return np.unique(values, return_inverse=True)[1]


def _clusters_note(paired: PairedPredictions, in_groups: InGroups, *, seed: int, single: bool) -> Iterator[Note]:
    """Yield a note for each column that clusters the differences of the models, or the errors of a single one.

    Without such a column, yield one if the values of neighbouring rows are alike. `in_groups`: as in `clusters`.
    """
    outcomes, scores = paired.outcomes, paired.scored and paired.scored.scores
    right = paired.predicted and paired.predicted.right
    label = np.zeros(paired.n, dtype=np.int64) if outcomes is None else outcomes.label
    of_both = [tuple(1.0 * side for side in sides) for sides in (right or scores, scores or right) if sides]
    values, scored = (np.asarray(b - a * (not single)) for a, b in of_both)
    if not np.isfinite(values).all():
        return
    others, k = paired.other_columns, max(1, len(paired.classes))
    notes = list(clusters(values, others, classes=k, seed=seed, in_groups=in_groups))
    yield from notes
    if notes or not np.isfinite(scored).all():
        return
    for name in (*others.times, ""):
        rows = np.argsort(others.columns[name], kind="stable") if name else slice(None)
        alike = neighbours_alike(scored[rows], label[rows], seed)
        if alike is not None:
            where = f"in the order of {shown(name) if name else 'the rows'}"
            cure = "" if name else "--group COLUMN (groups) takes rows of one source as groups, "
            order = f"--order {name or 'COLUMN'} (order) takes rows as a time series"
            cure += "p and interval assume independent rows" if single else order
            yield Note("ordered-errors", f"neighbouring rows correlate (autocorrelation {alike:.2f} {where}); {cure}")
            return


#: A column of fewer values is a category.
_FEWEST_VALUES = 10
#: The most rows that are examined: of more, the first groups with this many.
_MOST_IN_GROUPS = 2**13
#: The most columns that are named.
_MOST_NAMED = 3
#: The chance that any column is named although rows are independent of all of them.
_LEVEL = 0.01


def clusters(
    values: FloatArray, others: OtherColumns, *, classes: int, seed: int, in_groups: InGroups
) -> Iterator[Note]:
    """Yield a note on each of up to three columns with groups of rows that have similar values.

    A column is examined if it has two or more rows per value on average, at least ten values, and more than twice as
    many as there are classes; the first groups are used, up to 8,192 rows. Null hypothesis: given the columns, all
    orders of the values of the rows are equally likely. Then no column is named with a probability of at least 99%,
    since the sum of squares of the sums of groups must exceed those of 100 random orders per column, minus one. Whole
    numbers, such as marks or lengths, must do so even after their best monotone trend is removed.

    `values`: the difference of the models in each row; array of shape (n,). `in_groups`: states the result with the
    groups of such codes, "in groups by 'x'", and any verdict that differs.
    """
    least = max(_FEWEST_VALUES, 2 * classes + 1)
    tried = {name: codes for name, codes in others.columns.items() if least <= int(codes.max()) + 1 <= len(codes) / 2}
    named, draws, rng = 0, round(len(tried) / _LEVEL) - 1, np.random.default_rng(seed)
    for name, codes in tried.items():
        if named == _MOST_NAMED:
            return
        ratio = _inflation(values, codes, draws, rng)
        if not ratio or (name in others.numbers and not _inflation(without_trend(values, codes), codes, draws, rng)):
            continue
        named += 1
        text = f"sums over its {int(codes.max()) + 1:,} values vary {ratio:.1f} times as much as with independent rows"
        quoted, column = (name, "COLUMN, a column of these starts,") if name == STARTS else (shown(name), name)
        words, doubt = in_groups(codes, f"in groups by {quoted}")
        again = f"--group {column} (groups) takes them as groups: {words}"
        yield Note("clustered-errors", f"rows with equal {quoted} differ alike: {text}; {again}", doubt)


def _inflation(values: FloatArray, codes: IntArray, draws: int, rng: np.random.Generator) -> float | None:
    """Ratio of the variance of group sums to that under random orders; None if a random order has a larger one."""
    rows = np.argsort(codes, kind="stable")[:_MOST_IN_GROUPS]
    values, codes = values[rows], codes[rows]
    sizes = np.bincount(codes)
    n, mean, groups = len(values), values.mean(), len(sizes)
    moved = np.sort(values[values != 0])  # the others add nothing to a sum

    def squares(sums: NDArray[Any]) -> float:
        return float(((sums - sizes * mean) ** 2).sum())

    observed = squares(np.bincount(codes, values, groups))
    expected = float(values.var() * (sizes * (n - sizes)).sum() / (n - 1))
    if observed <= expected:
        return None
    for _ in range(draws):
        places = rng.choice(n, len(moved), replace=False)
        if squares(np.bincount(codes[places], moved, groups)) >= observed * (1 - 1e-12):
            return None
    return observed / expected
