"""Two models' predictions of the same rows, side by side."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.validation import shown
from sigstats.comparison.paired_predictions import PairedPredictions as PairedPredictions

from ..tables.spelling import same_spelling
from ._predictions import Columns, Predictions

Codes = NDArray[np.int64]


def join(
    baseline: Predictions, candidate: Predictions, columns: Columns, *, unmatched: Literal["refuse", "drop"] = "refuse"
) -> PairedPredictions:
    """The rows that both models predicted.

    Raises
    ------
    ValueError
        One line: an id that is there twice, ids without a partner (unless they are to be dropped), no common id,
        another label for the same id, a column that neither file has.
    """
    baseline, candidate = (
        replace(side, ids=ids)
        for side, ids in zip((baseline, candidate), same_spelling([baseline.ids, candidate.ids]), strict=True)
    )
    for side in (baseline, candidate):
        _require_distinct(side)
    if baseline.graded != candidate.graded:
        raise ValueError(f"{candidate.where}: is no file of the same kind as {baseline.where}; expected the same kind")
    partner = pc.index_in(baseline.ids, value_set=candidate.ids)
    alone = {
        baseline.where: baseline.ids.filter(pc.is_null(partner)),
        candidate.where: candidate.ids.filter(pc.is_null(pc.index_in(candidate.ids, value_set=baseline.ids))),
    }
    notes = [f"{where}: {_listed(ids)} in this file alone" for where, ids in alone.items() if len(ids)]
    rows = pc.indices_nonzero(pc.is_valid(partner))
    if not len(rows):
        raise ValueError(
            f"{candidate.where}: no id of it is in {baseline.where}; expected predictions of the same rows"
        )
    if notes and unmatched == "refuse":
        raise ValueError(f"{notes[0]}; expected the same ids in both (--unmatched drop leaves them out)")
    partners = partner.take(rows)
    label, other, a, b = same_spelling(
        [
            baseline.label.take(rows),
            candidate.label.take(partners),
            baseline.prediction.take(rows),
            candidate.prediction.take(partners),
        ]
    )
    differs = pc.indices_nonzero(pc.not_equal(label, other))
    if len(differs):
        at = differs[0].as_py()
        raise ValueError(
            f"{candidate.where}: id {shown(baseline.ids.take(rows)[at].as_py())}: label {shown(other[at].as_py())} is "
            f"not that of {baseline.where}, {shown(label[at].as_py())}; expected the same labels"
            + (f" (and {len(differs) - 1} more)" if len(differs) > 1 else "")
        )
    classes, codes = _codes(label, a, b)
    if not baseline.graded:
        notes += _strangers(classes, codes, baseline.where, candidate.where)
    others = {name: _other(name, baseline, candidate, rows, partners) for name in columns.optional}
    parted = {name: _codes(others[name]) for name in columns.slices}
    return PairedPredictions(
        label=codes[0],
        a=codes[1],
        b=codes[2],
        classes=classes,
        group=None if columns.group is None else _codes(others[columns.group])[1][0],
        slices={name: (values, found[0]) for name, (values, found) in parted.items()},
        graded=baseline.graded,
        notes=tuple(notes),
        scores=_scores(baseline, candidate, rows, partners),
        predicted=baseline.predicted and candidate.predicted,
    )


def _scores(
    baseline: Predictions, candidate: Predictions, rows: Any, partners: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    if baseline.score is None or candidate.score is None:
        return None
    return baseline.score.take(rows).to_numpy(), candidate.score.take(partners).to_numpy()


def _require_distinct(side: Predictions) -> None:
    if pc.count_distinct(side.ids).as_py() == len(side.ids):
        return
    counts = pc.value_counts(side.ids)
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
