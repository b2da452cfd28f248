"""The rows of `compare` and `check` from arrays."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sigstats._common.class_names import class_notes
from sigstats._common.validation import refuse
from sigstats.comparison.measure_names import are_measurements, are_scores
from sigstats.comparison.paired_predictions import Labels, PairedPredictions, by_name, pair_arrays

from ._arguments import class_probabilities, has_columns

#: Names of the models of arrays in notes.
BOTH = "baseline", "candidate"


def paired_arrays(
    y: Any, predictions: tuple[Any, Any], *, missing: Any, unscored: str, names: Sequence[str] = BOTH, **options: Any
) -> PairedPredictions:
    """The rows of arrays; `options`: those of `pair_arrays`."""
    options["slices"] = by_name(options["slices"])
    if not missing and unscored == "refuse":
        pair = pair_arrays(y, *predictions, **options)
        known = pair.predicted
        assert known is not None
        models = [(name, known.classes, known.label, of) for name, of in zip(names, (known.a, known.b), strict=True)]
        notes = [] if are_measurements(pair.classes) else class_notes(models)
        return replace(pair, notes=tuple(dict.fromkeys((*pair.notes, *notes))))
    from ._columns import pair_as_frames

    options |= {"missing": missing, "unscored": unscored, "classes": options.pop("listed")}
    return pair_as_frames(y, predictions, names, **options)


def pair_of_arrays(
    y: Any,
    predictions: tuple[Any, Any],
    positive: str | None,
    measures: Any,
    names: Sequence[str] = BOTH,
    **options: Any,
) -> tuple[PairedPredictions, str | None]:
    """The rows of arrays of classes, probabilities or scores, and the positive class; `options`: of `paired_arrays`."""
    scores, probs = options.pop("scores"), None
    alone = scores is None and are_scores(y, *predictions, measures)
    identical = predictions[0] is predictions[1] and (scores is None or scores[0] is scores[1])
    several = isinstance(scores, Sequence) and len(scores) == 2
    tables = {f"scores[{side}]": score for side, score in enumerate(scores)} if several else {}
    tables = dict(zip(BOTH, predictions, strict=True)) if scores is None else tables
    column = "" if scores is None else "scores"
    if tables and all(map(has_columns, tables.values())):
        probs = class_probabilities(y, tables, positive, classes=options["listed"], measures=measures)
        predictions, scores = predictions if column else (probs.predictions[0], probs.predictions[1]), probs.scores
    elif alone:
        predictions, scores = (y, y), predictions
    pair = paired_arrays(y, predictions, scores=scores, names=names, **options)
    known = pair.predicted
    assert known is not None
    pair = replace(
        pair,
        outcomes=Labels(classes=known.classes, label=known.label) if alone else known,
        scored=pair.scored and replace(pair.scored, column=column),
        notes=tuple(dict.fromkeys((*pair.notes, *(probs.notes if probs else ())))),
        identical=identical,
    )
    return pair, positive or (probs.positive if probs else None)


def samples_of_arrays(
    y: Any, predictions: Any, positive: str | None, measures: Any, **options: Any
) -> tuple[PairedPredictions, str | None]:
    """The rows of two models on different rows: `y`, groups and slices are pairs; otherwise as `pair_of_arrays`."""
    from ..predictions.designs import combine_samples

    slices = by_name(options.pop("slices"))
    of_slices = {f"slices[{name!r}]": column for name, column in slices.items()}
    for name, value in {"y": y, "groups": options["groups"], "scores": options["scores"], **of_slices}.items():
        both = isinstance(value, (tuple, list)) and len(value) == 2 and all(hasattr(side, "__len__") for side in value)
        if value is not None and (not both or isinstance(value[0], str)):
            raise refuse(name, value, "a pair of arrays with unpaired=True, one for the rows of each model")
    groups, scores = (options.pop(name) or (None, None) for name in ("groups", "scores"))
    samples = []
    for side, prediction in enumerate(predictions):
        options |= {"groups": groups[side], "scores": None if scores[side] is None else (scores[side],) * 2}
        options |= {"slices": {name: column[side] for name, column in slices.items()}, "names": (BOTH[side],) * 2}
        pair, positive = pair_of_arrays(y[side], (prediction, prediction), positive, measures, **options)
        samples.append(replace(pair, identical=False))
    return combine_samples(samples[0], samples[1]), positive
