"""Recipes that were run several times: what each run says of the same rows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.validation import FloatArray, shown
from sigstats.comparison.paired_predictions import PairedPredictions, Runs

from ._predictions import Predictions


def each_run(side: Predictions) -> list[Predictions]:
    """The rows of each run of a recipe, in the order of their ids."""
    found: list[Predictions] = []
    for name in sorted(pc.unique(side.epoch).to_pylist()):
        own = replace(side.take(pc.indices_nonzero(pc.equal(side.epoch, name))), epoch=None, distinct=None, notes=())
        own = own.take(pc.array_sort_indices(own.ids))
        if found and not own.ids.equals(found[0].ids):
            here, there = pa.array(own.ids), pa.array(found[0].ids)
            odd = [*here.filter(pc.invert(pc.is_in(here, there))), *there.filter(pc.invert(pc.is_in(there, here)))]
            which = f"id {shown(odd[0].as_py())} is not in both" if odd else "an id is there twice in one of them"
            raise ValueError(f"{side.where}: runs {shown(name)} and the first differ: {which}; expected the same ids")
        found.append(own)
    found[0] = replace(found[0], notes=side.notes)
    return found


def _stacked(
    name: str, of_a: Sequence[PairedPredictions], of_b: Sequence[PairedPredictions]
) -> tuple[FloatArray, FloatArray] | None:
    """The scores or denominators of each run of both recipes; None where there are none."""
    if getattr(of_a[0], name) is None:
        return None
    return np.stack([getattr(pair, name)[0] for pair in of_a]), np.stack([getattr(pair, name)[1] for pair in of_b])


def of_runs(pairs: Sequence[PairedPredictions], runs_of_a: int, *, alone: bool) -> PairedPredictions:
    """One comparison of all runs, `runs_of_a` of which are the baseline's; `alone`: of one recipe with itself.

    `pairs`: each run of the baseline beside the first of the candidate, then the first of the baseline beside each
    other one of the candidate.
    """
    first = pairs[0]
    classes = tuple(sorted({name for pair in pairs for name in pair.classes}))
    codes = [np.array([classes.index(name) for name in pair.classes], dtype=np.int64) for pair in pairs]
    sides = pairs[:runs_of_a], (first, *pairs[runs_of_a:])
    own = codes[:runs_of_a], (codes[0], *codes[runs_of_a:])
    a = np.stack([code[pair.a] for code, pair in zip(own[0], sides[0], strict=True)])
    b = np.stack([code[pair.b] for code, pair in zip(own[1], sides[1], strict=True)])
    scores, per = (_stacked(name, *sides) for name in ("scores", "per"))
    label = codes[0][first.label]
    how = "" if alone else f" of the baseline and {len(b)} of the candidate"
    how = f"{len(a)} runs{how}: the runs are what is independent"
    notes = (*dict.fromkeys(note for pair in pairs for note in pair.notes), how)
    runs = Runs(a, b, scores, per)
    return replace(first, label=label, a=a[0], b=b[0], classes=classes, runs=runs, notes=notes)
