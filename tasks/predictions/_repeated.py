"""Several answers to one item: paired by epoch where two files have the same ones, else averaged over the item."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.validation import shown

from ..tables.spelling import same_spelling
from ._items import first_rows, item_codes
from ._predictions import RIGHT, WRONG, Predictions


def without_each_others_dropped(first: Predictions, other: Predictions) -> tuple[Predictions, Predictions]:
    """Both files without the answers that either of them left out."""
    return _without(first, other.dropped), _without(other, first.dropped)


def _without(side: Predictions, dropped: Predictions | None) -> Predictions:
    kept = kept_rows(side, dropped)
    return side if kept is None else side.take(kept)


def kept_rows(side: Predictions, dropped: Predictions | None) -> Any | None:
    """The rows of a file without the answers that another left out; None for all of them."""
    if dropped is None:
        return None
    if dropped.epoch is not None or side.epoch is not None:
        side, dropped = _with_epochs(side), _with_epochs(dropped)
    return pc.indices_nonzero(pc.invert(pc.is_in(side.keys, value_set=dropped.keys)))


def alike(
    first: Predictions, other: Predictions, *, in_groups: bool = False
) -> tuple[Predictions, Predictions, tuple[str, ...]]:
    """Two files of which one has several answers to an item, so that their rows can be paired; a line on how.

    Answers are paired by epoch if the items that both files have were answered in the same epochs in both. `in_groups`
    says whether the items are in groups of their own.

    Raises
    ------
    ValueError
        One line: an answer that is there twice; an item whose answers do not agree on what was asked.
    """
    if first.epoch is None and other.epoch is None:
        return first, other, ()
    ids = same_spelling([first.ids, other.ids])
    first, other = (_with_epochs(replace(side, ids=own)) for side, own in zip((first, other), ids, strict=True))
    epochs = same_spelling([first.epoch, other.epoch])
    first, other = (replace(side, epoch=own) for side, own in zip((first, other), epochs, strict=True))
    for side in (first, other):
        require_distinct(side)
        _require_one_value(side, {"label": side.label, **side.identity})
    shared = [
        side.take(pc.indices_nonzero(pc.is_in(side.ids, value_set=pc.unique(rest.ids))))
        for side, rest in ((first, other), (other, first))
    ]
    items = pc.count_distinct(shared[0].ids).as_py()
    if len(shared[0].ids) == len(shared[1].ids) and pc.all(pc.is_in(shared[0].keys, value_set=shared[1].keys)).as_py():
        how = f"{len(shared[0].ids):,} answers to {items:,} items in each file are paired by epoch"
        return first, other, (f"{how}{'' if in_groups else '; the answers to one item are one group'}",)
    counts = [f"{_counts(side)} in {side.where}" for side in shared]
    how = f"{items:,} items with {counts[0]} and {counts[1]}: the answers to each item are averaged"
    for side in (first, other):
        _require_one_value(side, side.others)
    return averaged(first), averaged(other), (how,)


def one_row_an_item(side: Predictions) -> Predictions:
    """A file with the answers to each item averaged, or ValueError where they do not agree on what was asked."""
    side = _with_epochs(side)
    require_distinct(side)
    _require_one_value(side, {"label": side.label, **side.identity, **side.others})
    return averaged(side)


def require_distinct(side: Predictions) -> None:
    """Refuse an id that is there twice, or an epoch of it."""
    keys = side.keys
    if pc.count_distinct(keys).as_py() == len(keys):
        return
    counts = pc.value_counts(keys)
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), pa.scalar(1)))
    if len(twice):
        hint = "expected each answer once" if side.epoch is not None else side.hint
        raise ValueError(f"{side.where}: {listed(twice)} there more than once; {hint}")


def listed(ids: Any) -> str:
    """The first few ids, as the subject of a sentence."""
    first = ", ".join(shown(value) for value in ids[:3].to_pylist())
    if len(ids) == 1:
        return f"id {first} is"
    more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
    return f"ids {first}{more} are"


def averaged(side: Predictions) -> Predictions:
    """One row an item, with the mean of its scores, or the share of its answers that are right."""
    codes = item_codes(side.ids)
    rows = pa.array(first_rows(codes))
    if side.score is None:
        label, prediction = same_spelling([side.label, side.prediction])
        marks = np.from_dlpack(pc.cast(pc.equal(label, prediction), pa.int8())).astype(np.float64)
    else:
        marks = side.score.to_numpy()
    means = np.bincount(codes, weights=marks) / np.bincount(codes)
    items = side.take(rows)
    if side.score is None or side.graded:
        right = pa.array([RIGHT] * len(means), pa.string())
        graded = pa.array([RIGHT if mean == 1 else WRONG for mean in means.tolist()], pa.string())
        items = replace(items, label=right, prediction=graded, graded=True)
    return replace(items, epoch=None, score=pa.array(means), predicted=False)


def _with_epochs(side: Predictions) -> Predictions:
    if side.epoch is not None:
        return side
    return replace(side, epoch=pa.array(["1"] * len(side.ids), pa.string()))


def _require_one_value(side: Predictions, columns: Mapping[str, Any]) -> None:
    """Refuse an item whose answers do not have the same value of a column."""
    codes = item_codes(side.ids)
    first = pa.array(first_rows(codes)[codes])
    for name, column in columns.items():
        differs = pc.indices_nonzero(pc.fill_null(pc.not_equal(column, column.take(first)), False))
        if len(differs):
            row = differs[0].as_py()
            values = [shown(each[row].as_py()) for each in (column.take(first), column)]
            raise ValueError(
                f"{side.where}: id {shown(side.ids[row].as_py())}: {name} is {values[0]} in one answer and {values[1]} "
                "in another; expected the same in all answers to one item"
            )


def _counts(side: Predictions) -> str:
    counts = np.bincount(item_codes(side.ids))
    low, high = int(counts.min()), int(counts.max())
    return f"{low} to {high} answers each" if low < high else f"{low} answer{'s' * (low > 1)} each"
