"""Arrays as columns of frames: where some values are missing, or are dates, intervals or periods."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sigstats._common.data_frames import has_no_text, require_same_index, with_texts
from sigstats._common.validation import refuse, shown
from sigstats.comparison.paired_predictions import PairedPredictions

from ..predictions import join
from ._arguments import as_arguments
from ._columns import columns_of, predictions_of

_COLUMNS = {"label": "y", "prediction": "prediction", "group": "groups", "score": "scores"}
_COLUMNS |= {name: name for name in ("order", "weights")}


def pair_as_frames(
    y: Any, predictions: Sequence[Any], names: Sequence[str], *, slices: Any, of_truth: bool = False, **options: Any
) -> PairedPredictions:
    """The rows of arrays as of two frames joined by position; `names`: what messages call the two."""
    scores = options.pop("scores", None) or (None, None)
    given = {"y": y, **{name: options.pop(name, None) for name in ("groups", "order", "weights")}}
    called = {f"slices[{shown(name)}]": str(name) for name in slices}
    given |= dict(zip(called, slices.values(), strict=True))
    sides = []
    for name, *said in zip(names, predictions, scores, strict=True):
        model = {**given, "prediction": said[0], "scores": said[1]}
        model = {key: values for key, values in model.items() if values is not None}
        require_same_index(**model)
        table = {key: _column(values, key) for key, values in model.items()}
        if odd := next((key for key, values in table.items() if len(values) != len(table["y"])), None):
            raise refuse(f"{odd} (length)", len(table[odd]), f"{len(table['y'])}, one for each row")
        own = {key: column for key, column in _COLUMNS.items() if column in model}
        how = {**options, "slices": list(called.values()), "higher": frozenset(["scores"]), "by_position": True}
        columns = columns_of(own, ("label",), duplicates="refuse", **how)
        table = {called.get(key, key): values for key, values in table.items()}
        sides.append(predictions_of(pa.table(table), name, columns))
    with as_arguments():
        pair = join(sides[0], sides[1], columns)
    notes = tuple(note for note in pair.notes if note.name != "joined-by-position")
    return replace(pair, notes=notes, scored=pair.scored and replace(pair.scored, of_truth=of_truth))


def _column(values: Any, name: str) -> Any:
    try:
        if has_no_text(kind := getattr(values, "dtype", None)):
            import pandas as pd  # whose values these are

            values = with_texts(pd.DataFrame({name: values}))[name]
        return pa.array(np.asarray(values, dtype=None if kind is not None else object), from_pandas=True)
    except Exception:  # values of several types, or a table
        raise refuse(name, values, "a sequence of labels, all numbers or all strings, or missing") from None
