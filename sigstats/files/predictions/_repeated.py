"""Several answers to one item (`pair_answers`, `item_totals`), and several runs of one recipe (`split_runs`)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.calls import Errors, check_rules
from sigstats._common.messages import Note
from sigstats._common.validation import shown
from sigstats.comparison.paired_predictions import ItemTotals, PairedPredictions

from ..tables.spelling import same_spelling, to_numbers
from ._log import PROMPT
from ._predictions import Predictions, Scores, first_rows, item_codes, places, repeated_keys
from ._row_order import differing


def exclude_rows(side: Predictions, dropped: Predictions | None) -> Predictions:
    """Return a file without the answers that another file left out."""
    kept = kept_rows(side, dropped)
    return side if kept is None else side.take(kept)


def kept_rows(side: Predictions, dropped: Predictions | None) -> Any | None:
    """Return the rows of a file without the answers that another file left out, or None for all rows."""
    if dropped is None:
        return None
    if dropped.epoch is not None or side.epoch is not None:
        side, dropped = fill_epochs(side), fill_epochs(dropped)
    return pc.indices_nonzero(pc.invert(pc.is_in(side.keys, value_set=dropped.keys)))


def left_out_notes(side: Predictions, other: Predictions, ids: Any) -> Iterator[Note]:
    """Note the rows of a file that the other lacks, with the performance of its model on them and on its other rows.

    `ids`: those of the rows that are compared.
    """
    kept = np.asarray(pc.is_in(side.ids, value_set=ids))
    if (rows := kept_rows(side, other.dropped)) is not None:
        kept &= np.isin(np.arange(len(kept)), rows)
    lost = int(np.count_nonzero(~kept))
    if not 0 < lost < len(kept):
        return
    of_lost, of_kept = (_mean(side.take(pa.array(np.flatnonzero(mask)))) for mask in (~kept, kept))
    if side.outcomes.predicted:
        text = f"{side.where} has {round(of_lost * lost):,} of them right ({of_lost:.0%}; {of_kept:.0%} of the others)"
    else:
        text = f"the mean of {side.where} is {of_lost:.4g} on them and {of_kept:.4g} on the others"
    yield Note("dropped-rows", f"{lost:,} row{'s' * (lost > 1)} left out, as {other.where} lacks them: {text}")


def pair_answers(
    first: Predictions, other: Predictions, *, in_groups: bool = False
) -> tuple[Predictions, Predictions, tuple[Note, ...]]:
    """Return two files with several answers to an item, in a form in which their rows can be paired; and a note.

    Answers are paired by epoch. If the files have different epochs, equally many answers of both to an item are kept,
    those of the first epochs, and the averages of all are compared too (`item_totals`, `average_answers`). `in_groups`:
    True if the items are in groups.
    """
    if first.epoch is None and other.epoch is None:
        return first, other, ()
    ids_a, ids_b = same_spelling([first.ids, other.ids])
    first, other = fill_epochs(replace(first, ids=ids_a)), fill_epochs(replace(other, ids=ids_b))
    epochs_a, epochs_b = same_spelling([first.epoch, other.epoch])
    first, other = replace(first, epoch=epochs_a), replace(other, epoch=epochs_b)
    for side in (first, other):
        check_rules(side, (repeated_keys, unlike_answers))
    means = "paired by epoch"
    if not _have_same_epochs(first, other):
        counts = [f"{answer_counts(side)} in {side.where} (mean {_mean(side):.4g})" for side in (first, other)]
        sizes = len(first.ids), len(other.ids)
        first, other = _first_answers(first, other), _first_answers(other, first)
        if (len(first.ids), len(other.ids)) != sizes:
            text = f"items have {counts[0]} and {counts[1]}: accuracy, mean-score and pass@k average all answers"
            text += " to an item; other measures take as many of both"
            return first, other, (Note("unequal-epochs", text),)
        means = "paired by order, as their epochs differ"
    shared = first.ids.filter(pc.is_in(first.ids, value_set=pc.unique(other.ids)))
    text = f"{len(shared):,} answers to {pc.count_distinct(shared).as_py():,} items"
    one_file = first.where == other.where
    if one_file and in_groups:
        return first, other, ()
    text = f"{first.where}: {text}" if one_file else f"{text} in each file are {means}"
    text += "" if in_groups else "; the answers to one item are one group"
    return first, other, (Note("paired-epochs", text),)


def average_answers(side: Predictions, *, marks: bool) -> Predictions:
    """Return a file with one row per item: the mean of the marks of all answers to it, or the share that is right."""
    check_rules(replace(side, identity={**side.identity, **side.requested}), (unlike_answers,))
    codes = item_codes(side.ids)
    counts = np.bincount(codes)
    means = np.bincount(codes, _values(side, marks=marks).to_numpy(zero_copy_only=False)) / counts
    items = replace(side, epoch=None).take(pa.array(first_rows(codes)))
    score = replace(items.score or Scores(None), values=pa.array(means), counts=pa.array(counts))
    return replace(items, score=score, dropped=None)


def item_totals(first: Predictions, other: Predictions, items: Any) -> tuple[ItemTotals | None, ItemTotals | None]:
    """Return the numbers of right answers to some items in two files, and the totals of their marks, if known."""
    sides = [*zip((first, other), same_spelling([first.ids, other.ids]), strict=True)]

    def totals(*, marks: bool) -> ItemTotals:
        sums, counts = [], []
        for side, ids in sides:
            codes = pc.fill_null(pc.index_in(ids, value_set=items), -1).to_numpy(zero_copy_only=False)
            known = codes >= 0
            values = _values(side, marks=marks).to_numpy(zero_copy_only=False)[known]
            sums.append(np.bincount(codes[known], values, minlength=len(items)).astype(np.float64))
            counts.append(np.bincount(codes[known], minlength=len(items)).astype(np.int64))
        return ItemTotals((sums[0], sums[1]), (counts[0], counts[1]))

    predicted = first.outcomes.predicted and other.outcomes.predicted
    marked = first.score is not None and other.score is not None and not first.score.of_truth
    return totals(marks=False) if predicted else None, totals(marks=True) if marked else None


def _have_same_epochs(first: Predictions, other: Predictions) -> bool:
    """Return True if both files have the same epochs of each item that they share."""
    keys = first.keys.filter(pc.is_in(first.ids, value_set=pc.unique(other.ids)))
    others = other.keys.filter(pc.is_in(other.ids, value_set=pc.unique(first.ids)))
    return len(keys) == len(others) and pc.all(pc.is_in(keys, value_set=others)).as_py() is not False


def _first_answers(side: Predictions, other: Predictions) -> Predictions:
    """Return the answers to each item, numbered as epochs from 1, at most as many as another file has."""
    codes = item_codes(side.ids)
    epoch = to_numbers(side.epoch)  # sorted as numbers if all are numbers
    if epoch is None:
        epoch = pc.rank(side.epoch, tiebreaker="dense")
    position = places(codes, np.lexsort((epoch.to_numpy(zero_copy_only=False), codes)))
    counts = pc.value_counts(other.ids)
    item = pc.index_in(side.ids, value_set=counts.field("values"))
    most = pc.fill_null(counts.field("counts").take(item), len(codes)).to_numpy(zero_copy_only=False)
    rows = pa.array(np.flatnonzero(position < most))
    return replace(side, epoch=pc.cast(pa.array(position + 1), pa.string())).take(rows)


def unlike_answers(side: Predictions) -> Errors:
    """Return answers to one item with different labels or questions; their prompts may differ."""
    columns = {"label": side.outcomes.label, **{name: side.identity[name] for name in side.identity if name != PROMPT}}
    codes = item_codes(side.ids)
    first = pa.array(first_rows(codes)[codes])
    for name, column in columns.items():
        expected = column.take(first)
        for row in differing(expected, column)[:1].to_pylist():
            one, other = shown(expected[row].as_py()), shown(column[row].as_py())
            problem = f"id {shown(side.ids[row].as_py())}: {name} is {one} in one answer and {other} in another"
            yield ValueError(f"{side.where}: {problem}; expected the same in all answers to one item")


def fill_epochs(side: Predictions) -> Predictions:
    """Return a file with an epoch for each row; the first if it has none."""
    if side.epoch is not None:
        return side
    return replace(side, epoch=pa.array(["1"] * len(side.ids), pa.string()))


def answer_counts(side: Predictions) -> str:
    """Return the number of answers to each item of a file, in words."""
    counts = np.bincount(item_codes(side.ids))
    low, high = int(counts.min()), int(counts.max())
    return f"{low} to {high} answers each" if low < high else f"{low} answer{'s' * (low > 1)} each"


def _mean(side: Predictions) -> float:
    return float(pc.mean(_values(side, marks=not side.outcomes.predicted)).as_py())


def _values(side: Predictions, *, marks: bool) -> Any:
    """Return the marks, or 1 for a row with a right prediction, else 0."""
    if marks and side.score:
        return side.score.values
    return pc.cast(pc.equal(*same_spelling([side.outcomes.label, side.outcomes.prediction])), pa.float64())


def split_runs(side: Predictions) -> list[Predictions]:
    """Return the rows of each run of a recipe, in the order of their ids."""
    runs: list[Predictions] = []
    names = sorted(pc.unique(side.epoch).to_pylist())
    for name in names:
        rows = pc.indices_nonzero(pc.equal(side.epoch, name))
        run = replace(side.take(rows), epoch=None, distinct=None, notes=())
        run = run.take(pc.array_sort_indices(run.ids))
        if runs and not run.ids.equals(runs[0].ids):
            a, b = pa.array(run.ids), pa.array(runs[0].ids)
            unshared = [*a.filter(pc.invert(pc.is_in(a, b))), *b.filter(pc.invert(pc.is_in(b, a)))]
            problem = f"runs {shown(names[0])} and {shown(name)} differ: id {shown(unshared[0].as_py())} is not in both"
            raise ValueError(f"{side.where}: {problem}; expected the same ids")
        runs.append(run)
    answers = [run.score.values if run.score else run.outcomes.prediction for run in runs]
    copies = []
    for j, answer in enumerate(answers):
        for i in range(j):  # runs that are right in all rows agree without being copies
            if answer.equals(answers[i]) and not answer.equals(runs[i].outcomes.label):
                copies.append((names[i], names[j]))
    notes = side.notes
    if copies:
        both = " and ".join(map(shown, copies[0]))
        more = f", as have {len(copies) - 1:,} further pairs" if len(copies) > 1 else ""
        text = f"runs {both} have the same answers in all {len(runs[0].ids):,} rows{more}; some may be copies"
        notes += (Note("identical-runs", f"{side.where}: {text}"),)
    runs[0] = replace(runs[0], notes=notes)
    return runs


def combine_runs(pairs: Sequence[PairedPredictions], runs_of_a: int, *, with_itself: bool) -> PairedPredictions:
    """Return one comparison of all runs; `with_itself`: True if both sides are the same recipe.

    `pairs`: each of the `runs_of_a` runs of the baseline with the first of the candidate, then the first of the
    baseline with each other one of the candidate.
    """
    classes = tuple(sorted({name for pair in pairs for name in pair.classes}))
    runs = tuple(replace(pair, outcomes=pair.outcomes and pair.outcomes.recoded(classes)) for pair in pairs)
    counts = runs_of_a, len(pairs) - runs_of_a + 1
    text = f"{counts[0]}{'' if with_itself else f' and {counts[1]}'} runs: runs are the independent units"
    text += ", assumed nearly normal (rare outlying runs break the level)"
    notes = (*dict.fromkeys(note for pair in pairs for note in pair.notes), Note("runs", text))
    return replace(runs[0], units=replace(runs[0].units, runs=counts), runs=runs, notes=notes)
