"""Other designs: a judge whose verdicts human labels correct, and models with different rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sigstats._common.messages import Note, rephrased
from sigstats._common.validation import FloatArray, shown
from sigstats.comparison.paired_predictions import Labels, PairedPredictions, Scored, Verdicts
from sigstats.comparison.units import Units

from ..tables.spelling import is_number, same_spelling
from ._columns import Columns
from ._files import join_scores, parse
from ._predictions import Predictions


class People(NamedTuple):
    """The labels of a column, by the keys of rows, and the files of labels and of verdicts."""

    where: str
    column: str
    keys: Any
    values: FloatArray
    judged: str

    @classmethod
    def of(cls, predictions: Predictions, judged: str) -> "People":
        """Return the labels that were read as scores."""
        rows = predictions.decoded()
        assert rows.score is not None
        values = rows.score.values.to_numpy(zero_copy_only=False).astype(np.float64)
        return cls(rows.where, rows.score.name, rows.keys, values, judged)

    def at(self, ids: Any) -> FloatArray:
        """Return the label of each row, NaN without one."""
        keys, of_people = (column.to_pylist() for column in same_spelling([ids, self.keys]))
        of_id = dict(zip(of_people, self.values.tolist(), strict=True))
        return np.array([of_id.get(key, np.nan) for key in keys], dtype=np.float64)


def read_judged(path: str, columns: Columns, human: str) -> tuple[Predictions, People]:
    """Return the verdicts or marks of a judge in a file, and its human labels."""
    scores = (human,) if columns.score is None else (columns.score, human)
    return judge_and_people(parse(path, columns.but(scores=scores)).by, columns, human)


def judge_and_people(by: Callable[[Columns], Predictions], columns: Columns, human: str) -> tuple[Predictions, People]:
    """Return the verdicts of a judge, and human labels, in a table with these columns."""
    if columns.score is not None:  # the judge gives marks, and a column of labels is people's or nobody's
        columns = replace(columns, label=columns.id)
    judge, lacking = by(columns), f"column {shown(human)} was not found; "
    remedy = f"{lacking}join people's labels to this file by id, or name"
    with rephrased(lambda text: text.replace(f"{lacking}expected", remedy)):
        return judge, People.of(by(replace(columns, score=human, unscored="drop")), judge.where)


def add_people(
    paired: PairedPredictions, people: Sequence[People], limits: tuple[float, float] | None
) -> PairedPredictions:
    """Return the pair with a judge's verdicts, or marks within `limits`, and human labels of both models.

    `paired`: with the ids of its rows.
    """
    from sigstats.unseen_row.judged import agreement_of  # few comparisons have a judge

    scored, predicted = paired.scored, paired.predicted
    if scored is not None and scored.lower:
        raise ValueError(f"score: {shown(scored.column)} is a cost; expected marks of which higher is better")
    _check_marks(people, scored, limits)
    if scored is not None:
        right = [scores > sum(limits or (0, 1)) / 2 for scores in scored.scores]
    else:
        assert predicted is not None
        right = [*predicted.right]
    a, b = (side.at(paired.ids) for side in people)
    numbers = np.array([float(name) if is_number(name) else np.nan for name in paired.classes])
    classes, doubts = np.nan if predicted is None else numbers[predicted.label], list[Note]()
    for side, of, labels in zip(people, right, (a, b), strict=True):
        column = f"{side.where}: column {shown(side.column)}"
        agreement_of(of[(seen := ~np.isnan(labels))], labels[seen] > sum(limits or (0, 1)) / 2, labels=column)
        if seen.all():
            doubts.append(Note("all-labelled", f"{column} labels all rows; leave it empty where people gave no label"))
        as_class, as_verdict = (np.count_nonzero(labels == values) for values in (classes, of))
        if as_class > as_verdict:
            rows = f"in {as_class:,} rows, and the verdict in {as_verdict:,}; expected 1 for right answers, 0 for wrong"
            doubts.append(Note("labels-of-classes", f"{column} equals the label {rows}"))
    labelled = ~np.isnan([a, b])
    counts = zip(labelled.sum(axis=1), people, strict=True)
    one, other = sorted(f"{count:,} rows in {side.where}" for count, side in counts)  # the same for both orders
    if not (both := np.count_nonzero(labelled.all(axis=0))):
        raise ValueError(
            f"human: people labelled {one} and {other}, but none in both; expected labels of the same rows"
        )
    if both < labelled.any(axis=0).sum():
        text = f"people labelled {one} and {other}; only the {both:,} rows in both count for the difference"
        doubts.append(Note("common-labels", text))
    if labelled.all():
        text = f"{column} labels all rows; leave it empty where people gave no label"
        raise ValueError(f"{text}, or use these labels as the score, without a judge")
    a_wrong, b_wrong = (1 - side.astype(np.int64) for side in right)
    return replace(
        paired,
        outcomes=None if limits else Verdicts(classes=("right", "wrong"), label=0 * a_wrong, a=a_wrong, b=b_wrong),
        scored=replace(scored, lower=False) if scored is not None and limits else None,
        people=(a, b),
        score_range=limits,
        notes=tuple(dict.fromkeys((*paired.notes, *doubts))),
    )


def _check_marks(people: Sequence[People], scored: Scored | None, limits: tuple[float, float] | None) -> None:
    """Refuse human labels and verdicts of the judge other than 0 and 1, or labels beyond the limits."""
    marks = [(side.where, side.column, side.values) for side in people]
    if scored is not None and limits is None:
        of_judge = zip(people, scored.scores, strict=True)
        marks += [(side.judged, scored.column, scores) for side, scores in of_judge]
    wanted = "a verdict; expected 1 (right) or 0 (wrong), or --score-range with the limits of marks"
    if limits is not None:
        wanted = f"within {limits[0]:g} and {limits[1]:g}; expected --score-range with the limits of people's marks"
    for where, column, values in marks:
        valid = np.isin(values, (0.0, 1.0)) if limits is None else ~((values < limits[0]) | (values > limits[1]))
        if not valid.all():
            raise ValueError(f"{where}: column {shown(column)}: {values[~valid][0]:g} is not {wanted}")


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
    scored, other = baseline.scored, candidate.scored
    if baseline.outcomes is not None and candidate.outcomes is not None:
        classes = sorted({*baseline.classes, *candidate.classes})
        first, second = (vars(side.outcomes.recoded(classes)) for side in (baseline, candidate) if side.outcomes)
        codes = {name: np.concatenate([first[name], second[name]]) for name in ("label", "a", "b") if name in first}
        outcomes = replace(baseline.outcomes, classes=tuple(classes), **codes)
    if scored is not None and other is not None:
        if scored.lower != other.lower:
            raise ValueError(f"score: a lower {scored.column} is better in one file only; state which way is better")
        scores = np.concatenate([scored.scores[0], other.scores[0]])
        limits = scored.limits if scored.limits == other.limits else None
        tables: Any = scored.tables and tuple(of.tables[0] for of in (scored, other) if of.tables)
        if tables and baseline.classes != candidate.classes:
            raise ValueError("probabilities: the two files have columns of different classes; expected the same")
        tables = tables and (np.concatenate(tables),) * 2
        per: Any = scored.per and other.per and (np.concatenate([scored.per[0], other.per[0]]),) * 2
        scored = replace(scored, filled=scored.filled or other.filled)
        scored = replace(scored, scores=(scores, scores), per=per, limits=limits, tables=tables)
    text = f"the models have different rows, {baseline.n:,} and {candidate.n:,}, taken as independent samples"
    notes = [*baseline.notes, *candidate.notes, Note("different-rows", text)]
    if baseline.ids is not None:
        both = len({*baseline.ids.to_pylist()} & {*candidate.ids.to_pylist()})
        text = f"{both:,} ids are in both files: if they are the same rows, do not compare them as unpaired"
        notes += [Note("shared-ids", text)] if both else []
    shared = {*baseline.units.group_names}.intersection(candidate.units.group_names)
    text = f"{len(shared):,} groups are in both files and count as different; rows of a group are not independent"
    notes += [Note("shared-groups", text)] if shared else []
    units = _units(baseline.units, candidate.units)
    return PairedPredictions(units=units, outcomes=outcomes, scored=scored, notes=tuple(dict.fromkeys(notes)))


def _units(first: Units, second: Units) -> Units:
    """Return the units of both models; they have no group or item in common."""
    in_groups = first.group is not None or second.group is not None
    groups = [np.arange(units.n) if units.group is None else units.group for units in (first, second)]
    group, items, slices = (np.concatenate([groups[0], groups[1] + first.n]) if in_groups else None), None, {}
    if first.items is not None and second.items is not None:
        items = np.concatenate([first.items, second.items + first.n])
    for column, (names, codes) in first.slices.items():
        own, others = second.slices[column]
        every = sorted({*names, *own})
        values = np.array([names[code] for code in codes] + [own[code] for code in others])
        slices[column] = tuple(every), np.searchsorted(np.array(every), values)
    n, called = first.n + second.n, (*first.group_names, *second.group_names)
    candidates = np.arange(n) >= first.n
    return Units(n=n, group=group, group_names=called, items=items, slices=slices, candidates=candidates)
