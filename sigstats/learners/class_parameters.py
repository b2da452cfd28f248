"""Parameters of a classifier that name classes, where it is fitted to their numbers 0, 1, ...

A person writes ``class_weight={"rare": 4}`` for the classes of the data; the classifier meets their numbers only.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._common.class_columns import PAIRS
from .._common.class_names import label_name
from .._common.messages import some_of
from .._common.validation import refuse


def number_classes(estimator: Any, classes: Sequence[str]) -> Any:
    """Return the estimator with the numbers of classes in the place of their names.

    `classes`: the names of the classes 0, 1, ... Raises ValueError if a weight is for another class, or if a search
    scores one class and the classes do not tell that 1 is its number.
    """
    for key, value in estimator.get_params(deep=True).items():
        name = key.rpartition("__")[2]
        if name == "class_weight" and isinstance(value, Mapping):
            estimator.set_params(**{key: _numbered(value, classes)})
        elif name == "scoring" and (scored := next(_scored_classes(value), None)) is not None:
            folded = tuple(map(str.casefold, classes))
            if len(classes) == 2 and not (scored == 1 and folded in PAIRS):
                wanted = "'balanced_accuracy', or another score that is the same for both classes"
                of = f"the classes of the data are {' and '.join(classes)}"
                raise refuse(f"params: {key}", value, f"{wanted}, since this one is of class {scored}, and {of}")
    return estimator


def _numbered(weights: Mapping[Any, Any], classes: Sequence[str]) -> dict[int, Any]:
    numbers = {name: number for number, name in enumerate(classes)}
    if not any(name.lstrip("-").isdecimal() for name in classes):  # so that a number is no name
        numbers |= {str(number): number for number in range(len(classes))}
    names = {key: label_name(key, "params: class_weight") for key in weights}
    if unknown := next((name for name in names.values() if name not in numbers), None):
        raise refuse("params: class_weight", unknown, f"weights of the classes {some_of(list(classes), 10)}")
    return {numbers[name]: weights[key] for key, name in names.items()}


def _scored_classes(scoring: Any) -> Iterator[Any]:
    """The labels, each of one class, that the scores of a search are about."""
    from sklearn.metrics import get_scorer

    if isinstance(scoring, Mapping | list | tuple | set):
        for part in scoring.values() if isinstance(scoring, Mapping) else scoring:
            yield from _scored_classes(part)
        return
    try:
        scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        parameters = inspect.signature(scorer._score_func).parameters
    except (AttributeError, TypeError, ValueError):  # a function of the user, or no score: the search reports it
        return
    given = getattr(scorer, "_kwargs", {})
    usual = parameters["pos_label"].default if "pos_label" in parameters else None
    label = given.get("pos_label", usual)
    if label is not None and given.get("average", "binary") == "binary":
        yield label
