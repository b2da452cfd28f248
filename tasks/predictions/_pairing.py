"""Two models' predictions of the same rows, side by side."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.validation import shown
from sigstats.comparison.paired_predictions import PairedPredictions as PairedPredictions

from ..tables.spelling import same_spelling
from ._predictions import Columns, Predictions

Codes = NDArray[np.int64]

#: What is done with rows that one file alone has.
Unmatched: TypeAlias = Literal["refuse", "drop"]


def join(
    baseline: Predictions, candidate: Predictions, columns: Columns, *, unmatched: Unmatched = "refuse"
) -> PairedPredictions:
    """The rows that both models predicted.

    Raises
    ------
    ValueError
        One line: an id that is there twice, ids without a partner (unless they are to be dropped), no common id,
        another label for the same id, a column that neither file has.
    """
    matched = match(baseline, candidate, unmatched=unmatched)
    rows, partners, notes = matched.rows, matched.partners, list(matched.notes)
    label, a, b = answers(baseline, candidate, matched)
    classes, codes = _codes(label, a, b)
    if not baseline.graded:
        notes += _strangers(classes, codes, baseline.where, candidate.where)
    others = {name: _other(name, baseline, candidate, rows, partners) for name in columns.optional}
    parted = {name: codes_of(others[name]) for name in columns.slices}
    return PairedPredictions(
        label=codes[0],
        a=codes[1],
        b=codes[2],
        classes=classes,
        group=None if columns.group is None else codes_of(others[columns.group])[1],
        slices=parted,
        graded=baseline.graded,
        notes=tuple(notes),
        scores=_scores(baseline, candidate, rows, partners),
        predicted=baseline.predicted and candidate.predicted,
    )


class Matched(NamedTuple):
    """Which row of one file is which of another: positions in both, and a line for each file with ids of its own."""

    rows: Any
    partners: Any
    notes: tuple[str, ...]


def match(first: Predictions, other: Predictions, *, unmatched: Unmatched = "refuse") -> Matched:
    """The rows that two files have in common, in the order of the first.

    Raises
    ------
    ValueError
        One line: files of different kinds, an id that is there twice, ids without a partner (unless they are to be
        dropped), no common id.
    """
    if first.ids.equals(other.ids):
        _require_distinct(first, first.ids)
        _require_one_kind(first, other)
        every = pc.indices_nonzero(pc.is_valid(first.ids))
        return Matched(every, every, ())
    ids, of_other = same_spelling([first.ids, other.ids])
    _require_distinct(first, ids)
    _require_distinct(other, of_other)
    _require_one_kind(first, other)
    partner = pc.index_in(ids, value_set=of_other)
    alone = {first.where: ids.filter(pc.is_null(partner))}
    if len(of_other) > len(ids) - len(alone[first.where]):
        alone[other.where] = of_other.filter(pc.is_null(pc.index_in(of_other, value_set=ids)))
    notes = [f"{where}: {_listed(values)} in this file alone" for where, values in alone.items() if len(values)]
    rows = pc.indices_nonzero(pc.is_valid(partner))
    if not len(rows):
        raise ValueError(f"{other.where}: no id of it is in {first.where}; expected predictions of the same rows")
    if notes and unmatched == "refuse":
        raise ValueError(f"{notes[0]}; expected the same ids in both (--unmatched drop leaves them out)")
    return Matched(rows, partner.take(rows), tuple(notes))


def answers(first: Predictions, other: Predictions, matched: Matched) -> tuple[Any, Any, Any]:
    """The labels of the matched rows, and the predictions of both files, spelled alike.

    Raises
    ------
    ValueError
        One line: another label for the same id.
    """
    rows, partners = matched.rows, matched.partners
    label, label_of_other, a, b = same_spelling(
        [
            first.label.take(rows),
            other.label.take(partners),
            first.prediction.take(rows),
            other.prediction.take(partners),
        ]
    )
    differs = pc.indices_nonzero(pc.not_equal(label, label_of_other))
    if len(differs):
        at = differs[0].as_py()
        raise ValueError(
            f"{other.where}: id {shown(first.ids.take(rows)[at].as_py())}: label {shown(label_of_other[at].as_py())} "
            f"is not that of {first.where}, {shown(label[at].as_py())}; expected the same labels"
            + (f" (and {len(differs) - 1} more)" if len(differs) > 1 else "")
        )
    return label, a, b


def codes_of(column: Any) -> tuple[tuple[str, ...], Codes]:
    """The distinct values of a column, sorted, and the number of each row's."""
    names, (codes,) = _codes(column)
    return names, codes


def _scores(
    baseline: Predictions, candidate: Predictions, rows: Any, partners: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    if baseline.score is None or candidate.score is None:
        return None
    return baseline.score.take(rows).to_numpy(), candidate.score.take(partners).to_numpy()


def _require_one_kind(first: Predictions, other: Predictions) -> None:
    if first.graded != other.graded:
        raise ValueError(f"{other.where}: is no file of the same kind as {first.where}; expected the same kind")


def _require_distinct(side: Predictions, ids: Any) -> None:
    if pc.count_distinct(ids).as_py() == len(ids):
        return
    counts = pc.value_counts(ids)
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), pa.scalar(1)))
    if len(twice):
        raise ValueError(f"{side.where}: {_listed(twice)} there more than once; expected each id once")


def _listed(ids: Any) -> str:
    first = ", ".join(shown(value) for value in ids[:3].to_pylist())
    if len(ids) == 1:
        return f"id {first} is"
    more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
    return f"ids {first}{more} are"


def _codes(*columns: Any) -> tuple[tuple[str, ...], list[Codes]]:
    # Arrow imports pandas to make an array of a list and in `to_numpy`, which takes longer than the whole comparison.
    names = pc.unique(pa.concat_arrays([pc.unique(column) for column in columns]))
    lookup = names.take(pc.array_sort_indices(names))
    codes = [pc.index_in(column, value_set=lookup) for column in columns]
    flat = [code.combine_chunks() if isinstance(code, pa.ChunkedArray) else code for code in codes]
    return tuple(lookup.to_pylist()), [np.from_dlpack(code).astype(np.int64) for code in flat]


def _strangers(classes: tuple[str, ...], codes: Sequence[Codes], *where: str) -> list[str]:
    """Classes that only one model predicts and that no row has."""
    label, a, b = (set(np.unique(column).tolist()) for column in codes)
    found = []
    for place, own, other in ((where[0], a, b), (where[1], b, a)):
        alone = sorted(own - other - label)
        if alone:
            named = ", ".join(shown(classes[code]) for code in alone[:3])
            found.append(f"{place}: class {named} is predicted in this file alone, and no row has it")
    return found


def _other(name: str, baseline: Predictions, candidate: Predictions, rows: Any, partners: Any) -> Any:
    if name in baseline.others:
        return baseline.others[name].take(rows)
    if name in candidate.others:
        return candidate.others[name].take(partners)
    raise ValueError(f"{baseline.where}: column {shown(name)} is not there, nor in {candidate.where}")
