"""Several answers to one item, paired by epoch or compared by their totals; and several runs of one recipe."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import Note
from sigstats._common.validation import shown
from sigstats.comparison.paired_predictions import ItemTotals, PairedPredictions

from ..tables.spelling import same_spelling, to_numbers
from ..tables.table import in_one
from ._log import PROMPT
from ._predictions import Ints, Predictions, Scores, first_rows, item_codes, places


def without(side: Predictions, dropped: Predictions | None) -> Predictions:
    """A file without the answers that another left out."""
    kept = kept_rows(side, dropped)
    return side if kept is None else side.take(kept)


def kept_rows(side: Predictions, dropped: Predictions | None) -> Any | None:
    """The rows of a file without the answers that another left out; None for all of them."""
    if dropped is None:
        return None
    if dropped.epoch is not None or side.epoch is not None:
        side, dropped = with_epochs(side), with_epochs(dropped)
    return pc.indices_nonzero(pc.invert(pc.is_in(side.keys, value_set=dropped.keys)))


def on_left_out(side: Predictions, other: Predictions, ids: Any) -> Iterator[Note]:
    """A line on the rows of a file that the other lacks: how good its model is on them, and on its other rows.

    `ids`: those of the rows that are compared.
    """
    kept = np.asarray(pc.is_in(side.ids, value_set=ids))
    if (answered := kept_rows(side, other.dropped)) is not None:
        kept &= np.isin(np.arange(len(kept)), answered)
    lost = int(np.count_nonzero(~kept))
    if not 0 < lost < len(kept):
        return
    there, rest = (_mean(side.take(pa.array(np.flatnonzero(array)))) for array in (~kept, kept))
    if side.outcomes.predicted:
        told = f"{side.where} has {round(there * lost):,} of them right ({there:.0%}; {rest:.0%} of the others)"
    else:
        told = f"the mean of {side.where} is {there:.4g} on them and {rest:.4g} on the others"
    yield Note("dropped-rows", f"{lost:,} row{'s' * (lost > 1)} left out, as {other.where} lacks them: {told}")


def alike(
    first: Predictions, other: Predictions, *, in_groups: bool = False
) -> tuple[Predictions, Predictions, tuple[Note, ...]]:
    """Two files with several answers to an item, in a form in which their rows can be paired; and a line on how.

    Answers are paired by epoch. If the files have different epochs, equally many answers of both to an item are kept,
    those of the first epochs, and the averages of all are compared too (`item_totals`, `averaged`). `in_groups`:
    whether the items are in groups of their own.
    """
    if first.epoch is None and other.epoch is None:
        return first, other, ()
    ids = same_spelling([first.ids, other.ids])
    first, other = (with_epochs(replace(side, ids=own)) for side, own in zip((first, other), ids, strict=True))
    epochs = same_spelling([first.epoch, other.epoch])
    first, other = (replace(side, epoch=own) for side, own in zip((first, other), epochs, strict=True))
    for side in (first, other):
        require_distinct(side, {"label": side.outcomes.label, **_questions(side)})
    paired = "epoch"
    if not _have_same_epochs(first, other):
        counts = [f"{answers_each(side)} in {side.where} (mean {_mean(side):.4g})" for side in (first, other)]
        trimmed = first_answers(first, other), first_answers(other, first)
        lost = [len(one.ids) - len(kept.ids) for one, kept in zip((first, other), trimmed, strict=True)]
        (first, other), paired = trimmed, "order, as their epochs differ"
        if any(lost):
            how = "accuracy, mean-score and pass@k average all answers to an item; other measures take as many of both"
            return first, other, (Note("unequal-epochs", f"items have {counts[0]} and {counts[1]}: {how}"),)
    shared = first.ids.filter(pc.is_in(first.ids, value_set=pc.unique(other.ids)))
    items = pc.count_distinct(shared).as_py()
    alone, how = first.where == other.where, f"{len(shared):,} answers to {items:,} items"
    how = f"{first.where}: {how}" if alone else f"{how} in each file are paired by {paired}"
    told = f"{how}{'' if in_groups else '; the answers to one item are one group'}"
    return first, other, () if alone and in_groups else (Note("paired-epochs", told),)


def averaged(side: Predictions, *, marks: bool) -> Predictions:
    """A file with one row per item: the mean of the marks of all answers to it, or the share that is right."""
    if side.epoch is not None:
        require_distinct(side, {"label": side.outcomes.label, **_questions(side), **side.requested})
    values = _values(side, marks=marks)
    codes = item_codes(side.ids)
    counts = np.bincount(codes)
    means = np.bincount(codes, values.to_numpy(zero_copy_only=False)) / counts
    items = replace(side, epoch=None).take(pa.array(first_rows(codes)))
    score = replace(side.score or Scores(None), values=pa.array(means))
    return replace(items, score=score, counts=pa.array(counts), dropped=None)


def item_totals(first: Predictions, other: Predictions, items: Any) -> tuple[ItemTotals | None, ItemTotals | None]:
    """The numbers of right answers to some items in two files, and the totals of their marks, if known."""
    codes = [pc.index_in(own, value_set=items) for own in same_spelling([first.ids, other.ids])]
    there = [pc.is_valid(own) for own in codes]  # a code that is missing is that of no item
    kept = [pc.filter(own, where).to_numpy(zero_copy_only=False) for own, where in zip(codes, there, strict=True)]
    m, n = (np.bincount(own, minlength=len(items)).astype(np.int64) for own in kept)

    def totals(*values: Any) -> ItemTotals:
        known = [pc.filter(own, where).to_numpy(zero_copy_only=False) for own, where in zip(values, there, strict=True)]
        a, b = (np.bincount(own, of, minlength=len(items)) for own, of in zip(kept, known, strict=True))
        return ItemTotals((a.astype(np.float64), b.astype(np.float64)), (m, n))

    right = marks = None
    if first.outcomes.predicted and other.outcomes.predicted:
        a, b = first.outcomes, other.outcomes
        texts = same_spelling([a.label, b.label, a.prediction, b.prediction])
        right = totals(*(pc.cast(pc.equal(texts[i], texts[i + 2]), pa.float64()) for i in (0, 1)))
    if first.score is not None and other.score is not None and not first.score.of_truth:
        marks = totals(first.score.values, other.score.values)
    return right, marks


def _have_same_epochs(first: Predictions, other: Predictions) -> bool:
    keys, of_other = (
        side.keys.filter(pc.is_in(side.ids, value_set=pc.unique(rest.ids)))
        for side, rest in ((first, other), (other, first))
    )
    return len(keys) == len(of_other) and bool(pc.all(pc.is_in(keys, value_set=of_other)).as_py() is not False)


def first_answers(side: Predictions, other: Predictions) -> Predictions:
    """The answers to each item, numbered as epochs from 1, at most as many as another file has."""
    codes = item_codes(side.ids)
    place = places(codes, _by_item_and_epoch(side))
    there = pc.value_counts(other.ids)
    index_in = pc.index_in(side.ids, value_set=there.field("values"))
    most = pc.fill_null(there.field("counts").take(index_in), len(codes)).to_numpy(zero_copy_only=False)
    kept = pa.array(np.flatnonzero(place < most))
    return replace(side, epoch=pc.cast(pa.array(place + 1), pa.string())).take(kept)


def _by_item_and_epoch(side: Predictions) -> Ints:
    """The order of rows by item and epoch; epochs are sorted as numbers if all are numbers."""
    epoch = to_numbers(side.epoch)
    if epoch is None:
        epoch = pc.rank(side.epoch, tiebreaker="dense")
    return np.lexsort((epoch.to_numpy(zero_copy_only=False), item_codes(side.ids)))


def require_distinct(side: Predictions, columns: Mapping[str, Any] | None = None) -> None:
    """Refuse repeated ids (or epochs of an id), and answers to one item with different values in `columns`."""
    if not are_distinct(side):
        counts = pc.value_counts(side.keys)
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), pa.scalar(1)))
        raise ValueError(f"{side.where}: {listed(twice)} repeated, as spelled in the other file")
    if columns is None:
        return
    codes = item_codes(side.ids)
    first = pa.array(first_rows(codes)[codes])
    for name, column in columns.items():
        differs = pc.indices_nonzero(pc.fill_null(pc.not_equal(column, column.take(first)), False))
        if len(differs):
            row = differs[0].as_py()
            values = [shown(value[row].as_py()) for value in (column.take(first), column)]
            raise ValueError(
                f"{side.where}: id {shown(side.ids[row].as_py())}: {name} is {values[0]} in one answer and {values[1]} "
                "in another; expected the same in all answers to one item"
            )


def are_distinct(side: Predictions) -> bool:
    """True if each id of a file, or each epoch of it, appears once."""
    if side.epoch is None and side.distinct is not None and side.distinct is side.ids:
        return True
    keys = side.keys
    return _are_distinct_numbers(keys) or bool(pc.count_distinct(keys).as_py() == len(keys))


def refuse_ids_spelled_twice(side: Predictions) -> None:
    """Refuse ids, or epochs of an id, that are one whole number in two forms: 5, 05 and 5.0."""
    if side.by_position or not pa.types.is_string(side.ids.type):
        return
    how: dict[str, Any] = {"pattern": r"^\+?(-?)0*([0-9]+?)(?:\.0*)?$", "replacement": r"\1\2"}
    ids, epoch = (part if part is None else pc.replace_substring_regex(part, **how) for part in (side.ids, side.epoch))
    spelled = replace(side, ids=ids, epoch=epoch, distinct=None)
    if not spelled.keys.equals(side.keys) and not are_distinct(spelled):
        codes = item_codes(spelled.keys)
        first = first_rows(codes)[codes]
        row = int(np.flatnonzero(first != np.arange(len(codes)))[0])
        both = " and ".join(shown(side.keys[place].as_py()) for place in (int(first[row]), row))
        raise ValueError(f"{side.where}: ids {both} are one number in two forms; write them alike, or rename one")


def _are_distinct_numbers(keys: Any) -> bool:
    """True if keys are distinct whole numbers, which is checked faster than for other text."""
    try:
        pc.cast(keys[:1], pa.int64())  # which tells of most texts at once
        cast = pc.cast(keys, pa.int64())
    except pa.ArrowInvalid:
        return False
    # Not `to_numpy`, which imports pandas.
    numbers = np.from_dlpack(in_one(cast))
    if (numbers[1:] <= numbers[:-1]).any():
        numbers = np.sort(numbers)
    return bool((numbers[1:] > numbers[:-1]).all())


def some_ids(ids: Any) -> str:
    """The first few ids."""
    more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
    return f"id{'s' * (len(ids) != 1)} {', '.join(shown(value) for value in ids[:3].to_pylist())}{more}"


def listed(ids: Any) -> str:
    """The first few ids, as the subject of a sentence."""
    return f"{some_ids(ids)} {'is' if len(ids) == 1 else 'are'}"


def with_epochs(side: Predictions) -> Predictions:
    """A file with an epoch for each row; the first if it has none."""
    if side.epoch is not None:
        return side
    return replace(side, epoch=pa.array(["1"] * len(side.ids), pa.string()))


def answers_each(side: Predictions) -> str:
    """The number of answers to each item of a file, in words."""
    counts = np.bincount(item_codes(side.ids))
    low, high = int(counts.min()), int(counts.max())
    return f"{low} to {high} answers each" if low < high else f"{low} answer{'s' * (low > 1)} each"


def _mean(side: Predictions) -> float:
    return float(pc.mean(_values(side, marks=not side.outcomes.predicted)).as_py())


def _values(side: Predictions, *, marks: bool) -> Any:
    """The marks, or 1 for a row with a right prediction, else 0."""
    if marks and side.score:
        return side.score.values
    return pc.cast(pc.equal(*same_spelling([side.outcomes.label, side.outcomes.prediction])), pa.float64())


def _questions(side: Predictions) -> dict[str, Any]:
    """The common content of all answers to an item; their prompts may differ."""
    return {name: column for name, column in side.identity.items() if name != PROMPT}


def each_run(side: Predictions) -> list[Predictions]:
    """The rows of each run of a recipe, in the order of their ids."""
    owns: list[Predictions] = []
    names = sorted(pc.unique(side.epoch).to_pylist())
    for name in names:
        own = replace(side.take(pc.indices_nonzero(pc.equal(side.epoch, name))), epoch=None, distinct=None, notes=())
        own = own.take(pc.array_sort_indices(own.ids))
        if owns and not own.ids.equals(owns[0].ids):
            here, there = pa.array(own.ids), pa.array(owns[0].ids)
            odd = [*here.filter(pc.invert(pc.is_in(here, there))), *there.filter(pc.invert(pc.is_in(there, here)))]
            raise ValueError(
                f"{side.where}: runs {shown(names[0])} and {shown(name)} differ: id {shown(odd[0].as_py())} is not in "
                "both; expected the same ids"
            )
        owns.append(own)
    answers = [own.score.values if own.score else own.outcomes.prediction for own in owns]
    copies = [(i, j) for j, answer in enumerate(answers) for i in range(j) if answer.equals(answers[i])]
    notes = side.notes
    # Runs that are right in all rows agree without being copies.
    if told := [(i, j) for i, j in copies if not answers[i].equals(owns[i].outcomes.label)]:
        both = f"{side.where}: runs {shown(names[told[0][0]])} and {shown(names[told[0][1]])} have the same answers"
        more = f", as have {len(told) - 1:,} further pairs" if len(told) > 1 else ""
        notes += (Note("identical-runs", f"{both} in all {len(owns[0].ids):,} rows{more}; some may be copies"),)
    owns[0] = replace(owns[0], notes=notes)
    return owns


def of_runs(pairs: Sequence[PairedPredictions], runs_of_a: int, *, alone: bool) -> PairedPredictions:
    """One comparison of all runs, the first `runs_of_a` of the baseline; `alone`: one recipe with itself.

    `pairs`: each run of the baseline with the first of the candidate, then the first of the baseline with each other
    one of the candidate.
    """
    classes = tuple(sorted({name for pair in pairs for name in pair.classes}))
    runs = tuple(replace(pair, outcomes=pair.outcomes and pair.outcomes.recoded(classes)) for pair in pairs)
    counts = runs_of_a, len(pairs) - runs_of_a + 1
    told = f"{counts[0]}{'' if alone else f' and {counts[1]}'} runs: runs are the independent units"
    told += ", assumed nearly normal (rare outlying runs break the level)"
    notes = (*dict.fromkeys(note for pair in pairs for note in pair.notes), Note("runs", told))
    return replace(runs[0], units=replace(runs[0].units, runs=counts), runs=runs, notes=notes)
