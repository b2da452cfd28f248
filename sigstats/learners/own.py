"""Classifiers of other packages, by an import path into a package that is allowed or by an entry point.

An import path, ``"mypackage.models:Net"``, leads to a classifier class or to an unfitted classifier, such as a
pipeline. An entry point of the group `GROUP` names the same for an installed package (`sigstats._common.registry`).

A person names classes in a classifier's parameters, as in ``class_weight={"rare": 4}``; the classifier is fitted to
their numbers 0, 1, ... (`number_classes`).
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._common.class_columns import PAIRS
from .._common.class_names import label_name
from .._common.class_spelling import is_finite_number
from .._common.messages import some_of
from .._common.registry import Offered
from .._common.validation import raised, refuse
from .base import attempt, require_harmless

#: The group of entry points that name learners.
GROUP = "sigstats.learners"

_WANTED = "a classifier class or an unfitted classifier, or its import path, as in 'mypackage.models:Net'"

_CLASSIFIERS = Offered(GROUP, "classifier")


def named(ready: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the learners that installed packages offer, without those of `ready` ones."""
    return _CLASSIFIERS.named(ready)


def is_path(name: str) -> bool:
    """Return True if a name is an import path into another package than scikit-learn."""
    return ("." in name or ":" in name) and name.partition(":")[0].partition(".")[0] != "sklearn"


def find(name: str, allowed: Sequence[str]) -> Any:
    """Return the class or the unfitted classifier that an import path or an entry point names, or raise ValueError.

    Nothing is imported of a package that is not allowed.
    """
    result = _CLASSIFIERS.find(name, allowed)
    if result is None:
        raise refuse("classifier", name, f"{_WANTED}; the module has no such name")
    if inspect.isroutine(result):
        raise refuse("classifier", name, f"{_WANTED}; it is a function")
    lacking = [method for method in ("fit", "predict", "get_params") if not hasattr(result, method)]
    if inspect.ismodule(result) or lacking:
        problem = f"it has no {' and no '.join(lacking)} (sklearn.base.BaseEstimator gives get_params)"
        raise refuse("classifier", name, f"{_WANTED}; {problem}")
    return result


def make(name: str, params: dict[str, Any], allowed: Sequence[str]) -> Any:
    """Return the unfitted classifier of an import path or entry point, or raise ValueError.

    Every ``random_state`` in it that is None becomes 0, and every ``n_jobs`` that is None becomes 1.
    """
    from sklearn.base import clone

    result = find(name, allowed)
    for key, value in params.items():
        require_harmless(key, value)
    try:
        classifier = attempt(result, params) if inspect.isclass(result) else clone(result).set_params(**params)
        unset = [key for key, value in classifier.get_params(deep=True).items() if value is None and key not in params]
        for ending, value in (("random_state", 0), ("n_jobs", 1)):
            classifier.set_params(**{key: value for key in unset if key.rpartition("__")[2] == ending})
    except ValueError:
        raise
    except Exception as error:  # a constructor may raise anything
        raise ValueError(f"classifier: {name} cannot be created: {raised(error)}") from None
    kind = tag_of(classifier, "estimator_type")
    if kind not in (None, "classifier"):
        raise refuse("classifier", name, f"{_WANTED}; scikit-learn takes it for a {kind}")
    return classifier


def takes_frames(estimator: Any) -> bool:
    """Return True if an estimator reads columns by name, as a `ColumnTransformer`, or has ``takes_frames``."""
    from sklearn.compose import ColumnTransformer

    if getattr(estimator, "takes_frames", False):
        return True
    for step in (estimator, *estimator.get_params(deep=True).values()):
        if isinstance(step, ColumnTransformer):
            for _, _, columns in step.transformers:
                names = np.atleast_1d(np.array(columns, object))
                if callable(columns) or any(isinstance(name, str) for name in names):
                    return True
    return False


def takes_missing(estimator: Any) -> bool:
    """Return True if an estimator declares that it accepts NaN as a missing value."""
    return bool(getattr(tag_of(estimator, "input_tags"), "allow_nan", False))


def tag_of(estimator: Any, name: str) -> Any:
    """Return a tag of scikit-learn's; None if the estimator has none."""
    from sklearn.utils import get_tags

    try:
        return getattr(get_tags(estimator), name)
    except Exception:  # an estimator of a library of its own may have no tags, or raise anything
        return None


def code_of(name: str, allowed: Sequence[str]) -> dict[str, str]:
    """Return the identity of the code of a classifier, as `Offered.code_of`."""
    find(name, allowed)
    return _CLASSIFIERS.code_of(name)


def number_classes(estimator: Any, classes: Sequence[str]) -> Any:
    """Return the estimator with the numbers of classes in the place of their names.

    `classes`: the names of the classes 0, 1, ... Raises ValueError if a weight is for another class, or if a search
    scores one class and the classes do not tell that 1 is its number.
    """
    for key, value in estimator.get_params(deep=True).items():
        name = key.rpartition("__")[2]
        if name == "class_weight" and isinstance(value, Mapping):
            estimator.set_params(**{key: _numbered(value, classes)})
        elif name in ("param_grid", "param_distributions"):
            grids = [_numbered_grid(grid, classes) for grid in ([value] if isinstance(value, Mapping) else value)]
            estimator.set_params(**{key: grids[0] if isinstance(value, Mapping) else grids})
        elif name == "scoring" and (scored := next(_scored_classes(value), None)) is not None:
            folded = tuple(map(str.casefold, classes))
            if len(classes) == 2 and not (scored == 1 and folded in PAIRS):
                wanted = "'balanced_accuracy', or another score that is the same for both classes"
                of = f"the classes of the data are {' and '.join(classes)}"
                raise refuse(f"params: {key}", value, f"{wanted}, since this one is of class {scored}, and {of}")
    return estimator


def _numbered_grid(grid: Mapping[str, Any], classes: Sequence[str]) -> dict[str, Any]:
    """Return a grid of a search with the numbers of classes in its class weights."""
    numbered = dict(grid)
    for key, values in grid.items():
        if key.rpartition("__")[2] == "class_weight":
            numbered[key] = [_numbered(value, classes) if isinstance(value, Mapping) else value for value in values]
    return numbered


def _numbered(weights: Mapping[Any, Any], classes: Sequence[str]) -> dict[int, Any]:
    """Return class weights by the numbers of classes."""
    numbers = {name: number for number, name in enumerate(classes)}
    if not any(map(is_finite_number, classes)):  # so that a number is no name
        numbers |= {str(number): number for number in range(len(classes))}
    names = {key: label_name(key, "params: class_weight") for key in weights}
    if unknown := next((name for name in names.values() if name not in numbers), None):
        raise refuse("params: class_weight", unknown, f"weights of the classes {some_of(list(classes), 10)}")
    return {numbers[name]: weights[key] for key, name in names.items()}


def _scored_classes(scoring: Any) -> Iterator[Any]:
    """Yield the labels of the single classes that the scores of a search refer to."""
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
    options = getattr(scorer, "_kwargs", {})
    default = parameters["pos_label"].default if "pos_label" in parameters else None
    label = options.get("pos_label", default)
    if label is not None and options.get("average", "binary") == "binary":
        yield label
