"""The rows of `compare` and `check` from arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sigstats._common.class_names import class_notes, counts_of
from sigstats._common.validation import refuse
from sigstats.comparison.measure_names import are_measurements, are_scores
from sigstats.comparison.paired_predictions import Labels, PairedPredictions, by_name, pair_arrays

from ._arguments import class_probabilities, has_columns

#: Names of both models of arrays in notes.
BOTH = "baseline", "candidate"


def paired_arrays(
    y: Any, predictions: tuple[Any, Any], *, missing: Any, unscored: str, names: Sequence[str] = BOTH, **options: Any
) -> PairedPredictions:
    """The rows of arrays; `options`: those of `pair_arrays`."""
    options["slices"] = by_name(options["slices"])
    if not missing and unscored == "refuse":
        return pair_arrays(y, *predictions, **options)
    from ._columns import pair_as_frames

    options |= {"missing": missing, "unscored": unscored, "classes": options.pop("listed")}
    return pair_as_frames(y, predictions, names, **options)


def pair_of_arrays(
    y: Any,
    baseline: Any,
    candidate: Any,
    positive: str | None,
    measures: Any,
    *,
    listed: Sequence[str],
    scores: Any,
    names: Sequence[str] = BOTH,
    **options: Any,
) -> tuple[PairedPredictions, str | None]:
    """The rows of arrays of classes, probabilities or scores, and the positive class; `options`: of `paired_arrays`."""
    alone = scores is None and are_scores(y, baseline, candidate, measures)
    predictions, given, said = (baseline, candidate), scores, None
    if has_columns(baseline) and has_columns(candidate) and scores is None:
        tables = dict(zip(BOTH, predictions, strict=True))
        said = class_probabilities(y, tables, positive, classes=listed, measures=measures)
        predictions, given = (said.predictions[0], said.predictions[1]), said.scores
    elif isinstance(scores, Sequence) and len(scores) == 2 and all(map(has_columns, scores)):
        tables = {"scores[0]": scores[0], "scores[1]": scores[1]}
        said = class_probabilities(y, tables, positive, classes=listed, measures=measures)
        given = said.scores
    elif alone:
        predictions, given = (y, y), predictions
    pair = paired_arrays(y, predictions, listed=listed, scores=given, names=names, **options)
    known = pair.predicted
    assert known is not None
    of_label, *said_of = (counts_of(pair.classes, codes) for codes in (known.label, known.a, known.b))
    told = class_notes(of_label, [*dict(zip(names, said_of, strict=True)).items()])
    notes = dict.fromkeys(
        (*pair.notes, *(said.notes if said else ()), *([] if are_measurements(pair.classes) else told))
    )
    pair = replace(
        pair,
        said=Labels(classes=known.classes, label=known.label) if alone else known,
        scored=pair.scored and replace(pair.scored, column="" if scores is None else "scores"),
        notes=tuple(notes),
        identical=baseline is candidate and (scores is None or scores[0] is scores[1]),
    )
    return pair, positive or (said.positive if said else None)


def samples_of_arrays(
    y: Any, baseline: Any, candidate: Any, positive: str | None, measures: Any, **options: Any
) -> tuple[PairedPredictions, str | None]:
    """The rows of two models on different rows: `y`, groups and slices are pairs; otherwise as `pair_of_arrays`."""
    from ..predictions import of_two_samples

    slices = {name: _both(f"slices[{name!r}]", column) for name, column in by_name(options.pop("slices")).items()}
    both = {name: _both(name, value) for name in ("groups", "scores") if (value := options.pop(name)) is not None}
    samples = []
    for side, (labels, given) in enumerate(zip(_both("y", y), (baseline, candidate), strict=True)):
        own: dict[str, Any] = {"groups": None, "scores": None, **{name: values[side] for name, values in both.items()}}
        own["scores"] = None if own["scores"] is None else (own["scores"],) * 2
        own["slices"] = {name: column[side] for name, column in slices.items()}
        pair, positive = pair_of_arrays(
            labels, given, given, positive, measures, names=(BOTH[side],) * 2, **own, **options
        )
        samples.append(replace(pair, identical=False))
    return of_two_samples(*samples), positive


def _both(name: str, value: Any) -> Sequence[Any]:
    """Return the arrays of both models, or raise ValueError."""
    pair = isinstance(value, (tuple, list)) and len(value) == 2 and not isinstance(value, Mapping)
    if not pair or any(isinstance(side, str) or not hasattr(side, "__len__") for side in value):
        raise refuse(name, value, "a pair of arrays with unpaired=True, one for the rows of each model")
    return value  # type: ignore[no-any-return]
