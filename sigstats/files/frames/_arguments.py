"""Arguments of `compare` and `check`: options, class probabilities, and messages that name arguments."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
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
from sigstats._common.class_names import label_name
from sigstats._common.data_frames import require_same_index
from sigstats._common.messages import Note, rephrased
from sigstats._common.validation import FloatArray, as_array, as_labels, did_you_mean
from sigstats.comparison.measure_names import as_compared_measures
from sigstats.comparison.rule import ComparisonRule
from sigstats.measures.measure import Measure
from sigstats.measures.table import needs_positive

Measures: TypeAlias = str | Measure | Callable[..., Any] | Sequence[str | Measure | Callable[..., Any]] | None
_OPTION = re.compile(r"--([a-z-]+) (?:'([^']*)'|([\w/@-]+(?:\.\w+)*))")
#: The arguments of the options that have another name.
ARGUMENTS = {"group": "groups", "measure": "measures", "slice": "slices"}


class CommonOptions(TypedDict, total=False):
    """The options of `compare` and of `check`."""

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


def unknown_option(name: str) -> TypeError:
    """The error for an option that `compare` does not have."""
    known = name in ComparisonRule.__dataclass_fields__
    of_rule = f"; it is one of the rule: rule=ComparisonRule({name}=...)" * known
    return TypeError(f"compare() has no option {name!r}{of_rule or did_you_mean(name, CompareOptions.__annotations__)}")


def as_arguments() -> AbstractContextManager[None]:
    """Replace command-line options by arguments in the message of a ValueError."""
    return rephrased(lambda told: in_arguments(told).replace("this file", "this frame"))


def in_arguments(message: str) -> str:
    """Return a message in one line, with arguments in place of command-line options."""
    named = message.replace("--score-range LOW HIGH", "score_range=(LOW, HIGH)").replace("--classes", "classes=[...]")
    named = re.sub(r" \(--allow-different-tasks [^)]*\)", "", named.replace("--unpaired", "unpaired=True"))
    named = _OPTION.sub(
        lambda value: f"{ARGUMENTS.get(value[1], value[1]).replace('-', '_')}={(value[2] or value[3])!r}", named
    )
    named = named.replace("--by-position", "by_position=True")
    if lacking := re.search(r"column ('.+') was not found, nor in", named):
        named += f"; read_predictions(..., slices=[{lacking[1]}]) reads it too"
    return " ".join(re.sub("='(COLUMN|NAME|FILE)'", r"=\1", named).split())


class ClassProbabilities(NamedTuple):
    """Predictions and scores of models."""

    #: Most probable class of each row, for each model.
    predictions: tuple[NDArray[Any], ...]
    #: Probability of `positive`; if there are several classes, the tables for `Scored.of_classes`.
    scores: tuple[FloatArray, ...]
    #: Name of the class of the scores; None if there are several.
    positive: str | None
    notes: tuple[Note, ...]


def has_columns(value: Any) -> bool:
    """Return True for a table with more than one column."""
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, (list, tuple)) and len(value):
        return isinstance(value[0], (list, tuple, np.ndarray)) and np.size(value[0]) > 1
    return shape is not None and len(shape) == 2 and shape[1] > 1


def class_probabilities(
    y: Any,
    given: Mapping[str, Any],
    positive: str | None,
    *,
    classes: Sequence[str] = (),
    measures: str | Sequence[str] | None = None,
) -> ClassProbabilities:
    """Return predictions and scores from tables with a column for each class; or ValueError.

    `given`: the tables by their names in messages. `classes`: order of the columns, as in `classes_of_columns`.
    `positive`: class of the scores if there are two; by default the second, unless one of the `measures` needs a
    positive class and the names of the classes do not imply it.
    """
    require_same_index(y=y, **given)
    labels, codes = np.unique(as_labels(y, "y"), return_inverse=True)
    arrays = {name: as_array(value, name, "a table of probabilities") for name, value in given.items()}
    known = labels, classes, categories_of(y)
    orders = [classes_of_columns(given[name], name, array.shape[-1], *known) for name, array in arrays.items()]
    tables = {name: as_class_probabilities(array, name, len(codes)) for name, array in arrays.items()}
    several = any(len(order) > 2 for order in orders)
    if not several:
        pair = [label_name(value) for value in np.unique(orders[0]).tolist()]
        of_one = positive is not None or any(map(needs_positive, as_compared_measures(measures or "accuracy")))
        positive = pair[positive_place(pair, positive)] if of_one else pair[1]
    scores = []
    for table, order in zip(tables.values(), orders, strict=True):
        place = {label_name(value): place for place, value in enumerate(order.tolist())}
        columns = np.array([place[label_name(label)] for label in labels.tolist()])[codes.ravel()]
        scores.append(with_places(table, order, columns) if several else table[:, place[positive or ""]])
    likely = [likeliest(table, order) for table, order in zip(tables.values(), orders, strict=True)]
    notes = [equal_probabilities(n, len(codes)).of(name) for name, (_, n) in zip(given, likely, strict=True) if n]
    return ClassProbabilities(
        tuple(classes for classes, _ in likely), tuple(scores), None if several else positive, tuple(notes)
    )
