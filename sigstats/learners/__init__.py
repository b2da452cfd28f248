"""Learners: scikit-learn estimators by name, and batched forms of them that share work across permutations.

A ready learner is an entry of `READY` in `sigstats.learners.ready`. Its batched form is another module, and an
entry of `_FORMS`.
"""

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from .._common.validation import did_you_mean, refuse
from . import own
from .base import BatchedLearner, attempt, steps_of
from .ready import READY as READY
from .ready import with_encoding, with_frames, with_words

#: The batched learners.
_FORMS = (
    "boosting:BatchedBoosting",
    "discriminant:BatchedLDA",
    "naive_bayes:BatchedNaiveBayes",
    "quadratic:BatchedQDA",
    "cross_products:BatchedRidge",
    "cross_products:BatchedLinearSVM",
    "logistic:BatchedLogisticRegression",
    "neighbours.batched:BatchedNeighbours",
    "c45_classifier:BatchedC45",
    "forest:BatchedForest",
)


@cache
def batched_learners() -> tuple[type[BatchedLearner], ...]:
    """Return the batched learners, in the order in which they try to recognise an estimator.

    They are imported at the first call: a study that is complete retrains nothing.
    """
    return tuple(pkgutil.resolve_name(f"{__name__}.{form}") for form in _FORMS)


#: Classifiers that are often asked for by another name than their import path.
_PATHS = {
    "xgboost": "xgboost:XGBClassifier",
    "lightgbm": "lightgbm:LGBMClassifier",
    "catboost": "catboost:CatBoostClassifier",
    "random-forest": "sklearn.ensemble.RandomForestClassifier",
}


def build(
    name: str,
    *,
    params: Mapping[str, Any] | None = None,
    nominal: Any = None,
    named: Mapping[str, Sequence[str]] | None = None,
    missing: bool = True,
    text: bool = False,
    stem: str | None = None,
    allowed: Sequence[str] = (),
    classes: Sequence[str] = (),
) -> Any:
    """Return an unfitted scikit-learn estimator for texts, or for data that may be nominal or have missing values.

    Everything that is learned from the data, including scales, categories and imputed values, is learned in ``fit``, so
    only from the training fold.

    `name`: a ready learner (a key of `READY`); the name of one that an installed package offers (an entry point of
    the group ``sigstats.learners``); or the import path of a classifier, such as
    ``"sklearn.ensemble.RandomForestClassifier"`` or, of an allowed package, ``"mypackage.models:Net"``.
    `params`: parameters of the classifier itself; ``random_state=0`` unless given.
    `nominal`: the features that contain category codes 0, 1, ... as floats. `named`: the categories of each feature by
    name, empty for a number; an own classifier that takes columns by name gets a data frame of these features.
    `missing`: whether values may be missing (NaN).
    `text`: whether a row is a text, whose words, without English stop words, are weighted by tf-idf. `stem`: the
    algorithm of the package snowballstemmer that reduces words to stems.
    `allowed`: the packages an import path may lead into, so that a name cannot run arbitrary code.
    `classes`: the names of the classes 0, 1, ... of the labels, by which a classifier may weight them.

    ValueError names the nearest known name of a classifier or parameter.
    """
    if not isinstance(name, str):
        raise refuse("classifier", name, "the name of a ready learner or an import path")
    mask = _as_mask(nominal)
    params = {} if params is None else params
    if text:
        return with_words(steps_of(build(name, params=params, missing=False, allowed=allowed))[-1], stem)
    if not isinstance(params, Mapping) or not all(isinstance(key, str) for key in params):
        raise refuse("params", params, "a mapping from parameter names to values")
    if name in READY:
        classifier = READY[name](dict(params), mask, bool(missing))
    elif own.is_path(name) and not allowed and name not in own.named():
        raise refuse("classifier", name, "a ready learner or an import path into sklearn")
    elif own.is_path(name) or name in own.named():
        classifier = own.make(name, dict(params), allowed)
        if named and own.takes_frames(classifier):
            classifier = with_frames(classifier, named)
        else:
            classifier = with_encoding(classifier, mask, bool(missing), keeps_missing=own.takes_missing(classifier))
    elif "." not in name:
        known = [*READY, *own.named(READY)]
        path = _PATHS.get(name, "mypackage.models:Net")
        wanted = f"one of {', '.join(known)} or an import path, as in {path!r}"
        raise refuse("classifier", name, wanted + did_you_mean(name, known))
    else:
        classifier = with_encoding(attempt(_classifier_class(name), dict(params)), mask, bool(missing))
    return own.number_classes(classifier, classes) if classes else classifier


def _as_mask(nominal: Any) -> Any:
    if nominal is None:
        return None
    try:
        mask = np.asarray(nominal)
    except ValueError:
        mask = np.empty(0)
    if mask.ndim != 1 or mask.dtype != bool:
        raise refuse("nominal", nominal, "one bool for each feature")
    return mask if mask.any() else None


def _is_public(modules: Sequence[str]) -> bool:
    """Return True if scikit-learn has its classifiers in such modules. Raise ImportError if there are none."""
    import sklearn

    if importlib.util.find_spec(f"sklearn.{modules[0]}" if modules else "sklearn") is None:
        raise ImportError
    return len(modules) == 1 and modules[0] in sklearn.__all__


def _classifier_class(path: str) -> Any:
    from sklearn.base import ClassifierMixin

    parts = path.split(".")
    if any(not part.isidentifier() or part.startswith("_") for part in parts):
        raise refuse("classifier", path, "an import path of public names, as in 'sklearn.svm.SVC'")
    try:
        if not _is_public(parts[1:-1]):
            raise refuse("classifier", path, "the import path of a classifier class, as in 'sklearn.svm.SVC'")
        module = importlib.import_module(".".join(parts[:-1]))
    except ImportError:
        raise refuse("classifier", path, f"a classifier that can be imported; there is no {path!r}") from None
    cls = getattr(module, parts[-1], None)
    if not (inspect.isclass(cls) and issubclass(cls, ClassifierMixin) and cls.__module__.startswith("sklearn.")):
        classifiers = [
            key for key, value in vars(module).items() if inspect.isclass(value) and issubclass(value, ClassifierMixin)
        ]
        hint = did_you_mean(parts[-1], classifiers)
        raise refuse("classifier", path, "the import path of a classifier class" + hint)
    return cls
