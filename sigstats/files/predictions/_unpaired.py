"""Two models on different rows: the rows of one after those of the other."""

from dataclasses import replace

import numpy as np

from sigstats._common.messages import Note
from sigstats.comparison.paired_predictions import Labels, PairedPredictions
from sigstats.comparison.units import Units


def of_two_samples(baseline: PairedPredictions, candidate: PairedPredictions) -> PairedPredictions:
    """The rows of the baseline, then those of the candidate; each is a pair of one model with itself."""
    said: Labels | None = None
    scored, other = baseline.scored, candidate.scored
    if baseline.said is not None and candidate.said is not None:
        classes = sorted({*baseline.classes, *candidate.classes})
        first, second = (vars(side.said.recoded(classes)) for side in (baseline, candidate) if side.said)
        codes = {name: np.concatenate([first[name], second[name]]) for name in ("label", "a", "b") if name in first}
        said = replace(baseline.said, classes=tuple(classes), **codes)
    if scored is not None and other is not None:
        if scored.lower != other.lower:
            raise ValueError(f"score: a lower {scored.column} is better in one file only; state which way is better")
        scores = np.concatenate([scored.scores[0], other.scores[0]])
        limits = scored.limits if scored.limits == other.limits else None
        scored = replace(scored, scores=(scores, scores), limits=limits)
    told = f"the models have different rows, {baseline.n:,} and {candidate.n:,}, taken as independent samples"
    notes = [*baseline.notes, *candidate.notes, Note("different-rows", told)]
    if not any(note.name == "joined-by-position" for note in notes):
        both = len({*baseline.ids.to_pylist()} & {*candidate.ids.to_pylist()})
        told = f"{both:,} ids are in both files: if they are the same rows, compare them without --unpaired"
        notes += [Note("shared-ids", told)] if both else []
    units = _units(baseline.units, candidate.units)
    return PairedPredictions(units=units, said=said, scored=scored, notes=tuple(dict.fromkeys(notes)))


def _units(first: Units, second: Units) -> Units:
    """The units of both; no group has rows of both models."""
    group, slices = None, {}
    if first.group is not None or second.group is not None:
        groups = [np.arange(units.n) if units.group is None else units.group for units in (first, second)]
        group = np.concatenate([groups[0], groups[1] + first.n])
    for column, (names, codes) in first.slices.items():
        own, others = second.slices[column]
        every = sorted({*names, *own})
        values = np.array([names[code] for code in codes] + [own[code] for code in others])
        slices[column] = tuple(every), np.searchsorted(np.array(every), values)
    return Units(n=first.n + second.n, group=group, slices=slices, candidates=np.arange(first.n + second.n) >= first.n)
