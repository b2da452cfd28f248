"""Two tables of the same whole-number ids in the same order, joined by the codes of their classes.

Most large files are such a pair. Text is looked up and compared value by value, codes name by name: of millions of rows
a few names are spelled alike, and the rest is arithmetic.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats.comparison.bins import in_bins
from sigstats.comparison.paired_predictions import PairedPredictions
from sigstats.comparison.requirements import are_measurements
from sigstats.comparison.strangers import strangers

from ..tables.spelling import same_spelling
from ._items import content_codes
from ._predictions import Columns, Predictions

Codes = NDArray[np.int64]


def join_coded(baseline: Predictions, candidate: Predictions, columns: Columns) -> PairedPredictions | None:
    """The rows that both models predicted; None if they are no such pair, or something is to be refused."""
    others = [_parts(name, baseline, candidate) for name in columns.optional]
    told = [baseline.label, candidate.label, baseline.prediction, candidate.prediction]
    every = [*told, *(column for both in others for column in both)]
    if not (_is_coded(baseline, candidate) and all(others) and _are_dictionaries(every)):
        return None
    classes, (label, again, a, b), seen = _names_and_codes(told)
    if not _same(label, again):
        return None
    parted = {}
    for name, both in zip(columns.optional, others, strict=True):
        names, codes, _ = _names_and_codes(both)
        if not _same(codes[0], codes[-1]):
            return None
        parted[name] = names, codes[0]
    notes = [*baseline.notes, *candidate.notes]
    if not are_measurements(classes):
        notes += strangers(classes, (seen[0], *seen[2:]), baseline.where, candidate.where)
    scores = None
    if baseline.score is not None and candidate.score is not None:
        scores = baseline.score.to_numpy(), candidate.score.to_numpy()
    return PairedPredictions(
        label=label,
        a=a,
        b=b,
        classes=classes,
        group=None if columns.group is None else parted[columns.group][1],
        slices=in_bins({name: parted[name] for name in columns.slices}, dict(columns.bins)),
        tasks=parted[columns.task][1] if columns.task is not None and len(parted[columns.task][0]) > 1 else None,
        task_names=() if columns.task is None else parted[columns.task][0],
        notes=tuple(dict.fromkeys(notes)),
        scores=scores,
        predicted=baseline.predicted and candidate.predicted,
        score_column=baseline.measured,
        lower=baseline.lower,
        content=content_codes(baseline, candidate),
    )


def _is_coded(baseline: Predictions, candidate: Predictions) -> bool:
    """True if both have the same ids, known as ascending numbers, and nothing else that has to be joined."""
    for side in (baseline, candidate):
        if side.graded or side.distinct is not side.ids or not pa.types.is_integer(side.ids.type):
            return False
    return bool(baseline.ids.type == candidate.ids.type and baseline.ids.equals(candidate.ids))


def _parts(name: str, baseline: Predictions, candidate: Predictions) -> list[Any]:
    """The column of slices or groups of each file that has it."""
    return [side.others[name] for side in (baseline, candidate) if name in side.others]


def _are_dictionaries(columns: Sequence[Any]) -> bool:
    return all(pa.types.is_dictionary(column.type) for column in columns)


def _same(codes: Codes, others: Codes) -> bool:
    return codes is others or np.array_equal(codes, others)


def _names_and_codes(columns: Sequence[Any]) -> tuple[tuple[str, ...], list[Codes], list[Codes]]:
    """The distinct values of columns, spelled alike and sorted, the code of each row's, and each column's codes."""
    spelled = same_spelling([column.dictionary for column in columns])
    names = pc.unique(pa.concat_arrays([*spelled]))
    lookup = names.take(pc.array_sort_indices(names))
    codes: list[Codes] = []
    seen = [np.from_dlpack(pc.index_in(own, value_set=lookup)).astype(np.int64) for own in spelled]
    for position, (column, numbers) in enumerate(zip(columns, seen, strict=True)):
        if position == 1 and column.equals(columns[0]):  # the labels or slices of both files, most often
            codes.append(codes[0])
            continue
        indices = np.from_dlpack(column.indices)
        in_order = bool((numbers == np.arange(len(numbers))).all())
        codes.append(indices.astype(np.int64, copy=False) if in_order else numbers[indices])
    return tuple(lookup.to_pylist()), codes, seen
