"""Comparisons of two further designs: answers that a judge marked, and models with different rows.

A judge: `read_judged` reads its verdicts and the human labels of a file, and `add_human_labels` adds the labels to the
joined rows. Different rows: `join_samples` joins each model with itself, and puts the rows of both in one sample.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigstats._common.messages import Note, rephrased
from sigstats._common.validation import FloatArray, Limits, shown
from sigstats.comparison.paired_predictions import Labels, PairedPredictions, Scored, Verdicts
from sigstats.comparison.units import Units

from ..tables.spelling import is_number, same_spelling
from ._columns import Columns
from ._files import join_scores, parse
from ._predictions import Predictions


class HumanLabels(NamedTuple):
    """The human labels in a column of a file, and the keys of the labelled rows."""

    where: str
    column: str
    keys: Any
    values: FloatArray

    def at(self, ids: Any) -> FloatArray:
        """Return the label of each row, NaN if it has none."""
        rows, labelled = (column.to_pylist() for column in same_spelling([ids, self.keys]))
        labels = dict(zip(labelled, self.values.tolist(), strict=True))
        return np.array([labels.get(key, np.nan) for key in rows], dtype=np.float64)


def read_judged(path: str, columns: Columns, human: str) -> tuple[Predictions, HumanLabels]:
    """Return the verdicts or marks of a judge in a file, and its human labels."""
    scores = (human,) if columns.score is None else (columns.score, human)
    return judge_and_labels(parse(path, columns.but(scores=scores)).by, columns, human)


def judge_and_labels(
    read: Callable[[Columns], Predictions], columns: Columns, human: str
) -> tuple[Predictions, HumanLabels]:
    """Return the verdicts of a judge, and the labels in the column `human`, from a table that `read` reads."""
    if columns.score is not None:  # the judge gives marks, so that a column of labels has another meaning
        columns = replace(columns, label=columns.id)
    judge = read(columns)
    missing = f"column {shown(human)} was not found; "
    remedy = f"{missing}join people's labels to this file by id, or name"
    with rephrased(lambda text: text.replace(f"{missing}expected", remedy)):
        rows = read(replace(columns, score=human, unscored="drop")).decoded()
    assert rows.score is not None
    values = rows.score.values.to_numpy(zero_copy_only=False).astype(np.float64)
    return judge, HumanLabels(rows.where, rows.score.name, rows.keys, values)


def add_human_labels(
    paired: PairedPredictions, labels: Sequence[HumanLabels], limits: Limits, others: Sequence[HumanLabels] = ()
) -> PairedPredictions:
    """Return the pair with the human labels of baseline and candidate; its verdicts or marks are those of a judge.

    `paired`: joined with the ids of its rows. `limits`: those of marks; None for verdicts. `others`: labels of further
    models, which show whether people wrote both values.
    """
    from sigstats.unseen_row.judge_agreement import notes_on_one_value  # here and below: few comparisons have a judge

    scored, predicted = paired.scored, paired.predicted
    if scored is not None and scored.lower:
        raise ValueError(f"score: {shown(scored.column)} is a cost; expected marks of which higher is better")
    _check_marks(labels, scored, limits)
    middle = sum(limits or (0, 1)) / 2
    if scored is not None:
        right = [scores > middle for scores in scored.scores]
    else:
        assert predicted is not None
        right = [*predicted.right]
    numbers = np.array([float(name) if is_number(name) else np.nan for name in paired.classes])
    classes = np.full(paired.n, np.nan) if predicted is None else numbers[predicted.label]
    a, b, *further = (side.at(paired.ids) for side in (*labels, *others))
    notes = [*paired.notes]
    for side, values, verdicts in zip(labels, (a, b), right, strict=True):
        notes += _doubts(side, values, verdicts, middle, classes)
    names = [f"{side.where}: column {shown(side.column)}" for side in labels]
    notes += notes_on_one_value(right, (a, b, *further), limits or (0.0, 1.0), paired.units.group, names)
    notes += _common_labels(labels, ~np.isnan([a, b]))
    a_wrong, b_wrong = (1 - verdicts.astype(np.int64) for verdicts in right)
    return replace(
        paired,
        outcomes=None if limits else Verdicts(classes=("right", "wrong"), label=0 * a_wrong, a=a_wrong, b=b_wrong),
        scored=replace(scored, lower=False) if scored is not None and limits else None,
        people=(a, b),
        score_range=limits,
        notes=tuple(dict.fromkeys(notes)),
    )


def _check_marks(labels: Sequence[HumanLabels], scored: Scored | None, limits: Limits) -> None:
    """Refuse human labels and verdicts of the judge other than 0 and 1, or labels beyond the limits."""
    marks = [(side.where, side.column, side.values) for side in labels]
    if scored is not None and limits is None:
        marks += [(side.where, scored.column, scores) for side, scores in zip(labels, scored.scores, strict=True)]
    wanted = "a verdict; expected 1 (right) or 0 (wrong), or --score-range with the limits of marks"
    if limits is not None:
        wanted = f"within {limits[0]:g} and {limits[1]:g}; expected --score-range with the limits of people's marks"
    for where, column, values in marks:
        valid = np.isin(values, (0.0, 1.0)) if limits is None else ~((values < limits[0]) | (values > limits[1]))
        if not valid.all():
            raise ValueError(f"{where}: column {shown(column)}: {values[~valid][0]:g} is not {wanted}")


def _doubts(
    labels: HumanLabels, values: FloatArray, verdicts: NDArray[np.bool_], middle: float, classes: FloatArray
) -> Iterator[Note]:
    """Yield notes on labels that may mean something else. Raise ValueError if they contradict the judge.

    `values`: the label of each row; above `middle` it means right. `classes`: the true class, NaN unless a number.
    """
    from sigstats.unseen_row.judge_agreement import agreement_of

    labelled, column = ~np.isnan(values), f"{labels.where}: column {shown(labels.column)}"
    agreement_of(verdicts[labelled], values[labelled] > middle, labels=column)
    if labelled.all():
        yield Note("all-labelled", f"{column} labels all rows; leave it empty where people gave no label")
    as_class, as_verdict = np.count_nonzero(values == classes), np.count_nonzero(values == verdicts)
    if as_class > as_verdict:
        rows = f"in {as_class:,} rows, and the verdict in {as_verdict:,}; expected 1 for right answers, 0 for wrong"
        yield Note("labels-of-classes", f"{column} equals the label {rows}")


def _common_labels(labels: Sequence[HumanLabels], labelled: NDArray[np.bool_]) -> Iterator[Note]:
    """Yield a note on rows with a label in one file only. Raise ValueError if no row, or every row, has two labels.

    `labelled`: the mask of labelled rows of each file.
    """
    counts = zip(labelled.sum(axis=1), labels, strict=True)
    one, other = sorted(f"{count:,} rows in {side.where}" for count, side in counts)  # the same for both orders
    both = np.count_nonzero(labelled.all(axis=0))
    if not both:
        problem = f"people labelled {one} and {other}, but none in both"
        raise ValueError(f"human: {problem}; expected labels of the same rows")
    if labelled.all():
        remedy = "leave it empty where people gave no label, or use these labels as the score, without a judge"
        raise ValueError(f"{labels[1].where}: column {shown(labels[1].column)} labels all rows; {remedy}")
    if both < labelled.any(axis=0).sum():
        text = f"people labelled {one} and {other}; only the {both:,} rows in both count for the difference"
        yield Note("common-labels", text)


def join_samples(
    baseline: Mapping[str | None, Predictions], candidate: Mapping[str | None, Predictions], columns: Columns
) -> list[PairedPredictions]:
    """Combine the rows of two models with different rows, once for each score."""
    with_ids = not any(rows.by_position for side in (baseline, candidate) for rows in side.values())
    sides = (join_scores(side, side, columns, with_ids=with_ids) for side in (baseline, candidate))
    return [*map(combine_samples, *sides)]


def combine_samples(baseline: PairedPredictions, candidate: PairedPredictions) -> PairedPredictions:
    """Return the rows of the baseline, then those of the candidate, each paired with itself."""
    outcomes: Labels | None = None
    if baseline.outcomes is not None and candidate.outcomes is not None:
        classes = sorted({*baseline.classes, *candidate.classes})
        first, second = (vars(side.outcomes.recoded(classes)) for side in (baseline, candidate) if side.outcomes)
        codes = {name: np.concatenate([first[name], second[name]]) for name in ("label", "a", "b") if name in first}
        outcomes = replace(baseline.outcomes, classes=tuple(classes), **codes)
    text = f"the models have different rows, {baseline.n:,} and {candidate.n:,}, taken as independent samples"
    notes = [*baseline.notes, *candidate.notes, Note("different-rows", text)]
    if baseline.ids is not None and (both := len({*baseline.ids.to_pylist()} & {*candidate.ids.to_pylist()})):
        text = f"{both:,} ids are in both files: if they are the same rows, do not compare them as unpaired"
        notes.append(Note("shared-ids", text))
    if shared := len({*baseline.units.group_names} & {*candidate.units.group_names}):
        text = f"{shared:,} groups are in both files and count as different; rows of a group are not independent"
        notes.append(Note("shared-groups", text))
    return PairedPredictions(
        units=_combined_units(baseline.units, candidate.units),
        outcomes=outcomes,
        scored=_combined_scores(baseline, candidate),
        notes=tuple(dict.fromkeys(notes)),
    )


def _combined_scores(baseline: PairedPredictions, candidate: PairedPredictions) -> Scored | None:
    """Return the scores of both models, if both have them, in the order of the rows."""
    first, second = baseline.scored, candidate.scored
    if first is None or second is None:
        return first
    if first.lower != second.lower:
        raise ValueError(f"score: a lower {first.column} is better in one file only; state which way is better")
    if first.tables and baseline.classes != candidate.classes:
        raise ValueError("probabilities: the two files have columns of different classes; expected the same")

    def in_one(name: str) -> Any:
        a, b = getattr(first, name), getattr(second, name)
        return a and b and (np.concatenate([a[0], b[0]]),) * 2

    return replace(
        first,
        **{name: in_one(name) for name in ("scores", "per", "tables")},
        filled=first.filled or second.filled,
        limits=first.limits if first.limits == second.limits else None,
    )


def _combined_units(first: Units, second: Units) -> Units:
    """Return the units of both models; they have no group or item in common."""
    group, items, slices = None, None, {}
    if first.group is not None or second.group is not None:
        groups = [np.arange(units.n) if units.group is None else units.group for units in (first, second)]
        group = np.concatenate([groups[0], groups[1] + first.n])
    if first.items is not None and second.items is not None:
        items = np.concatenate([first.items, second.items + first.n])
    for column, (names, codes) in first.slices.items():
        others, other_codes = second.slices[column]
        every = sorted({*names, *others})
        values = np.array([names[code] for code in codes] + [others[code] for code in other_codes])
        slices[column] = tuple(every), np.searchsorted(np.array(every), values)
    n, group_names = first.n + second.n, (*first.group_names, *second.group_names)
    candidates = np.arange(n) >= first.n
    return Units(n=n, group=group, group_names=group_names, items=items, slices=slices, candidates=candidates)
