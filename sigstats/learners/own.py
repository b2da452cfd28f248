"""Classifiers of other packages, by an import path into a package that is allowed or by an entry point.

An import path, ``"mypackage.models:Net"``, leads to a classifier class or to an unfitted classifier, such as a
pipeline. An entry point of the group `GROUP` names the same for an installed package (`sigstats._common.registry`).
"""

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._common.registry import Offered
from .._common.validation import raised, refuse
from .base import attempt, require_harmless

#: The group of entry points that name learners.
GROUP = "sigstats.learners"

_WANTED = "a classifier class or an unfitted classifier, or its import path, as in 'mypackage.models:Net'"

_CLASSIFIERS = Offered(GROUP, "classifier")


def named(ready: Iterable[str] = ()) -> tuple[str, ...]:
    """The names of the learners that installed packages offer, without those of `ready` ones."""
    return _CLASSIFIERS.named(ready)


def is_path(name: str) -> bool:
    """True if a name is an import path into another package than scikit-learn."""
    return ("." in name or ":" in name) and name.partition(":")[0].partition(".")[0] != "sklearn"


def find(name: str, allowed: Sequence[str]) -> Any:
    """The class or the unfitted classifier that an import path or an entry point names; or ValueError.

    Nothing is imported of a package that is not allowed.
    """
    result = _CLASSIFIERS.find(name, allowed)
    if result is None:
        raise refuse("classifier", name, f"{_WANTED}; the module has no such name")
    if inspect.isroutine(result):
        raise refuse("classifier", name, f"{_WANTED}; it is a function")
    lacking = [method for method in ("fit", "predict", "get_params") if not hasattr(result, method)]
    if inspect.ismodule(result) or lacking:
        said = f"it has no {' and no '.join(lacking)} (sklearn.base.BaseEstimator gives get_params)"
        raise refuse("classifier", name, f"{_WANTED}; {said}")
    return result


def make(name: str, params: dict[str, Any], allowed: Sequence[str]) -> Any:
    """The unfitted classifier of an import path or entry point; or ValueError.

    Every ``random_state`` in it that is None becomes 0, and every ``n_jobs`` that is None becomes 1.
    """
    from sklearn.base import clone

    result = find(name, allowed)
    for key, value in params.items():
        require_harmless(key, value)
    try:
        made = attempt(result, params) if inspect.isclass(result) else clone(result).set_params(**params)
        unset = {key: value for key, value in made.get_params(deep=True).items() if value is None and key not in params}
        for ending, value in (("random_state", 0), ("n_jobs", 1)):
            made.set_params(**{key: value for key in unset if key.rpartition("__")[2] == ending})
    except ValueError:
        raise
    except Exception as error:  # a constructor may raise anything
        raise ValueError(f"classifier: {name} cannot be made: {raised(error)}") from None
    if tag_of(made, "estimator_type") not in (None, "classifier"):
        raise refuse("classifier", name, f"{_WANTED}; scikit-learn takes it for a {tag_of(made, 'estimator_type')}")
    return made


def takes_frames(estimator: Any) -> bool:
    """True if an estimator takes columns by their names, as a `ColumnTransformer` in it, or has ``takes_frames``."""
    from sklearn.compose import ColumnTransformer

    parts = [estimator, *estimator.get_params(deep=True).values()]
    chosen = [of for part in parts if isinstance(part, ColumnTransformer) for _, _, of in part.transformers]
    by_name = (
        callable(of) or any(isinstance(one, str) for one in np.atleast_1d(np.array(of, object))) for of in chosen
    )
    return bool(getattr(estimator, "takes_frames", False)) or any(by_name)


def takes_missing(estimator: Any) -> bool:
    """True if an estimator declares that it accepts NaN as a missing value."""
    return bool(getattr(tag_of(estimator, "input_tags"), "allow_nan", False))


def tag_of(estimator: Any, name: str) -> Any:
    """A tag of scikit-learn's; None if the estimator has none."""
    from sklearn.utils import get_tags

    try:
        return getattr(get_tags(estimator), name)
    except Exception:  # an estimator of a library of its own may have no tags, or raise anything
        return None


def code_of(name: str, allowed: Sequence[str]) -> dict[str, str]:
    """The identity of the code of a classifier, as `Offered.code_of`."""
    find(name, allowed)
    return _CLASSIFIERS.code_of(name)
