"""The arguments of `compare` and `check`: their options, and the rows of arrays (`_columns` has those of data frames).

`pair_of_arrays` makes the rows of both models from labels and predictions, scores or tables of class probabilities
(`class_probabilities`), and `samples_of_arrays` those of two models on different rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from sigstats._common.class_columns import (
    as_class_probabilities,
    categories_of,
    classes_of_columns,
    equal_probabilities,
    likeliest,
    positive_place,
    with_places,
)
from sigstats._common.class_names import class_notes, label_name
from sigstats._common.data_frames import refuse_repeated_items, require_same_index
from sigstats._common.messages import Note, printable
from sigstats._common.validation import FloatArray, as_array, as_labels, did_you_mean, refuse
from sigstats.comparison.check.result import CheckResult
from sigstats.comparison.measure_names import are_measurements, are_scores, as_compared_measures
from sigstats.comparison.paired_predictions import Labels, PairedPredictions, by_name, pair_arrays
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.rule import ComparisonRule
from sigstats.measures.measure import Measure
from sigstats.measures.table import needs_positive

#: Names of the models of arrays in notes.
BOTH = "baseline", "candidate"

Measures: TypeAlias = str | Measure | Callable[..., Any] | Sequence[str | Measure | Callable[..., Any]] | None


class CommonOptions(TypedDict, total=False):
    """The options that `compare` and `check` share."""

    id: str
    label: str
    ratio: str | None
    lower_is_better: str | Sequence[str]
    higher_is_better: str | Sequence[str]
    run: str | None
    groups: Any
    slices: Any
    task: str | None
    measures: Measures
    costs: Any
    positive: Any
    classes: Sequence[Any] | None
    missing: str | Sequence[str]
    score_range: Sequence[float] | None
    unscored: Literal["refuse", "drop", "wrong"]
    duplicates: Literal["refuse", "first", "last", "all"] | None
    rule: ComparisonRule | None


class CompareOptions(CommonOptions, total=False):
    """The options of `compare`."""

    prediction: str | Sequence[str]
    model: Sequence[str] | None
    score: str | Sequence[str] | None
    labels: Any
    by_position: bool
    epoch: str | None
    scores: Sequence[Any] | None
    order: Any
    weights: Any
    unmatched: Literal["refuse", "drop"]
    unpaired: bool


def pair_of_arrays(
    y: Any,
    predictions: tuple[Any, Any],
    positive: str | None,
    measures: Any,
    names: Sequence[str] = BOTH,
    **options: Any,
) -> tuple[PairedPredictions, str | None]:
    """Return the rows of arrays, and the positive class. `options`: those of `paired_arrays`.

    `predictions`: class names, or tables of probabilities; or scores, if no other scores are given (`are_scores`).
    """
    scores, probs = options.pop("scores"), None
    only_scores = scores is None and are_scores(y, *predictions, measures)
    identical = predictions[0] is predictions[1] and (scores is None or scores[0] is scores[1])
    called = options.get("arguments", (*BOTH, "scores[0]", "scores[1]"))
    tables: dict[str, Any] = {}  # one table if a model is compared with itself
    if scores is None:
        tables = dict(zip(called[:2], predictions, strict=True))
    elif isinstance(scores, Sequence) and len(scores) == 2:
        tables = dict(zip(called[2:], scores, strict=True))
    column = "" if scores is None else "scores"
    if tables and all(map(has_columns, tables.values())):
        probs = class_probabilities(y, tables, positive, classes=options["listed"], measures=measures)
        predictions = predictions if column else (probs.predictions[0], probs.predictions[-1])
        scores = probs.scores[0], probs.scores[-1]
    elif only_scores:
        predictions, scores = (y, y), predictions
        options["arguments"] = called[:2] * 2
    pair = paired_arrays(y, predictions, scores=scores, names=names, **options)
    known = pair.predicted
    assert known is not None
    pair = replace(
        pair,
        outcomes=Labels(classes=known.classes, label=known.label) if only_scores else known,
        scored=pair.scored and replace(pair.scored, column=column),
        notes=tuple(dict.fromkeys((*pair.notes, *(probs.notes if probs else ())))),
        identical=identical,
    )
    return pair, positive or (probs.positive if probs else None)


def samples_of_arrays(
    y: Any, predictions: Any, positive: str | None, measures: Any, **options: Any
) -> tuple[PairedPredictions, str | None]:
    """Return two models on different rows, as `pair_of_arrays`. `y`, groups, scores and slices are pairs."""
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
        options["arguments"] = (BOTH[side], BOTH[side], f"scores[{side}]", f"scores[{side}]")
        pair, positive = pair_of_arrays(y[side], (prediction, prediction), positive, measures, **options)
        samples.append(replace(pair, identical=False))
    return combine_samples(samples[0], samples[1]), positive


def paired_arrays(
    y: Any, predictions: tuple[Any, Any], *, missing: Any, unscored: str, names: Sequence[str] = BOTH, **options: Any
) -> PairedPredictions:
    """Return the rows of arrays of predictions; `options`: those of `pair_arrays`."""
    options["slices"] = by_name(options["slices"])
    if options.get("groups") is None:
        for name, value in zip(("y", *names), (y, *predictions), strict=True):
            refuse_repeated_items(getattr(value, "index", None), name)
    if not missing and unscored == "refuse":
        pair = pair_arrays(y, *predictions, **options)
        known = pair.predicted
        assert known is not None
        models = [(name, known.classes, known.label, of) for name, of in zip(names, (known.a, known.b), strict=True)]
        notes = [] if are_measurements(pair.classes) else class_notes(models)
        return replace(pair, notes=tuple(dict.fromkeys((*pair.notes, *notes))))
    from ._columns import pair_as_frames

    options |= {"missing": missing, "unscored": unscored, "classes": options.pop("listed")}
    options.pop("arguments", None)  # messages name the frames
    return pair_as_frames(y, predictions, names, **options)


class ClassProbabilities(NamedTuple):
    """The predictions and scores of models that give class probabilities."""

    #: Most probable class of each row, for each model.
    predictions: tuple[NDArray[Any], ...]
    #: Probability of `positive`; if there are several classes, the tables for `Scored.of_classes`.
    scores: tuple[FloatArray, ...]
    #: Name of the class of the scores; None if there are several.
    positive: str | None
    notes: tuple[Note, ...]


def class_probabilities(
    y: Any,
    tables: Mapping[str, Any],
    positive: str | None,
    *,
    classes: Sequence[str] = (),
    measures: str | Sequence[str] | None = None,
) -> ClassProbabilities:
    """Return predictions and scores from tables with a column for each class, or raise ValueError.

    `tables`: by their names in messages. `classes`: order of the columns, as in `classes_of_columns`. `positive`: class
    of the scores if there are two; by default the second, unless one of the `measures` needs a positive class and the
    names of the classes do not imply it.
    """
    require_same_index(y=y, **tables)
    labels, codes = np.unique(as_labels(y, "y"), return_inverse=True)
    arrays = {name: as_array(value, name, "a table of probabilities") for name, value in tables.items()}
    known = labels, classes, categories_of(y)
    orders = [classes_of_columns(tables[name], name, array.shape[-1], *known) for name, array in arrays.items()]
    probabilities = [as_class_probabilities(array, name, len(codes)) for name, array in arrays.items()]
    several = any(len(order) > 2 for order in orders)
    if not several:
        pair = list(map(label_name, np.unique(orders[0]).tolist()))
        of_one = positive is not None or any(map(needs_positive, as_compared_measures(measures or "accuracy")))
        positive = pair[positive_place(pair, positive)] if of_one else pair[1]
    scores = []
    for table, order in zip(probabilities, orders, strict=True):
        column_of = {label_name(value): column for column, value in enumerate(order.tolist())}
        of_truth = np.array([column_of[label_name(label)] for label in labels.tolist()])[codes.ravel()]
        scores.append(with_places(table, order, of_truth) if several else table[:, column_of[positive or ""]])
    likely = [likeliest(table, order) for table, order in zip(probabilities, orders, strict=True)]
    predictions = tuple(predicted for predicted, _ in likely)
    notes = [equal_probabilities(n, len(codes)).of(name) for name, (_, n) in zip(tables, likely, strict=True) if n]
    return ClassProbabilities(predictions, tuple(scores), None if several else positive, tuple(notes))


def has_columns(value: Any) -> bool:
    """Return True for a table with more than one column."""
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, (list, tuple)) and len(value):
        return isinstance(value[0], (list, tuple, np.ndarray)) and np.size(value[0]) > 1
    return shape is not None and len(shape) == 2 and shape[1] > 1


def unknown_option(name: str) -> TypeError:
    """Return the error for an option that `compare` does not have."""
    cure = did_you_mean(name, CompareOptions.__annotations__)
    if name in ComparisonRule.__dataclass_fields__:
        cure = f"; pass rule=ComparisonRule({name}=...)"
    return TypeError(f"compare() has no option {name!r}{cure}")


def as_assertion(result: ComparisonResult | CheckResult, others: Sequence[str]) -> AssertionError:
    """Return an error with the reasons as its message, and the result as its attribute."""
    error = AssertionError("\n".join(map(printable, [result.answer.headline, result.answer.advice, *others])))
    vars(error)["result"] = result
    return error
